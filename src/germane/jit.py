"""How Germane compiles: three decorators over Numba's.

`kernel` is called from Python, and its machine code is kept on disk; so is `allocating`, which may make arrays. `inner`
is called from kernels only: it has no door to Python, so that there is less to compile. None holds the interpreter's
lock or checks for a division by zero.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit

from germane.lazy import with_compiler

_fast = partial(njit, nogil=True, error_model="numpy")

kernel: Callable[..., Any] = partial(_fast, cache=True, _nrt=False)
allocating: Callable[..., Any] = partial(_fast, cache=True)
inner: Callable[..., Any] = partial(_fast, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

while with_compiler:
    with_compiler.pop()()
