"""Names of a package that are imported when they are first used, so that importing the package costs nothing."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from germane.errors import MissingExtraError


class Extra(NamedTuple):
    """What a package needs beyond the core: the module, its distribution, the extra that brings it, and what for."""

    module: str
    distribution: str
    name: str
    purpose: str


def lazy_exports(
    package: str, homes: Mapping[str, Sequence[str]], extra: Extra | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: `homes` says which of its modules holds which names.

    A module that is missing because the `extra` is not installed becomes a `MissingExtraError`.
    """
    home_of = {name: module for module, held in homes.items() for name in held}

    def attribute(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            return getattr(import_module(f"{package}.{home_of[name]}"), name)
        except ModuleNotFoundError as error:
            if extra is None or (error.name or "").split(".")[0] != extra.module:
                raise
            raise MissingExtraError(extra.distribution, extra.name, extra.purpose) from None

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return attribute, names
