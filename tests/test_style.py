"""The habits of wording that CONTRIBUTING.md lists under "Words" do not spread.

`style_baseline.toml` holds how often each occurs in each package; a count may only fall.
`python tests/test_style.py` lowers the table, and follows text that moved between packages.
"""

import ast
import gc
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RULES = ROOT / "CONTRIBUTING.md"
BASELINE = Path(__file__).with_name("style_baseline.toml")
FOLDERS = ("src/germane", "tests", "docs", "tutorials", "benchmarks")
SUFFIXES = (".py", ".md", ".html")
SHOWN = 20

ROWS = re.findall(r"^\| ([*`].*) \| (.*) \|$", RULES.read_text("utf-8"), re.MULTILINE)
PHRASES = {phrase.lower(): better for habits, better in ROWS for phrase in re.findall(r"\*(.+?)\*", habits)}
NAMES = {name: better for habits, better in ROWS for name in re.findall(r"`(.+?)`", habits)}
BETTER = PHRASES | NAMES

# A phrase may go on in the next line, also of a comment.
_ANY = "|".join(re.escape(phrase).replace(r"\ ", r"\s+(?:#\s*)?") for phrase in PHRASES)
_PHRASE = re.compile(rf"(?<!\w)(?:{_ANY})(?!\w)")
_MAY_BIND = re.compile(rf"\b(?:{'|'.join(NAMES)})(?= =|[:,)]| in )")


def habits_in(text: str, *, names: bool) -> Iterator[tuple[int, str]]:
    """Yield the line and the habit of each phrase in a text and, with `names`, of each name that this Python binds."""
    for match in _PHRASE.finditer(text.lower()):
        yield text.count("\n", 0, match.start()) + 1, re.sub(r"\s+(?:#\s*)?", " ", match[0])
    if names and _MAY_BIND.search(text):  # parsing takes ten times as long as searching
        for node in _nodes(ast.parse(text)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMES:
                yield node.lineno, node.id
            elif isinstance(node, ast.arg) and node.arg in NAMES:
                yield node.lineno, node.arg


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    nodes = [tree]
    for node in nodes:  # as `ast.walk`, in a third of its time
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [each for each in value if isinstance(each, ast.AST)]
    yield from nodes


def count_habits() -> dict[tuple[str, str], list[str]]:
    """Return the places of each (package, habit) as "file:line", the files that changed last first."""
    gc.disable()  # syntax trees are many small objects: collecting garbage among them takes longer than parsing
    try:
        return _count_habits()
    finally:
        gc.enable()


def _count_habits() -> dict[tuple[str, str], list[str]]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*") if path.suffix in SUFFIXES]
    paths = sorted({*files, *ROOT.glob("*.md")} - {RULES}, key=lambda path: (-path.stat().st_mtime, path))
    places = defaultdict(list)
    for path in paths:
        name = path.relative_to(ROOT)
        in_source = name.parts[0] == "src"
        package = "/".join(name.parent.parts[: 3 if in_source else 1]) or "."
        for line, habit in habits_in(path.read_text("utf-8"), names=in_source and path.suffix == ".py"):
            places[package, habit].append(f"{name}:{line}")
    return places


def baseline() -> dict[str, dict[str, int]]:
    return tomllib.loads(BASELINE.read_text("utf-8")) if BASELINE.exists() else {}


def lower() -> str:
    """Write today's counts, unless a habit occurs more often in the whole repository than the table allows."""
    places, allowed, total = count_habits(), Counter(), Counter()
    for counts in baseline().values():
        allowed.update(counts)
    for (_, habit), where in places.items():
        total[habit] += len(where)
    risen = [f"{habit!r}: {n}, allowed {allowed[habit]}" for habit, n in total.items() if n > allowed[habit]]
    if BASELINE.exists() and risen:
        return "not written, because these counts have risen: " + "; ".join(risen)
    lines = ["# Written by `python tests/test_style.py`: how often each habit occurs. Only ever lowered.\n"]
    for package in sorted({package for package, _ in places}):
        lines.append(f'\n["{package}"]\n')
        lines += [f"'{habit}' = {len(places[package, habit])}\n" for habit in BETTER if (package, habit) in places]
    BASELINE.write_text("".join(lines), "utf-8")
    return ""


def test_the_habits_do_not_spread():
    places, stored = count_habits(), baseline()
    risen = [
        f"{habit!r} occurs {len(where)} times in {package}, {allowed} are allowed; better: {BETTER[habit]}\n  "
        + "\n  ".join(where[:SHOWN])
        for (package, habit), where in places.items()
        if len(where) > (allowed := stored.get(package, {}).get(habit, 0))
    ]
    assert not risen, "\n".join(["see 'Words' in CONTRIBUTING.md", *risen])


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_seen_across_lines(phrase):
    assert list(habits_in(f"# one\n# {phrase.title().replace(' ', chr(10) + '# ')} two", names=False)) == [(2, phrase)]


def test_a_name_is_seen_where_it_is_bound():
    bound = ["{0} = 1", "for _, {0} in x: pass", "def f({0}): pass", "[{0} for {0} in x]"]
    for name in NAMES:
        for line in bound:
            assert list(habits_in(line.format(name), names=True)).count((1, name)) == 1
        assert not list(habits_in(f"# {name}\nx.{name} = f({name}=1)", names=True))


if __name__ == "__main__":
    sys.exit(lower() or 0)
