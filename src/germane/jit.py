"""How Germane compiles: two decorators over Numba's.

`kernel` is called from Python; its machine code is kept on disk. `inner` is called from kernels only: it has no door to
Python, which takes a third off its compiling. Neither holds the interpreter's lock, counts references or checks for a
division by zero; a kernel that allocates says so by `kernel(_nrt=True)`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit

_fast = partial(njit, nogil=True, error_model="numpy")

kernel: Callable[..., Any] = partial(_fast, cache=True, _nrt=False)
allocating: Callable[..., Any] = partial(_fast, cache=True)
inner: Callable[..., Any] = partial(_fast, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
