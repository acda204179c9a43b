"""Damaged and forged files of an index are refused, or no different; never a crash, a hang or a wrong answer."""

from pathlib import Path

import pytest

from fuzz.harness import fuzz
from fuzz.index_cases import IndexJudge, make_corpus
from germane.index.container import Container
from germane.index.segment import Segment

CASES = 350
"""Each time the same; `make fuzz` goes on from there."""


def test_damaged_and_forged_files(tmp_path: Path) -> None:
    report = fuzz(IndexJudge(make_corpus(tmp_path / "corpus"), tmp_path), range(CASES))
    assert not report.findings, str(report)
    assert sum(report.counts.values()) == CASES
    assert report.counts["refused"] > CASES // 2


@pytest.mark.parametrize("left_out", ["checksums", "lists"])
def test_what_is_not_verified_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: str) -> None:
    """The judge sees it if checksums are not looked at, or posting lists are used as they come."""
    judge = IndexJudge(make_corpus(tmp_path / "corpus"), tmp_path)
    if left_out == "checksums":
        monkeypatch.setattr(Container, "_piece_right", lambda *_: True)
    else:
        monkeypatch.setattr(Segment, "verify_lists", lambda *_: None)
    assert fuzz(judge, range(100)).findings
