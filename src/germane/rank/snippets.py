"""The piece of a text that shows best why it was found, with the query's words marked."""

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import NamedTuple

from germane.text import Analyzer
from germane.types import FieldValue

WIDTH = 240
LONGEST = 200_000
"""Characters that are looked at: a snippet of a whole book is not worth its reading."""

OF_ALL, LEAST = 400_000, 1_000
"""Characters that are looked at for all results of one answer together, and at least for each."""


def longest_of(n_results: int) -> int:
    """Characters of its text that are looked at for each of so many results.

    >>> longest_of(1), longest_of(20), longest_of(1_000)
    (200000, 20000, 1000)
    """
    return min(LONGEST, max(LEAST, OF_ALL // max(n_results, 1)))


_WORD = re.compile(r"\w+(?:['’]\w+)*")
MOST_WORDS = 100_000
"""Words whose terms are remembered, of each analyser."""
MOST_ANALYZERS = 8
MOST_IN_WINDOW = 50
"""Words of the query that are counted in one piece of a text."""


class Span(NamedTuple):
    """A place in a text, and the term that stands there."""

    start: int
    end: int
    term: str


class Snippet(NamedTuple):
    """A text, and where in it the query's words are."""

    text: str
    marks: list[tuple[int, int]]

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """The text with the query's words marked."""
        parts, end = [], 0
        for start, stop in self.marks:
            parts += [escape(self.text[end:start]), f"<mark>{escape(self.text[start:stop])}</mark>"]
            end = stop
        return "".join([*parts, escape(self.text[end:])])


class _Known:
    """The terms of words, and the words that have each term."""

    __slots__ = ("terms", "words")

    def __init__(self) -> None:
        self.terms: dict[str, tuple[str, ...]] = {}
        self.words: dict[str, set[str]] = {}


class WordTerms:
    """The terms of single words under an analyser, each found out once."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer, self._known = analyzer, _Known()

    def asked(self, words: set[str], terms: Collection[str]) -> dict[str, str]:
        """The words that have one of the terms, and the first that they have. Threads may ask at once: what each finds
        out is the same."""
        known = self._known
        if len(known.terms) > MOST_WORDS:
            known = self._known = _Known()  # another thread may still read the old one
        for word in words.difference(known.terms):
            own = tuple(self._analyzer.terms(word))
            for term in own:
                known.words.setdefault(term, set()).add(word)
            known.terms[word] = own
        found = [words & known.words[term] for term in terms if term in known.words]
        return {word: next(each for each in known.terms[word] if each in terms) for word in set().union(*found)}


_WORDS: dict[int, tuple[Analyzer, WordTerms]] = {}
"""By the analyser itself, which is held, so that its number is no other's."""


def _words_of(analyzer: Analyzer) -> WordTerms:
    found = _WORDS.get(id(analyzer))
    if found is None:
        while len(_WORDS) >= MOST_ANALYZERS:
            _WORDS.pop(next(iter(_WORDS), 0), None)
        found = _WORDS[id(analyzer)] = analyzer, WordTerms(analyzer)
    return found[1]


def marks(text: str, terms: Collection[str], analyzer: Analyzer) -> list[Span]:
    """The words of the text that the query asks for; with synonyms, the words of a term that is read as another too."""
    if analyzer.synonyms is not None:  # what a word stands for depends on its neighbours
        found = list(_WORD.finditer(text))
        read = analyzer.readings([match[0] for match in found])
        first = [next((term for term in own if term in terms), None) for own in read]
        return [Span(*match.span(), term) for match, term in zip(found, first, strict=True) if term is not None]
    asked = _words_of(analyzer).asked(set(_WORD.findall(text)), terms)
    if not asked:
        return []
    return [Span(match.start(), match.end(), asked[match[0]]) for match in _WORD.finditer(text) if match[0] in asked]


def snippet_text(stored: Mapping[str, FieldValue], text_fields: Sequence[str]) -> str:
    """Join the text fields of a document, but for its title, which results show anyway."""
    names = [name for name in text_fields if name != "title"] or text_fields
    return "\n".join(str(stored[name]) for name in names if stored.get(name) is not None)


def snippet(
    text: str,
    terms: Collection[str],
    analyzer: Analyzer,
    width: int = WIDTH,
    longest: int = LONGEST,
) -> Snippet:
    """About `width` characters that hold as many different words of the query as possible, of the first `longest`."""
    text = " ".join(text[:longest].split())
    spans = marks(text, terms, analyzer)
    start = _best_start(spans, width)
    start = 0 if start <= width // 3 else text.rfind(" ", 0, start - width // 6) + 1
    start = min(start, text.find(" ", max(len(text) - width - 1, 0)) + 1) if len(text) > width else 0
    end = len(text) if start + width >= len(text) else max(text.rfind(" ", start, start + width), start + width // 2)
    before, after = ("… " if start else ""), (" …" if end < len(text) else "")
    shift = len(before) - start
    inside = [(span.start + shift, span.end + shift) for span in spans if start <= span.start and span.end <= end]
    return Snippet(before + text[start:end] + after, inside)


def _best_start(spans: list[Span], width: int) -> int:
    """Where a window begins that holds the most different terms, then the most words."""
    best, start, end = (0, 0), 0, 0
    inside: dict[str, int] = {}
    for i, first in enumerate(spans):  # the window moves on: each word comes in once and goes out once
        end = max(end, i)
        while end < min(len(spans), i + MOST_IN_WINDOW) and spans[end].end <= first.start + width * 2 // 3:
            inside[spans[end].term] = inside.get(spans[end].term, 0) + 1
            end += 1
        worth = len(inside), end - i
        if worth > best:
            best, start = worth, first.start
        if end > i:
            inside[first.term] -= 1
            if not inside[first.term]:
                del inside[first.term]
    return start
