"""docs/compare.md says what `benchmarks/features.py` tried; what needs no other installation is tried again here."""

import inspect
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FEATURES = runpy.run_path(str(ROOT / "benchmarks" / "features.py"))
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "compare.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|")
]
PLACES = {peer: place for place, peer in enumerate(FEATURES["PEERS"], start=1)}
TITLES = {name: title for group in FEATURES["FEATURES"].values() for name, title in group.items()}


def probes(peer: str) -> dict[str, Callable[[], None]]:
    found = runpy.run_path(str(ROOT / "benchmarks" / "features" / f"{peer}.py"), run_name="probes")
    return {
        name: probe
        for name, probe in found.items()
        if inspect.isfunction(probe) and probe.__module__ == "probes" and not name.startswith("_")
    }


def test_the_page_has_every_row() -> None:
    assert [row[0] for row in ROWS if not row[0].startswith(("**", "-")) and row[0]] == list(TITLES.values())
    assert not any("failed" in cell for row in ROWS for cell in row)


@pytest.mark.parametrize("peer", ["germane", "fts5"])
def test_what_the_page_says_is_so(peer: str) -> None:
    known = probes(peer)
    assert known.keys() <= TITLES.keys()
    said = {row[0]: row[PLACES[peer]] for row in ROWS}
    assert {name for name, title in TITLES.items() if said[title] != "-"} == known.keys()
    for probe in known.values():
        probe()
