"""What is remembered of terms has a bound, also of those that no document holds."""

import pytest

from germane.rank.scoring import term_cache
from germane.rank.scoring.term_cache import TermCache


def test_terms_are_forgotten(build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_cache, "MOST_TERMS", 8)
    terms = TermCache(build({"1": ["a"], "2": ["b"]}).retriever.snapshot)
    for i in range(100):
        assert terms.numbers(0, ["b", f"unknown{i}", "a"]) == [1, -1, 0]
        assert len(terms._verified) <= len(terms._known) <= 8
