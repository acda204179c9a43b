"""The examples in the docstrings of every module run."""

import doctest
import importlib
from pathlib import Path

import pytest

import germane

ROOT = Path(germane.__file__).parent
SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
MODULES = [
    ".".join(("germane", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path, source in SOURCES.items()
    if ">>> " in source
]


def test_there_are_examples() -> None:
    assert {"germane.types", "germane.engine.engine", "germane.text.analyzer", "germane.lm.model"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # an example may make an index
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0, "a >>> that is no example"
    assert result.failed == 0


def test_no_example_is_skipped() -> None:
    assert [path for path, source in SOURCES.items() if "doctest: +SKIP" in source] == []
