"""Records that describe the same work: by DOI, by PMID, then by title and year.

Identifiers decide first. Of two records that lack a common one, titles do: their words (case, accents and punctuation
aside) must be nearly the same, |A ∩ B|/|A ∪ B| ≥ `similarity`, and their years, where both have one, at most one apart,
as those of an article ahead of print and in print are. A title of fewer than SHORT words ("Editorial", "Reply to the
authors") must be the same, with the same year and the same first author. Records whose DOIs differ, or whose PMIDs do,
are never the same work, not even by way of a third. What two records share is found without comparing all pairs, by the
rarest words of each title (prefix filtering: Chaudhuri, Ganti & Kaushik 2006).
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from germane.data.bibliographic import clean_doi, listed
from germane.data.fields import year_of
from germane.errors import ParameterError
from germane.types import Document

SIMILARITY = 0.9
SHORT = 4
"""Titles of fewer words are too common to be told apart by them."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A record that another one stands for: places in the list, from 0, why, and how alike the titles are (0 to 1)."""

    place: int
    kept: int
    reason: str
    similarity: float


def find_duplicates(documents: Sequence[Document], similarity: float = SIMILARITY) -> list[Duplicate]:
    """The duplicates, in the order of the list; whatever is not among them is kept.

    Of each group the record that says most is kept: one with an abstract before one without, then the one with most
    fields, then the longest abstract, then the first. `reason` is what joined the record to its group.
    """
    if not 0.0 < similarity <= 1.0:
        raise ParameterError(f"the similarity of titles is a number above 0, up to 1, not {similarity}")
    works = [_Work.of(document) for document in documents]
    groups = _Groups(works)
    for name in ("doi", "pmid"):
        seen: dict[str, int] = {}
        for place, work in enumerate(works):
            identifier = getattr(work, name)
            if identifier:
                groups.join(seen.setdefault(identifier, place), place, name)
    for one, other in _alike(works, similarity):
        groups.join(one, other, "title")
    return sorted(_dropped(documents, works, groups), key=lambda duplicate: duplicate.place)


@dataclass(frozen=True, slots=True)
class _Work:
    """What tells a work from others."""

    doi: str
    pmid: str
    words: frozenset[tuple[str, int]]
    """The words of the title; a second `the` is another word than the first."""
    year: int | None
    author: str

    @classmethod
    def of(cls, document: Document) -> "_Work":
        fields = {name.lower(): value for name, value in document.fields.items()}
        first = {name: next(iter(listed(fields.get(name))), "") for name in ("doi", "pmid", "title", "year", "author")}
        counted: Counter[str] = Counter()
        words = []
        for word in _WORD.findall(_plain(first["title"])):
            counted[word] += 1
            words.append((word, counted[word]))
        author = _WORD.findall(_plain(first["author"].partition(",")[0]))
        return cls(
            clean_doi(first["doi"]).lower(),
            first["pmid"].strip(),
            frozenset(words),
            year_of(first["year"]),
            author[0] if author else "",
        )


def _plain(text: str) -> str:
    """Without case and accents."""
    return "".join(mark for mark in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(mark))


class _Groups:
    """Records found to be one work; each group is known by its first record."""

    def __init__(self, works: Sequence[_Work]) -> None:
        self._first = list(range(len(works)))
        self._known = [({work.doi} - {""}, {work.pmid} - {""}) for work in works]
        self.reason: dict[int, str] = {}

    def first(self, place: int) -> int:
        """The first record of the group."""
        while self._first[place] != place:
            self._first[place] = place = self._first[self._first[place]]
        return place

    def join(self, one: int, other: int, reason: str) -> None:
        """Make one group of two, unless their identifiers speak against it."""
        a, b = sorted((self.first(one), self.first(other)))
        if a == b:
            return
        if any(
            mine and theirs and mine.isdisjoint(theirs)
            for mine, theirs in zip(self._known[a], self._known[b], strict=True)
        ):
            return
        self._first[b] = a
        for mine, theirs in zip(self._known[a], self._known[b], strict=True):
            mine |= theirs
        for place in (a, b):
            self.reason.setdefault(place, reason)


def _alike(works: Sequence[_Work], similarity: float) -> Iterator[tuple[int, int]]:
    """Pairs whose titles and years agree, identical titles first."""
    same: dict[Hashable, int] = {}
    for place, work in enumerate(works):
        if len(work.words) < SHORT and (not work.words or not work.author or work.year is None):
            continue
        key = (work.words, work.year, work.author if len(work.words) < SHORT else "")
        if same.setdefault(key, place) != place:
            yield same[key], place
    frequency = Counter(word for work in works for word in work.words)
    holding: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place, work in enumerate(works):
        if len(work.words) < SHORT:
            continue
        rarest = sorted(work.words, key=lambda word: (frequency[word], word))
        prefix = rarest[: len(rarest) - math.ceil(similarity * len(rarest)) + 1]
        for other in dict.fromkeys(other for word in prefix for other in holding[word]):
            if _years_agree(work, works[other]) and _jaccard(work, works[other]) >= similarity:
                yield other, place
        for word in prefix:
            holding[word].append(place)


def _years_agree(one: _Work, other: _Work) -> bool:
    return one.year is None or other.year is None or abs(one.year - other.year) <= 1


def _jaccard(one: _Work, other: _Work) -> float:
    both = len(one.words & other.words)
    return both / (len(one.words) + len(other.words) - both) if both else 0.0


def _dropped(documents: Sequence[Document], works: Sequence[_Work], groups: _Groups) -> Iterator[Duplicate]:
    members: dict[int, list[int]] = defaultdict(list)
    for place in range(len(works)):
        members[groups.first(place)].append(place)
    for places in members.values():
        kept = max(places, key=lambda place: (*_says(documents[place]), -place))
        for place in places:
            if place != kept:
                yield Duplicate(place, kept, groups.reason[place], _jaccard(works[place], works[kept]))


def _says(document: Document) -> tuple[bool, int, int]:
    """How much a record says: an abstract, how many fields, how long an abstract."""
    abstract = len(str(document.fields.get("text") or document.fields.get("abstract") or ""))
    return abstract > 0, len(document.fields), abstract
