"""Runs, judgements and topics as other tools have them: each shape measures as the plain one does."""

import io
import sys
from typing import NamedTuple

import numpy as np
import pytest

from germane import Topic
from germane.data import read_run
from germane.errors import GermaneError, InputError
from germane.evaluate import RunTable, evaluate
from germane.evaluate.compare import compare
from germane.evaluate.frames import as_qrels, as_run, as_topics
from germane.evaluate.rankings import judgements, run_entries

RUN = {"q1": {"d1": 2.0, "d3": 1.5, "d2": 1.0}, "q2": {"d9": 1.0}}
QRELS = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}}


class Frame:
    """A table of columns, as pandas and Polars have them: iterating a column gives its values."""

    def __init__(self, **columns: list) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array(self._columns[name], object)

    def to_dict(self) -> None:
        raise AssertionError("a frame's to_dict goes by columns")


class Theirs:
    """ranx's Run and Qrels: no mapping, but they can become one."""

    def __init__(self, mapping: dict) -> None:
        self._mapping = mapping

    def to_dict(self) -> dict:
        return self._mapping


class ScoredDoc(NamedTuple):
    """ir_measures' record of a run."""

    query_id: str
    doc_id: str
    score: float


class Qrel(NamedTuple):
    """ir_measures' record of a judgement."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


def columns(table: dict, names: tuple[str, str, str]) -> Frame:
    rows = [(query, doc, value) for query, held in table.items() for doc, value in held.items()]
    return Frame(**dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


RUNS = {
    "mapping": RUN,
    "table": RunTable(RUN),
    "PyTerrier": columns(RUN, ("qid", "docno", "score")),
    "ranx frame": columns(RUN, ("q_id", "doc_id", "score")),
    "ranx": Theirs(RUN),
    "ir_measures": [ScoredDoc(q, d, s) for q, held in RUN.items() for d, s in held.items()],
    "entries": list(run_entries(RUN)),
    "tuples": [(q, d, np.float32(s)) for q, held in RUN.items() for d, s in held.items()],
}
JUDGED = {
    "mapping": QRELS,
    "PyTerrier": columns(QRELS, ("qid", "docno", "label")),
    "ranx": Theirs(QRELS),
    "ir_measures": [Qrel(q, d, g) for q, held in QRELS.items() for d, g in held.items()],
    "judgements": list(judgements(QRELS)),
    "NumPy": [(q, d, np.int64(g)) for q, held in QRELS.items() for d, g in held.items()],
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("qrels", JUDGED)
def test_every_shape_measures_alike(run: str, qrels: str) -> None:
    expected = evaluate(RUN, QRELS, ["AP", "nDCG"])
    assert evaluate(RUNS[run], JUDGED[qrels], ["AP", "nDCG"]).overall == expected.overall
    assert as_run(RUNS[run]) == RUN
    assert as_qrels(JUDGED[qrels]) == QRELS
    (compared,) = compare(RUNS[run], RUN, JUDGED[qrels], "AP")
    assert compared.ties == 2


def test_ir_measures_itself() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    run = [ir_measures.ScoredDoc(q, d, s) for q, held in RUN.items() for d, s in held.items()]
    qrels = [ir_measures.Qrel(q, d, g) for q, held in QRELS.items() for d, g in held.items()]
    ours = evaluate(iter(run), iter(qrels), ["AP", "nDCG@2"])
    table = RunTable(RUN)
    theirs = ir_measures.calc_aggregate([ir_measures.AP, ir_measures.nDCG @ 2], QRELS, table)
    assert dict(ours.overall) == pytest.approx({str(measure): value for measure, value in theirs.items()})


@pytest.mark.filterwarnings("ignore")
def test_ranx_itself() -> None:
    ranx = pytest.importorskip("ranx")
    assert as_run(ranx.Run(RUN)) == RUN
    assert as_qrels(ranx.Qrels(QRELS)) == QRELS
    assert ranx.Run(RunTable(RUN)).to_dict() == RUN
    theirs = ranx.evaluate(ranx.Qrels(QRELS), ranx.Run(RunTable(RUN)), ["map", "mrr"])
    assert dict(evaluate(ranx.Run(RUN), ranx.Qrels(QRELS), ["map", "MRR"]).overall) == pytest.approx(
        {"map": theirs["map"], "MRR": theirs["mrr"]}
    )


def test_topics() -> None:
    expected = [Topic("1", "heart attack"), Topic("2", "diet")]
    assert as_topics(expected) == as_topics(iter(expected)) == expected
    assert as_topics({"1": "heart attack", "2": "diet"}) == expected
    assert as_topics(Frame(qid=["1", "2"], query=["heart attack", "diet"])) == expected
    assert as_topics(Frame(query_id=[1, 2], text=["heart attack", "diet"])) == expected
    assert as_topics([("1", "heart attack"), ("2", "diet")]) == expected


def test_a_table(tmp_path) -> None:
    table = RunTable(RUN, {"q1": "heart"})
    assert list(table.rows()) == [
        ("q1", "d1", 1, 2.0),
        ("q1", "d3", 2, 1.5),
        ("q1", "d2", 3, 1.0),
        ("q2", "d9", 1, 1.0),
    ]
    table.write(tmp_path / "a.run", "mine")
    assert [entry[:4] for entry in read_run(tmp_path / "a.run")] == list(table.rows())
    stream = io.StringIO()
    table.write(stream)
    assert stream.getvalue().splitlines()[0] == "q1 Q0 d1 1 2.0 germane"


def test_a_data_frame(monkeypatch) -> None:
    class Pandas:
        @staticmethod
        def DataFrame(rows, columns):
            return {name: [row[i] for row in rows] for i, name in enumerate(columns)}

    monkeypatch.setitem(sys.modules, "pandas", Pandas)
    frame = RunTable(RUN, {"q1": "heart"}).to_dataframe()
    assert list(frame) == ["qid", "docid", "rank", "score", "query"]
    assert frame["query"] == ["heart", "heart", "heart", ""]
    assert list(RunTable(RUN).to_dataframe()) == ["qid", "docid", "rank", "score"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(GermaneError, match="pip install pandas"):
        RunTable(RUN).to_dataframe()


def test_a_data_frame_of_pandas_itself() -> None:
    pandas = pytest.importorskip("pandas")
    frame = RunTable(RUN, {"q1": "heart"}).to_dataframe()
    assert frame["rank"].tolist() == [1, 2, 3, 1]
    assert as_run(frame) == RUN
    assert as_run(pandas.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": np.array([2.0], np.float32)})) == {
        "q1": {"d1": 2.0}
    }
    assert as_topics(pandas.DataFrame({"qid": ["1"], "query": ["heart"]})) == [Topic("1", "heart")]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: as_run("a.run"), r"load_run\('a\.run'\) reads one"),
        (lambda: as_qrels("a.txt"), r"load_qrels\('a\.txt'\) reads one"),
        (lambda: as_topics("a.tsv"), r"read_topics\('a\.tsv'\) reads them"),
        (lambda: as_run(3), "3 is no run"),
        (lambda: as_run(Frame(qid=["q"], score=[1.0])), "needs a column doc_id or .*; it has qid, score"),
        (lambda: as_run([("q", "d")]), "has no score"),
        (lambda: as_run([("q", "d", 1.0), ("q", "d", 2.0)]), "'q' has document 'd' twice"),
        (lambda: as_run([("q", "d", float("nan"))]), "run, line 1, field 'score': a score must be a number"),
        (lambda: as_qrels([("q", "d", 1.5)]), "field 'grade': a grade must be a whole number"),
        (lambda: as_run([(None, "d", 1.0)]), "field 'qid': an id must be"),
        (lambda: as_topics([("q", 3)]), "the words of topic 'q' must be a text, not 3"),
        (lambda: as_topics([("q", "a"), ("q", "b")]), "two topics with the id 'q'"),
        (lambda: as_topics(Frame(qid=["q"])), "needs a column query"),
    ],
)
def test_bad_input(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
