"""Every module is imported in a process in which nothing of Germane was imported before."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import germane

ROOT = Path(germane.__file__).parent
HERE = Path(__file__).parent
BY_ALEMBIC = "germane.workspace.migrations.env"
"""Runs within a migration and nowhere else."""


def module_names() -> list[str]:
    """All modules of the package, as they are imported."""
    names = (".".join(("germane", *path.relative_to(ROOT).with_suffix("").parts)) for path in ROOT.rglob("*.py"))
    return sorted(name.removesuffix(".__init__") for name in names)


@pytest.mark.slow
def test_every_module_can_be_the_first() -> None:
    names = [name for name in module_names() if name != BY_ALEMBIC]
    assert len(names) > 600
    command = [sys.executable, str(HERE / "alone.py"), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {}


def test_a_module_that_waits_for_itself_is_found(tmp_path: Path) -> None:
    """`learn` could be imported after `clicks`, and not before it; the check sees that."""
    (tmp_path / "round").mkdir()
    sources = {
        "__init__": "",
        "first": "from round.second import two\none = 1",
        "second": "from round.first import one\ntwo = 2",
        "third": "import round.fourth",
        "fourth": "import round.third",
    }
    for name, text in sources.items():
        (tmp_path / "round" / f"{name}.py").write_text(text)
    command = [sys.executable, str(HERE / "alone.py"), *(f"round.{name}" for name in ("first", "second", "third"))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tmp_path)})
    found = {name: words.splitlines()[-1].partition(":")[0] for name, words in json.loads(done.stdout).items()}
    assert found == {"round.first": "ImportError", "round.second": "ImportError"}
