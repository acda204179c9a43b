"""The tutorials run, and print what they show. `python tutorials/run.py --write` brings them up to date."""

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "tutorials"
TUTORIALS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
rendered = runpy.run_path(str(FOLDER / "run.py"))["rendered"]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_prints_what_is_shown(path: Path) -> None:
    assert rendered(path).splitlines() == path.read_text(encoding="utf-8").splitlines()


def test_the_list_is_complete() -> None:
    listed = re.findall(r"\]\(([a-z-]+\.md)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.name for path in TUTORIALS]


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_tutorial_has_its_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert {"The idea", "Why this answer?", "Limits", "On real data"} <= set(headings)
    assert headings[-1] == "On real data"
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (FOLDER / link).exists() or link.startswith("https://"), link
