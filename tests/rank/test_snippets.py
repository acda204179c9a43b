"""Snippets: the same as when every word of the text is analysed by itself."""

import re
from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.rank import snippets
from germane.rank.snippets import Pieces, Snippet, Span, marks, snippet
from germane.text import Analyzer, Synonyms

ANALYZERS = (Analyzer(), Analyzer("none", "none"), Analyzer("german", ("und",)), Analyzer("lemma"))
WORD = re.compile(r"\w+(?:['’]\w+)*")
WORDS = (
    "heart", "Hearts", "heart's", "l'heart", "attack", "attacks'", "the", "naïve", "x", "x_y", "1.5", "心臓病",
    "Straße",
)  # fmt: skip
GLUE = (" ", "  ", "\n", ", ", ".", "-", "'", "’", "_", "\u200b", "\xa0", "/", "")


def reference_marks(text: str, terms: Collection[str], analyzer: Analyzer) -> list[Span]:
    """Analyse each word of the text by itself."""
    spans = []
    for match in WORD.finditer(text):
        first = next((term for term in analyzer.terms(match[0]) if term in terms), None)
        if first is not None:
            spans.append(Span(*match.span(), first))
    return spans


def reference(text: str, terms: Collection[str], analyzer: Analyzer, width: int, longest: int) -> Snippet:
    """Try every word that the query asks for as the first of the window."""
    text = " ".join(text[:longest].split())
    spans = reference_marks(text, terms, analyzer)
    best, start = (0, 0), 0
    for i, first in enumerate(spans):
        inside = [span for span in spans[i : i + 50] if span.end <= first.start + width * 2 // 3]
        worth = len({span.term for span in inside}), len(inside)
        if worth > best:
            best, start = worth, first.start
    start = 0 if start <= width // 3 else text.rfind(" ", 0, start - width // 6) + 1
    start = min(start, text.find(" ", max(len(text) - width - 1, 0)) + 1) if len(text) > width else 0
    end = len(text) if start + width >= len(text) else max(text.rfind(" ", start, start + width), start + width // 2)
    before, after = ("… " if start else ""), (" …" if end < len(text) else "")
    shift = len(before) - start
    shown = [(span.start + shift, span.end + shift) for span in spans if start <= span.start and span.end <= end]
    return Snippet(before + text[start:end] + after, shown)


texts = st.lists(st.tuples(st.sampled_from(WORDS) | st.text(max_size=4), st.sampled_from(GLUE)), max_size=60).map(
    lambda parts: "".join(word + glue for word, glue in parts)
)
queries = st.sets(
    st.sampled_from(["heart", "attack", "naïv", "naïve", "x", "1.5", "心臓", "strasse", "strass", "hearts"])
)


@settings(max_examples=300, deadline=None)
@given(texts, queries, st.sampled_from(ANALYZERS), st.integers(20, 120), st.integers(0, 300))
def test_snippets_are_those_of_every_word_by_itself(
    text: str, terms: set[str], analyzer: Analyzer, width: int, longest: int
) -> None:
    assert snippet(text, terms, analyzer, width, longest) == reference(text, terms, analyzer, width, longest)
    assert marks(text, terms, analyzer) == reference_marks(text, terms, analyzer)


def test_terms_that_words_are_read_as() -> None:
    analyzer = Analyzer(synonyms=Synonyms({"heart attack": "myocardial infarction"}))
    spans = marks("A heart attack and an attack", {"infarct", "attack"}, analyzer)
    assert [(span.start, span.end, span.term) for span in spans] == [
        (2, 7, "infarct"), (8, 14, "infarct"), (22, 28, "attack"),
    ]  # fmt: skip


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces longer than the bound are not remembered, and when there are too many all are forgotten."""
    monkeypatch.setattr(snippets, "MOST_PIECES", 10)
    pieces = Pieces(Analyzer("none", "none"))
    long = "heart-" * 40 + "attack"
    for i in range(30):
        marked = pieces.holding({f"word{i}", "heart", long}, {"attack", "heart"})
        assert set(marked) == {"heart", long}
        assert len(marked[long]) == 41
        assert len(pieces._known.places) <= 12
        assert long not in pieces._known.places


@pytest.mark.parametrize("analyzer", ANALYZERS)
def test_readings_are_the_terms_of_each_word(analyzer: Analyzer) -> None:
    assert analyzer.readings(WORDS) == [analyzer.terms(word) for word in WORDS]


def test_a_piece_is_known_to_other_threads_once_all_of_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may ask at any moment: a piece whose places it finds, it finds by its terms too."""
    pieces, seen = Pieces(Analyzer()), list[bool]()

    class Watched(dict[str, snippets.Places]):
        def __setitem__(self, piece: str, places: snippets.Places) -> None:
            super().__setitem__(piece, places)
            seen.append(piece in pieces.holding({piece}, {"heart"}))

    monkeypatch.setattr(pieces._known, "places", Watched())
    assert pieces.holding({"hearts"}, {"heart"}).keys() == {"hearts"}
    assert seen == [True]
