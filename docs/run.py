"""Runs the code and the commands of the documents, and compares what they print with what the pages show.

    python docs/run.py               run every page; say what is not run, and why
    python docs/run.py --write       put what was printed in the place of what was shown
    python docs/run.py README.md     these pages alone

Each page runs from top to bottom in a folder of its own, after `germane demo --into my-index --files .`.

- The `python` blocks of a page are one program. A `text` block right behind one shows what it printed.
- In a `console` block `$ germane ...` is run, and must succeed; commands may be piped. Where lines follow it, they show
  what it wrote to the standard output, long decimals cut to six digits: processors differ in the last ones.
- A `toml` block must be TOML. Blocks in other languages are to be read.
- Words behind the language say why a block is not run: ```` ```console needs the collections ````. So does the
  name of a program that is not ours (`NOT_OURS`).
- In a tutorial whatever is printed must be shown. What stands below "On real data" needs the collections: it runs if
  the environment variable GERMANE_DATA names their folder.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted(path for path in (ROOT / "tutorials").glob("*.md") if path.name != "README.md")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *TUTORIALS]
ELSEWHERE = {"extending.md": "tests/test_extending.py runs its blocks as the files that they name"}
NOT_OURS = {"pip": "installs packages", "make": "installs, or runs the tests themselves"}
"""Other programs that a console block may show, and why they are not run."""
READ = frozenset({"text", "dockerfile", "json", "nginx"})
"""Languages of blocks that are only read."""
REAL_DATA = "\n## On real data\n"
PREPARED = "germane demo --into my-index --files ."

_BLOCK = re.compile(
    r"^```(?P<language>[^\s`]*)[ ]*(?P<why>[^\n`]*)\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
_FORM = re.compile(r"\b(?:DIR|SRC|FILE|ID|DATA|RUN|RUN_A|MODEL|OLD|NAME|RESULTS|STORE|WORKSPACE)\b")
"""What stands for something of the reader's in the form of a command, which is not to be run."""
_LONG_DECIMAL = re.compile(r"(\d\.\d{6})\d{6,}")
_INDENTED = re.compile(r"^    (?:\$ )?(germane .*)$", re.MULTILINE)


class NotRun(NamedTuple):
    """A block or a command that was not run: the page, what it says, and why."""

    page: str
    what: str
    why: str


def rendered(path: Path) -> tuple[str, list[NotRun]]:
    """The page's text with what its code prints now, and what was not run."""
    text = path.read_text(encoding="utf-8")
    if path.name in ELSEWHERE:
        return text, [NotRun(path.name, "the page", ELSEWHERE[path.name])]
    for command in _INDENTED.findall(text):
        if not _FORM.search(command):
            raise ValueError(f"{path.name}: '{command}' is a command, but not in a console block")
    page = _Page(path)
    head, heading, tail = text.partition(REAL_DATA) if page.is_tutorial else (text, "", "")
    with _folder(page, text):
        head = _BLOCK.sub(page.block, head)
        if os.environ.get("GERMANE_DATA"):
            tail = _BLOCK.sub(page.block, tail)
        elif heading:
            page.not_run.append(NotRun(path.name, "On real data", "GERMANE_DATA names no folder of collections"))
    return head + heading + tail, page.not_run


@contextlib.contextmanager
def _folder(page: "_Page", text: str) -> Iterator[None]:
    """A folder with what the page's commands read."""
    before = sys.path[:]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if page.is_tutorial:
            shutil.copytree(ROOT / "tutorials" / "data", "data")
        if "```console" in text and f"$ {PREPARED}" not in text and "my-index" in text:
            page.run(PREPARED)
        elif "```" in text and f"$ {PREPARED}" not in text:
            from germane.cli.samples import write_sample_files

            write_sample_files(Path.cwd())
        try:
            yield
        finally:
            sys.path[:] = before


class _Page:
    """What a page has made so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_tutorial = path in TUTORIALS
        self.not_run: list[NotRun] = []
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def block(self, match: re.Match[str]) -> str:
        """The block as it would be shown now."""
        language, why, code, shown = match["language"], match["why"].strip(), match["code"], match["shown"]
        opening = f"```{language}{' ' if why else ''}{why}\n"
        behind = "" if shown is None else f"\n```text\n{shown}```\n"
        if why:
            self._leave(code.splitlines()[0], why)
        elif language == "python":
            return self._python(code, shown)
        elif language == "console":
            code = self._console(code)
        elif language == "toml":
            tomllib.loads(code)
        elif language not in READ:
            raise ValueError(f"{self.path.name}: a block in '{language}', which says neither how to run it nor why not")
        return f"{opening}{code}```\n{behind}"

    def _leave(self, what: str, why: str) -> None:
        self.not_run.append(NotRun(self.path.name, what, why))

    def _python(self, code: str, shown: str | None) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, self.path.name, "exec"), self._names)
        printed = ""
        if out.getvalue() and (shown is not None or self.is_tutorial):
            printed = f"\n```text\n{_trimmed(out.getvalue())}```\n"
        return f"```python\n{code}```\n{printed}"

    def _console(self, session: str) -> str:
        commands = [line[2:] for line in session.splitlines() if line.startswith("$ ")]
        shows = self.is_tutorial or any(not line.startswith("$ ") for line in session.splitlines())
        lines = []
        for command in commands:
            program = command.split()[0]
            if program in NOT_OURS:
                self._leave(command, NOT_OURS[program])
                printed = ""
            else:
                printed = self.run(command)
            lines.append(f"$ {command}\n{_trimmed(printed) if shows else ''}")
        return "".join(lines)

    def run(self, command: str) -> str:
        """What the command, or the last of several that are piped, writes to the standard output."""
        from typer.testing import CliRunner

        from germane.cli import program

        output: bytes | None = None
        for part in _piped(shlex.split(command, comments=True)):
            if part[0] != "germane":
                raise ValueError(f"{self.path.name}: '{command}' runs {part[0]}, which is not ours")
            result = CliRunner().invoke(program(part[1:2]), part[1:], input=output, env={"COLUMNS": "100"})
            if result.exit_code != 0:
                raise RuntimeError(f"{self.path.name}: '{command}' ended with {result.exit_code}:\n{result.output}")
            output = result.stdout_bytes
        return (output or b"").decode()


def _piped(words: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _trimmed(text: str) -> str:
    """Without spaces at the ends of lines, which editors and git dislike, and with six digits of long decimals."""
    return "".join(_LONG_DECIMAL.sub(r"\1…", line.rstrip()) + "\n" for line in text.splitlines())


def main() -> int:
    asked = [ROOT / word for word in sys.argv[1:] if not word.startswith("-")]
    write, stale, not_run = "--write" in sys.argv[1:], 0, []
    for path in asked or PAGES:
        print(f"{path.relative_to(ROOT)}", file=sys.stderr)
        now, left = rendered(path)
        not_run += left
        if now != path.read_text(encoding="utf-8"):
            stale += 1
            print("  prints something else than is shown", file=sys.stderr)
            if write:
                path.write_text(now, encoding="utf-8")
    print("not run:")
    for page, what, why in not_run:
        print(f"  {page}: {what}: {why}")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main())
