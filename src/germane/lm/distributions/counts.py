"""Documents as counts: one checked sparse form for all distributions. Nothing here ever becomes dense."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from germane.arrays import Floats, Integers
from germane.errors import InputError
from germane.lm.model import add_up

Counts: TypeAlias = Any
"""Documents × words: a SciPy sparse matrix or array, a dense two-dimensional array, or one document (ids, counts)."""


BLOCK = 1 << 20
"""Counts looked at together when statistics are gathered, so that the working memory does not grow with the input."""


def checked_counts(counts: Counts, V: int | None = None) -> csr_array:
    """`counts` as a CSR array of float64 without stored zeros, all finite and ≥ 0, over V words where V is given.

    A pair (ids, counts) is one document, whose ids may repeat and come in any order; it needs V. A CSR array that is
    already in this form is returned as it is, not copied.
    """
    if isinstance(counts, tuple) and len(counts) == 2 and not issparse(counts):
        rows = _one_document(*counts, V)
    else:
        rows = _matrix(counts)
    if not np.isfinite(rows.data).all():
        raise InputError("counts hold NaN or an infinite value; give finite counts")
    if rows.data.size and rows.data.min() < 0:
        raise InputError(f"counts must not be negative, found {rows.data.min()}")
    if V is not None and rows.shape[1] != V:
        raise InputError(f"counts have {rows.shape[1]} words, but the model has {V}")
    if rows.data.size and (rows.data == 0).any():
        rows = rows.copy()
        rows.eliminate_zeros()
    return rows


def checked_weights(sample_weight: npt.ArrayLike | None, n_docs: int) -> Floats:
    """One finite weight ≥ 0 for each document; all 1 where none are given."""
    if sample_weight is None:
        return np.ones(n_docs)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_docs,):
        raise InputError(f"sample_weight has shape {weights.shape}, but there are {n_docs} documents")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError("sample_weight must be finite and not negative")
    return weights


def blocks(rows: csr_array, weights: Floats) -> Iterator[tuple[csr_array, Floats]]:
    """The documents and their weights, as many at a time as hold about `BLOCK` counts; at least one block."""
    cuts = np.searchsorted(rows.indptr, np.arange(BLOCK, rows.nnz, BLOCK))
    edges = np.unique(np.concatenate([[0], cuts, [rows.shape[0]]]))
    if edges.size <= 2:
        yield rows, weights
        return
    for start, end in pairwise(edges.tolist()):
        yield rows[start:end], weights[start:end]


def lengths_of(rows: csr_array) -> Floats:
    """|d| of each document."""
    return np.asarray(rows.sum(axis=1), dtype=np.float64).reshape(-1)


def row_of_each(rows: csr_array) -> Integers:
    """For each stored count, the number of its document."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def sum_rows(rows: csr_array, values: Floats) -> Floats:
    """For each document, the sum of `values`, which stand beside the stored counts."""
    return np.asarray(np.bincount(row_of_each(rows), weights=values, minlength=rows.shape[0]), dtype=np.float64)


def sum_words(rows: csr_array, values: Floats) -> Floats:
    """For each word, the sum of `values`, which stand beside the stored counts."""
    return np.asarray(np.bincount(rows.indices, weights=values, minlength=rows.shape[1]), dtype=np.float64)


def _one_document(ids: npt.ArrayLike, counts: npt.ArrayLike, V: int | None) -> csr_array:
    if V is None:
        raise InputError("a document given as (ids, counts) needs the size of the vocabulary; give a matrix instead")
    if np.size(ids) == 0:
        return csr_array((1, V), dtype=np.float64)
    values = np.asarray(counts, dtype=np.float64)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InputError("counts must be finite and not negative")
    unique, total = add_up(ids, values)
    if unique[-1] >= V:
        raise InputError(f"word id {unique[-1]} is outside the vocabulary of {V} words")
    return csr_array((total, unique, np.array([0, unique.size])), shape=(1, V))


def _matrix(counts: Counts) -> csr_array:
    if not issparse(counts):
        try:
            counts = np.asarray(counts, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"counts must be numbers: {error}") from None
    if counts.ndim != 2:
        raise InputError(f"counts must have two dimensions, documents and words, not {counts.ndim}")
    rows = csr_array(counts)
    if not np.issubdtype(rows.dtype, np.number) and rows.dtype != np.bool_:
        raise InputError(f"counts must be numbers, not {rows.dtype}")
    if np.issubdtype(rows.dtype, np.complexfloating):
        raise InputError("counts must be real numbers, not complex ones")
    rows = rows if rows.dtype == np.float64 else rows.astype(np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows
