"""The piece of a text that shows best why it was found, with the query's words marked."""

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from germane import Analyzer

WIDTH = 240
LONGEST = 200_000
"""Characters that are looked at: a snippet of a whole book is not worth its reading."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")


class Span(NamedTuple):
    """A place in a text, and the term that stands there."""

    start: int
    end: int
    term: str


class Snippet(NamedTuple):
    """A text, and where in it the query's words are."""

    text: str
    marks: list[tuple[int, int]]


def marks(
    text: str, terms: Collection[str], analyzer: "Analyzer", known: dict[str, str | None] | None = None
) -> list[Span]:
    """The words of the text that the query asks for.

    `known`: what was found out of words so far, kept between calls with the same terms.
    """
    found: list[Span] = []
    known = {} if known is None else known
    for match in _WORD.finditer(text):
        word = match[0]
        if word not in known:
            known[word] = next((term for term in analyzer.terms(word) if term in terms), None)
        term = known[word]
        if term is not None:
            found.append(Span(match.start(), match.end(), term))
    return found


def snippet(
    text: str,
    terms: Collection[str],
    analyzer: "Analyzer",
    width: int = WIDTH,
    known: dict[str, str | None] | None = None,
) -> Snippet:
    """About `width` characters that hold as many different words of the query as possible."""
    text = " ".join(text[:LONGEST].split())
    spans = marks(text, terms, analyzer, known)
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
    best, start = (0, 0), 0
    for i, first in enumerate(spans):
        inside = _within(spans[i : i + 50], first.start + width * 2 // 3)
        worth = len({span.term for span in inside}), len(inside)
        if worth > best:
            best, start = worth, first.start
    return start


def _within(spans: Iterable[Span], end: int) -> list[Span]:
    return [span for span in spans if span.end <= end]
