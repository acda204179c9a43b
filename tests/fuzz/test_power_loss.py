"""Power cuts: what was acknowledged is there afterwards, and the index goes on."""

from pathlib import Path

import pytest

from fuzz.harness import fuzz
from fuzz.power_cases import PowerJudge
from germane.index import durable

CASES = 150


def test_power_cuts(tmp_path: Path) -> None:
    report = fuzz(PowerJudge(tmp_path), range(CASES))
    assert report.counts == {"same": CASES}, str(report)


@pytest.mark.parametrize("left_out", ["files", "folders"])
def test_what_is_not_flushed_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left_out: str) -> None:
    """The judge sees it if files, or folders, are not flushed."""
    if left_out == "folders":
        monkeypatch.setattr(durable, "fsync_folder", lambda folder: None)
    else:
        flushed = durable.keep

        def keep(file, temporary, path, **named):  # type: ignore[no-untyped-def]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(durable.os, "fsync", lambda descriptor: None)
                patch.setattr(durable, "fsync_folder", lambda folder: None)
                flushed(file, temporary, path, **named)
            durable.fsync_folder(path.parent)

        monkeypatch.setattr(durable, "keep", keep)
        monkeypatch.setattr("germane.index.container.keep", keep)
    assert fuzz(PowerJudge(tmp_path), range(40)).findings
