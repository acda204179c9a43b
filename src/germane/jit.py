"""How Germane compiles: decorators over Numba's.

`kernel` is called from Python, and its machine code is kept on disk; so is `allocating`, which may make arrays. `inner`
is called from kernels only: it has no door to Python, so that there is less to compile. None checks for a division by
zero. `brief` alone holds the interpreter's lock: mostly for some microseconds, where to hand it to another thread and
to wait until it comes back takes longer than the work, and for some milliseconds at the most (logarithms of many words
in thousands of recent documents). `njit` is Numba's own, with our cache.
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
    """Where the package lies, also for a user who may read what was compiled there and write nothing anywhere."""

    def ensure_cache_path(self) -> None:
        """Nothing: what cannot be kept is compiled again."""


class _Places(_implementation):  # type: ignore[misc]
    """Numba's places for machine code, and in the end one that need not be writable: without it Numba would refuse."""

    _locator_classes = (*_implementation._locator_classes, _InPlace)


class _Cache(FunctionCache):
    """Numba's, but for what it does before it looks: it makes everything ready to compile, and loads SciPy's linear
    algebra, which machine code from the disk does not need. The compiler does so itself when it is called.
    """

    _impl_class = _Places

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code, where there is room and permission."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def __init__(self, function: Callable[..., Any], *, allocates: bool) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._allocates = allocates

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code of this signature, None where it is not on the disk."""
        if self._allocates:
            rtsys.initialize(target_context)  # the functions that make and free arrays
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


def njit(function: Callable[..., Any] | None = None, *, cache: bool = False, **options: Any) -> Any:
    """`numba.njit`."""
    if function is None:
        return partial(njit, cache=cache, **options)
    compiled: Any = numba.njit(**options)(function)
    if cache and compiled is not function:  # as it is with NUMBA_DISABLE_JIT
        compiled._cache = _Cache(function, allocates=options.get("_nrt", True))
    return compiled


_fast = partial(njit, nogil=True, error_model="numpy")

kernel: Callable[..., Any] = partial(_fast, cache=True, _nrt=False)
brief: Callable[..., Any] = partial(kernel, nogil=False)
allocating: Callable[..., Any] = partial(_fast, cache=True)
inner: Callable[..., Any] = partial(_fast, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

while with_compiler:
    with_compiler.pop()()
