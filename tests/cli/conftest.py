"""The sample collection as an index, and a way to run the program inside the test's own process.

Whatever any test has the program print with --json is compared with the schema of what it should be.
"""

import json
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from germane.cli import program
from germane.cli.samples import sample_path
from germane.schema import schema_of

Run = Callable[..., Any]
SHAPES = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "shapes.py"))["SHAPES"]


def invoke(*words: object, stdin: str | bytes | None = None) -> Any:
    """Run the program; exceptions that are not its own way to end fail the test."""
    result = CliRunner().invoke(program(), [str(word) for word in words], input=stdin, env={"COLUMNS": "100"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if "--json" in words and result.stdout:
        check_json(words, result.stdout)
    return result


def check_json(words: tuple[object, ...], printed: str) -> None:
    """Every line is what the command is said to print."""
    group = " ".join(map(str, words[:2]))
    shapes = SHAPES[group if group in SHAPES else str(words[0])]
    validators = [jsonschema.Draft202012Validator(schema_of(shape)) for shape in shapes]
    for line in printed.splitlines():
        value = json.loads(line)
        wrong = [list(validator.iter_errors(value)) for validator in validators]
        assert [] in wrong, wrong


@pytest.fixture
def run() -> Run:
    return invoke


@pytest.fixture(scope="session")
def sample() -> Path:
    return sample_path()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """An index of the sample that no test may change."""
    folder = tmp_path_factory.mktemp("sample") / "index"
    assert invoke("index", sample, "--into", folder).exit_code == 0
    return folder


@pytest.fixture
def copy(tmp_path: Path, built: Path) -> Path:
    """An index of the sample for one test alone."""
    return Path(shutil.copytree(built, tmp_path / "copy"))


@pytest.fixture
def fails(run: Run) -> Callable[..., str]:
    """Run a command that must fail cleanly; returns its one line of error."""

    def failing(*words: object, stdin: str | bytes | None = None, code: int = 2) -> str:
        result = run(*words, stdin=stdin)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        last = result.stderr.splitlines()[-1]
        assert last.startswith("germane: error: ")
        return last

    return failing
