"""What corrections ask of a collection: terms that are written nearly so, and whether terms stand side by side.

Documents that hold two terms are sampled by a hash of their ids: those with the least hashes. Which these are does not
depend on how documents lie in segments or parts, and samples of parts merge.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Mask
from germane.deadline import look
from germane.index.segment import Segment
from germane.index.sequences import documents_with_all, phrase_among
from germane.index.strings import unpack_strings
from germane.lazy import LazyModule, is_few
from germane.lm.noisy_channel import Lexicon
from germane.rank.scoring.searcher import Searcher

if TYPE_CHECKING:
    from germane.rank import suggest_kernels
else:
    suggest_kernels = LazyModule("germane.rank.suggest_kernels")

LOOKED_AT = 32
"""Of the documents that hold two terms, so many are looked at for them side by side."""

Hashes = npt.NDArray[np.uint64]


class PairSample(NamedTuple):
    """Of the live documents that hold two terms, `documents` in all, those with the least hashes of their ids,
    ascending; and which of these hold the terms side by side, in this order."""

    documents: int
    hashes: Hashes
    held: Mask

    @classmethod
    def merged(cls, parts: Sequence["PairSample"]) -> "PairSample":
        """The sample of all documents of several parts."""
        hashes, held = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
        least = np.argsort(hashes, kind="stable")[:LOOKED_AT]
        return cls(sum(part.documents for part in parts), hashes[least], held[least].astype(np.bool_))

    @property
    def estimate(self) -> float:
        """In how many documents the terms stand side by side: an estimate where many hold both."""
        return int(self.held.sum()) * self.documents / max(len(self.held), 1)


def near_terms(searcher: Searcher, words: Sequence[tuple[str, int]]) -> list[list[str]]:
    """For each word the terms that some segment writes with at most so many edits, bytes changed; ascending."""
    found = []
    for word, edits in words:
        near: set[str] = set()
        for live in searcher.snapshot.segments:
            look()
            near.update(live.segment.terms(np.flatnonzero(edit_distances(live.segment, word, edits) <= edits)))
        found.append(sorted(near))
    return found


def sample_pairs(searcher: Searcher, pairs: Sequence[tuple[str, str]]) -> list[PairSample]:
    """For each pair of terms a sample of the documents that hold both."""
    return [_sample(searcher, pair) for pair in pairs]


def _sample(searcher: Searcher, pair: tuple[str, str]) -> PairSample:
    look()
    both: list[Integers] = []
    hashes: list[Hashes] = []
    numbers = [live.segment.numbers_of(pair) for live in searcher.snapshot.segments]
    for live, own in zip(searcher.snapshot.segments, numbers, strict=True):
        docs = documents_with_all(live.segment, own).astype(np.int64)
        both.append(docs[~live.deletions.deleted[docs]])
        hashes.append(hashed_ids(live.segment, both[-1]))
    n, everything = sum(map(len, both)), np.concatenate([np.empty(0, np.uint64), *hashes])
    last = np.partition(everything, LOOKED_AT - 1)[LOOKED_AT - 1] if n > LOOKED_AT else np.uint64(2**64 - 1)
    samples = []
    for live, own, docs, own_hashes in zip(searcher.snapshot.segments, numbers, both, hashes, strict=True):
        some = docs[own_hashes <= last]
        held = np.isin(some, phrase_among(live.segment, some, own, 0, searcher.texts)) if len(some) else some > 0
        samples.append(PairSample(0, own_hashes[own_hashes <= last], held))
    if not samples:
        return PairSample(0, everything, np.empty(0, np.bool_))
    return PairSample.merged(samples)._replace(documents=n)


def hashed_ids(segment: Segment, docs: Integers) -> Hashes:
    """A number for each document that depends on its id alone: h(Σ (byte_j + 1)·h(j)), h that of `_mixed`."""
    data, offsets = segment.packed("id")
    starts, sizes = offsets[docs].astype(np.int64), np.diff(offsets).astype(np.int64)[docs]
    ends = np.cumsum(sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    places = _mixed(np.arange(int(sizes.max(initial=0)), dtype=np.uint64))
    terms = (data[np.repeat(starts, sizes) + within].astype(np.uint64) + np.uint64(1)) * places[within]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])  # modulo 2^64
    return _mixed(sums[ends] - sums[ends - sizes])


def _mixed(numbers: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014): each bit of the result depends on all bits."""
    x = numbers + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def edit_distances(segment: Segment, token: str, most: int) -> npt.NDArray[np.uint8]:
    """Edits between the token and each term's written form, counted in bytes, at most `most` + 1."""
    typed, terms, surfaces = token.encode(), segment.packed("term"), segment.packed("surface")
    if is_few(len(terms[0])):
        pairs = zip(unpack_strings(*surfaces), unpack_strings(*terms), strict=True)
        return distances(typed, [form or term for form, term in pairs], most)
    found = np.empty(segment.n_terms, np.uint8)
    suggest_kernels.edit_distances(*terms, *surfaces, np.frombuffer(typed, np.uint8), most, found)
    return found


def distances(typed: bytes, forms: Sequence[bytes], most: int) -> npt.NDArray[np.uint8]:
    """Edits between a word and each form, counted in bytes, at most `most` + 1."""
    bytewise = [form.decode("latin-1") for form in forms]  # a character for each byte
    near = dict(Lexicon(bytewise).within(typed.decode("latin-1"), most))
    return np.array([near.get(form, most + 1) for form in bytewise], np.uint8)
