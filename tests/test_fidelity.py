"""docs/fidelity.md names homes and tests that exist, and leaves out no equation, table or figure."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from germane.experiments import experiment_files, published_experiments

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith(("| what", "| number"))]
NAMED = sorted(set(re.findall(r"`((?:tests/)?[a-z_/]+\.py):([A-Za-z_0-9]+)`", TEXT)))
EQUATIONS = {"1": 15, "2": 18, "3": 50, "4": 36, "5": 33, "7": 15}
TABLES = ["2.1", "4.1", "4.2", "5.1", "5.2", "5.3"]
FIGURES = ["1.1", "3.1", "3.2", "3.3", "3.4", "3.5", "5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "7.1"]


@cache
def names_in(path: Path) -> set[str]:
    """Classes and functions at the top of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


@pytest.mark.parametrize(("path", "name"), NAMED, ids=":".join)
def test_what_is_named_exists(path: str, name: str) -> None:
    place = ROOT / path if path.startswith("tests/") else ROOT / "src" / "germane" / path
    assert place.is_file(), f"there is no {path}"
    assert name in names_in(place), f"{path} has no {name}"


def test_experiments_exist() -> None:
    named = set(re.findall(r"`germane reproduce ([a-z0-9-]+)`", TEXT))
    assert named <= set(experiment_files(published_experiments())), named


def test_benchmarks_exist() -> None:
    named = set(re.findall(r"`(benchmarks/[a-z_]+\.py)", TEXT))
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_links_lead_somewhere() -> None:
    for page, heading in re.findall(r"\]\(([a-z]+\.md)#([a-z0-9-]+)\)", TEXT):
        lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
        found = {
            re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in lines if line[:1] == "#"
        }
        assert heading in found, f"{page}#{heading}"


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def test_every_row_has_a_state_and_every_home_a_test() -> None:
    for row in ROWS:
        *_, home, test, state = cells(row)
        assert state, row
        assert test != "–" or home == "–", row
        assert home != "–" or "–" in test or "test" in test or "reproduce" in test, row


def numbers_of(part: str, pattern: str) -> set[str]:
    """Numbers in the first cells of a part's rows, ranges written out."""
    found: set[str] = set()
    for cell in (cells(row)[0] for row in part.splitlines() if row.startswith("| ")):
        for kind, first, last in re.findall(pattern, cell):
            chapter, _, low = first.rpartition(".")
            high = last.rpartition(".")[2] if last else low
            found |= {f"{kind}{chapter}.{n}".lstrip(".") for n in range(int(low), int(high) + 1)}
    return found


def test_no_number_is_left_out() -> None:
    dissertation, refine = TEXT.split("## Refine")
    equations = numbers_of(dissertation, r"()\((\d\.\d+)\)(?:-\((\d\.\d+)\))?")
    for chapter, most in EQUATIONS.items():
        missing = {f"{chapter}.{n}" for n in range(1, most + 1)} - equations
        assert not missing, missing
    assert {f"{n}" for n in range(1, 29)} <= numbers_of(refine, r"()\((\d+)\)(?:-\((\d+)\))?")
    firsts = " ".join(cells(row)[0] for row in ROWS)
    tables = " ".join(re.findall(r"tables? [^|]*", firsts))
    figures = " ".join(re.findall(r"figures? [^|]*", firsts))
    assert [name for name in TABLES if name not in tables] == []
    spelled = figures.replace("5.2-5.6", "5.2 5.3 5.4 5.5 5.6")
    assert [name for name in FIGURES if name not in spelled] == []
