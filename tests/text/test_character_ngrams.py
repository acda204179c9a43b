"""Character n-grams against a literal count, and their settings on disk."""

import json

import pytest

from germane.errors import IndexFormatError, ParameterError
from germane.text import Analyzer, CharacterNGrams, analyzer_from_dict, tokenize


def literal(text: str, shortest: int, longest: int) -> list[str]:
    grams = []
    for word in tokenize(text):
        for n in range(shortest, longest + 1):
            marked = word if n == 1 else "_" + word + "_"
            for start in range(len(marked)):
                if start + n <= len(marked):
                    grams.append(marked[start : start + n])
    return grams


@pytest.mark.parametrize("n", [(1, 1), (1, 3), (2, 2), (2, 5), (4, 4)])
@pytest.mark.parametrize(
    "text", ["", "  ?! ", "a", "The cat, the CAT", "Straße für Größe", "don't snake_case 東京都 3.14"]
)
def test_equals_a_literal_count(text: str, n: tuple[int, int]) -> None:
    assert CharacterNGrams(n=n).terms(text) == literal(text, *n)


def test_words_begin_and_end() -> None:
    assert CharacterNGrams(n=(3, 3)).terms("The end") == ["_th", "the", "he_", "_en", "end", "nd_"]


@pytest.mark.parametrize("n", [(0, 2), (3, 2), (1, 17), (1,), 3, (1.0, 2.0), (True, 2), "12"])
def test_refused(n: object) -> None:
    with pytest.raises(ParameterError, match="n must"):
        CharacterNGrams(n=n)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "analyzer", [CharacterNGrams(), CharacterNGrams(n=(2, 5)), Analyzer(), Analyzer(stemmer="none")]
)
def test_settings_read_back(analyzer: Analyzer | CharacterNGrams) -> None:
    again = analyzer_from_dict(json.loads(json.dumps(analyzer.to_dict())))
    assert again == analyzer
    assert again.fingerprint == analyzer.fingerprint
    assert again.terms("Reading it back") == analyzer.terms("Reading it back")


def test_fingerprints_differ() -> None:
    analyzers = [CharacterNGrams(), CharacterNGrams(n=(2, 3)), CharacterNGrams(n=(1, 4)), Analyzer()]
    assert len({analyzer.fingerprint for analyzer in analyzers}) == len(analyzers)


@pytest.mark.parametrize(
    "settings", [{}, {"characters": [1, 3]}, {"tokenizer": 0, "characters": [1, 3]}, {"tokenizer": 1, "words": 1}]
)
def test_foreign_settings(settings: dict[str, object]) -> None:
    with pytest.raises(IndexFormatError):
        analyzer_from_dict(settings)
