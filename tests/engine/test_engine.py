"""The engine's life: create, add, update, delete, merge, refresh, close; and what it tells of itself."""

import threading
import time
from pathlib import Path

import pytest

from germane import Analyzer, Document, Engine, Topic
from germane.errors import (
    DocumentExistsError,
    IndexFormatError,
    IndexLockedError,
    ParameterError,
    UnknownDocumentError,
)
from germane.index.snapshot import Snapshot
from germane.rank import MODEL_NAMES
from germane.rank.scoring.priors import FieldPrior

Doc = Document


def rankings(engine: Engine) -> list[tuple[list[str], list[float]]]:
    queries = ["heart attack", "surgery", "heart surgery knee diet", "infarction"]
    results = [engine.search(query, model=model) for query in queries for model in MODEL_NAMES]
    return [(result.ids, result.scores.tolist()) for result in results]


def test_documents_come_back_as_they_were_added(engine: Engine) -> None:
    assert engine.document("2").fields["tags"] == ["a", "b"]
    assert [document.id for document in engine.documents()] == ["1", "2", "3", "4", "5"]
    assert next(engine.documents()).fields["title"] == "Heart attack"
    with pytest.raises(UnknownDocumentError, match="'9'"):
        engine.document("9")


def test_length_and_membership(engine: Engine) -> None:
    assert len(engine) == 5
    assert "4" in engine
    assert "9" not in engine
    assert 4 in engine  # a whole number stands for its digits
    assert 9 not in engine


def test_stats(engine: Engine) -> None:
    stats = engine.stats()
    assert stats.documents == 5
    assert (stats.deleted, stats.segments) == (0, 1)
    assert stats.text_fields == ("title", "text")
    assert stats.filterable == ("tags", "year")
    assert stats.analyzer == Analyzer().to_dict()
    assert 0 < stats.bytes_dictionary + stats.bytes_postings < stats.bytes
    terms = [Analyzer().terms(f"{d.fields['title']} {d.fields['text']}") for d in engine.documents()]
    assert stats.tokens == sum(map(len, terms))
    assert stats.terms == len({term for some in terms for term in some})
    assert stats.postings == sum(len(set(some)) for some in terms)
    engine.delete(["5"])
    assert engine.stats().documents == 4
    assert engine.stats().terms == len({term for some in terms[:4] for term in some})
    assert engine.stats().generation > stats.generation


def test_update_and_delete_leave_no_trace_in_scores(engine: Engine, tmp_path: Path) -> None:
    engine.update([Doc("3", {"text": "now about knees and knee surgery"}), Doc("6", {"text": "a new heart"})])
    engine.delete(["5"])
    assert engine.document("3").fields == {"text": "now about knees and knee surgery"}
    fresh = Engine.create(tmp_path / "fresh")
    fresh.add(list(engine.documents()), threads=1)
    fresh.close()
    assert rankings(engine) == rankings(fresh)
    engine.merge()
    assert engine.stats().deleted == 0
    assert rankings(engine) == rankings(fresh)


def test_reports(engine: Engine) -> None:
    assert engine.add([Doc("6", {"text": "x"})]) == (1, 0, 0)
    assert engine.update([Doc("6", {"text": "y"}), Doc("7", {"text": "z"})]) == (2, 1, 0)
    assert engine.add([Doc("6", {"text": "w"}), Doc("8", {"text": "v"})], on_duplicate="skip") == (1, 0, 1)
    assert engine.document("6").fields["text"] == "y"
    assert engine.add([]) == (0, 0, 0)


def test_an_id_twice_is_an_error_and_nothing_happens(engine: Engine) -> None:
    with pytest.raises(DocumentExistsError):
        engine.add([Doc("6", {"text": "x"}), Doc("1", {"text": "x"})])
    assert "6" not in engine
    with pytest.raises(DocumentExistsError):
        engine.add([Doc("6", {"text": "x"}), Doc("6", {"text": "x"})])
    assert len(engine) == 5


def test_deleting(engine: Engine) -> None:
    with pytest.raises(UnknownDocumentError, match="nothing was deleted"):
        engine.delete(["1", "9"])
    assert "1" in engine
    assert engine.delete(["1", "1", "9"], missing="ignore") == 1
    assert "1" not in engine
    assert "1" not in engine.search("heart attack").ids
    assert engine.delete(["2", "3", "4", "5"]) == 4
    assert (len(engine), engine.search("heart").ids, list(engine.documents())) == (0, [], [])
    engine.add([Doc("1", {"text": "heart again"})])
    assert engine.search("heart").ids == ["1"]


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_an_index_without_words(tmp_path: Path, texts: list[str]) -> None:
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Doc(str(i), {"text": text}) for i, text in enumerate(texts)])
        for model in MODEL_NAMES:
            assert engine.search("heart", model=model).ids == []
        assert engine.stats().tokens == 0
        assert [(topic.id, result.ids) for topic, result in engine.batch([Topic("1", "heart")])] == [("1", [])]


def test_reader_and_writer(engine: Engine) -> None:
    reader = Engine.open(engine.folder)
    held = reader.search("surgery")
    engine.add([Doc("6", {"text": "surgery surgery"})])
    engine.delete(["5"])
    assert set(reader.search("surgery").ids) == {"2", "5"}
    assert "6" not in reader
    reader.refresh()
    assert set(reader.search("surgery").ids) == {"2", "6"}
    assert rankings(reader) == rankings(engine)
    assert held.ids == ["2", "5"]
    assert {hit.fields["title"] for hit in held} == {"Knees", "Cardiac surgery"}


def test_a_reader_that_may_be_late(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Engine.open(engine.folder)
    engine.delete(["5"])
    reader.refresh(within=3600.0)
    assert "5" in reader
    reader.refresh(within=1e-9)
    assert "5" not in reader
    engine.delete(["2"])
    reader.refresh(within=3600.0)
    assert "2" in reader
    reader.refresh()
    assert "2" not in reader
    with pytest.raises(ParameterError, match="within"):
        reader.refresh(within=float("nan"))
    with pytest.raises(ParameterError, match="within"):
        reader.refresh(within=None)  # type: ignore[arg-type]
    engine.delete(["1"])
    later = time.monotonic() + 10.0
    monkeypatch.setattr(time, "monotonic", lambda: later)
    with monkeypatch.context() as patched:
        patched.setattr(Snapshot, "open", _fails)
        with pytest.raises(OSError, match="for a moment"):
            reader.refresh(within=1.0)
    reader.refresh(within=1.0)  # what failed was no look
    assert "1" not in reader


def _fails(*_: object) -> None:
    raise OSError("for a moment")


def test_what_a_reader_knows_of_segments_a_writer_takes_over(engine: Engine) -> None:
    with Engine.open(engine.folder) as other:
        before = other.search("surgery").located[1].snapshot.segments[0].segment
        engine.close()
        other.add([Doc("6", {"text": "surgery"})])
        assert other.search("surgery").located[1].snapshot.segments[0].segment is before


def test_one_writer_at_a_time(engine: Engine) -> None:
    other = Engine.open(engine.folder)
    with pytest.raises(IndexLockedError):
        other.add([Doc("6", {"text": "x"})])
    engine.close()
    other.add([Doc("6", {"text": "x"})])
    other.close()
    engine.refresh()
    assert "6" in engine
    engine.close()


def test_a_closed_engine_still_searches(engine: Engine) -> None:
    engine.close()
    assert engine.search("knee").ids == ["5"]
    with Engine.open(engine.folder) as other:
        other.delete(["5"])
    engine.refresh()
    assert engine.search("knee").ids == []


def test_priors_follow_changes(engine: Engine) -> None:
    prior = FieldPrior("year", 1000.0)
    assert engine.search("heart", priors=[prior]).ids[0] == "3"
    engine.add([Doc("6", {"text": "heart", "year": 3000})])
    assert engine.search("heart", priors=[prior]).ids[0] == "6"
    engine.delete(["6"])
    assert engine.search("heart", priors=[prior]).ids[0] == "3"


def test_searching_while_writing(engine: Engine) -> None:
    """Every result is one of a committed state: all documents of a commit, or none."""
    problems: list[object] = []
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            result = engine.search("pair", 100)
            ids = {hit.id for hit in result}
            if any(f"{doc_id[:-1]}{'ab'[doc_id[-1] == 'a']}" not in ids for doc_id in ids):
                problems.append(sorted(ids))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(8):
        engine.add([Doc(f"{i}a", {"text": "pair"}), Doc(f"{i}b", {"text": "pair"})], threads=1)
    done.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(engine.search("pair", 100)) == 16


def test_creating(tmp_path: Path) -> None:
    analyzer = Analyzer(stemmer="none", stopwords=("heart",))
    with Engine.create(tmp_path / "a" / "b", analyzer=analyzer, fields=["abstract"]) as engine:
        engine.add([Doc("1", {"abstract": "hearts heart", "text": "not searched"})])
        assert engine.text_fields == ("abstract",)
        assert engine.filterable() == {"text"}
        assert engine.search("hearts").ids == ["1"]
        assert engine.search("heart searched").ids == []
        assert Engine.open(tmp_path / "a" / "b").analyzer == analyzer
    with pytest.raises(IndexFormatError, match=r"already holds an index: Engine\.open\('.*'\) opens it"):
        Engine.create(tmp_path / "a" / "b")
    with pytest.raises(ParameterError, match="at least one text field"):
        Engine.create(tmp_path / "c", fields=[])


def test_opening_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(IndexFormatError, match="does not exist"):
        Engine.open(tmp_path / "nothing")
    with pytest.raises(IndexFormatError, match="not a Germane index"):
        Engine.open(tmp_path)
