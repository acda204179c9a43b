"""Lazy imports: package exports, registry classes and kernel modules load on first use.

- `lazy_exports` gives a package its `__getattr__`, so that importing the package loads none of its modules.
- `LazyClasses` maps names to classes, so that a help text lists the names of a registry without importing a class.
- `LazyModule` stands in for a module of Numba kernels, so that opening an index does not load the compiler.
- `on_first_use` defers the imports of a block: of a command's modules, so that its help text appears at once.
- `optional` imports a library of an extra, or names the extra to install.

The module also decides when the compiler is worth loading: `is_few` and `search_is_early` choose the NumPy fallback for
small inputs and for the first searches of a process.
"""

import builtins
import gc
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, Generic, TypeVar

from germane.errors import MissingExtraError
from germane.kernel_cache import were_kept

Kind = TypeVar("Kind")


EXTRAS: Mapping[str, tuple[str, str]] = {
    "alembic": ("sqlalchemy", "workspace"),
    "anyio": ("starlette", "web"),
    "duckdb": ("duckdb", "clicks"),
    "httpcore": ("httpx", "metasearch"),
    "httptools": ("httptools", "web"),
    "httpx": ("httpx", "metasearch"),
    "ir_datasets": ("ir_datasets", "datasets"),
    "ir_measures": ("ir_measures", "measures"),
    "jinja2": ("jinja2", "web"),
    "matplotlib": ("matplotlib", "plots"),
    "mcp": ("mcp", "mcp"),
    "psycopg": ("psycopg", "postgresql"),
    "sklearn": ("scikit-learn", "learn"),
    "sqlalchemy": ("sqlalchemy", "workspace"),
    "starlette": ("starlette", "web"),
    "usearch": ("usearch", "ann"),
    "uvicorn": ("uvicorn", "web"),
}
"""Optional libraries by the name that is imported: the distribution, and the extra that installs it."""


def optional(module: str, purpose: str) -> Any:
    """Import a module of an optional library, such as "sklearn.svm", or one of ours that needs such a library.

    Raise `MissingExtraError`, which says that `purpose` needs an extra, where the library is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        needed = (error.name or "").partition(".")[0]
        if needed not in EXTRAS:
            raise
        raise MissingExtraError(*EXTRAS[needed], purpose) from None


def lazy_exports(
    package: str, homes: Mapping[str, Sequence[str]], purpose: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package; `homes` maps each of its modules to the names it exports.

    Raise `MissingExtraError`, which says that `purpose` needs an extra, where a module cannot be imported without it.
    """
    home_of = {name: module for module, exported in homes.items() for name in exported}

    def attribute(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = f"{package}.{home_of[name]}"
        return getattr(import_module(home) if purpose is None else optional(home, purpose), name)

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


class _Deferred:
    """A proxy for a module: each attribute access goes to the module, which the first one imports."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


_deferring = threading.RLock()
"""Lets one thread at a time replace `builtins.__import__`, so that each restores what it has found."""


@contextmanager
def on_first_use(module: str) -> Iterator[None]:
    """Defer the imports of a `with` block at the top of `module` (its `__name__`) until a module of them is used.

    The block holds `from package import module`, or `import library`: modules only, because the proxy of a class would
    not work in `isinstance` and `except`. Not even the package is imported. Type checkers see ordinary imports.

        with on_first_use(__name__):
            from germane.data import writing
    """
    with _deferring:
        ordinary = builtins.__import__

        def deferred(name: str, scope: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
            if scope is None or scope.get("__name__") != module:
                return ordinary(name, scope, local, names, level)
            if level or (not names and "." in name):
                raise ImportError(f"{module}: a block of deferred imports has 'from package import module' only")
            if not names:
                return _Deferred(name)
            return SimpleNamespace(**{each: _Deferred(f"{name}.{each}") for each in names})

        vars(builtins)["__import__"] = deferred
        try:
            yield
        finally:
            vars(builtins)["__import__"] = ordinary


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
