"""Words and their neighbours as terms: counting many at once equals one text at a time."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.text import Analyzer, WordPairs, analyzer_from_dict
from germane.text.counting import count_all, count_known

WORDS = st.lists(st.sampled_from(["not", "very", "good", "the", "cats", ""]), max_size=8).map(" ".join)


@given(texts=st.lists(WORDS, max_size=6), stopwords=st.sampled_from(["none", "english"]))
def test_counts_are_those_of_the_terms(texts: list[str], stopwords: str) -> None:
    analyzer = WordPairs(Analyzer("english", stopwords))
    counted = count_all(texts, analyzer)
    assert len(set(counted.terms)) == len(counted.terms) == len(counted.surfaces)
    for text, row in zip(texts, counted.counts.toarray(), strict=True):
        assert {t: n for t, n in zip(counted.terms, row.tolist(), strict=True) if n} == Counter(analyzer.terms(text))
    columns = {term: column for column, term in enumerate(counted.terms)}
    assert (count_known(texts, analyzer, columns) != counted.counts).nnz == 0


def test_terms() -> None:
    assert WordPairs(Analyzer("none", ("of",))).terms("point of view") == ["point", "view", "point view"]


def test_settings_read_back() -> None:
    analyzer = WordPairs(Analyzer("none", "none"))
    assert analyzer_from_dict(analyzer.to_dict()) == analyzer
    assert len({analyzer.fingerprint, WordPairs().fingerprint, Analyzer().fingerprint}) == 3
    with pytest.raises(ParameterError, match="words must be"):
        WordPairs("english")  # type: ignore[arg-type]
