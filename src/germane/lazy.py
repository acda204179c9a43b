"""Lazy imports: package exports, registry classes and kernel modules load on first use.

- `lazy_exports` gives a package its `__getattr__`, so that importing the package loads none of its modules.
- `LazyClasses` maps names to classes, so that a help text lists the names of a registry without importing a class.
- `LazyModule` stands in for a module of Numba kernels, so that opening an index does not load the compiler.

The module also decides when the compiler is worth loading: `is_few` and `search_is_early` choose the NumPy fallback for
small inputs and for the first searches of a process.
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
    """An optional dependency: its module and distribution, the extra that installs it, the feature that needs it."""

    module: str
    distribution: str
    name: str
    purpose: str


def lazy_exports(
    package: str, homes: Mapping[str, Sequence[str]], extra: Extra | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package; `homes` maps each of its modules to the names it exports.

    Raise `MissingExtraError` where a module cannot be imported because `extra` is not installed.
    """
    home_of = {name: module for module, exported in homes.items() for name in exported}

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
"""Serialises kernel imports: a second thread that imports Numba meanwhile would see it partly initialised."""


@contextmanager
def _importing_kernels() -> Iterator[None]:
    """Import in one thread at a time and without garbage collection: the compiler's many objects are never freed."""
    with _loading:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # moves them into the oldest generation, which is collected least often
            if was_enabled:
                gc.enable()


_loaded = _behind = False
"""`_loaded`: use kernels for every input size. `_behind`: another process compiles them, and this one waits for it."""


def compiler_is_loaded() -> bool:
    """Return whether kernels are used for every input size: Numba is loaded and most kernels need no compilation.

    Until then, work that has a NumPy fallback uses it.
    """
    return _loaded or ("numba" in sys.modules and not _behind and were_kept())


def load_compiler() -> None:
    """Load the compiler now and use kernels for small inputs too."""
    global _loaded, _behind
    with _importing_kernels():
        import_module("germane.jit")
    _loaded, _behind = True, False


def wait_for_kernels(waits: bool) -> None:
    """Set whether to prefer NumPy fallbacks because another process is compiling the kernels (`server.warming`).

    `load_compiler` resets it. Work without a fallback still compiles the kernels that it needs.
    """
    global _behind
    _behind = waits


FEW = 1 << 18
"""Largest input (characters, strings or numbers) that Python and NumPy process faster than kernels load."""
FEWER_THAN_COMPILED = 1 << 22
"""Largest such input where kernels are not cached on disk: compiling takes more than ten times as long as loading."""
SEARCHED_EARLY, EACH = 1 << 26, 1 << 17
"""Postings that searches of larger segments may read in total before kernels are compiled, and the fixed cost of one
search, in postings."""

_searched = 0


def is_few(n: int) -> bool:
    """Return whether to process an input of size `n` without kernels: it is small and the compiler is not loaded."""
    return not compiler_is_loaded() and (n <= FEW or (n <= FEWER_THAN_COMPILED and not were_kept()))


def search_is_early(n_postings: int) -> bool:
    """Return whether to run one more search without kernels, and add its cost to the total of this process.

    True while kernels are not cached on disk and all searches until now cost less than compiling would, or while
    another process compiles them.
    """
    global _searched
    if compiler_is_loaded() or (were_kept() and not _behind):
        return False
    _searched += n_postings + EACH
    if _searched > SEARCHED_EARLY and not _behind:
        load_compiler()
    return not _loaded


with_compiler: list[Callable[[], None]] = []
"""Callbacks that run once, when the compiler is loaded."""


class LazyModule:
    """A proxy for a module of kernels: the first attribute access imports it, and with it the compiler."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            with _importing_kernels():
                self._module = import_module(self._name)
        value = vars(self)[name] = getattr(self._module, name)  # cached: __getattr__ is not called for it again
        return value


def load(home: str) -> Any:
    """Import the module of "package.module.name" and return the object of that name."""
    module, _, name = home.rpartition(".")
    return getattr(import_module(module), name)


class LazyClasses(Mapping[str, type[Kind]], Generic[Kind]):
    """A registry of classes by the names that users write, each imported on first use.

    `homes` maps a name to "package.module.Class". Set an item to register another class.
    """

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)

    def __getitem__(self, name: str) -> type[Kind]:
        loaded: type[Kind] = load(self._homes[name])
        return loaded

    def home(self, name: str) -> str | None:
        """Return "package.module.Class" for a name; None for an unknown name."""
        return self._homes.get(name)

    def __setitem__(self, name: str, home: str) -> None:
        self._homes[name] = home

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
