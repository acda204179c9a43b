"""The piece of a text that shows best why it was found, with the query's words marked."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from itertools import chain
from typing import NamedTuple, TypeAlias

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
_MARKS = '.,;:()[]"'
_PIECE = re.compile(r"\S+")
MOST_PIECES, LONGEST_PIECE = 1 << 16, 64
"""Pieces whose words are remembered, of each analyser, and the characters that such a piece has at most."""
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


Places: TypeAlias = tuple[tuple[int, int, tuple[str, ...]], ...]
"""The words of a piece that have terms: where each begins and ends, and its terms."""


class _Known:
    """The words of pieces, and the pieces that hold each term."""

    __slots__ = ("pieces", "places")

    def __init__(self) -> None:
        self.places: dict[str, Places] = {}
        self.pieces: defaultdict[str, set[str]] = defaultdict(set)


class Pieces:
    """The words of pieces of text under an analyser: a piece is what stands between spaces.

    Texts repeat most of their pieces, and each is analysed once.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer, self._known = analyzer, _Known()

    def holding(self, pieces: set[str], terms: Collection[str]) -> dict[str, list[tuple[int, int, str]]]:
        """Return the pieces that hold one of the terms: where each of its words with one begins and ends, and the first
        such term. Threads may ask at once: what each finds out is the same.
        """
        known = self._known
        if len(known.places) > MOST_PIECES:
            known = self._known = _Known()  # another thread may still read the old one
        new, long = pieces.difference(known.places), dict[str, Places]()
        for piece, places in zip(new, self._analysed(new), strict=True):
            if len(piece) > LONGEST_PIECE:
                long[piece] = places
                continue
            for _, _, word_terms in places:
                for term in word_terms:
                    known.pieces[term].add(piece)
            known.places[piece] = places  # last: another thread takes a piece that has places for one read whole
        holding = set().union(*(pieces & known.pieces[term] for term in terms if term in known.pieces))
        marked = {}
        for piece, places in chain(((piece, known.places[piece]) for piece in holding), long.items()):
            read = [(start, end, _first(word_terms, terms)) for start, end, word_terms in places]
            marked[piece] = [(start, end, term) for start, end, term in read if term is not None]
        return marked

    def _analysed(self, pieces: Iterable[str]) -> list[Places]:
        """The words of each piece, all of them analysed together."""
        words = list(map(_words, pieces))
        terms = iter(self._analyzer.readings([word for piece_words in words for _, _, word in piece_words]))
        read: list[Places] = []
        for piece_words in words:
            places = [(start, end, tuple(word_terms)) for start, end, _ in piece_words if (word_terms := next(terms))]
            read.append(tuple(places))
        return read


def _words(piece: str) -> list[tuple[int, int, str]]:
    """The words of a piece: most are one, with a punctuation mark or without."""
    bare = piece.strip(_MARKS)
    if bare.isalnum():
        begin = piece.index(bare)
        return [(begin, begin + len(bare), bare)]
    return [(*match.span(), match[0]) for match in _WORD.finditer(piece)]


def _first(word_terms: Iterable[str], terms: Collection[str]) -> str | None:
    return next((term for term in word_terms if term in terms), None)


_PIECES: dict[int, tuple[Analyzer, Pieces]] = {}
"""By the analyser itself, which is held, so that its number is no other's."""


def _pieces_of(analyzer: Analyzer) -> Pieces:
    known = _PIECES.get(id(analyzer))
    if known is None:
        while len(_PIECES) >= MOST_ANALYZERS:
            _PIECES.pop(next(iter(_PIECES), 0), None)
        known = _PIECES[id(analyzer)] = analyzer, Pieces(analyzer)
    return known[1]


def marks(text: str, terms: Collection[str], analyzer: Analyzer) -> list[Span]:
    """The words of the text that the query asks for; with synonyms, the words of a term that is read as another too."""
    if analyzer.synonyms is not None:  # what a word stands for depends on its neighbours
        words = list(_WORD.finditer(text))
        first = [_first(word_terms, terms) for word_terms in analyzer.readings([word[0] for word in words])]
        return [Span(*word.span(), term) for word, term in zip(words, first, strict=True) if term is not None]
    pieces = {match.start(): match[0] for match in _PIECE.finditer(text)}
    marked = _pieces_of(analyzer).holding(set(pieces.values()), terms)
    return [
        Span(at + start, at + end, term)
        for at, piece in pieces.items()
        if piece in marked
        for start, end, term in marked[piece]
    ]


def _marks_of_all(texts: Sequence[Sequence[str]], terms: Collection[str], analyzer: Analyzer) -> list[list[Span]]:
    """`marks` of several texts, given as their pieces, which single spaces separate."""
    if analyzer.synonyms is not None:
        return [marks(" ".join(pieces), terms, analyzer) for pieces in texts]
    marked = _pieces_of(analyzer).holding(set[str]().union(*texts), terms)
    spans = []
    for pieces in texts:
        text_spans, at = list[Span](), 0
        for piece in pieces:
            if piece in marked:
                text_spans += [Span(at + start, at + end, term) for start, end, term in marked[piece]]
            at += len(piece) + 1
        spans.append(text_spans)
    return spans


def snippet_text(stored: Mapping[str, FieldValue], text_fields: Sequence[str]) -> str:
    """Join the text fields of a document, but for its title, which results show anyway."""
    names = [name for name in text_fields if name != "title"] or text_fields
    return "\n".join(str(stored[name]) for name in names if stored.get(name) is not None)


def snippet(
    text: str, terms: Collection[str], analyzer: Analyzer, width: int = WIDTH, longest: int = LONGEST
) -> Snippet:
    """About `width` characters that hold as many different words of the query as possible, of the first `longest`."""
    return snippets([text], terms, analyzer, width, longest)[0]


def snippets(
    texts: Iterable[str], terms: Collection[str], analyzer: Analyzer, width: int = WIDTH, longest: int = LONGEST
) -> list[Snippet]:
    """A snippet of each text; those of one answer take less time together than one by one."""
    pieces = [text[:longest].split() for text in texts]
    spans = _marks_of_all(pieces, terms, analyzer)
    return [_cut(" ".join(words), marked, width) for words, marked in zip(pieces, spans, strict=True)]


def _cut(text: str, spans: list[Span], width: int) -> Snippet:
    """The window of a text with the most different terms."""
    start = _best_start(spans, width)
    start = 0 if start <= width // 3 else text.rfind(" ", 0, start - width // 6) + 1
    start = min(start, text.find(" ", max(len(text) - width - 1, 0)) + 1) if len(text) > width else 0
    end = len(text) if start + width >= len(text) else max(text.rfind(" ", start, start + width), start + width // 2)
    before, after = ("… " if start else ""), (" …" if end < len(text) else "")
    shift = len(before) - start
    inside = [(first + shift, last + shift) for first, last, _ in spans if start <= first and last <= end]
    return Snippet(before + text[start:end] + after, inside)


def _best_start(spans: list[Span], width: int) -> int:
    """Where a window begins that holds the most different terms, then the most words."""
    best, start, end = (0, 0), 0, 0
    inside: dict[str, int] = {}
    for i, (first, _, term) in enumerate(spans):  # the window moves on: each word comes in once and goes out once
        if len(spans) - i <= best[0]:
            break
        end, stop = max(end, i), first + width * 2 // 3
        while end < len(spans) and end < i + MOST_IN_WINDOW and spans[end].end <= stop:
            entering = spans[end].term
            inside[entering] = inside.get(entering, 0) + 1
            end += 1
        worth = len(inside), end - i
        if worth > best:
            best, start = worth, first
        if end > i:
            inside[term] -= 1
            if not inside[term]:
                del inside[term]
    return start
