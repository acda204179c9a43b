"""The homes of docs/notation.md's glossary exist and hold what it says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import germane

ROOT = Path(germane.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "notation.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| (`[^|]+`) \| `([\w/]+\.py)` \|$", PAGE.split("\n## Glossary\n")[1], re.MULTILINE
)


def names_in(tree: ast.AST) -> Iterator[str]:
    """What a module or class binds: classes, functions, parameters, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def holds(tree: ast.AST, identifier: str) -> bool:
    """Whether the module has the name, or for `Class.name` the class has it."""
    first, _, rest = identifier.partition(".")
    if not rest:
        return first in names_in(tree)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == first]
    return any(holds(found, rest) for found in classes)


def test_there_is_a_glossary() -> None:
    lines = [line for line in PAGE.split("\n## Glossary\n")[1].splitlines() if line.startswith("| ")]
    assert len(ROWS) == len([line for line in lines if not line.startswith("| term | meaning |")]) > 40
    terms = [term for row in ROWS for term in row[0].split(", ")]
    assert len(terms) == len(set(terms)), "a term explained twice"


@pytest.mark.parametrize(("term", "identifiers", "home"), ROWS, ids=[row[0] for row in ROWS])
def test_homes(term: str, identifiers: str, home: str) -> None:
    tree = ast.parse((ROOT / home).read_text(encoding="utf-8"))
    for identifier in re.findall(r"`([\w.]+)`", identifiers):
        assert holds(tree, identifier), f"{home} has no {identifier}"


def test_what_a_home_holds() -> None:
    tree = ast.parse("X = 1\nclass A:\n    b: int\n    def c(self, d): self.e = d\ndef f(): from y import z\n")
    assert [name for name in ("X", "A", "A.b", "A.c", "f", "A.e", "A.X", "B.b", "z", "y") if holds(tree, name)] == [
        "X", "A", "A.b", "A.c", "f", "A.e",
    ]  # fmt: skip
