"""The README's Python runs, and so do its commands of feedback and refinement."""

import re
import shlex
from pathlib import Path

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("1 1 -")


def commands_of(title):
    section = README.split(f"\n## {title}\n")[1].split("\n## ")[0]
    commands = [shlex.split(line, comments=True) for line in re.findall(r"^\$ (germane .*)$", section, re.MULTILINE)]
    assert commands
    return commands


def test_the_commands_of_feedback_run(run, copy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy.rename("my-index")
    Path("queries.tsv").write_text("1\tplanet telescope\n", encoding="utf-8")
    for command in commands_of("Feedback"):
        result = run(*command[1:])
        assert result.exit_code == 0, result.output


def test_the_commands_of_refinement_run(run, sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("results.jsonl").write_bytes(sample.read_bytes())
    for command in commands_of("Refinement"):
        result = run(*command[1:])
        assert result.exit_code == 0, result.output
