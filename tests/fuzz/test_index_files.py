"""Damaged and forged files of an index are refused, or no different; never a crash, a hang or a wrong answer."""

from pathlib import Path

from fuzz.harness import fuzz
from fuzz.index_cases import IndexJudge, make_corpus

CASES = 400


def test_damaged_and_forged_files(tmp_path: Path) -> None:
    report = fuzz(IndexJudge(make_corpus(tmp_path / "corpus"), tmp_path), range(CASES))
    assert not report.findings, str(report)
    assert sum(report.counts.values()) == CASES
    assert report.counts["refused"] > CASES // 2
