"""The format of a segment: what the table says, what the documentation says and what is written are the same."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from germane.engine import Engine
from germane.index.ciff import export_ciff, import_ciff
from germane.index.columns import ColumnsWriter
from germane.index.container import Container
from germane.index.manifest import read_manifest
from germane.index.sections import COLUMN, SECTIONS, check_layout
from germane.index.segment_writer import SegmentWriter
from germane.index.stored_fields import StoredWriter
from germane.index.strings import pack_strings
from germane.types import Document

ARCHITECTURE = Path(__file__).parents[2] / "docs" / "architecture.md"
NOTHING = pack_strings([])
NAMES = [section.name for section in SECTIONS]
WITHOUT_ORDER = [section.name for section in SECTIONS if section.part != "order"]


def test_the_documentation_names_every_section_and_no_other() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8").partition("## The index on disk")[2].partition("\n## ")[0]
    rows = [row for row in text.splitlines() if row.startswith("| `")]
    documented = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert sorted(documented) == sorted([*NAMES, COLUMN + "…"])


@pytest.fixture(params=["built", "without positions", "merged", "merged of both", "imported", "of no document"])
def segment(
    request: pytest.FixtureRequest, tmp_path: Path, documents: Callable[..., list[Document]]
) -> tuple[Container, list[str], set[str]]:
    """A segment by each road, its sections, and its columns."""
    if request.param == "of no document":
        with SegmentWriter(tmp_path / "segment-0.germane", np.empty(0, np.uint32)) as writer:
            writer.dictionary(NOTHING, NOTHING, np.empty(0, np.int64))
            writer.documents(NOTHING)
            writer.fields(StoredWriter(), ColumnsWriter(frozenset()))
            writer.finish({})
        return Container(tmp_path / "segment-0.germane"), WITHOUT_ORDER, set()
    folder, names, columns = tmp_path / "index", NAMES, {"year", "tags"}
    with Engine.create(folder, positions=request.param not in ("without positions", "merged of both")) as engine:
        engine.add(documents(300, 1, "a"))
    if request.param == "merged of both":
        replace(read_manifest(folder), positions=True).write(folder)
    with Engine.open(folder) as engine:
        if request.param.startswith("merged"):
            engine.add(documents(300, 2, "b"))
            engine.delete(["a7", "b9"])
            engine.merge()
    if request.param == "imported":
        export_ciff(folder, tmp_path / "x.ciff")
        folder, columns = tmp_path / "back", set()
        import_ciff(tmp_path / "x.ciff", folder)
    if request.param in ("imported", "without positions"):
        names = WITHOUT_ORDER
    (path,) = folder.glob("segment-*.germane")
    return Container(path), names, columns


def test_what_is_written_is_what_the_table_says(segment: tuple[Container, list[str], set[str]]) -> None:
    container, names, columns = segment
    assert list(container)[: len(names)] == names
    assert {name.split("/")[1] for name in list(container)[len(names) :] if name.startswith(COLUMN)} == columns
    assert set(container.meta["columns"]) == columns
    blocks = len(container["blk_last"])
    lengths = {"term": container.meta["n_terms"], "doc": container.meta["n_docs"], "block": blocks}
    for section in SECTIONS:
        if section.name not in names:
            continue
        array = container[section.name]
        assert array.dtype.str in section.types, section.name
        if section.per is not None:
            assert len(array) == lengths[section.per], section.name


def test_a_part_left_out_or_out_of_order_is_no_segment(tmp_path: Path) -> None:
    whole = {section.name: section.types[0] for section in SECTIONS}
    check_layout(whole | {"column/year": "<f8"})
    check_layout({name: whole[name] for name in WITHOUT_ORDER})
    with pytest.raises(AssertionError, match="order"):
        check_layout({name: whole[name] for name in NAMES[1:]})
    with pytest.raises(AssertionError, match="order"):
        check_layout({"column/year": "<f8"} | whole)
    with pytest.raises(AssertionError, match="order"):
        check_layout(whole | {"other": "<f8"})
    with pytest.raises(AssertionError, match="type: doc_len"):
        check_layout(whole | {"doc_len": "<i8"})
    with SegmentWriter(tmp_path / "half", np.empty(0, np.uint32)) as writer:
        writer.documents(NOTHING)
        with pytest.raises(AssertionError, match="order"):
            writer.finish({})
    assert list(tmp_path.iterdir()) == []
