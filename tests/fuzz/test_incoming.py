"""Whatever comes in by files and queries is read, answered rightly, or refused: never a crash, a hang or a traceback.

More cases, and as an ordinary user: `make fuzz`.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.harness import Judge, fuzz
from fuzz.model_cases import CiffJudge, ClassifierJudge
from fuzz.query_cases import QueryJudge
from fuzz.reader_cases import NAMES, ReaderJudge
from fuzz.users import as_nobody


@pytest.mark.parametrize(
    ("kind", "n"), [(ReaderJudge, 40 * len(NAMES)), (QueryJudge, 1200), (ClassifierJudge, 480), (CiffJudge, 480)]
)
def test_cases(kind: Callable[[Path], Judge], n: int, tmp_path: Path) -> None:
    report = fuzz(kind(tmp_path), range(n))
    assert not report.findings, str(report)
    assert sum(report.counts.values()) == n
    assert report.counts["refused"] > n // 10
    assert report.counts["same"] > n // 25


@pytest.mark.skipif(os.geteuid() != 0, reason="we are an ordinary user already")
@pytest.mark.parametrize("kind", [ReaderJudge, ClassifierJudge, CiffJudge])
def test_cases_as_an_ordinary_user(kind: Callable[[Path], Judge]) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        judge = as_nobody(kind(Path(folder)), Path(folder))
        report = fuzz(judge, range(2000, 2200))
    assert not report.findings, str(report)
