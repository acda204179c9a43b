from concurrent.futures import ThreadPoolExecutor

import pytest

from germane.errors import ParameterError
from germane.text.stemming import cached_stemmer, stemmer, stemmer_names

# Porter: https://tartarus.org/martin/PorterStemmer/ (voc.txt, output.txt); the others from Snowball's vocabularies.
EXAMPLES = [
    ("none", "models", "models"),
    ("porter", "generously", "gener"),
    ("english", "generously", "generous"),
    ("english", "consigned", "consign"),
    ("french", "continuelle", "continuel"),
    ("german", "aufeinanderfolgenden", "aufeinanderfolg"),
    ("english", "2.5", "2.5"),
    ("english", "東京", "東京"),
]


@pytest.mark.parametrize(("name", "token", "stem"), EXAMPLES)
def test_examples(name: str, token: str, stem: str) -> None:
    assert cached_stemmer(name)(token) == stem
    assert stemmer(name)([token, "a"])[0] == stem


@pytest.mark.parametrize("name", stemmer_names())
def test_no_stem_is_empty(name: str) -> None:
    tokens = ["a", "s", "ing", "1", "é", "ال", "и", "東", "\u0301", "x" * 255]
    assert all(stemmer(name)(tokens))


def test_unknown_name_lists_the_valid_ones() -> None:
    with pytest.raises(ParameterError, match=r"'klingon'; valid names: none, .*english.*porter"):
        stemmer("klingon")


def test_stems_are_cached() -> None:
    stem = cached_stemmer("english")
    stem("cachedness")
    hits = stem.cache_info().hits  # type: ignore[attr-defined]
    stem("cachedness")
    assert stem.cache_info().hits == hits + 1  # type: ignore[attr-defined]


def test_threads_may_share_a_stemmer() -> None:
    words = [f"{chr(97 + i % 26) * (i % 7 + 1)}ations" for i in range(2000)]
    expected = stemmer("english")(words)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(stemmer("english"), [words] * 8))
