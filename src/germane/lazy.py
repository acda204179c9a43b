"""What is imported when it is first used: exports, so that importing a package costs nothing; the classes of a
registry, so that a help text can list their names without loading any; and modules of kernels, so that reading the
documents of an index waits for no compiler.
"""

import gc
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar

from germane.errors import MissingExtraError
from germane.kept_kernels import were_kept

Kind = TypeVar("Kind")


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


_loading = threading.RLock()
"""Held while kernels are imported: two threads that import Numba at once see it half made."""


@contextmanager
def _importing_kernels() -> Iterator[None]:
    """One thread at a time, and no search for garbage: the compiler is made of objects that stay."""
    with _loading:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # to the oldest generation, which is looked at least often
            if was_enabled:
                gc.enable()


_loaded = _behind = False
"""Whether kernels are to be used for all there is; whether another process compiles them, and this one waits for it."""


def compiler_is_loaded() -> bool:
    """Whether this process uses kernels for all there is: it has loaded them, and would not have to compile most of
    them. What can be done without is done without, until then."""
    return _loaded or ("numba" in sys.modules and not _behind and were_kept())


def load_compiler() -> None:
    """From now on kernels are used for few things too: they will be needed anyway."""
    global _loaded, _behind
    with _importing_kernels():
        import_module("germane.jit")
    _loaded, _behind = True, False


def wait_for_kernels(waits: bool) -> None:
    """Whether this process does without kernels as well as it can, since another compiles them (`server.warming`).

    `load_compiler` ends it. What has no other road still compiles the kernels that it needs.
    """
    global _behind
    _behind = waits


FEW = 1 << 18
"""So many characters, strings or numbers are treated by Python and NumPy sooner than kernels for them are loaded."""
FEWER_THAN_COMPILED = 1 << 22
"""The same where the kernels are not on the disk: compiling them takes more than ten times as long as loading."""
SEARCHED_EARLY, EACH = 1 << 26, 1 << 17
"""The same for all postings that the searches of larger segments have looked at; each counts for so many more."""

_searched = 0


def is_few(n: int) -> bool:
    """Whether so many things are to be treated without kernels: they are few, and the compiler is not loaded anyway."""
    return not compiler_is_loaded() and (n <= FEW or (n <= FEWER_THAN_COMPILED and not were_kept()))


def search_is_early(n_postings: int) -> bool:
    """Whether one more search is to be made without kernels: they are not on the disk, and what was searched until now
    took less time than compiling them would; or another process compiles them."""
    global _searched
    if compiler_is_loaded() or (were_kept() and not _behind):
        return False
    _searched += n_postings + EACH
    if _searched > SEARCHED_EARLY and not _behind:
        load_compiler()
    return not _loaded


with_compiler: list[Callable[[], None]] = []
"""What is to be called as soon as the compiler is loaded."""


class LazyModule:
    """A module that is imported when something of it is first used: one of kernels, which would load a compiler."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            with _importing_kernels():
                self._module = import_module(self._name)
        found = vars(self)[name] = getattr(self._module, name)  # the next time Python finds it without asking
        return found


def load(home: str) -> Any:
    """What "package.module.name" names, its module imported if need be."""
    module, _, name = home.rpartition(".")
    return getattr(import_module(module), name)


class LazyClasses(Mapping[str, type[Kind]], Generic[Kind]):
    """Classes by the names that people write; `homes` gives each as "package.module.Class". New ones may be set."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)

    def __getitem__(self, name: str) -> type[Kind]:
        found: type[Kind] = load(self._homes[name])
        return found

    def home(self, name: str) -> str | None:
        """Where the class of that name is; None for a name that is not known."""
        return self._homes.get(name)

    def __setitem__(self, name: str, home: str) -> None:
        self._homes[name] = home

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
