"""The piece of text shown with a result."""

from germane.rank.snippets import LONGEST, snippet
from germane.text import Analyzer


def marked(found):
    return [found.text[start:end] for start, end in found.marks]


def test_a_short_text_is_shown_whole():
    found = snippet("The dogs\n ran.", {"dog"}, Analyzer())
    assert found.text == "The dogs ran."
    assert marked(found) == ["dogs"]


def test_the_window_with_most_different_words_is_chosen():
    filler = "lorem ipsum " * 60
    found = snippet(f"heart {filler} heart attacks' cause {filler}", {"heart", "attack"}, Analyzer(), 100)
    assert marked(found) == ["heart", "attacks"]
    assert found.text.startswith("… ")
    assert found.text.endswith(" …")
    assert len(found.text) <= 104


def test_the_end_of_the_text_fills_the_window():
    found = snippet("word " * 100 + "heart.", {"heart"}, Analyzer(), 60)
    assert found.text.endswith("heart.")
    assert 50 <= len(found.text) <= 62


def test_edges():
    assert snippet("", {"x"}, Analyzer()).text == ""
    assert snippet("no match here", {"x"}, Analyzer()).marks == []
    assert len(snippet("x" * (LONGEST * 2), {"x"}, Analyzer()).text) < 300
