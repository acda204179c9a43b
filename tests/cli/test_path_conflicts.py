"""No command replaces what it reads, nor writes one file twice."""

import os
from pathlib import Path

import pytest

from germane.cli.path_conflicts import require_apart
from germane.cli.samples import write_sample_files
from germane.errors import InputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with references, decisions, and another name of the references."""
    monkeypatch.chdir(tmp_path)
    write_sample_files(tmp_path)
    os.link(tmp_path / "references.ris", tmp_path / "linked.ris")
    (tmp_path / "d.csv").write_text("id,label\ninsulin,1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "typed",
    [
        "screen references.ris --decisions references.ris --include insulin",
        "screen references.ris --decisions linked.ris --include insulin",
        "screen references.ris --decisions d.csv --export references.ris",
        "screen references.ris --decisions d.csv --export ./d.csv",
        "dedupe references.ris --to new.ris --duplicates new.ris",
        "dedupe references.ris --to linked.ris",
        "convert references.ris references.ris",
        "refine references.ris --relevant 1 --export references.ris",
        "index references.ris --into references.ris",
        "index cranfield --into cranfield",
    ],
)
def test_it_is_refused(run, folder: Path, typed: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = run(*typed.split())
    assert done.exit_code == 2
    assert "name another" in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_what_may_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    require_apart({"--to": tmp_path / "b", "--export": tmp_path / "new", "--record": None}, [tmp_path / "a", "pubmed"])
    require_apart({"--to": Path(os.devnull), "--export": Path(os.devnull)}, [os.devnull])
    with pytest.raises(InputError, match="--export"):
        require_apart({"--to": tmp_path / "new", "--export": tmp_path / "x" / ".." / "new"}, [])
