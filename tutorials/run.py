"""Runs the code of the tutorials and compares what it prints with what they show.

    python tutorials/run.py            check every tutorial
    python tutorials/run.py --write    put what was printed in the place of what was shown

In each file the Python blocks are one program; a `text` block right behind one shows what it printed. In a `console`
block the lines after `$ germane ...` show what that command wrote to the standard output. What stands below "On real
data" needs the collections: it is left out unless the environment variable GERMANE_DATA names their folder.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TUTORIALS = sorted(path for path in HERE.glob("*.md") if path.name != "README.md")
REAL_DATA = "\n## On real data\n"

_BLOCK = re.compile(
    r"```python\n(?P<python>.*?)```\n(?:\n```text\n(?P<shown>.*?)```\n)?|```console\n(?P<console>.*?)```\n", re.DOTALL
)


def rendered(path: Path) -> str:
    """The tutorial's text with what its code prints now."""
    text = path.read_text(encoding="utf-8")
    head, heading, tail = text.partition(REAL_DATA)
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.copytree(HERE / "data", "data")

        def run(match: re.Match[str]) -> str:
            return _python(match["python"], names) if match["console"] is None else _console(match["console"])

        head = _BLOCK.sub(run, head)
        if os.environ.get("GERMANE_DATA"):
            tail = _BLOCK.sub(run, tail)
    return head + heading + tail


def _python(code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "tutorial", "exec"), names)
    printed = f"\n```text\n{_trimmed(out.getvalue())}```\n" if out.getvalue() else ""
    return f"```python\n{code}```\n{printed}"


def _console(session: str) -> str:
    from typer.testing import CliRunner

    from germane.cli import app

    lines = []
    for command in re.findall(r"^\$ germane (.*)$", session, re.MULTILINE):
        result = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "100"})
        if result.exit_code != 0:
            raise RuntimeError(f"germane {command} ended with {result.exit_code}:\n{result.output}")
        lines.append(f"$ germane {command}\n{_trimmed(result.stdout)}")
    return f"```console\n{''.join(lines)}```\n"


def _trimmed(text: str) -> str:
    """Without spaces at the ends of lines, which editors and git dislike."""
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def main() -> int:
    stale = 0
    for path in TUTORIALS:
        now = rendered(path)
        if now == path.read_text(encoding="utf-8"):
            continue
        stale += 1
        print(f"{path.name}: the code prints something else than is shown", file=sys.stderr)
        if "--write" in sys.argv[1:]:
            path.write_text(now, encoding="utf-8")
    return 1 if stale and "--write" not in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
