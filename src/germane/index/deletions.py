"""Deleted documents of a segment, and what they took with them.

Collection statistics are those of live documents. So beside the bitmap of deleted documents there is, for each term
they held, by how much its document and collection frequency fell: scores after a deletion equal those of an index that
never held the document.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.index.container import Container, ContainerWriter
from germane.index.segment import Segment


@dataclass(frozen=True)
class Deletions:
    """`deleted[d]`, and for the sorted `terms` the fall of df and cf."""

    deleted: npt.NDArray[np.bool_]
    terms: Integers
    df: Integers
    cf: Integers
    n_tokens: int

    @cached_property
    def n_docs(self) -> int:
        """How many documents are deleted."""
        return int(np.count_nonzero(self.deleted))

    @cached_property
    def mask(self) -> npt.NDArray[np.uint8]:
        """1 for each live document; empty if nothing is deleted."""
        return (~self.deleted).astype(np.uint8) if self.n_docs else np.empty(0, np.uint8)

    def frequencies_of(self, numbers: npt.NDArray[np.integer]) -> tuple[Integers, Integers]:
        """Fall of df and cf of some terms."""
        at = np.minimum(np.searchsorted(self.terms, numbers), len(self.terms) - 1)
        fallen = self.terms[at] == numbers
        return np.where(fallen, self.df[at], 0), np.where(fallen, self.cf[at], 0)


def no_deletions(segment: Segment) -> Deletions:
    """Nothing is deleted."""
    nothing = np.empty(0, np.int64)
    return Deletions(np.zeros(segment.n_docs, np.bool_), nothing, nothing, nothing, 0)


def delete(segment: Segment, before: Deletions, docs: Integers) -> Deletions:
    """`before`, and these documents too (those already deleted change nothing)."""
    fresh = np.unique(docs[~before.deleted[docs]]) if len(docs) else docs
    if len(fresh) == 0:
        return before
    terms, df, cf = [before.terms], [before.df], [before.cf]
    for doc in fresh.tolist():
        numbers, counts = segment.forward(doc)
        terms.append(numbers.astype(np.int64))
        df.append(np.ones(len(numbers), np.int64))
        cf.append(counts.astype(np.int64))
    distinct, place = np.unique(np.concatenate(terms), return_inverse=True)
    deleted = before.deleted.copy()
    deleted[fresh] = True
    return Deletions(
        deleted,
        distinct,
        np.bincount(place, np.concatenate(df), len(distinct)).astype(np.int64),
        np.bincount(place, np.concatenate(cf), len(distinct)).astype(np.int64),
        before.n_tokens + int(segment.doc_len[fresh].sum(dtype=np.int64)),
    )


def write_deletions(path: Path, deletions: Deletions, *, segment: str = "", generation: int = 0) -> None:
    """Write the file of a segment's deletions; whose they are and since when is for a lost manifest."""
    with ContainerWriter(path) as container:
        container.section("deleted", np.packbits(deletions.deleted, bitorder="little"))
        container.section("terms", deletions.terms)
        container.section("df", deletions.df)
        container.section("cf", deletions.cf)
        container.finish(
            {
                "n_tokens": deletions.n_tokens,
                "n_docs": len(deletions.deleted),
                "segment": segment,
                "generation": generation,
            }
        )


def read_deletions(path: Path, segment: Segment) -> Deletions:
    """Read the file of a segment's deletions."""
    container = Container(path)
    deleted = read_bitmap(container, segment.n_docs)
    terms, df, cf = container["terms"], container["df"], container["cf"]
    n_tokens = container.meta.get("n_tokens")
    if (
        type(n_tokens) is not int
        or not 0 <= n_tokens <= segment.n_tokens
        or not len(terms) == len(df) == len(cf)
        or any(array.dtype != np.int64 for array in (terms, df, cf))
        or np.any(np.diff(terms, prepend=-1) <= 0)
        or np.any(terms >= segment.n_terms)
        or np.any(df < 1)
        or np.any(df > segment.n_docs)
        or np.any(cf < df)
        or np.any(cf > n_tokens)
    ):
        raise container.damage(f"does not fit {segment.path}")
    return Deletions(deleted, terms, df, cf, n_tokens)


def read_bitmap(container: Container, n_docs: int) -> npt.NDArray[np.bool_]:
    """Which of the `n_docs` documents are deleted."""
    packed = container["deleted"]
    if container.meta.get("n_docs") != n_docs or len(packed) != -(-n_docs // 8) or packed.dtype != np.uint8:
        raise container.damage("belongs to a segment of another size")
    return np.unpackbits(packed, count=n_docs, bitorder="little").astype(np.bool_)
