"""Power cuts: what was acknowledged is there afterwards, and the index goes on."""

from pathlib import Path

from fuzz.harness import fuzz
from fuzz.power_cases import PowerJudge

CASES = 150


def test_power_cuts(tmp_path: Path) -> None:
    report = fuzz(PowerJudge(tmp_path), range(CASES))
    assert report.counts == {"same": CASES}, str(report)
