"""Documents of every shape: empty, enormous, odd values; columns and stored fields."""

import math
import random
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
import zstandard

from germane.engine import Engine
from germane.errors import IndexFormatError, InputError
from germane.index import builder
from germane.index.check import check_index
from germane.index.columns import ColumnsWriter, KeywordColumn, NumericColumn, read_column
from germane.index.container import Container, ContainerWriter
from germane.index.stored_fields import BLOCK_BYTES, StoredReader, StoredWriter
from germane.types import Document


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine.create(tmp_path / "index") as engine:
        yield engine


def test_empty_index(engine: Engine) -> None:
    assert len(engine) == 0
    assert engine.search("anything").ids == []
    assert list(engine.documents()) == []
    engine.merge()
    assert engine.stats().terms == 0
    report = check_index(engine.folder)
    assert (report.ok, report.segments, report.documents) == (True, 0, 0)


def test_empty_documents(engine: Engine) -> None:
    engine.add([Document("a"), Document("b", {"text": ""}), Document("c", {"text": "the of"}), Document("d", {"x": 1})])
    engine.add([Document("e", {"text": None}), Document("f", {"text": []})])
    assert engine.stats().tokens == 0
    engine.delete(["a", "e"])
    engine.merge()
    assert sorted(doc.id for doc in engine.documents()) == ["b", "c", "d", "f"]
    assert engine.search("the").ids == []
    engine.add([Document("g", {"text": "words at last"})])
    assert engine.search("words x:1").ids == []
    assert engine.search("words").ids == ["g"]
    assert check_index(engine.folder).ok


def test_a_million_words(engine: Engine) -> None:
    rng = random.Random(0)
    common = " ".join(["again"] * 700_000)
    rare = " ".join(f"w{rng.randrange(50_000)}" for _ in range(300_000))
    engine.add([Document("long", {"text": f"{common} {rare}"}), Document("short", {"text": "again w5"})])
    assert engine.stats().tokens == 1_000_002
    assert engine.retriever.snapshot.term_stats(["again"])[0][:2] == (2, 700_001)
    assert set(engine.search("again").ids) == {"long", "short"}
    engine.merge()
    engine.delete(["long"])
    assert engine.stats().tokens == 2
    report = check_index(engine.folder)
    assert report.ok, report.problems


def test_a_document_too_long_to_be_read_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "MAX_DOCUMENT", 100)
    with pytest.raises(InputError, match="document 'b' takes 111 bytes"):
        engine.add([Document("a", {"text": "x"}), Document("b", {"text": "y" * 100})])
    assert len(engine) == 0


def test_values_that_fields_may_hold(engine: Engine) -> None:
    fields: dict[str, Any] = {
        "title": ["Two", None, "titles", 7],
        "text": 42,
        "none": None,
        "empty": [],
        "flag": True,
        "flags": [True, False, None],
        "whole": -(2**63),
        "large": 2**64 - 1,
        "fraction": 1e-300,
        "mixed": [1, 2.0, "x", None],
        "": "a field without a name",
        "a/starts": "slash",
        "a": "keyword",
        "a~1starts": 5,
        "new\nline": "line\nbreak \u2028 \0",
        "long": "x" * 1000,
    }
    engine.add([Document("a", fields), Document("b", {"a": 3, "a/starts": 1, "fraction": 2})])
    engine.add([Document("c", fields)])
    for _ in range(2):
        assert engine.document("a").fields == fields
        assert engine.search("two titles 42 7").ids == ["a", "c"]
        assert engine.search("none").ids == []  # no value is not the word 'None'
        assert engine.search("two flags:false mixed:2 large:>1e19 whole:<0 a:keyword").ids == ["a", "c"]
        assert "long" not in engine.filterable()
        report = check_index(engine.folder)
        assert report.ok, report.problems
        engine.merge()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "nan .float. is not a value"),
        (math.inf, "inf .float. is not a value"),
        ([1.0, math.nan], "nan .float. is not a value"),
        ({"a": 1}, "dict"),
        ([[1]], "list"),
        (("a", "b"), "tuple"),
        (b"bytes", "bytes"),
        (date(2020, 1, 1), "2020-01-01 .date."),
        (np.int64(3), "int64"),
        (2**64, "64-bit"),
        ("\ud800", "surrogate"),
    ],
)
def test_values_that_fields_may_not_hold(engine: Engine, value: Any, words: str) -> None:
    for name in ("text", "other"):
        with pytest.raises(InputError, match=words):
            engine.add([Document("good", {"text": "w1"}), Document("bad", {name: value})])
    assert len(engine) == 0
    assert not check_index(engine.folder).notes


@pytest.mark.parametrize("doc_id", ["", "a\0b", "a\nb", "\x7f", "x" * 513, "é" * 257, "\ud800", None, 5.5])
def test_ids_that_do_not_do(engine: Engine, doc_id: Any) -> None:
    with pytest.raises(InputError):
        engine.add([Document(doc_id, {"text": "w1"})])


def test_ids_that_do(engine: Engine) -> None:
    ids = ["a", " ", "é" * 256, "日本", "a/b", "x" * 512, "'", "\u2028", "A"]
    engine.add([Document(doc_id, {"text": "w1"}) for doc_id in ids])
    assert engine.search("w1", 20).ids == sorted(ids, key=str.encode)
    engine.merge()
    assert engine.delete(ids) == len(ids)


# -- columns -------------------------------------------------------------------------------------------------------


def test_columns(tmp_path: Path) -> None:
    columns = ColumnsWriter(frozenset({"text"}))
    for fields in (
        {"text": "words", "year": 1999, "tag": ["b", "a"]},
        {"year": None},
        {"year": 2.5, "tag": "c", "mixed": 5.0},
        {"tag": ["a", "x" * 257], "mixed": True},
        {"mixed": "text"},
    ):
        columns.add(fields)  # type: ignore[arg-type]
    with ContainerWriter(tmp_path / "x") as container:
        kinds = columns.write(container)
        container.finish({})
    assert kinds == {"mixed": "keyword", "tag": "keyword", "year": "numeric"}
    opened = Container(tmp_path / "x")
    year, tag, mixed = (read_column(opened, name, kinds[name]) for name in ("year", "tag", "mixed"))
    assert isinstance(year, NumericColumn)
    assert np.array_equal(year.values, [1999, np.nan, 2.5, np.nan, np.nan], equal_nan=True)
    assert isinstance(tag, KeywordColumn)
    assert tag.values == ["a", "b", "c"]
    assert [tag.codes[a:b].tolist() for a, b in zip(tag.starts[:-1], tag.starts[1:], strict=True)] == [
        [1, 0], [], [2], [0], [],
    ]  # fmt: skip
    assert isinstance(mixed, KeywordColumn)
    assert mixed.values == ["5", "text", "true"]


# -- stored fields -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 500])
def test_stored(tmp_path: Path, n: int) -> None:
    rng = random.Random(n)
    fields = [{"text": "line\n" * rng.randrange(200), "n": i} for i in range(n)]
    lines = [orjson.dumps(one) for one in fields]
    one_by_one, stored = StoredWriter(), StoredWriter()
    for line in lines:
        one_by_one.add_json(line)
    for begin in range(0, n, 130):
        stored.add_all(lines[begin : begin + 130])
    stored.add_all([])
    for name, writer in (("y", one_by_one), ("x", stored)):
        with ContainerWriter(tmp_path / name) as container:
            writer.write(container)
            container.finish({})
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()
    reader = StoredReader(Container(tmp_path / "x"))
    assert list(reader.all_fields()) == fields
    assert [reader.fields(i) for i in range(n)] == fields
    assert [orjson.loads(line) for _, lines in reader.intact_blocks(trusted=False) for line in lines] == fields


def test_a_damaged_block_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    rng = random.Random(0)
    fields = [{"text": "".join(rng.choices("abcdefghij ", k=BLOCK_BYTES // 2 + 100))} for _ in range(8)]
    stored = StoredWriter()
    for one in fields:
        stored.add_json(orjson.dumps(one))
    with ContainerWriter(tmp_path / "x") as container:
        stored.write(container)
        container.finish({})
    content = bytearray((tmp_path / "x").read_bytes())
    at = int(Container(tmp_path / "x")["stored_at"][2])
    content[64 + at + 300] ^= 1  # in the third block of two documents
    (tmp_path / "x").write_bytes(content)
    reader = StoredReader(Container(tmp_path / "x"))
    assert reader.fields(3) == fields[3]
    for doc in (4, 5):
        with pytest.raises(IndexFormatError, match="stored documents 4 to 5 are damaged"):
            reader.fields(doc)
    assert [first for first, _ in reader.intact_blocks(trusted=False)] == [0, 2, 6]


def test_a_block_that_says_it_is_enormous(tmp_path: Path) -> None:
    """Neither its size nor its lines are believed."""
    compress = zstandard.ZstdCompressor().compress
    for content in (b"\n" * (1 << 24), b"{}"):
        path = tmp_path / f"{len(content)}.germane"
        block = np.frombuffer(compress(content), np.uint8)
        with ContainerWriter(path) as container:
            container.section("stored", block)
            container.section("stored_at", np.array([0, len(block)]))
            container.section("stored_last", np.array([5]))
            container.finish({})
        with pytest.raises(IndexFormatError, match="stored documents 0 to 4 are damaged"):
            StoredReader(Container(path)).fields(2)
