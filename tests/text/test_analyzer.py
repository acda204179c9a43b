import copy
import json
import pickle
from typing import Any

import pytest

from germane.errors import IndexFormatError, ParameterError
from germane.text import Analyzer, analyzer

ANALYZERS = [
    Analyzer(),
    Analyzer(stemmer="none"),
    Analyzer(stemmer="porter"),
    Analyzer(stopwords="none"),
    Analyzer(stopwords="lucene"),
    Analyzer(stopwords=()),
    Analyzer(stopwords=("the", "of")),
    Analyzer("french", "french"),
]


def test_terms() -> None:
    assert Analyzer().terms("The cats' ranking of the documents: don't rank the cat's") == [
        "cat", "rank", "document", "rank", "cat",
    ]  # fmt: skip
    assert Analyzer("none", "none").terms("The cats' ranking") == ["the", "cats", "ranking"]
    assert Analyzer("french", "french").terms("Les chevaux de la forêt") == ["cheval", "forêt"]


def test_stop_words_go_before_stemming() -> None:
    assert Analyzer("english", ("rank",)).terms("rank ranking ranks") == ["rank", "rank"]


def test_term_of() -> None:
    assert Analyzer().term_of("the") is None
    assert Analyzer().term_of("ranking") == "rank"


@pytest.mark.parametrize("text", ["", "   ", "...!?", "the of and"])
def test_texts_without_terms(text: str) -> None:
    assert Analyzer().terms(text) == []


def test_given_stop_words_take_the_tokenisers_form() -> None:
    assert Analyzer(stopwords=("Don't", "ÉTÉ", "été")).stopwords == ("dont", "été")
    assert Analyzer(stopwords=("b", "a")) == Analyzer(stopwords=("a", "b", "a"))


@pytest.mark.parametrize("one", ANALYZERS)
def test_round_trips(one: Analyzer) -> None:
    again = Analyzer.from_dict(json.loads(json.dumps(one.to_dict())))
    assert again == one
    assert again.fingerprint == one.fingerprint
    assert hash(again) == hash(one)
    for copied in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert copied == one
        assert copied.stop_tokens == one.stop_tokens


def test_fingerprints_differ() -> None:
    assert len({one.fingerprint for one in ANALYZERS}) == len(ANALYZERS)


def test_fingerprint_is_stable() -> None:
    """A new value here means that indexes built before can no longer be searched: say so in the changelog.

    The first is sha256 of {"stemmer":"none","stop":["of","the"],"stopwords":["of","the"],"tokenizer":1}.
    """
    assert Analyzer("none", ("of", "the")).fingerprint == "ec81b01b1b8c0d10"
    assert Analyzer().fingerprint == "bca1be32eea6159d"


def test_fingerprint_follows_the_tokeniser(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Analyzer().fingerprint
    monkeypatch.setattr(analyzer, "TOKENIZER_VERSION", analyzer.TOKENIZER_VERSION + 1)
    assert Analyzer().fingerprint != before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"stemmer": "klingon"}, "unknown stemmer 'klingon'; valid names: none, "),
        ({"stemmer": 3}, "unknown stemmer 3"),
        ({"stopwords": "klingon"}, "unknown stop list 'klingon'; valid names: none, english"),
        ({"stopwords": ("x-ray",)}, "'x-ray' is not one word"),
        ({"stopwords": ("",)}, "'' is not one word"),
        ({"stopwords": (7,)}, "7 is not one word"),
        ({"stopwords": 7}, "stopwords must be the name of a list or a tuple of words, not 7"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Analyzer(**settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tokenizer": 99}, "version 99 of the tokeniser"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_settings_of_another_version(change: dict[str, Any], message: str) -> None:
    with pytest.raises(IndexFormatError, match=message):
        Analyzer.from_dict({**Analyzer().to_dict(), **change})


def test_missing_settings() -> None:
    with pytest.raises(IndexFormatError, match="keys"):
        Analyzer.from_dict({"stemmer": "none"})
