"""Numba kernel that verifies the dictionary before a merge relies on its order."""

from germane.index.string_kernels import less, same_string
from germane.jit import kernel


@kernel
def strings_ascend(data, offsets):
    """Whether each string is less than the next."""
    for i in range(len(offsets) - 2):
        if not less(data, offsets, i, i + 1) or same_string(data, offsets, i, i + 1):
            return False
    return True
