"""The arrays of a segment that kernels read documents from, as one argument."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers


class ForwardArrays(NamedTuple):
    """Packed forward lists, where each begins, their widths and lengths (see `index.kernels.encode_forward`).

    `right`: which pieces of the words were verified, of `step` bytes each.
    """

    words: npt.NDArray[np.uint32]
    at: Integers
    term_bits: npt.NDArray[np.uint8]
    tf_bits: npt.NDArray[np.uint8]
    n_unique: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint8]
    step: int


class SequenceArrays(NamedTuple):
    """The order of words: packed sequences as words and as bytes, where each begins, and the tokens of each of
    `n_fields` fields, document by document (see `index.sequence_kernels`)."""

    words: npt.NDArray[np.uint32]
    bytes: npt.NDArray[np.uint8]
    at: Integers
    field_len: npt.NDArray[np.uint32]
    n_fields: int
