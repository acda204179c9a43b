"""Damage of every kind is found, named, and repaired as far as anything is left."""

import contextlib
import os
import random
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
import zstandard

from germane.engine import Engine
from germane.errors import IndexFormatError, IndexLockedError, StorageError
from germane.index.check import check_index
from germane.index.container import _TRAILER, Container, ContainerWriter
from germane.index.deletions import read_deletions, write_deletions
from germane.index.manifest import read_manifest
from germane.index.repair import repair_index
from germane.index.segment import Segment
from germane.index.stored_fields import StoredReader, StoredWriter
from germane.lazy import load_compiler
from germane.types import Document

Content = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three segments, two of them with deletions; updated documents; columns; stored blocks of a few documents."""
    rng = random.Random(0)
    folder = tmp_path_factory.mktemp("original") / "index"

    def document(doc_id: str, words: int = 12) -> Document:
        text = " ".join(f"w{rng.randrange(60)}" for _ in range(words))
        return Document(
            doc_id, {"text": text, "year": rng.randrange(1990, 2000), "tags": ["red", "blue"][: rng.randrange(3)]}
        )

    with Engine.create(folder) as engine:
        engine.add([document(f"a{i}") for i in range(20)])
        engine.add([document(f"b{i}", 3000) for i in range(12)])  # several stored blocks
        engine.add([document("a1"), document("b1"), document("c0"), document("c1")], on_duplicate="replace")
        engine.delete(["a7", "a8"])
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "index")
    return tmp_path / "index"


def segments(folder: Path) -> list[Path]:
    return [folder / entry.name for entry in read_manifest(folder).segments]


def deletions(folder: Path) -> list[Path]:
    return [folder / entry.deletions for entry in read_manifest(folder).segments if entry.deletions]


def flip(path: Path, at: int, bit: int = 0) -> None:
    with open(path, "r+b", buffering=0) as file:
        byte = os.pread(file.fileno(), 1, at)[0]
        os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), at)


def damage(path: Path, section: str, at: int = 0) -> None:
    """Flip a bit in a section."""
    flip(path, Container(path).place_of(section)[0] + at)


def rewrite(path: Path, section: str, change: Callable[[np.ndarray[Any, Any]], Any]) -> None:
    """Change a section and give it a right checksum: the damage of a wrong program."""
    old = Container(path)
    arrays = {name: old[name].copy() for name in old}
    changed = change(arrays[section])
    if changed is not None:
        arrays[section] = changed
    size = old.size
    path.unlink()
    with ContainerWriter(path) as container:
        for name, array in arrays.items():
            container.section(name, array)
        container.finish(old.meta)
    manifest = path.parent / "MANIFEST"
    if path.name.startswith("segment") and path.stat().st_size != size:
        entries = read_manifest(path.parent)
        fixed = tuple(
            replace(entry, size=path.stat().st_size) if entry.name == path.name else entry for entry in entries.segments
        )
        replace(entries, segments=fixed).write(manifest.parent)


def retell(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a file's table of contents and give it a right checksum; the manifest is told of its size."""
    content = path.read_bytes()
    offset, length, _, magic = _TRAILER.unpack(content[-_TRAILER.size :])
    parsed = orjson.loads(content[offset : offset + length])
    change(parsed)
    body = orjson.dumps(parsed)
    path.write_bytes(content[:offset] + body + _TRAILER.pack(offset, len(body), zlib.crc32(body), magic))
    state = read_manifest(path.parent)
    size = path.stat().st_size
    told = tuple(replace(entry, size=size) if entry.name == path.name else entry for entry in state.segments)
    replace(state, segments=told).write(path.parent)


# -- checking ----------------------------------------------------------------------------------------------------------


def test_an_intact_index(folder: Path, index_files: Callable[..., Any]) -> None:
    before = index_files(folder)
    report = check_index(folder)
    assert (report.ok, report.problems, report.notes) == (True, [], [])
    assert (report.segments, report.documents) == (3, 32)
    repaired = repair_index(folder)
    assert (repaired.kept_documents, repaired.lost, repaired.actions) == (32, [], [])
    assert index_files(folder) == before


def test_stray_files_are_a_note(folder: Path) -> None:
    left_behind = ["new-" + "1f" * 16 + ".tmp", "segment-" + "0f" * 16 + ".germane"]
    not_ours = ["workspace.db", "spam.germane", "segment-stray.germane", "segment-1.germane", "new.tmp", "MANIFEST.old"]
    for name in (*left_behind, *not_ours):
        (folder / name).write_bytes(b"left behind")
    report = check_index(folder)
    assert report.ok
    assert [note.split()[0] for note in report.notes] == [str(folder / name) for name in left_behind]
    Engine.open(folder).update([Document("x", {"text": "w1"})])
    assert not check_index(folder).notes
    assert all((folder / name).read_bytes() == b"left behind" for name in not_ours)


def test_a_section_that_is_described_wrongly(folder: Path) -> None:
    def lie(contents: dict[str, Any]) -> None:
        contents["sections"]["stored"]["dtype"] = "|u7"

    first = segments(folder)[0]
    lost = Segment(first).n_docs
    retell(first, lie)
    report = check_index(folder)
    assert [problem.split(": ")[-1] for problem in report.problems] == ["the table of contents is damaged"]
    assert repair_index(folder).kept_documents >= 32 - lost
    assert check_index(folder).ok


def test_postings_that_are_not_there_are_not_made_room_for(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document(str(i), {"text": f"w{i} common"}) for i in range(40)])
        engine.add([Document(f"x{i}", {"text": ""}) for i in range(40)])
    newest = segments(tmp_path / "index")[-1]
    retell(newest, lambda contents: contents["meta"].update(n_postings=2**50))
    load_compiler()
    with pytest.raises(IndexFormatError, match="postings"):
        _ = Segment(newest).unpacked


def test_flipped_bits_are_found(folder: Path, original: Path, content: Content) -> None:
    """One bit of every byte of small files, of a sample of the others."""
    rng = random.Random(1)
    files = sorted(path for path in folder.iterdir() if path.name != "LOCK")
    assert len(files) == 6
    for path in files:
        size = path.stat().st_size
        for at in range(size) if size <= 1000 else sorted(rng.sample(range(size), 100)):
            bit = rng.randrange(8)
            flip(path, at, bit)
            report = check_index(folder)
            assert any(str(path) in problem for problem in report.problems), (path, at, bit)
            with contextlib.suppress(IndexFormatError):  # nothing else, where opening notices
                Engine.open(folder)
            flip(path, at, bit)
    assert check_index(folder).ok


def test_every_byte_of_a_small_segment(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "x") as engine:
        engine.add([Document("a", {"text": "w1 w2 w1", "n": 1}), Document("b", {"text": "w2"})])
        engine.delete(["a"])
    rng = random.Random(2)
    path = segments(tmp_path / "x")[0]
    for at in range(path.stat().st_size):
        bit = rng.randrange(8)
        flip(path, at, bit)
        assert not check_index(tmp_path / "x").ok, (at, bit)
        flip(path, at, bit)
    assert check_index(tmp_path / "x").ok


def test_missing_truncated_and_foreign_files(folder: Path) -> None:
    for path in (*segments(folder), *deletions(folder)):
        content = path.read_bytes()
        for replacement in (None, b"", content[:-1], content[:100], content + b"x", b"%PDF-1.4" * 50):
            path.unlink(missing_ok=True)
            if replacement is not None:
                path.write_bytes(replacement)
            report = check_index(folder)
            assert not report.ok
            assert str(path) in report.problems[0]
            with pytest.raises(IndexFormatError, match=path.name):
                Engine.open(folder)
        path.write_bytes(content)
    assert check_index(folder).ok


def test_files_in_each_others_place(folder: Path) -> None:
    first, second = segments(folder)[:2]
    content = first.read_bytes()
    for other in (second, deletions(folder)[0]):
        first.write_bytes(other.read_bytes())
        assert not check_index(folder).ok
        with pytest.raises(IndexFormatError):
            Engine.open(folder)
    first.write_bytes(content)
    a, b = deletions(folder)
    a.write_bytes(b.read_bytes())
    assert not check_index(folder).ok
    with pytest.raises(IndexFormatError, match=a.name):
        Engine.open(folder)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"{}", b"null", b'{"format": 2}', b'{"format": 2, "analyzer": 5, "fingerprint": ""}']
)
def test_manifests_that_are_none(folder: Path, body: bytes) -> None:
    for content in (body, b"%08x\n" % zlib.crc32(body) + body):
        (folder / "MANIFEST").write_bytes(content)
        assert not check_index(folder).ok
        with pytest.raises(IndexFormatError, match="MANIFEST"):
            Engine.open(folder)


def test_newer_manifest(folder: Path) -> None:
    parsed = orjson.loads((folder / "MANIFEST").read_bytes().partition(b"\n")[2]) | {"format": 8}
    body = orjson.dumps(parsed)
    (folder / "MANIFEST").write_bytes(b"%08x\n" % zlib.crc32(body) + body)
    for call in (Engine.open, repair_index):
        with pytest.raises(IndexFormatError, match="upgrade germane"):
            call(folder)


def test_what_is_no_index_at_all(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for path in (tmp_path, tmp_path / "file", tmp_path / "nowhere"):
        assert not check_index(path).ok
        with pytest.raises(IndexFormatError):
            Engine.open(path)
        with pytest.raises(IndexFormatError):
            repair_index(path)


def first_plus(n: int) -> Callable[[np.ndarray[Any, Any]], None]:
    def change(array: np.ndarray[Any, Any]) -> None:
        array[0] += n

    return change


def swap(array: np.ndarray[Any, Any]) -> None:
    array[[0, 1]] = array[[1, 0]]


@pytest.mark.parametrize(
    ("section", "change", "words"),
    [
        ("df", first_plus(1), ""),
        ("df", first_plus(200), ""),
        ("df_large", lambda a: np.append(a, 300), "df_large"),
        ("cf", lambda a: a ^ 1, ""),
        ("words", first_plus(1), ""),
        ("words", lambda a: a[:-1], "do not follow"),
        ("blk_last", first_plus(1), ""),
        ("blk_doc_bits", first_plus(1), ""),
        ("blk_tf_bits", first_plus(40), "more than 32 bits"),
        ("blk_max_tf", first_plus(1), ""),
        ("fwd_words", first_plus(1), "forward lists"),
        ("fwd_words", lambda a: a[:-1], "forward lists do not follow"),
        ("fwd_term_bits", first_plus(1), "forward lists"),
        ("fwd_tf_bits", first_plus(40), "more than 32 bits"),
        ("n_unique", first_plus(1), ""),
        ("doc_len", first_plus(1), "document lengths"),
        ("doc_len", lambda a: a[:-1], "wrong size: doc_len"),
        ("term_offsets", first_plus(1), "wrong size: term_offsets"),
        ("term_bytes", lambda a: a[::-1].copy(), "not sorted"),
        ("surface_offsets", lambda a: a[:-1], "surface_offsets"),
        ("id_order", swap, "ids are not sorted"),
        ("id_order", first_plus(1), "not a permutation"),
        ("id_bytes", lambda a: np.full_like(a, 255), "not valid Unicode"),
        ("id_offsets", first_plus(1), "id_offsets"),
        ("stored", lambda a: a[:-1], "stored blocks"),
        ("stored", first_plus(1), "stored documents 0 to"),
        ("stored_last", first_plus(1), "stored"),
        ("stored_at", first_plus(1), "stored blocks"),
        ("column/year", lambda a: a[:-1], "field 'year'"),
        ("column/tags", first_plus(7), "field 'tags'"),
        ("column/tags/starts", first_plus(1), "field 'tags'"),
    ],
)
def test_contradictions_behind_right_checksums(folder: Path, section: str, change: Any, words: str) -> None:
    for i in (0, 1):
        path = segments(folder)[i]
        before = path.read_bytes(), (folder / "MANIFEST").read_bytes()
        rewrite(path, section, change)
        assert Container(path).problems() == []
        report = check_index(folder)
        assert not report.ok
        assert str(path) in report.problems[0]
        assert words in " ".join(report.problems)
        path.write_bytes(before[0])
        (folder / "MANIFEST").write_bytes(before[1])


def test_wrong_deletions(folder: Path) -> None:
    path, segment = deletions(folder)[0], Segment(segments(folder)[0])
    for section in ("df", "cf", "terms", "deleted"):
        before = path.read_bytes()
        rewrite(path, section, first_plus(1))
        report = check_index(folder)
        assert not report.ok
        assert str(path) in report.problems[0]
        path.write_bytes(before)
    whole = read_deletions(path, segment)
    path.unlink()
    write_deletions(path, replace(whole, n_tokens=whole.n_tokens + 1))
    assert not check_index(folder).ok


def test_an_id_in_two_segments(folder: Path) -> None:
    manifest = read_manifest(folder)
    replace(manifest, segments=(replace(manifest.segments[0], deletions=None), *manifest.segments[1:])).write(folder)
    report = check_index(folder)
    assert not report.ok
    assert "the id 'a1' belongs to several live documents" in report.problems[0]


# -- repairing ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def expected(original: Path, content: Content, seen: Callable[..., Any]) -> Any:
    return content(original), seen(Engine.open(original))


def usable(folder: Path) -> None:
    """After a repair everything is in order, and the index goes on."""
    report = check_index(folder)
    assert report.ok, report.problems
    assert not report.notes
    with Engine.open(folder) as engine:
        engine.update([Document("after", {"text": "w1 w2"})])
        engine.merge()
        assert "after" in engine
    assert check_index(folder).ok
    repaired = repair_index(folder)
    assert not repaired.lost
    assert not repaired.actions


LISTS = ("words", "blk_last", "df", "cf", "term_bytes", "term_offsets", "surface_bytes", "fwd_words", "n_unique",
         "doc_len", "id_order", "column/year", "column/tags/starts")  # fmt: skip


@pytest.mark.parametrize("section", LISTS)
def test_repair_of_lists_loses_nothing(
    folder: Path, section: str, expected: Any, content: Content, seen: Callable[..., Any]
) -> None:
    for path in segments(folder)[:2]:
        damage(path, section)
    report = repair_index(folder)
    assert (report.kept_documents, report.lost) == (32, [])
    assert any("again from their stored fields" in action for action in report.actions)
    assert (content(folder), seen(Engine.open(folder))) == expected
    assert len(list((folder / "damaged-1").iterdir())) == 4  # two segments, and their deletions
    usable(folder)


def test_repair_of_padding(folder: Path, expected: Any, content: Content) -> None:
    flip(segments(folder)[0], 20)
    assert not check_index(folder).ok
    assert repair_index(folder).kept_documents == 32
    assert content(folder) == expected[0]
    usable(folder)


def test_repair_of_one_stored_block(folder: Path, expected: Any, content: Content) -> None:
    path = segments(folder)[1]
    last = Container(path)["stored_last"].tolist()
    assert len(last) > 3
    damage(path, "stored", int(Container(path)["stored_at"][2]) + 500)
    ids = Segment(path).doc_ids(np.arange(12))
    gone = {doc_id for doc_id in ids[last[1] : last[2]] if doc_id != "b1"}  # b1 has a younger version elsewhere
    assert gone
    report = repair_index(folder)
    assert report.kept_documents == 32 - len(gone)
    assert len(report.lost) == 1
    assert all(f"'{doc_id}'" in report.lost[0] for doc_id in sorted(gone)[:5])
    assert content(folder) == {key: value for key, value in expected[0].items() if key not in gone}
    usable(folder)


@pytest.mark.parametrize("section", ["id_bytes", "id_offsets", "stored_at", "stored_last"])
def test_repair_without_ids_or_tables(folder: Path, section: str, expected: Any, content: Content) -> None:
    damage(segments(folder)[1], section)
    report = repair_index(folder)
    assert len(report.lost) == 1
    assert f"section '{section}' is damaged" in report.lost[0]
    assert content(folder) == {key: value for key, value in expected[0].items() if key not in
                               {f"b{i}" for i in range(12) if i != 1}}  # fmt: skip
    usable(folder)


@pytest.mark.parametrize("how", ["missing", "truncated"])
def test_repair_without_a_segment(folder: Path, how: str, expected: Any, content: Content) -> None:
    path = segments(folder)[0]
    size = path.stat().st_size
    path.unlink() if how == "missing" else os.truncate(path, size // 2)
    report = repair_index(folder)
    assert path.name in report.lost[0]
    assert content(folder) == {k: v for k, v in expected[0].items() if k == "a1" or not k.startswith("a")}
    if how == "truncated":
        assert (folder / "damaged-1" / path.name).stat().st_size == size // 2
    usable(folder)


@pytest.mark.parametrize("section", ["terms", "df", "cf"])
def test_repair_of_deleted_frequencies(
    folder: Path, section: str, expected: Any, content: Content, seen: Callable[..., Any]
) -> None:
    damage(deletions(folder)[0], section)
    report = repair_index(folder)
    assert (report.kept_documents, report.lost) == (32, [])
    assert (content(folder), seen(Engine.open(folder))) == expected
    usable(folder)


@pytest.mark.parametrize("how", ["missing", "bitmap", "truncated"])
def test_repair_without_deletions(folder: Path, how: str, expected: Any, content: Content) -> None:
    path = deletions(folder)[0]
    if how == "missing":
        path.unlink()
    elif how == "bitmap":
        damage(path, "deleted")
    else:
        os.truncate(path, 50)
    report = repair_index(folder)
    assert len(report.lost) == 1
    assert "were deleted: all are kept" in report.lost[0]
    found = content(folder)
    assert {key: value for key, value in found.items() if key not in ("a7", "a8")} == expected[0]
    assert report.kept_documents == len(found) == 34  # a7 and a8 are back; of a1 the younger version stays
    usable(folder)


@pytest.mark.parametrize("how", ["missing", "damaged", "empty"])
def test_repair_of_the_manifest(
    folder: Path, how: str, expected: Any, content: Content, seen: Callable[..., Any]
) -> None:
    manifest, before = folder / "MANIFEST", read_manifest(folder)
    if how == "missing":
        manifest.unlink()
    elif how == "damaged":
        flip(manifest, 100)
    else:
        manifest.write_bytes(b"")
    report = repair_index(folder)
    assert (report.kept_documents, report.lost) == (32, [])
    after = read_manifest(folder)
    assert (after.analyzer, after.text_fields) == (before.analyzer, before.text_fields)
    assert after.generation > before.generation
    assert (content(folder), seen(Engine.open(folder))) == expected
    usable(folder)


def test_repair_of_manifest_and_segment(folder: Path, expected: Any, content: Content) -> None:
    damage(segments(folder)[1], "words")
    flip(folder / "MANIFEST", 50)
    assert repair_index(folder).kept_documents == 32
    assert content(folder) == expected[0]
    assert len(list((folder / "damaged-1").iterdir())) == 3
    usable(folder)


def test_repair_of_the_manifest_beside_a_merge(folder: Path, expected: Any, content: Content) -> None:
    """Merged segment and sources are both there (killed before they were removed): each document comes once."""
    sources = {path: path.read_bytes() for path in (*segments(folder), *deletions(folder))}
    with Engine.open(folder) as engine:
        engine.merge()
    for path, data in sources.items():
        path.write_bytes(data)
    flip(folder / "MANIFEST", 50)
    report = repair_index(folder)
    assert (report.kept_documents, report.lost) == (32, [])
    assert content(folder) == expected[0]
    assert len(segments(folder)) == 1
    usable(folder)


def test_nothing_left_to_repair_from(tmp_path: Path) -> None:
    Engine.create(tmp_path / "x").close()
    flip(tmp_path / "x" / "MANIFEST", 30)
    with pytest.raises(IndexFormatError, match="nothing can be saved"):
        repair_index(tmp_path / "x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(IndexFormatError, match="nothing to repair"):
        repair_index(tmp_path / "empty")


def test_repair_takes_the_lock(folder: Path) -> None:
    with Engine.open(folder) as engine:
        engine.delete(["c0"])
        with pytest.raises(IndexLockedError):
            repair_index(folder)


def test_a_second_repair_uses_another_folder(folder: Path) -> None:
    for n in (1, 2):
        damage(segments(folder)[0], "words")
        repair_index(folder)
        assert (folder / f"damaged-{n}").is_dir()
    usable(folder)


def test_repair_interrupted_at_any_point(
    folder: Path, tmp_path: Path, expected: Any, content: Content, make_faults: Any
) -> None:
    """A full disk while repairing: the next repair still saves everything."""
    damage(segments(folder)[0], "words")
    damage(segments(folder)[1], "doc_len")
    at, finished = 0, False
    while not finished:
        at += 1
        copy = tmp_path / f"copy-{at}"
        shutil.copytree(folder, copy)
        faults = make_faults()
        faults.at = at
        with faults.installed():
            try:
                repair_index(copy)
                finished = faults.count < at
            except StorageError:
                pass
        repair_index(copy)
        assert content(copy) == expected[0], at
        assert check_index(copy).ok
        shutil.rmtree(copy)
    assert at > 15


def test_blocks_without_their_own_checksum(tmp_path: Path) -> None:
    """Old files: such a block is trusted only when its whole section is."""
    stored = StoredWriter()
    stored._compressor = zstandard.ZstdCompressor(level=1)
    stored.add_json(b'{"text":"w1"}')
    with ContainerWriter(tmp_path / "x") as container:
        stored.write(container)
        container.finish({})
    reader = StoredReader(Container(tmp_path / "x"))
    assert list(reader.intact_blocks(trusted=False)) == []
    assert list(reader.intact_blocks(trusted=True)) == [(0, [b'{"text":"w1"}'])]


def test_terms_are_sorted_in_the_fixture(original: Path) -> None:
    """The fixture is what it claims: sorted terms, blocks that are full and short, several stored blocks."""
    big = Segment(segments(original)[1])
    terms = [big.term(i) for i in range(big.n_terms)]
    assert all(a < b for a, b in pairwise(terms))
    assert len(big.container["stored_last"]) > 2
