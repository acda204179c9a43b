"""CIFF: checked against a decoder and an encoder written literally from the format, and against our own rankings."""

import bz2
import gzip
import struct
from contextlib import suppress

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from germane.engine.engine import Engine
from germane.errors import IndexFormatError, InputError, ParameterError, StorageError
from germane.index import ciff, protobuf, wire_kernels
from germane.index.ciff import CiffReport, export_ciff, import_ciff
from germane.index.segment_writer import SegmentWriter
from germane.index.strings import pack_strings
from germane.lazy import load_compiler
from germane.rank.models.evidence import EvidenceModel
from germane.rank.registry import MODEL_NAMES, model_named
from germane.text import Analyzer
from germane.types import Document

# -- the format, literally ---------------------------------------------------------------------------------------------


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, value):
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value % 2**64) if value else b""


def delimited(body):
    return varint(len(body)) + body


def header(lists, docs, version=1, extra=b""):
    return delimited(field(1, version) + field(2, lists) + field(3, docs) + extra)


def postings(*pairs):
    return b"".join(field(4, field(1, gap) + field(2, tf)) for gap, tf in pairs)


def postings_list(term, *pairs, df=None, cf=None):
    df = len(pairs) if df is None else df
    cf = sum(tf for _, tf in pairs) if cf is None else cf
    return delimited(field(1, term) + field(2, df) + field(3, cf) + postings(*pairs))


def record(number, name, length):
    return delimited(field(1, number) + field(2, name) + field(3, length))


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_message(data):
    """Field number -> list of values."""
    values, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        values.setdefault(tag >> 3, []).append(value)
    return values


def read_ciff(data):
    """(header, term -> [(docid, tf)], [(docid, id, length)]) of a whole file."""
    messages, at = [], 0
    while at < len(data):
        size, at = read_varint(data, at)
        messages.append(read_message(data[at : at + size]))
        at += size
    head, n = messages[0], messages[0].get(2, [0])[0]
    lists = {}
    for message in messages[1 : n + 1]:
        pairs, doc = [], 0
        for posting in map(read_message, message.get(4, [])):
            doc += posting.get(1, [0])[0]
            pairs.append((doc, posting[2][0]))
        assert message[2] == [len(pairs)]
        assert message[3] == [sum(tf for _, tf in pairs)]
        lists[message[1][0].decode()] = pairs
    records = [(m.get(1, [0])[0], m[2][0].decode(), m.get(3, [0])[0]) for m in messages[n + 1 :]]
    return head, lists, records


# -- a collection with repeated words, ties, an empty document, other scripts ------------------------------------------

TEXTS = {
    "a": "heart attack heart",
    "b": "attack of the heart",
    "empty": "",
    "stop": "the of",
    "c": "Krankenhaus größer straße 東京 heart",
    "d": "heart attack heart",
    "e": "running runner runs ran heart " * 40,
    "f": "zebra",
}
QUERIES = ["heart", "heart attack", "running zebra", "größer heart", "東京", "attack attack heart zebra"]


@pytest.fixture
def several(tmp_path):
    """Three segments and deletions; 'zebra' goes with its only document."""
    engine = Engine.create(tmp_path / "index")
    documents = [Document(name, {"text": text, "year": i}) for i, (name, text) in enumerate(TEXTS.items())]
    engine.add(documents[:3])
    engine.add([*documents[3:6], Document("gone", {"text": "heart vanished"})])
    engine.add(documents[6:])
    engine.delete(["f", "gone"])
    assert (engine.stats().segments, engine.stats().deleted) == (3, 2)
    yield engine
    engine.close()


def ranking(engine, query, model):
    result = engine.search(query, 100, model=model)
    return [(hit.id, hit.score) for hit in result]


# -- export ------------------------------------------------------------------------------------------------------------


def test_export_read_by_a_plain_decoder(several, tmp_path):
    report = export_ciff(tmp_path / "index", tmp_path / "out.ciff")
    head, lists, records = read_ciff((tmp_path / "out.ciff").read_bytes())
    live = {name: several.analyzer.terms(text) for name, text in TEXTS.items() if name != "f"}
    names = [name for _, name, _ in records]
    assert [number for number, _, _ in records] == list(range(len(live)))
    assert sorted(names) == sorted(live)
    assert {name: length for _, name, length in records} == {name: len(terms) for name, terms in live.items()}
    expected = {}
    for number, name in enumerate(names):
        for term in sorted(set(live[name])):
            expected.setdefault(term, []).append((number, live[name].count(term)))
    assert lists == expected
    assert list(lists) == sorted(expected, key=str.encode)
    tokens = sum(map(len, live.values()))
    assert head[1] + head[2] + head[3] + head[4] + head[5] + head[6] == [1, len(lists), 7, len(lists), 7, tokens]
    assert head[7] == [tokens / 7]
    n_postings = sum(map(len, lists.values()))
    assert report == CiffReport(7, len(lists), n_postings, tokens, head[8][0].decode())


def test_export_in_pieces_is_the_same(several, tmp_path, monkeypatch):
    export_ciff(tmp_path / "index", tmp_path / "whole.ciff")
    monkeypatch.setattr(ciff, "PIECE", 1)
    monkeypatch.setattr(ciff, "_STEP", 2)
    export_ciff(tmp_path / "index", tmp_path / "pieces.ciff")
    assert (tmp_path / "whole.ciff").read_bytes() == (tmp_path / "pieces.ciff").read_bytes()


def test_export_of_an_empty_index(tmp_path):
    Engine.create(tmp_path / "index").close()
    report = export_ciff(tmp_path / "index", tmp_path / "out.ciff")
    assert (report.documents, report.terms, report.postings, report.tokens) == (0, 0, 0, 0)
    assert read_ciff((tmp_path / "out.ciff").read_bytes())[1:] == ({}, [])
    assert import_ciff(tmp_path / "out.ciff", tmp_path / "back").documents == 0
    assert len(Engine.open(tmp_path / "back")) == 0


def test_export_gzip_replaces_a_file_and_leaves_no_other(several, tmp_path):
    target = tmp_path / "out" / "x.ciff.gz"
    target.parent.mkdir()
    target.write_bytes(b"old")
    export_ciff(tmp_path / "index", tmp_path / "plain.ciff")
    export_ciff(tmp_path / "index", target)
    assert gzip.decompress(target.read_bytes()) == (tmp_path / "plain.ciff").read_bytes()
    assert list(target.parent.iterdir()) == [target]


def test_failed_export_leaves_the_old_file(several, tmp_path, monkeypatch):
    target = tmp_path / "out" / "x.ciff"
    target.parent.mkdir()
    target.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(ciff, "_record_messages", fail)
    with pytest.raises(StorageError, match="no space left"):
        export_ciff(tmp_path / "index", target)
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]
    with pytest.raises(StorageError, match="cannot be written"):
        export_ciff(tmp_path / "index", tmp_path / "absent" / "x.ciff")


# -- round trip --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", ["plain", "gz"])
def test_round_trip_gives_the_same_scores(several, tmp_path, packed):
    file = tmp_path / f"out.{packed}"
    sent = export_ciff(tmp_path / "index", file)
    assert import_ciff(file, tmp_path / "back", analyzer=several.analyzer) == sent
    back = Engine.open(tmp_path / "back")
    assert back.stats().tokens == several.stats().tokens
    for model in MODEL_NAMES:
        # a CIFF file has no order of words
        if isinstance(model_named(model), EvidenceModel) and model not in ("dcm", "sd"):
            with pytest.raises(IndexFormatError, match="needs the order of words"):
                back.search("heart attack", model=model)
            continue
        for query in QUERIES:
            assert ranking(back, query, model) == ranking(several, query, model), (model, query)
    assert back.document("a") == Document("a", {})
    assert back.retriever.snapshot.segments[0].segment.container.problems() == []
    export_ciff(tmp_path / "back", tmp_path / "again.ciff")
    plain = gzip.decompress(file.read_bytes()) if packed == "gz" else file.read_bytes()
    assert (tmp_path / "again.ciff").read_bytes() == plain


def test_an_imported_index_can_be_changed(several, tmp_path):
    export_ciff(tmp_path / "index", tmp_path / "out.ciff")
    import_ciff(tmp_path / "out.ciff", tmp_path / "back", analyzer=several.analyzer)
    for engine in (several, Engine.open(tmp_path / "back")):
        engine.add([Document("new", {"text": "hearts and zebras"})])
        engine.delete(["a"])
        engine.merge()
        assert engine.search("zebra heart").ids[0] == "new"
        engine.close()
    back = Engine.open(tmp_path / "back")
    assert ranking(back, "heart zebra", "bm25") == ranking(several, "heart zebra", "bm25")


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=3),
        st.dictionaries(st.integers(0, 5), st.integers(1, 2**31 - 1) | st.integers(1, 3), min_size=1),
        max_size=6,
    )
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lists_come_back(tmp_path_factory, lists):
    folder = tmp_path_factory.mktemp("any")
    content, length = [header(len(lists), 6)], [0] * 6
    for term in sorted(lists, key=str.encode):
        docs = sorted(lists[term])
        content.append(
            postings_list(term.encode(), *((d - p, lists[term][d]) for p, d in zip([0, *docs], docs, strict=False)))
        )
        for d in docs:
            length[d] += lists[term][d]
    content += [record(d, b"%d" % d, n) for d, n in enumerate(length) if n < 2**31]
    (folder / "in.ciff").write_bytes(b"".join(content))
    if max(length) >= 2**31:
        with pytest.raises(InputError):
            import_ciff(folder / "in.ciff", folder / "index")
        return
    import_ciff(folder / "in.ciff", folder / "index")
    export_ciff(folder / "index", folder / "out.ciff")
    _, out, _ = read_ciff((folder / "out.ciff").read_bytes())
    assert out == {term: sorted(docs.items()) for term, docs in lists.items()}


# -- golden ------------------------------------------------------------------------------------------------------------

GOLDEN = bytes.fromhex(
    "18 0801 1002 1803 2002 2803 3006 39 0000000000000040 4201 74"  # header: 2 lists, 3 docs, 6 words, mean 2, "t"
    "11 0a01 61 1002 1804 22021003 220408021001"  # a: document 0 three times, document 2 once
    "0e 0a02 c3a9 1001 1802 220408021002"  # é: document 2 twice
    "06 1202 6430 1803"  # d0, 3 words
    "08 0801 1202 6431 1800"  # d1, 0 words, written although it is the default
    "08 0802 1202 6432 1803"  # d2, 3 words
)


def test_golden_bytes(tmp_path):
    (tmp_path / "in.ciff").write_bytes(GOLDEN)
    assert import_ciff(tmp_path / "in.ciff", tmp_path / "index") == CiffReport(3, 2, 3, 6, "t")
    engine = Engine.open(tmp_path / "index")
    segment = engine.retriever.snapshot.segments[0].segment
    assert [segment.term(t) for t in range(2)] == ["a", "é"]
    assert [[x.tolist() for x in segment.postings(t)] for t in range(2)] == [[[0, 2], [3, 1]], [[2], [2]]]
    assert [[x.tolist() for x in segment.forward(d)] for d in range(3)] == [[[0], [3]], [[], []], [[0, 1], [1, 2]]]
    assert segment.doc_len.tolist() == [3, 0, 3]
    assert segment.doc_ids(np.arange(3)) == ["d0", "d1", "d2"]
    assert engine.analyzer == Analyzer(stemmer="none", stopwords="none")
    assert engine.text_fields == ("title", "text")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstandard.compress])
def test_compressed_input(tmp_path, pack):
    (tmp_path / "in").write_bytes(pack(GOLDEN))
    assert import_ciff(tmp_path / "in", tmp_path / "index").tokens == 6
    (tmp_path / "cut").write_bytes(pack(GOLDEN)[:-12])
    with pytest.raises(InputError, match="cut"):
        import_ciff(tmp_path / "cut", tmp_path / "other")


def test_a_term_with_a_zero_byte_hides_no_other(tmp_path):
    with Engine.create(tmp_path / "a", analyzer=Analyzer("none", "none")) as engine:
        engine.add([Document(str(i), {"text": f"w{i:02d} common zazb"}) for i in range(40)])
    export_ciff(tmp_path / "a", tmp_path / "x.ciff")
    content = (tmp_path / "x.ciff").read_bytes()
    (tmp_path / "x.ciff").write_bytes(content.replace(b"zazb", b"z\0zb"))
    import_ciff(tmp_path / "x.ciff", tmp_path / "b")
    load_compiler()
    engine = Engine.open(tmp_path / "b")
    assert engine.search({"common": 1.0}, 3).ids == engine.search({"z\0zb": 1.0}, 3).ids == ["0", "1", "10"]


def test_small_windows_read_the_same(several, tmp_path, monkeypatch):
    export_ciff(tmp_path / "index", tmp_path / "in.ciff")
    monkeypatch.setattr(protobuf, "WINDOW", 1)
    import_ciff(tmp_path / "in.ciff", tmp_path / "back", analyzer=several.analyzer)
    export_ciff(tmp_path / "back", tmp_path / "out.ciff")
    assert (tmp_path / "in.ciff").read_bytes() == (tmp_path / "out.ciff").read_bytes()


def test_unknown_fields_other_orders_and_unsorted_records(tmp_path):
    unknown = field(99, 7) + field(98, b"xyz") + varint(97 << 3 | 5) + b"1234" + varint(96 << 3 | 1) + b"12345678"
    odd_posting = field(4, unknown + field(2, 2) + field(1, 1))
    odd_list = delimited(
        postings((0, 1)) + field(3, 3) + unknown + field(1, b"old") + odd_posting + field(2, 2) + field(1, b"new")
    )
    content = header(1, 2, extra=unknown) + odd_list + delimited(unknown + field(3, 2) + field(2, b"y") + field(1, 1))
    (tmp_path / "in.ciff").write_bytes(content + record(0, b"x", 1))
    assert import_ciff(tmp_path / "in.ciff", tmp_path / "index").postings == 2
    segment = Engine.open(tmp_path / "index").retriever.snapshot.segments[0].segment
    assert segment.term(0) == "new"
    assert segment.doc_ids(np.arange(2)) == ["x", "y"]
    assert segment.doc_len.tolist() == [1, 2]


# -- lengths -----------------------------------------------------------------------------------------------------------


def test_other_lengths_are_refused_or_recomputed(tmp_path):
    content = header(1, 2) + postings_list(b"a", (0, 2), (1, 3)) + record(0, b"x", 2) + record(1, b"y", 4)
    (tmp_path / "in.ciff").write_bytes(content)
    with pytest.raises(InputError, match=r"1 of 2 documents.*'y': 4, counts 3.*recompute"):
        import_ciff(tmp_path / "in.ciff", tmp_path / "index")
    assert not (tmp_path / "index").exists()
    report = import_ciff(tmp_path / "in.ciff", tmp_path / "index", lengths="recompute")
    assert (report.lengths_changed, report.tokens) == (1, 5)
    segment = Engine.open(tmp_path / "index").retriever.snapshot.segments[0].segment
    assert segment.doc_len.tolist() == [2, 3]


def test_a_partial_export_says_so(tmp_path):
    content = header(1, 1, extra=field(4, 9)) + postings_list(b"a", (0, 2)) + record(0, b"x", 5)
    (tmp_path / "in.ciff").write_bytes(content)
    with pytest.raises(InputError, match="1 of 9 postings lists"):
        import_ciff(tmp_path / "in.ciff", tmp_path / "index")


# -- errors ------------------------------------------------------------------------------------------------------------

LIST_A, LIST_B = postings_list(b"a", (0, 1)), postings_list(b"b", (0, 1))
ONE = record(0, b"x", 2)
PAIR = LIST_A + LIST_B
BAD = {
    "empty": (b"", "is empty"),
    "text": (b"Not a CIFF file, but a text of some length.\n" * 9, "message 1: not a CIFF file"),
    "json": (b'{"id": "1"}\n', "message 1: not a CIFF file"),
    "version 0": (header(0, 0, version=0), "message 1: not a CIFF file"),
    "version 2": (header(0, 0, version=2), "message 1: CIFF version 2"),
    "negative count": (header(-1, 0), "message 1: num_postings_lists is -1"),
    "huge count": (header(0, 2**31), "message 1: num_docs is 2147483648"),
    "header type": (delimited(field(1, b"1")), "message 1: .* wrong type"),
    "long header": (varint(2**40), "message 1: .* too long"),
    "no lists": (header(2, 1) + LIST_A, "message 3: the file ends where postings list 2 of 2"),
    "cut list": (header(2, 1) + LIST_A + LIST_B[:-1], "message 3: the file ends where postings list 2 of 2"),
    "no record": (header(2, 1) + PAIR, "message 4: the file ends where document 1 of 1"),
    "cut record": (header(2, 1) + PAIR + ONE[:-1], "message 4: the file ends where document 1 of 1"),
    "too many": (header(2, 1) + PAIR + ONE + ONE, "bytes follow"),
    "term type": (header(1, 1) + delimited(field(1, 5) + field(2, 1)), "message 2: .* wrong type"),
    "posting type": (header(1, 1) + delimited(field(1, b"a") + field(4, field(1, b"x"))), "message 2: .* wrong type"),
    "record type": (header(0, 1) + delimited(field(2, 5)), "message 2: .* wrong type"),
    "group": (header(1, 1) + delimited(varint(9 << 3 | 3)), "message 2: .* wrong type"),
    "tag 0": (header(1, 1) + delimited(b"\0\0"), "message 2: an impossible field number"),
    "long varint": (header(1, 1) + delimited(b"\x10" + b"\xff" * 10 + b"\1"), "message 2: .* more than ten bytes"),
    "field cut": (header(1, 1) + delimited(b"\x0a\x09a"), "message 2: a field runs past"),
    "posting cut": (header(1, 1) + delimited(b"\x22\x09\x08"), "message 2: a field runs past"),
    "list too long": (header(1, 1) + varint(2**33), "message 2: a message that is too long"),
    "no term": (header(1, 1) + postings_list(b"", (0, 1)), "message 2: a postings list without a term"),
    "no postings": (header(1, 1) + postings_list(b"a"), "message 2: .* without postings"),
    "negative first": (header(1, 9) + postings_list(b"a", (-1, 1)), "message 2: a negative gap"),
    "negative gap": (header(1, 9) + postings_list(b"a", (3, 1), (-1, 1)), "message 2: a negative gap"),
    "gap 0": (header(1, 9) + postings_list(b"a", (3, 1), (0, 1)), "message 2: a docid twice"),
    "docid": (header(1, 1) + postings_list(b"a", (1, 1)), "message 2: a docid outside"),
    "huge gap": (header(1, 9) + postings_list(b"a", (1, 1), (2**63 - 1, 1)), "message 2: a docid outside"),
    "tf 0": (header(1, 1) + postings_list(b"a", (0, 0)), "message 2: a tf"),
    "tf negative": (header(1, 1) + postings_list(b"a", (0, -3)), "message 2: a tf"),
    "tf large": (header(1, 1) + postings_list(b"a", (0, 2**31)), "message 2: a tf"),
    "df": (header(1, 1) + postings_list(b"a", (0, 1), df=2), "message 2: df"),
    "cf": (header(1, 1) + postings_list(b"a", (0, 1), cf=2), "message 2: cf"),
    "order": (header(2, 1) + LIST_B + LIST_A, "message 3: the term 'a' comes after 'b'"),
    "duplicate term": (header(2, 1) + LIST_A + LIST_A, "message 3: the term 'a' comes twice"),
    "utf-8": (header(1, 1) + postings_list(b"\xff", (0, 1)), "message 2: .* not UTF-8"),
    "no id": (header(2, 1) + PAIR + record(0, b"", 2), "message 4: a document without collection_docid"),
    "id utf-8": (header(2, 1) + PAIR + record(0, b"\xff", 2), "message 4: .* not UTF-8"),
    "id control": (header(2, 1) + PAIR + record(0, b"a\0b", 2), "message 4: .* control characters"),
    "id long": (header(2, 1) + PAIR + record(0, b"a" * 513, 2), "message 4: .* longer"),
    "record docid": (header(2, 1) + PAIR + record(1, b"x", 2), "message 4: a docid outside"),
    "length": (header(2, 1) + PAIR + record(0, b"x", -2), "message 4: a doclength"),
    "two docids": (header(2, 2) + PAIR + ONE + record(0, b"y", 0), "message 5: the docid '0' comes twice"),
    "two ids": (header(2, 2) + PAIR + ONE + record(1, b"x", 0), "message 5: the collection_docid 'x' comes twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path, case):
    content, message = BAD[case]
    (tmp_path / "in.ciff").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        import_ciff(tmp_path / "in.ciff", tmp_path / "index")
    assert str(caught.value).startswith(str(tmp_path / "in.ciff"))
    assert [path.name for path in tmp_path.iterdir()] == ["in.ciff"]


def test_missing_file_and_taken_folder(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        import_ciff(tmp_path / "absent", tmp_path / "index")
    (tmp_path / "in.ciff").write_bytes(GOLDEN)
    import_ciff(tmp_path / "in.ciff", tmp_path / "index")
    with pytest.raises(IndexFormatError, match="already holds an index"):
        import_ciff(tmp_path / "in.ciff", tmp_path / "index")
    with pytest.raises(IndexFormatError, match="not empty"):
        import_ciff(tmp_path / "in.ciff", tmp_path)
    (tmp_path / "free").mkdir()
    import_ciff(tmp_path / "in.ciff", tmp_path / "free")
    with pytest.raises(ParameterError, match="lengths"):
        import_ciff(tmp_path / "in.ciff", tmp_path / "x", lengths="other")
    with pytest.raises(ParameterError, match="text field"):
        import_ciff(tmp_path / "in.ciff", tmp_path / "x", text_fields=())


def test_failed_write_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "in.ciff").write_bytes(GOLDEN)

    def fail(*_):
        raise StorageError("disk full")

    monkeypatch.setattr(SegmentWriter, "documents", fail)
    with pytest.raises(StorageError):
        import_ciff(tmp_path / "in.ciff", tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["in.ciff"]


def test_an_index_made_meanwhile_is_not_overwritten(tmp_path, monkeypatch, index_files):
    """The file is read before anything is written; another creator may be faster."""
    (tmp_path / "in.ciff").write_bytes(GOLDEN)
    after_reading = ciff._sums
    theirs = {}

    def slow(*arguments):
        with Engine.create(tmp_path / "index") as other:
            other.add([Document("theirs", {"text": "kept"})])
        theirs.update(index_files(tmp_path / "index"))
        return after_reading(*arguments)

    monkeypatch.setattr(ciff, "_sums", slow)
    with pytest.raises(IndexFormatError, match="already holds an index"):
        import_ciff(tmp_path / "in.ciff", tmp_path / "index")
    assert index_files(tmp_path / "index") == theirs
    assert Engine.open(tmp_path / "index").search("kept").ids == ["theirs"]


PARTS = [GOLDEN, header(1, 1), header(2, 1), header(0, 1), LIST_A, LIST_B, ONE, postings_list(b"a", (0, 1), (2, 9))]
contents = st.one_of(
    st.binary(max_size=80),
    st.lists(st.sampled_from(PARTS) | st.binary(max_size=4), max_size=6).map(b"".join),
    st.tuples(st.integers(0, len(GOLDEN) - 1), st.binary(max_size=3)).map(
        lambda change: GOLDEN[: change[0]] + change[1] + GOLDEN[change[0] + len(change[1]) :]
    ),
)


@given(contents, st.sampled_from([bytes, bytes, gzip.compress, zstandard.compress, lambda x: gzip.compress(x)[:-3]]))
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_raise_nothing_but_input_errors(tmp_path_factory, content, pack):
    folder = tmp_path_factory.getbasetemp() / "any-bytes"
    folder.mkdir(exist_ok=True)
    (folder / "in").write_bytes(pack(content))
    target = folder / "index"
    try:
        import_ciff(folder / "in", target, lengths="recompute")
    except InputError:
        assert not target.exists()
    else:
        for path in target.iterdir():
            path.unlink()
        target.rmdir()


# -- kernels against plain Python --------------------------------------------------------------------------------------

numbers = st.integers(0, 2**63 - 1) | st.integers(0, 40).map(lambda bits: 1 << bits) | st.integers(0, 300)


@given(numbers)
def test_varints(n):
    out = np.zeros(10, np.uint8)
    size = wire_kernels.put_varint(out, 0, n)
    assert out[:size].tobytes() == varint(n) == protobuf.varint(n)
    assert wire_kernels.varint_size(n) == size
    assert wire_kernels.get_varint(out, 0, size) == (n, size) == read_varint(varint(n), 0)
    assert wire_kernels.get_varint(out, 0, size - 1)[1] == wire_kernels.CUT


@given(st.lists(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(1, 2**31 - 1)), min_size=1), max_size=5))
@settings(deadline=None)
def test_encode_and_decode_lists(lists):
    lists = [sorted(dict(pairs).items()) for pairs in lists]
    terms = [b"t" * (i * 70 + 1) for i in range(len(lists))]
    flat = [pair for pairs in lists for pair in pairs]
    starts = np.cumsum([0, *map(len, lists)])
    docs, counts = (np.array([pair[i] for pair in flat], np.uint32) for i in (0, 1))
    data, offsets = pack_strings(terms)
    out = np.empty(len(flat) * wire_kernels.POSTING_BYTES + len(lists) * wire_kernels.LIST_BYTES + len(data), np.uint8)
    size = wire_kernels.encode_lists(starts, docs, counts, data, offsets, out)
    literal = b""
    for term, pairs in zip(terms, lists, strict=True):
        gaps = np.diff([doc for doc, _ in pairs], prepend=0).tolist()
        literal += postings_list(term, *zip(gaps, (tf for _, tf in pairs), strict=True))
    assert out[:size].tobytes() == literal
    n = size // 4 + 1
    places = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64)
    back = np.empty(n, np.uint32), np.empty(n, np.uint32)
    result = wire_kernels.decode_lists(out, 0, size, len(lists) + 1, 2**31, *places, *back)
    assert result == (0, len(lists), size, 1)
    assert places[2][: len(lists) + 1].tolist() == starts.tolist()
    assert back[0][: len(flat)].tolist() == docs.tolist()
    assert back[1][: len(flat)].tolist() == counts.tolist()
    assert [out[a:b].tobytes() for a, b in zip(*places[:2], strict=True)][: len(lists)] == terms


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=300), st.integers(0, 2**31 - 1)), max_size=5), numbers)
@settings(deadline=None)
def test_encode_and_decode_records(documents, first):
    first %= 2**31 - 10
    data, offsets = pack_strings(name for name, _ in documents)
    lengths = np.array([length for _, length in documents], np.uint32)
    out = np.empty(len(data) + len(documents) * wire_kernels.RECORD_BYTES, np.uint8)
    size = wire_kernels.encode_records(np.arange(len(documents)), first, data, offsets, lengths, out)
    assert out[:size].tobytes() == b"".join(record(first + i, *document) for i, document in enumerate(documents))
    columns = [np.empty(size // 4 + 1, np.int64) for _ in range(4)]
    n = len(documents)
    assert wire_kernels.decode_records(out, 0, size, n + 1, 2**31, *columns) == (0, n, size, 1)
    assert columns[0][:n].tolist() == list(range(first, first + n))
    assert columns[3][:n].tolist() == lengths.tolist()


@given(contents, st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_decoders_stay_within_their_arrays(content, n_docs):
    """The same functions uncompiled, where NumPy checks every index; CUT messages and faults agree."""
    data = np.frombuffer(content, np.uint8)
    room = len(data) // 4 + 1

    def lists(decode):
        places = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room + 1, np.int64)
        found = np.zeros(room, np.uint32), np.zeros(room, np.uint32)
        result = tuple(map(int, decode(data, 0, len(data), room, n_docs, *places, *found)))
        return result, [array.tolist() for array in (*places, *found)]

    def records(decode):
        columns = [np.zeros(room, np.int64) for _ in range(4)]
        result = tuple(map(int, decode(data, 0, len(data), room, n_docs, *columns)))
        return result, [column.tolist() for column in columns]

    assert lists(wire_kernels.decode_lists) == lists(wire_kernels.decode_lists.py_func)
    assert records(wire_kernels.decode_records) == records(wire_kernels.decode_records.py_func)


@given(st.binary(max_size=40))
def test_plain_fields_raise_nothing_else(body):
    with suppress(protobuf.WireError):
        list(protobuf.fields(body))
