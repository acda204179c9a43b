"""Decorators that compile kernels: `numba.njit` with this package's options and its cache on disk.

- `kernel`: called from Python, cached on disk, releases the GIL, allocates no arrays.
- `allocating`: a `kernel` that may allocate arrays.
- `inner`: called from other kernels only. It has no Python wrapper, so that there is less to compile.
- `njit`: `numba.njit`, whose `cache=True` uses this package's cache.

All but `njit` divide by zero as NumPy does (`error_model="numpy"`): nothing is raised.
"""

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

from germane.lazy import with_compiler

_implementation: Any = FunctionCache._impl_class
_in_tree: Any = next(each for each in _implementation._locator_classes if each.__name__.endswith("InTreeCacheLocator"))


class _InPlace(_in_tree):  # type: ignore[misc]
    """Locates the cache in the package's folder, also for a user who may only read it."""

    def ensure_cache_path(self) -> None:
        """Do nothing: a kernel that cannot be cached is compiled again."""


class _Places(_implementation):  # type: ignore[misc]
    """Numba's cache locators, followed by a read-only one: Numba raises where no locator accepts the folder."""

    _locator_classes = (*_implementation._locator_classes, _InPlace)


class _Cache(FunctionCache):
    """Numba's function cache without the set-up of the compiler before each load.

    That set-up imports SciPy's linear algebra, which cached machine code does not need. The compiler repeats it when it
    is called.
    """

    _impl_class = _Places

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the machine code; ignore a full disk or a missing permission."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def __init__(self, function: Callable[..., Any], *, allocates: bool) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._allocates = allocates

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for a signature; None where it is not cached."""
        if self._allocates:
            rtsys.initialize(target_context)  # the functions that make and free arrays
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def njit(function: Callable[..., Any] | None = None, *, cache: bool = False, **options: Any) -> Any:
    """Compile a function by `numba.njit`; with `cache`, keep its machine code in a `_Cache`."""
    if function is None:
        return partial(njit, cache=cache, **options)
    compiled: Any = numba.njit(**options)(function)
    if cache and compiled is not function:  # as it is with NUMBA_DISABLE_JIT
        compiled._cache = _Cache(function, allocates=options.get("_nrt", True))
    return compiled


_fast = partial(njit, nogil=True, error_model="numpy")

kernel: Callable[..., Any] = partial(_fast, cache=True, _nrt=False)
allocating: Callable[..., Any] = partial(_fast, cache=True)
inner: Callable[..., Any] = partial(_fast, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

while with_compiler:
    with_compiler.pop()()
