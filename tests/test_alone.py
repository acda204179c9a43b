"""Every module is imported, and every command run, in a process in which nothing of Germane was imported before."""

import base64
import contextlib
import importlib.util
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

import germane
from germane.cli import program

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


class Bare:
    """The interpreter of `alone.py`, and commands in processes of their own."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, str(HERE / "alone.py")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=home)
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "LANG", "OMP_NUM_THREADS") if name in os.environ},
            "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "COLUMNS": "100", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip

    def __call__(
        self, args: Sequence[str], cwd: Path, *, stdin: bytes = b"", powerless: bool = False
    ) -> tuple[int, bytes, str]:
        asked = {
            "args": list(args), "cwd": str(cwd), "environment": self.environment, "powerless": powerless,
            "stdin": base64.b64encode(stdin).decode(),
        }  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        done = json.loads(self._process.stdout.readline())
        return done["code"], base64.b64decode(done["stdout"]), done["stderr"]

    def close(self) -> None:
        """End it."""
        self._process.communicate()


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Bare]:
    """With an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    started = Bare(home)
    yield started
    started.close()


def commands() -> dict[str, bool]:
    """All commands and sub-commands as they are typed, and whether each has further ones."""
    found = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        below = getattr(command, "commands", {})
        found[" ".join(words)] = bool(below)
        for name, one in below.items():
            walk(one, (*words, name))

    walk(typer.main.get_command(program()), ())
    return found


def documents() -> Any:
    """docs/run.py, which reads the blocks of the pages."""
    spec = importlib.util.spec_from_file_location("pages_run_alone", HERE.parent / "docs" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def leaf(words: Sequence[str], known: Mapping[str, bool]) -> str:
    """The command that is typed here."""
    two = " ".join(words[:2])
    return two if two in known else words[0] if words and words[0] in known else ""


FURTHER = (
    ["data", "list"], ["data", "info", "no-such-data"], ["mcp", "my-index"], ["reproduce", "list"], ["warmup"],
    ["tune", "no-such-data", "--model", "bm25", "--grid", "k1=0.9"], ["vectors", "fold", "my-index", "clicks"],
)  # fmt: skip
"""What the pages show and do not run, as far as it goes without what it needs."""


def complaint(words: Sequence[str], ended: tuple[int, bytes, str], most: int) -> list[str]:
    """What is wrong with how a command ended: a traceback, an exit code above `most`, or an error of several lines."""
    code, _, said = ended
    lines = [line for line in said.splitlines() if line.startswith("germane: error: ")]
    wrong = "Traceback" in said or not 0 <= code <= most or (code == 2 and len(lines) != 1)
    return [f"{' '.join(words)}: {code}\n{said[-2000:]}"] if wrong else []


@pytest.mark.slow
def test_the_commands_of_the_pages_run_alone(bare: Bare, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of README.md and docs/cli.md, with its work; they are all there are. Then as one who may not write.

    What has been made by then is read-only, and so are home and folder: each command does its work or says in one line
    why it cannot.
    """
    pages, known, wrong = documents(), commands(), []
    typed: dict[str, list[str]] = {}

    def run(page: Any, command: str) -> str:
        output = b""
        for words in pages._piped(shlex.split(command, comments=True)):
            ended = bare(words[1:], Path.cwd(), stdin=output)
            wrong.extend(complaint(words, ended, 0))
            typed.setdefault(leaf(words[1:], known), words[1:])
            output = ended[1]
        return output.decode()

    @contextlib.contextmanager
    def folder(page: Any, text: str) -> Iterator[None]:
        with prepared(page, text):
            yield
            if page.path.name == "cli.md":
                for words in FURTHER:
                    wrong.extend(complaint(words, bare(words, Path.cwd()), 2))
                    typed.setdefault(leaf(words, known), words)
                wrong.extend(without_permission(bare, list(typed.values())))

    prepared = pages._folder
    monkeypatch.setattr(pages._Page, "run", run)
    monkeypatch.setattr(pages._Page, "_python", lambda page, code, shown: "")
    monkeypatch.setattr(pages, "_folder", folder)
    for page in (pages.ROOT / "README.md", pages.ROOT / "docs" / "cli.md"):
        pages.rendered(page)
    assert wrong == []
    assert sorted(name for name, further in known.items() if not further and name not in typed) == []


def without_permission(bare: Bare, typed: Sequence[Sequence[str]]) -> list[str]:
    """What is wrong with how commands end where nothing may be written."""
    wrong = []
    places = [Path.cwd(), Path(bare.environment["HOME"])]
    for place in places:
        subprocess.run(["chmod", "-R", "a-w", str(place)], check=True)
    try:
        for words in typed:
            wrong += complaint(words, bare(words, Path.cwd(), powerless=True), 2)
    finally:
        for place in places:
            subprocess.run(["chmod", "-R", "u+w", str(place)], check=True)
    return wrong


@pytest.mark.slow
def test_every_command_helps_alone(bare: Bare, tmp_path: Path) -> None:
    """All commands and sub-commands, the first thing that a process does."""
    wrong = []
    for name in commands():
        code, output, said = bare([*name.split(), "--help"], tmp_path)
        if code != 0 or said or b"Usage" not in output:
            wrong.append((name, code, said))
    assert wrong == []
