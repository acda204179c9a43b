"""Every command and every block of code in README, docs and tutorials runs (`docs/run.py`), or says why it does not."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUN = runpy.run_path(str(ROOT / "docs" / "run.py"))
PAGES = [path for path in RUN["PAGES"] if "```" in path.read_text(encoding="utf-8")]
REASONS = {
    "compiles for a minute where nothing is kept",
    "installs packages",
    "installs, or runs the tests themselves",
    "needs the collections",
    "needs the network",
    "needs the peers installed",
    "tests/test_extending.py runs its blocks as the files that they name",
    "waits for an assistant",
    "GERMANE_DATA names no folder of collections",
}
"""Why something may not be run. A new reason is a line here, so that nobody leaves out a block without a thought."""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_page_runs_and_prints_what_it_shows(path: Path) -> None:
    now, not_run = RUN["rendered"](path)
    assert now.splitlines() == path.read_text(encoding="utf-8").splitlines(), "run python docs/run.py --write"
    assert {left.why for left in not_run} <= REASONS, not_run


def test_the_pages_are_all_of_them() -> None:
    found = {path for folder in (ROOT, ROOT / "docs", ROOT / "tutorials") for path in folder.glob("*.md")}
    outside = {path.relative_to(ROOT).as_posix() for path in found - set(RUN["PAGES"])}
    assert outside == {"CHANGELOG.md", "CONTRIBUTING.md", "tutorials/README.md"}


def test_the_tour_shows_its_commands() -> None:
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\$ germane ", text, re.MULTILINE)) > 40


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    """A newcomer knows within a minute what the program is for, and where to go on."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    linked = set(re.findall(r"\]\((docs/[a-z0-9-]+\.md)\)", text))
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert pages - linked == {"docs/dependencies.md", "docs/performance-arm64.md"}, "from another page, or from nowhere"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|(?:src|srcset)=\"([^\"]+)\"", text):
        link = target[0] or target[1]
        if "://" not in link and not link.startswith("mailto:"):
            assert (path.parent / link).exists(), f"{path.name} links to {link}"


# -- the runner itself -------------------------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path: Path):
    """Runs a page of this text."""

    def run(text: str) -> tuple[str, list[tuple[str, str, str]]]:
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        return RUN["rendered"](path)

    return run


def test_what_is_shown_is_compared(page) -> None:
    now, _ = page("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```python\nprint('not shown')\n```\n")
    assert now == "```python\nprint(1 + 1)\n```\n\n```text\n2\n```\n\n```python\nprint('not shown')\n```\n"
    now, _ = page("```console\n$ germane --version\ngermane 0\n```\n")
    assert re.fullmatch(r"```console\n\$ germane --version\ngermane \d+\.\d+.*\n```\n", now)


def test_the_last_digits_are_not_shown(page) -> None:
    now, _ = page("```python\nprint(2 / 3, 0.125, '1.234567890123')\n```\n\n```text\n\n```\n")
    assert "\n0.666666… 0.125 1.234567…\n" in now


def test_a_command_that_fails_fails_the_page(page) -> None:
    with pytest.raises(RuntimeError, match="ended with 2"):
        page("```console\n$ germane show nowhere 1\n```\n")
    with pytest.raises(ZeroDivisionError):
        page("```python\n1 / 0\n```\n")
    with pytest.raises(ValueError, match="which is not ours"):
        page("```console\n$ rm -rf my-index\n```\n")


def test_what_cannot_be_run_must_say_so(page) -> None:
    text = "```console needs a person\n$ germane nonsense\n```\n\n```console\n$ pip install nothing\n```\n"
    now, left = page(text)
    assert now == text
    assert [(what, why) for _, what, why in left] == [
        ("$ germane nonsense", "needs a person"),
        ("pip install nothing", "installs packages"),
    ]
    with pytest.raises(ValueError, match="says neither how to run it nor why not"):
        page("```\n$ germane stats my-index\n```\n")
    with pytest.raises(ValueError, match="is a command, but not in a console block"):
        page("Type\n\n    germane stats my-index\n")
    assert page("The form:\n\n    germane stats DIR\n")[1] == []
    with pytest.raises(ValueError, match=r"Expected|Invalid|Unclosed|invalid"):
        page("```toml\n= 3\n```\n")
