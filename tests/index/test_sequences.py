"""The order of words, against documents read word by word: phrases, slop, fields, by each road to a segment."""

import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane import Analyzer, Document, Engine, lazy
from germane.arrays import Integers
from germane.errors import DamagedIndexError, IndexFormatError, ParameterError
from germane.index.check import check_index
from germane.index.ciff import export_ciff, import_ciff
from germane.index.manifest import NAME, read_manifest
from germane.index.segment import Segment
from germane.index.sequences import (
    TextFields,
    documents_with_phrase,
    documents_with_terms_in_field,
    field_counts,
    field_lengths,
)
from germane.types import FieldValue

FIELDS = ("title", "text", "notes")
PLAIN = Analyzer(stemmer="none", stopwords="none")
TEXTS = TextFields(PLAIN, FIELDS)
WORDS = [f"w{i}" for i in range(12)]


def some_document(rng: random.Random, doc_id: str) -> Document:
    """Few words, so that phrases are met; a field may be empty, missing, a list, or come before the one before it."""

    def words(n: int, kinds: int) -> str:
        return " ".join(rng.choice(WORDS[:kinds]) for _ in range(n))

    kinds = rng.choice((1, 2, 3, 12))
    fields: dict[str, FieldValue] = {
        "text": words(rng.choice((0, 1, 2, 9, 25 if kinds < 12 else 90)), kinds),
        "title": words(rng.randrange(4), kinds),
    }
    if rng.random() < 0.5:
        fields["notes"] = [words(rng.randrange(3), 12), None, words(2, 12)]
    if rng.random() < 0.2:
        del fields["text"]
    return Document(doc_id, fields)


def values_of(document: Document, name: str) -> list[list[str]]:
    """The terms of each value of a field."""
    value = document.fields.get(name)
    return [PLAIN.terms(str(item)) for item in (value if isinstance(value, list) else [value]) if item is not None]


def matches(tokens: list[str], phrase: list[str], slop: int, taken: tuple[int, ...] = ()) -> bool:
    """The rule itself: the words of the phrase are given positions of the field, one after the other, in all ways."""
    moved = [p - i for i, p in enumerate(taken)]
    if moved and max(moved) - min(moved) > slop:
        return False
    if len(taken) == len(phrase):
        return True
    spots = [p for p, token in enumerate(tokens) if token == phrase[len(taken)] and p not in taken]
    return any(matches(tokens, phrase, slop, (*taken, p)) for p in spots)


def numbers(segment: Segment, words: list[str]) -> list[int]:
    found: list[int] = segment.find_terms(words).tolist()
    return found


def live_ids(engine: Engine, found: Callable[[Segment], Integers]) -> list[str]:
    """The ids of the live ones among the documents that `found` gives of each segment."""
    ids = []
    for live in engine.retriever.snapshot.segments:
        docs = found(live.segment)
        assert docs.dtype == np.int64
        assert np.all(np.diff(docs) > 0)
        ids += live.segment.doc_ids(docs[~live.deletions.deleted[docs]])
    return sorted(ids)


def with_phrase(engine: Engine, phrase: list[str], slop: int = 0) -> list[str]:
    return live_ids(engine, lambda segment: documents_with_phrase(segment, numbers(segment, phrase), slop, TEXTS))


def with_phrase_in(engine: Engine, field: str, phrase: list[str], slop: int) -> list[str]:
    return live_ids(
        engine,
        lambda segment: documents_with_phrase(segment, numbers(segment, phrase), slop, TEXTS, field),
    )


def with_words_in(engine: Engine, field: str, words: list[str]) -> list[str]:
    return live_ids(
        engine, lambda segment: documents_with_terms_in_field(segment, numbers(segment, words), field, TEXTS)
    )


def as_brute_force(engine: Engine, rng: random.Random) -> None:
    """Every question to an index is answered as reading all its documents does."""
    documents = {document.id: document for document in engine.documents()}
    texts = {i: {name: values_of(own, name) for name in FIELDS} for i, own in documents.items()}
    for _ in range(60):
        kinds = rng.choice((2, 3, 12))
        phrase = [rng.choice(WORDS[:kinds]) for _ in range(rng.choice((1, 2, 2, 3, 4)))]
        slop = rng.choice((0, 0, 0, 1, 2, 3, 8))
        held = {
            name: {i for i, own in texts.items() if any(matches(value, phrase, slop) for value in own[name])}
            for name in FIELDS
        }
        assert with_phrase(engine, phrase, slop) == sorted(set.union(*held.values())), (phrase, slop)
        name = rng.choice(FIELDS)
        assert with_phrase_in(engine, name, phrase, slop) == sorted(held[name]), (phrase, slop)
    for name, word in product(FIELDS, WORDS[:4]):
        expected = sorted(i for i, own in texts.items() if {word, "w9"} & set(chain(*own[name])))
        assert with_words_in(engine, name, [word, "w9"]) == expected
    for live in engine.retriever.snapshot.segments:
        segment, ids = live.segment, live.segment.doc_ids(np.arange(live.segment.n_docs))
        lengths, word = field_lengths(segment, TEXTS), segment.term(0)
        found = (field_counts(segment, 0, name, TEXTS) for name in FIELDS)
        counts = [dict(zip(docs.tolist(), own.tolist(), strict=True)) for docs, own in found]
        for doc in np.flatnonzero(~live.deletions.deleted).tolist():
            own = [list(chain(*values)) for values in texts[ids[doc]].values()]
            assert lengths[doc].tolist() == [len(field) for field in own]
            assert [count.get(doc, 0) for count in counts] == [field.count(word) for field in own]


def created(folder: Path, **options: Any) -> Engine:
    return Engine.create(folder, analyzer=PLAIN, fields=FIELDS, **options)


def change(engine: Engine, rng: random.Random) -> None:
    """Three segments and more, some documents deleted or replaced."""
    documents = [some_document(rng, f"d{i}") for i in range(330)]
    for begin in range(0, 330, 110):
        engine.add(documents[begin : begin + 110])
    gone = rng.sample([document.id for document in documents], 60)
    engine.delete(gone[:50])
    engine.update([some_document(rng, doc_id) for doc_id in gone[50:]])


@pytest.mark.parametrize("positions", [True, False])
@pytest.mark.parametrize("compiled", [False, True])
def test_as_brute_force(tmp_path: Path, compiled: bool, positions: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By kernels, and for few documents without."""
    seed = int(compiled)
    monkeypatch.setattr(lazy, "compiler_is_loaded", lambda: compiled)
    rng = random.Random(seed)
    with created(tmp_path / "index", positions=positions) as engine:
        change(engine, rng)
        assert len(engine.retriever.snapshot.segments) >= 3
        as_brute_force(engine, rng)
        engine.merge()
        (live,) = engine.retriever.snapshot.segments
        assert live.segment.keeps_order is positions
        as_brute_force(engine, rng)
    assert check_index(tmp_path / "index").problems == []
    as_brute_force(Engine.open(tmp_path / "index"), rng)


def test_segments_with_and_without_the_order_become_one(tmp_path: Path) -> None:
    """As those of an index of an earlier version, to which documents were added since."""
    rng = random.Random(5)
    with created(tmp_path / "index", positions=False) as engine:
        engine.add([some_document(rng, f"a{i}") for i in range(100)])
    replace(read_manifest(tmp_path / "index"), positions=True).write(tmp_path / "index")
    with Engine.open(tmp_path / "index") as engine:
        engine.add([some_document(rng, f"b{i}") for i in range(100)])
        engine.delete(["a3", "b3"])
        engine.merge()
        (live,) = engine.retriever.snapshot.segments
        known = live.segment.sequence_len == live.segment.doc_len
        assert known.any()
        assert not known.all()
        as_brute_force(engine, rng)
    assert check_index(tmp_path / "index").problems == []


def test_an_index_without_the_order_is_upgraded(tmp_path: Path) -> None:
    rng = random.Random(6)
    with created(tmp_path / "old", positions=False) as engine:
        change(engine, rng)
    with Engine.upgrade(tmp_path / "old", tmp_path / "new") as new:
        assert all(live.segment.keeps_order for live in new._searcher.snapshot.segments)
        as_brute_force(new, rng)
    with pytest.raises(IndexFormatError, match="keeps the order of words: there is nothing to upgrade"):
        Engine.upgrade(tmp_path / "new", tmp_path / "newer")


def test_a_manifest_that_does_not_say_keeps_no_order(tmp_path: Path) -> None:
    """As those of earlier versions: documents that are added then are like the others."""
    path = tmp_path / "index" / NAME
    with created(path.parent) as engine:
        engine.add([Document("a", {"text": "w1 w2"})])
    said = orjson.loads(path.read_bytes().partition(b"\n")[2])
    body = orjson.dumps({key: value for key, value in said.items() if key != "positions"})
    path.write_bytes(b"%08x\n" % zlib.crc32(body) + body)
    with Engine.open(path.parent) as engine:
        engine.add([Document("b", {"text": "w1 w2"})])
        assert [live.segment.keeps_order for live in engine.retriever.snapshot.segments] == [True, False]
        assert with_phrase(engine, ["w1", "w2"]) == ["a", "b"]


def test_the_same_scores_with_and_without(tmp_path: Path, documents: Callable[..., list[Document]]) -> None:
    scores = []
    for positions in (True, False):
        with Engine.create(tmp_path / str(positions), positions=positions) as engine:
            engine.add(documents(400))
            found = engine.search("w1 w5 w9", 50)
            scores.append((found.ids, found.scores.tolist()))
    assert scores[0] == scores[1]


def test_workers_and_little_memory_make_the_same_order(tmp_path: Path) -> None:
    rng = random.Random(7)
    texts = [[f"x{rng.randrange(30_000)}" for _ in range(400)] for _ in range(2600)]
    documents = [Document(f"d{i}", {"title": "w1 w2", "text": " ".join(text)}) for i, text in enumerate(texts)]
    for threads in (1, 3):
        with created(tmp_path / str(threads)) as engine:
            engine.add(documents, threads=threads, memory_mb=32)
            for i in rng.sample(range(len(texts)), 20):
                at = rng.randrange(388)
                assert with_phrase(engine, texts[i][at : at + 3]) == [f"d{i}"]
                assert with_phrase(engine, texts[i][at : at + 12]) == [f"d{i}"]
                assert with_phrase(engine, ["w2", texts[i][0]], 9) == []
        assert check_index(tmp_path / str(threads)).problems == []


def test_a_long_document_and_a_long_phrase(tmp_path: Path) -> None:
    """Places of 17 bits, of which a window holds three."""
    words = [f"x{i}" for i in range(70_000)]
    with created(tmp_path / "index") as engine:
        engine.add([Document("long", {"text": " ".join(words)}), Document("short", {"text": "x3 x4 x5"})])
        assert with_phrase(engine, words[3:6]) == ["long", "short"]
        for n, at in product((2, 3, 4, 200), (0, 1, 2, 1000, 69_000, 70_000)):
            phrase = words[min(at, 70_000 - n) :][:n]
            assert with_phrase(engine, phrase) == ["long"]
            assert with_phrase(engine, phrase[::-1]) == []
            assert with_phrase(engine, phrase[::-1], 2 * n - 3) == []
            assert with_phrase(engine, phrase[::-1], 2 * n - 2) == ["long"]
    assert check_index(tmp_path / "index").problems == []


def test_swapped_neighbours_take_a_slop_of_two(tmp_path: Path) -> None:
    texts = {"a": "w1 w2", "b": "w2 w1", "c": "w1 x w2"}
    with created(tmp_path / "index") as engine:
        engine.add([Document(doc_id, {"text": text}) for doc_id, text in texts.items()])
        found = [with_phrase(engine, ["w1", "w2"], slop) for slop in (0, 1, 2, 10**12)]
        assert found == [["a"], ["a", "c"], ["a", "b", "c"], ["a", "b", "c"]]


def test_a_repeated_word_needs_as_many_places(tmp_path: Path) -> None:
    with created(tmp_path / "index") as engine:
        engine.add([Document("once", {"text": "w1 w2"}), Document("twice", {"text": "w1 w2 w1"})])
        assert [with_phrase(engine, ["w1", "w1"], slop) for slop in (0, 1, 9)] == [[], ["twice"], ["twice"]]


def test_nothing_is_near_from_one_field_to_another(tmp_path: Path) -> None:
    with created(tmp_path / "index") as engine:
        engine.add([Document("a", {"text": "w2 w3", "title": "w0 w1", "notes": ["w4", "w5"]})])
        for phrase in (["w1", "w2"], ["w3", "w4"], ["w3", "w0"]):
            assert [with_phrase(engine, phrase, slop) for slop in (0, 9)] == [[], []]
        assert with_phrase(engine, ["w4", "w5"]) == []  # two values of one
        assert with_phrase(engine, ["w2", "w3"]) == with_phrase_in(engine, "text", ["w2", "w3"], 0) == ["a"]
        assert with_phrase_in(engine, "title", ["w2", "w3"], 0) == []


def test_an_import_without_text_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with created(tmp_path / "source") as source:
        source.add([Document("a", {"text": "w1 w2"})])
    export_ciff(tmp_path / "source", tmp_path / "x.ciff")
    import_ciff(tmp_path / "x.ciff", tmp_path / "ciff", text_fields=FIELDS)
    with Engine.open(tmp_path / "ciff") as engine:
        (live,) = engine.retriever.snapshot.segments
        assert not live.segment.keeps_order
        assert with_phrase(engine, ["w1"]) == ["a"]
        with pytest.raises(
            IndexFormatError, match=r"neither the order of words nor the text .* index that collection again"
        ):
            with_phrase(engine, ["w1", "w2"])
        engine.add([Document("b", {"text": "w1 w3"})])  # what is added is known
        engine.merge()
        assert with_phrase(engine, ["w1", "w3"]) == ["b"]
    assert check_index(tmp_path / "ciff").problems == []


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    with created(tmp_path / "index") as engine:
        engine.add([Document("a", {"text": "w1 w2"})])
        (live,) = engine.retriever.snapshot.segments
        with pytest.raises(ParameterError, match="a phrase has at most 255 words, not 256"):
            documents_with_phrase(live.segment, [0] * 256, 0, TEXTS)
        with pytest.raises(ParameterError, match="'year' is not one of the text fields: title, text, notes"):
            documents_with_terms_in_field(live.segment, [0], "year", TEXTS)
        assert documents_with_phrase(live.segment, [-1, 0], 0, TEXTS).tolist() == []
        assert documents_with_phrase(live.segment, [], 0, TEXTS).tolist() == []
        assert documents_with_terms_in_field(live.segment, [-1], "text", TEXTS).tolist() == []


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.tuples(*[st.lists(st.sampled_from(WORDS[:5]), max_size=9)] * 3), min_size=1, max_size=12),
    phrase=st.lists(st.sampled_from(WORDS[:5]), min_size=1, max_size=4),
    slop=st.integers(0, 6),
    gone=st.sets(st.integers(0, 11)),
)
def test_any_documents(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[list[str], ...]],
    phrase: list[str],
    slop: int,
    gone: set[int],
) -> None:
    with created(tmp_path_factory.mktemp("any") / "index") as engine:
        for i, own in enumerate(texts):
            fields: dict[str, FieldValue] = {name: " ".join(words) for name, words in zip(FIELDS, own, strict=True)}
            engine.add([Document(str(i), fields)])
        engine.delete([str(i) for i in gone if i < len(texts)])
        left = {str(i): own for i, own in enumerate(texts) if i not in gone}
        expected = sorted(i for i, own in left.items() if any(matches(field, phrase, slop) for field in own))
        for _ in range(2):
            assert with_phrase(engine, phrase, slop) == expected
            engine.merge()


@pytest.mark.parametrize("section", ["seq_words", "field_len", "seq_several"])
def test_damage_is_refused_and_found(tmp_path: Path, section: str) -> None:
    rng = random.Random(8)
    folder = tmp_path / "index"
    with created(folder) as engine:
        engine.add([some_document(rng, f"d{i}") for i in range(200)])
    (path,) = folder.glob("segment-*.germane")
    begin, _ = Segment(path).container.place_of(section)
    content = bytearray(path.read_bytes())
    content[begin] ^= 1
    path.write_bytes(content)
    segment = Segment(path)
    with pytest.raises(
        DamagedIndexError,
        match=f"section '{section}' is damaged|lengths of fields do not add up|several values do not ascend",
    ):
        documents_with_phrase(segment, numbers(segment, ["w0", "w1"]), 0, TEXTS)
    assert any(section in problem for problem in check_index(folder).problems)
    assert Engine.open(folder).search("w1").ids  # the rest does not need it
