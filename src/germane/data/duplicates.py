"""Records that describe the same work: by DOI, by PMID, by arXiv id, then by title with year, author and abstract.

Identifiers decide first. Of two records that lack a common one, titles do: their words (case, accents and punctuation
aside) must be nearly the same, m/(|A| + |B| - m) ≥ `similarity`. m counts the words in both titles, and of the others
the pairs that differ by one letter (a typing error, another spelling), each 1 - 1/2n for n letters. A title that is
another one without its subtitle counts too, where first authors or abstracts say so as well. Against it speak years
more than one apart (an article ahead of print and in print are one apart), first authors who share no name, numbers
that differ ("part 1", "part 2"), an erratum or a reply on one side, a long word on each side that the other lacks, and
abstracts that begin differently. A title of fewer than SHORT words ("Editorial", "Reply to the authors") must be the
same, with the same year and the same first author, unless the abstracts are the same.

Records whose DOIs differ, or whose PMIDs or arXiv ids do, are never the same work, not even by way of a third. A
preprint and the article that came of it are two works: only an identifier joins a preprint with what does not say that
it is one. What two records share is found without comparing all pairs, by the rarest words of each title (prefix
filtering: Chaudhuri, Ganti & Kaushik 2006), by the first words of the abstracts, and by first author and year.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import Any

from germane.data.same_work import OPENING, agree, likeness
from germane.data.works import IDENTIFIERS, SHORT, Work
from germane.errors import ParameterError
from germane.types import Document

SIMILARITY = 0.9
RARE = 5
"""As many of a title's rarest words, of those that other titles have too, lead to titles that may be the same."""
MOST_CANDIDATES = 100
"""Records that share one key and are compared: more share it only where it says little."""
MOST_OF_A_WORD = 1000
"""The same of words that titles of the similarity asked for are sure to share."""
MOST_ERRORS = 3
"""Words of a title that typing errors may spoil."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record that another one stands for: places in the list, from 0, why, and how alike the titles are (0 to 1)."""

    place: int
    kept: int
    reason: str
    similarity: float


def find_duplicates(
    documents: Sequence[Document],
    similarity: float = SIMILARITY,
    works: Sequence[Work] | None = None,
    agreeing: Sequence[tuple[int, int]] | None = None,
) -> list[Duplicate]:
    """The duplicates, in the order of the list; whatever is not among them is kept.

    Of each group the record that says most is kept: one with an abstract before one without, then the one with most
    fields, then the longest abstract, then the first. `reason` is what joined the record to its group. `works`: the
    documents' `Work.of`, where they were made before; `agreeing`: the pairs of them that `TitlePairs` found.
    """
    if not 0.0 < similarity <= 1.0:
        raise ParameterError(f"the similarity of titles is a number above 0, up to 1, not {similarity}")
    works = [Work.of(document) for document in documents] if works is None else works
    groups = _Groups(works)
    for name in IDENTIFIERS:
        seen: dict[str, int] = {}
        for place, work in enumerate(works):
            identifier = getattr(work, name)
            if identifier and (first := seen.setdefault(identifier, place)) != place:
                groups.join(first, place, name)
    for one, other in _alike(works, similarity, groups, agreeing):
        groups.join(one, other, "title")
    return sorted(_dropped(documents, works, groups), key=lambda duplicate: duplicate.place)


class _Groups:
    """Records found to be one work; each group is known by its first record."""

    def __init__(self, works: Sequence[Work]) -> None:
        self._first = list(range(len(works)))
        self._works = works
        self._known: dict[int, tuple[set[str], ...]] = {}
        self.reason: dict[int, str] = {}

    def first(self, place: int) -> int:
        """The first record of the group."""
        while self._first[place] != place:
            self._first[place] = place = self._first[self._first[place]]
        return place

    def join(self, one: int, other: int, reason: str) -> None:
        """Make one group of two, unless their identifiers speak against it."""
        a, b = self.first(one), self.first(other)
        if a > b:
            a, b = b, a
        if a == b or (reason == "title" and self._works[a].preprint != self._works[b].preprint):
            return
        both = list(zip(self._identifiers(a), self._identifiers(b), strict=True))
        if any(mine and theirs and mine.isdisjoint(theirs) for mine, theirs in both):
            return
        self._first[b] = a
        for mine, theirs in both:
            mine |= theirs
        for place in (a, b):
            self.reason.setdefault(place, reason)

    def _identifiers(self, first: int) -> tuple[set[str], ...]:
        """Of each kind those that the records of a group have."""
        if first not in self._known:
            work = self._works[first]
            self._known[first] = tuple({getattr(work, name)} - {""} for name in IDENTIFIERS)
        return self._known[first]


def _alike(
    works: Sequence[Work], similarity: float, groups: _Groups, agreeing: Sequence[tuple[int, int]] | None
) -> Iterator[tuple[int, int]]:
    """Pairs whose titles agree and against which nothing speaks, identical titles first."""
    same: dict[Hashable, list[int]] = defaultdict(list)
    for place, work in enumerate(works):
        heads = same[work.words]
        for other in heads if work.words else ():
            if groups.first(other) != groups.first(place) and agree(works[other], work, similarity):
                yield other, place
        if len(heads) < MOST_CANDIDATES:
            heads.append(place)
    keys = _Keys(works, similarity)
    if agreeing is not None:
        yield from (pair for pair in agreeing if keys.shared(*pair))
        return
    for one, other in _candidates(works, keys, similarity):
        if groups.first(one) != groups.first(other) and agree(works[one], works[other], similarity):
            yield one, other


class _Keys:
    """By what records whose titles may be nearly the same are found, without comparing all pairs.

    They share one key that is sure to be shared: one of as many of the rarest words of a title as two titles of that
    similarity must have one of in common, or the beginning of the abstract. Or they share two of those that are likely
    to be: the rarest words that other titles have too, since a typing error makes a word that none has, of the title
    and of that without its subtitle; the first author with the year. Of the records that have a key, the first count.
    """

    def __init__(self, works: Sequence[Work], similarity: float) -> None:
        self._works, self._similarity = works, similarity
        self._postings: dict[Hashable, list[int]] = {}

    @cached_property
    def _times(self) -> Counter[str]:
        """In how many titles each word is."""
        times: Counter[str] = Counter()
        for work in self._works:
            times.update(work.words)
        return times

    def of(self, place: int) -> tuple[list[str], tuple[str, ...], list[Hashable]]:
        """Words that are sure to be shared, the beginning of the abstract, and keys that are likely to be shared."""
        work, times = self._works[place], self._times.__getitem__
        rarest = sorted(work.ordered_words, key=times)
        shared = [word for word in rarest if times(word) > 1]
        sure: list[str] = []
        if shared and len(rarest) >= SHORT:
            # Of words equally rare any may come first in another title: all of them count.
            edge = times(rarest[len(rarest) - math.ceil(self._similarity * len(rarest))])
            sure = list(takewhile(lambda word: times(word) <= edge, shared))
        opening = work.opening[:OPENING] if len(work.opening) >= OPENING else ()
        return sure, opening, _likely_keys(work, shared)

    def shared(self, one: int, other: int) -> bool:
        """Whether `_candidates` would come upon this pair, by these keys."""
        mine, theirs = self.of(one), self.of(other)
        if any(self._is_among(one, word, 0, MOST_OF_A_WORD) for word in theirs[0] if word in mine[0]):
            return True
        if mine[1] and mine[1] == theirs[1] and self._is_among(one, mine[1], 1, MOST_CANDIDATES):
            return True
        return sum(self._is_among(one, key, 2, MOST_CANDIDATES) for key in theirs[2] if key in mine[2]) > 1

    def _is_among(self, place: int, key: Hashable, kind: int, most: int) -> bool:
        """Whether the record is one of the first `most` that have the key."""
        if place < most or (isinstance(key, str) and self._times[key] <= most):
            return True
        if (kind, key) not in self._postings:
            having = (p for p, work in enumerate(self._works) if work.words and self._has(p, key, kind))
            self._postings[kind, key] = list(islice(having, most))
        return place in self._postings[kind, key]

    def _has(self, place: int, key: Hashable, kind: int) -> bool:
        if isinstance(key, str) and key not in self._works[place].words:
            return False
        keys = self.of(place)[kind]
        return keys == key if kind == 1 else key in keys


def _candidates(works: Sequence[Work], keys: _Keys, similarity: float) -> Iterator[tuple[int, int]]:
    """Pairs of records that share keys, the later record second, if one title has not too many words of its own."""
    sure: dict[Hashable, list[int]] = defaultdict(list)
    likely: dict[Hashable, list[int]] = defaultdict(list)
    for place, work in enumerate(works):
        if not work.words:
            continue
        words, opening, several = keys.of(place)
        found: set[int] = set()
        for word in words:
            others = sure[word]
            found.update(others)
            if len(others) < MOST_OF_A_WORD:
                others.append(place)
        if opening:
            others = sure[opening]
            found.update(others)
            if len(others) < MOST_CANDIDATES:
                others.append(place)
        once: set[int] = set()
        for key in several:
            others = likely[key]
            if others:
                found.update(once.intersection(others))
                once.update(others)
            if len(others) < MOST_CANDIDATES:
                others.append(place)
        n, signature = len(work.words), work.signature
        for other in sorted(found):
            theirs = works[other]
            lacks = (
                signature & ~theirs.signature if n <= len(theirs.words) else theirs.signature & ~signature
            ).bit_count()
            if lacks > MOST_ERRORS and lacks > most_lacking(n, similarity):
                continue
            if work.words != theirs.words:  # the same words are compared elsewhere
                yield other, place


def most_lacking(n: Any, similarity: float) -> Any:
    """Of n words of a title, or of several titles, how many another may lack for Jaccard's coefficient to reach it."""
    return n * (1 - similarity) / (1 + similarity)


def _likely_keys(work: Work, shared: Sequence[str]) -> list[Hashable]:
    """`shared`: the words of the title that others have too, the rarest first."""
    keys: list[Hashable] = [*shared[:RARE]]
    if work.mains and len(shared) > RARE:
        main = frozenset(work.mains[0])
        keys += [word for word in [word for word in shared if word in main][:RARE] if word not in keys]
    keys += work.author_keys
    return keys


def _dropped(documents: Sequence[Document], works: Sequence[Work], groups: _Groups) -> Iterator[Duplicate]:
    members: dict[int, list[int]] = defaultdict(list)
    for place in range(len(works)):
        members[groups.first(place)].append(place)
    for places in members.values():
        if len(places) == 1:
            continue
        kept = max(places, key=lambda place: (*_says(documents[place]), -place))
        for place in places:
            if place != kept:
                yield Duplicate(place, kept, groups.reason[place], likeness(works[place], works[kept]))


def _says(document: Document) -> tuple[bool, int, int]:
    """How much a record says: an abstract, how many fields, how long an abstract."""
    abstract = len(str(document.fields.get("text") or document.fields.get("abstract") or ""))
    return abstract > 0, len(document.fields), abstract
