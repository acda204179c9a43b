"""What a ranking takes from a whole collection, as plain data: each part counts it, the parts' are merged.

`Need` says what a request takes; `CollectionStatistics` are the numbers. All of them are counts, or least values, so
that the merged ones are those of one index of all documents, to the last bit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np

from germane.arrays import Integers
from germane.errors import ParameterError
from germane.index.segment import Segment
from germane.index.snapshot import Snapshot, TermStats, commonest_surface, entropy_of
from germane.index.strings import (
    Packed,
    choose_packed,
    find_all_packed,
    join_packed,
    mark_repeated,
    sort_packed,
    unpack_strings,
)
from germane.rank.scoring.priors import Prior

Item = TypeVar("Item")
UNKNOWN = TermStats(0, 0)


class Pair(NamedTuple):
    """Two terms of a query; near is less than `window` places apart."""

    first: str
    second: str
    window: int


class PairStats(NamedTuple):
    """The frequencies of a pair over live documents: side by side in this order, and near each other."""

    ordered: TermStats
    unordered: TermStats


class Need(NamedTuple):
    """What a request takes from the whole collection.

    `fields`: the tokens of each text field. `surfaces`: terms whose written forms are shown. `vocabulary`: the
    frequencies of all terms.
    """

    terms: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    priors: tuple[Prior, ...] = ()
    surfaces: tuple[str, ...] = ()
    fields: bool = False
    vocabulary: bool = False

    def joined(self, other: "Need") -> "Need":
        """What both take."""
        return Need(
            _each_once(self.terms, other.terms),
            _each_once(self.pairs, other.pairs),
            _each_once(self.priors, other.priors),
            _each_once(self.surfaces, other.surfaces),
            self.fields or other.fields,
            self.vocabulary or other.vocabulary,
        )


def _each_once(some: Iterable[Item], more: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(chain(some, more)))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The terms of live documents, ascending and packed (`index.strings`), with their frequencies."""

    packed: Packed
    df: Integers
    cf: Integers

    def __post_init__(self) -> None:
        """Kernels look into the arrays, which may have come from elsewhere."""
        data, offsets = self.packed
        fits = len(offsets) == len(self.df) + 1 == len(self.cf) + 1 and offsets[0] == 0 and offsets[-1] == len(data)
        if not fits or (offsets[1:] < offsets[:-1]).any():
            raise ParameterError("a vocabulary whose terms, df and cf do not belong together")

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Vocabulary":
        """Count all terms of an index."""
        parts = []
        for live in snapshot.segments:
            df, cf = live.frequencies()
            held = np.flatnonzero(df)
            parts.append(cls(choose_packed(live.segment.packed("term"), held), df[held], cf[held]))
        return cls.merged(parts)

    @classmethod
    def merged(cls, parts: Sequence["Vocabulary"]) -> "Vocabulary":
        """Add up the frequencies of each term."""
        if len(parts) == 1:
            return parts[0]
        strings = join_packed([part.packed for part in parts])
        order = sort_packed(strings, np.arange(len(strings[1]) - 1))
        first = np.flatnonzero(~mark_repeated(strings, order.astype(np.uint32)))
        if not len(first):
            return cls(strings, np.empty(0, np.int64), np.empty(0, np.int64))
        df, cf = (
            np.add.reduceat(np.concatenate(own)[order], first)
            for own in ([part.df for part in parts], [part.cf for part in parts])
        )
        return cls(choose_packed(strings, order[first]), df, cf)

    def __len__(self) -> int:
        return len(self.df)

    def terms(self) -> list[str]:
        """All terms."""
        return [str(term, "utf-8", "surrogatepass") for term in unpack_strings(*self.packed)]

    def frequencies_in(self, segment: Segment) -> tuple[Integers, Integers]:
        """Return df and cf of each term of a segment; 0 where no live document holds it."""
        found = find_all_packed(self.packed, segment.packed("term"))
        df, cf = np.append(self.df, 0), np.append(self.cf, 0)
        return df[found], cf[found]  # -1: the last, which is 0

    @cached_property
    def digest(self) -> str:
        """The same for the same vocabulary."""
        hashed = blake2b(digest_size=16)
        for part in (*self.packed, self.df, self.cf):
            hashed.update(part.astype(part.dtype if part.dtype == np.uint8 else "<i8").tobytes())
        return hashed.hexdigest()


@dataclass(frozen=True, eq=False)
class CollectionStatistics:
    """Documents, tokens, and what was needed of the rest.

    `fields`: the tokens of each text field. `priors`: the least log-prior that a live document has; None where none
    has one. `surfaces`: how often each written form of a term was counted.
    """

    n_docs: int
    n_tokens: int
    terms: Mapping[str, TermStats] = field(default_factory=dict)
    pairs: Mapping[Pair, PairStats] = field(default_factory=dict)
    priors: Mapping[Prior, float | None] = field(default_factory=dict)
    surfaces: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    fields: tuple[int, ...] | None = None
    vocabulary: Vocabulary | None = None

    @classmethod
    def merged(cls, parts: Iterable["CollectionStatistics"]) -> "CollectionStatistics":
        """The statistics of several parts together; no document may be in two of them."""
        parts = list(parts)
        if len(parts) == 1:
            return parts[0]
        fields = [part.fields for part in parts if part.fields is not None]
        vocabularies = [part.vocabulary for part in parts if part.vocabulary is not None]
        return cls(
            sum(part.n_docs for part in parts),
            sum(part.n_tokens for part in parts),
            merged_terms([part.terms for part in parts]),
            _merged_pairs([part.pairs for part in parts]),
            _merged_priors([part.priors for part in parts]),
            merged_surfaces([part.surfaces for part in parts]),
            tuple(map(sum, zip(*fields, strict=True))) if len(fields) == len(parts) else None,
            Vocabulary.merged(vocabularies) if len(vocabularies) == len(parts) else None,
        )

    def term_stats(self, terms: Iterable[str]) -> list[TermStats]:
        """The frequencies of terms, each of which was counted."""
        try:
            return [self.terms[term] for term in terms]
        except KeyError as unknown:
            raise _not_counted("terms", unknown.args[0]) from None

    def pair_stats(self, pair: Pair) -> PairStats:
        """The frequencies of a pair."""
        if pair not in self.pairs:
            raise _not_counted("pairs", " ".join(pair[:2]))
        return self.pairs[pair]

    def least_prior(self, prior: Prior) -> float | None:
        """The least log-prior that a live document has."""
        if prior not in self.priors:
            raise _not_counted("priors", str(prior))
        return self.priors[prior]

    def surface(self, term: str) -> str:
        """The commonest written form of a term."""
        return commonest_surface(term, self.surfaces.get(term, {}))

    @property
    def field_tokens(self) -> tuple[int, ...]:
        """The tokens of each text field."""
        if self.fields is None:
            raise _not_counted("fields", "the text fields")
        return self.fields

    @property
    def digest(self) -> str:
        """What depends on the whole vocabulary can be remembered by this."""
        return f"{self.n_docs} {self.n_tokens} {self._whole.digest}"

    @cached_property
    def entropy(self) -> float:
        """H(p_C), in nats."""
        return entropy_of(self._whole.cf, self.n_tokens)

    def frequencies_in(self, segment: Segment) -> tuple[Integers, Integers]:
        """Return df and cf of each term of a segment."""
        return self._whole.frequencies_in(segment)

    @property
    def _whole(self) -> Vocabulary:
        if self.vocabulary is None:
            raise _not_counted("vocabulary", "the whole vocabulary")
        return self.vocabulary


class Counted:
    """What was counted of a collection that does not change. Safe to use from many threads: nothing is taken out."""

    def __init__(self) -> None:
        self._terms: dict[str, TermStats] = {}
        self._pairs: dict[Pair, PairStats] = {}
        self._priors: dict[Prior, float | None] = {}
        self._surfaces: dict[str, Mapping[str, int]] = {}
        self._fields: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self._terms) + len(self._pairs) + len(self._priors) + len(self._surfaces)

    def missing(self, need: Need) -> Need:
        """What is still to be counted, but for the vocabulary."""
        return Need(
            tuple(term for term in need.terms if term not in self._terms),
            tuple(pair for pair in need.pairs if pair not in self._pairs),
            tuple(prior for prior in need.priors if prior not in self._priors),
            tuple(term for term in need.surfaces if term not in self._surfaces),
            need.fields and self._fields is None,
        )

    def add(self, fresh: CollectionStatistics) -> None:
        """Remember what was counted."""
        self._terms.update(fresh.terms)
        self._pairs.update(fresh.pairs)
        self._priors.update(fresh.priors)
        self._surfaces.update(fresh.surfaces)
        self._fields = fresh.fields if self._fields is None else self._fields

    def of(self, need: Need, n_docs: int, n_tokens: int, vocabulary: Vocabulary | None) -> CollectionStatistics:
        """What is needed, all of which was counted."""
        return CollectionStatistics(
            n_docs,
            n_tokens,
            {term: self._terms[term] for term in need.terms},
            {pair: self._pairs[pair] for pair in need.pairs},
            {prior: self._priors[prior] for prior in need.priors},
            {term: self._surfaces[term] for term in need.surfaces},
            self._fields if need.fields else None,
            vocabulary,
        )


def _not_counted(what: str, name: str) -> ParameterError:
    return ParameterError(f"the statistics lack '{name}': ask every part for it (Need.{what})")


def merged_terms(parts: Sequence[Mapping[str, TermStats]]) -> dict[str, TermStats]:
    """Add up the frequencies of terms."""
    total: dict[str, TermStats] = {}
    for part in parts:
        for term, (df, cf) in part.items():
            known = total.get(term, UNKNOWN)
            total[term] = TermStats(known.df + df, known.cf + cf)
    return total


def _merged_pairs(parts: Sequence[Mapping[Pair, PairStats]]) -> dict[Pair, PairStats]:
    total: dict[Pair, PairStats] = {}
    for part in parts:
        for pair, own in part.items():
            known = total.get(pair, (UNKNOWN, UNKNOWN))
            both = (TermStats(a.df + b.df, a.cf + b.cf) for a, b in zip(known, own, strict=True))
            total[pair] = PairStats(*both)
    return total


def _merged_priors(parts: Sequence[Mapping[Prior, float | None]]) -> dict[Prior, float | None]:
    named = dict.fromkeys(prior for part in parts for prior in part)
    known = {prior: [own for part in parts if (own := part.get(prior)) is not None] for prior in named}
    return {prior: min(values, default=None) for prior, values in known.items()}


def merged_surfaces(parts: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    """Add up how often each written form of each term was counted."""
    total: dict[str, dict[str, int]] = {}
    for part in parts:
        for term, forms in part.items():
            own = total.setdefault(term, {})
            for form, count in forms.items():
                own[form] = own.get(form, 0) + count
    return total
