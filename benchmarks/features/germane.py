"""Probes of Germane."""

from pathlib import Path
from tempfile import mkdtemp

from germane import Engine

FOLDER = Path(mkdtemp())
DOCUMENTS = [
    {
        "id": "1",
        "title": "Heart attack",
        "text": "a heart attack needs help at once",
        "year": 2015,
        "topic": "medicine",
    },
    {"id": "2", "title": "Heart surgery", "text": "the surgery took four hours", "year": 2009, "topic": "medicine"},
    {"id": "3", "title": "Attack on a castle", "text": "the heart of the army was brave", "year": 1415, "topic": "war"},
]


def _engine() -> Engine:
    engine = Engine.create(":memory:")
    engine.add(DOCUMENTS)
    return engine


def _found(query: str) -> set[str]:
    return set(_engine().search(query).ids)


def boolean() -> None:
    assert _found("heart AND (help OR surgery) NOT hours") == {"1"}


def phrase() -> None:
    assert _found('"heart attack"') == {"1"}


def proximity() -> None:
    assert _found('text:"attack help"~1') == {"1"}


def prefix() -> None:
    assert _found("surg*") == {"2"}


def fuzzy() -> None:
    assert _found("surgary~1") == {"2"}


def fields() -> None:
    assert _found("title:attack") == {"1", "3"}


def ranges() -> None:
    assert _found("heart year:2010..") == {"1"}


def facets() -> None:
    facet = _engine().search("heart").facet("topic")
    assert {value.value: value.count for value in facet.values} == {"medicine": 2, "war": 1}


def snippets() -> None:
    from germane.engine import SearchRequest

    assert _engine().answer(SearchRequest("surgery", snippets=True)).hits[0].snippet.marks


def deletions() -> None:
    engine = _engine()
    engine.delete(["1"])
    assert set(engine.search("heart").ids) == {"2", "3"}


def incremental() -> None:
    engine = _engine()
    engine.add([{"id": "4", "text": "heart rate"}])
    assert "4" in engine.search("heart").ids


def ranking() -> None:
    assert _engine().search("surgery hours", model="bm25").ids == ["2"]


def language_model() -> None:
    assert _engine().search("heart", model="dirichlet", mu=100).scores[0] < 0


def explanation() -> None:
    engine = _engine()
    hit = next(iter(engine.search("heart attack")))
    assert engine.explain("heart attack", hit.id).score == hit.score


def suggestions() -> None:
    from germane.engine import SearchRequest

    assert _engine().answer(SearchRequest("hart attack")).suggestion == "heart attack"


def feedback() -> None:
    assert _engine().search("castle", feedback="rm3").feedback.words


def marks() -> None:
    assert "2" in _engine().search("castle", feedback="rm3", marks={"1": True}).ids


def pipelines() -> None:
    from germane.feedback import RM3

    assert (_engine().pipeline("bm25") >> RM3()) is not None


def fusion() -> None:
    from germane.evaluate.fusion import fuse_runs

    assert fuse_runs([{"1": {"a": 2.0, "b": 1.0}}, {"1": {"b": 3.0}}])["1"]


def measures() -> None:
    from germane.evaluate import evaluate

    assert evaluate({"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1}}, ["AP", "nDCG@10"])["AP"] == 1.0


def significance() -> None:
    from germane.evaluate.significance import paired_t

    assert paired_t([0.5, 0.7, 0.9], [0.1, 0.2, 0.2]).p_value < 0.05


def references() -> None:
    from germane.data import read_documents

    path = FOLDER / "one.ris"
    path.write_text("TY  - JOUR\nTI  - Heart\nER  - \n")
    assert next(iter(read_documents(path))).fields["title"] == "Heart"


def screening() -> None:
    from germane.refine.screening import Screening
    from germane.types import Document

    listed = [Document(one["id"], {"title": one["title"], "text": one["text"]}) for one in DOCUMENTS]
    screening = Screening(listed, decisions={"1": True, "3": False})
    assert screening.next(1)[0].id == "2"
    assert screening.recommendation().stop is False


def ciff() -> None:
    from germane.index.ciff import export_ciff

    engine = _engine()
    export_ciff(engine.folder, FOLDER / "one.ciff")
    assert (FOLDER / "one.ciff").stat().st_size
