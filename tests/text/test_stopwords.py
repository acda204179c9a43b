import pytest

from germane.errors import ParameterError
from germane.text.stopwords import STOP_LISTS, stop_list
from germane.text.tokenizer import tokenize


@pytest.mark.parametrize("name", sorted(STOP_LISTS))
def test_words_are_as_the_tokeniser_emits_them(name: str) -> None:
    assert [word for word in stop_list(name) if tokenize(word) != [word]] == []


def test_sizes() -> None:
    assert stop_list("none") == frozenset()
    assert len(stop_list("lucene")) == 33
    assert 60 <= len(stop_list("english")) <= 130


def test_english_holds_function_words_only() -> None:
    assert {"the", "of", "dont", "is"} <= stop_list("english")
    content = {
        "system",
        "interest",
        "us",
        "may",
        "mine",
        "well",
        "ill",
        "hell",
        "shed",
        "wed",
        "shell",
        "down",
        "back",
        "part",
    }
    assert not content & stop_list("english")


def test_unknown_name() -> None:
    with pytest.raises(ParameterError, match=r"'klingon'; valid names: none, english, lucene"):
        stop_list("klingon")
