"""The README's Python and all its commands run as written, from the files that `germane demo --files` writes."""

import re
import shlex
from pathlib import Path

import pytest

from germane.cli.samples import write_sample_files
from germane.data import read_documents
from germane.errors import ParameterError

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
COMMANDS = [shlex.split(line, comments=True) for line in re.findall(r"^\$ (germane .*)$", README, re.MULTILINE)]


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("1 1 -")
    assert {path.name for path in tmp_path.iterdir()} == {"news.germane"}


@pytest.mark.slow
def test_the_commands_of_the_readme_run_in_their_order(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) > 25
    for command in COMMANDS:
        result = run(*command[1:])
        assert result.exit_code == 0, (command, result.output)
    assert {document.id for document in read_documents("included.ris")} >= {"insulin"}


def test_sample_files(tmp_path):
    names = write_sample_files(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(names)
    before = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    with pytest.raises(ParameterError, match="is there already"):
        write_sample_files(tmp_path / "new")
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == before
    assert len(list(read_documents(tmp_path / "new" / "references.ris"))) == 80
