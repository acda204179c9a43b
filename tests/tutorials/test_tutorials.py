"""The tutorials have their parts; that they run, and print what they show, is tested in tests/test_documents.py."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "tutorials"
TUTORIALS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


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
