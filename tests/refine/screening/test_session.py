"""A screening session: decisions in and out, undone exactly, never lost; and odd input."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from germane.errors import InputError, ParameterError, StorageError, UnknownDocumentError
from germane.refine.screening import Screening, StoppingRule, read_decisions, write_decisions
from germane.refine.screening.responses import ScreeningResponse
from germane.types import Document

WORDS = ("copper", "liver", "chelator", "wilson", "patients", "zinc", "trial", "market", "price", "wires", "metal")


def review(n=60, seed=0):
    """Documents of which each seventh is about copper and the liver."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(n):
        words = rng.choice(WORDS[:5] if i % 7 == 0 else WORDS[4:], 8)
        documents.append(Document(f"d{i}", {"title": " ".join(words[:3]), "text": " ".join(words[3:])}))
    return documents


def state(screening):
    return (
        list(screening.decisions.items()),
        screening.next(100),
        screening.estimate(),
        screening.recommendation(),
        screening.explain("d5"),
    )


def test_relevant_documents_come_first():
    screening = Screening(review())
    screening.decide("d0", True)
    screening.decide("d1", False)
    assert {suggestion.id for suggestion in screening.next(8)} == {f"d{i}" for i in range(7, 60, 7)}
    first = screening.next(1)[0]
    assert first.words
    assert all(word.amount > 0 for word in first.words)
    assert 0.0 <= first.probability <= 1.0


def test_explanations_add_up():
    screening = Screening(review(), decisions={"d0": True, "d1": False})
    for doc_id in ("d0", "d3", "d7"):
        found = screening.explain(doc_id)
        assert found.bias + sum(word.amount for word in found.words) == pytest.approx(found.score)
    assert (screening.explain("d0").decision, screening.explain("d3").decision) == (True, None)


def test_a_decision_taken_back_leaves_no_trace():
    screening = Screening(review(), decisions={"d0": True, "d1": False, "d7": True, "d2": False})
    before = state(screening)
    for doc_id, decision in (("d14", True), ("d9", False)):
        screening.decide(doc_id, decision)
        assert state(screening) != before
        screening.undecide(doc_id)
        assert state(screening) == before
    screening.undecide("d50")
    assert state(screening) == before
    screening.decide("d0", False)  # a change of mind keeps its place
    assert next(iter(screening.decisions)) == "d0"
    screening.decide("d0", True)
    assert state(screening) == before
    assert state(Screening(review(), decisions=screening.decisions)) == before


def test_from_nothing_to_everything():
    screening = Screening(review(20))
    assert len(screening.next(100)) == 20
    assert screening.estimate().expected is None
    assert screening.estimate().high == 20
    assert not screening.recommendation().stop
    screening.decide("d1", False)
    assert not screening.recommendation().stop
    assert all(np.isfinite(s.probability) for s in screening.next(100))
    for i in range(20):
        screening.decide(f"d{i}", i % 7 == 0)
    assert screening.next(5) == []
    assert screening.estimate().expected == 0.0
    assert screening.estimate().high == 0
    assert screening.recommendation().stop


@pytest.mark.parametrize("answer", [True, False])
def test_all_decided_alike(answer):
    screening = Screening(review(5), decisions={f"d{i}": answer for i in range(5)})
    assert screening.next() == []
    assert np.isfinite(screening.probability("d0"))
    assert screening.estimate().found == (5 if answer else 0)


def test_one_document():
    screening = Screening([Document("only", {})])
    assert [suggestion.id for suggestion in screening.next()] == ["only"]
    screening.decide("only", True)
    assert screening.recommendation().stop
    assert screening.estimate().high == 0


def test_empty_abstracts_and_other_languages():
    documents = [Document("a", {"title": None}), Document("b", {"title": "Медь 銅"}), Document("c", {"text": ""})]
    screening = Screening(documents, decisions={"a": True, "b": False})
    assert [suggestion.id for suggestion in screening.next()] == ["c"]
    assert screening.explain("a").words == ()


def test_bad_input():
    with pytest.raises(InputError, match="no documents"):
        Screening([])
    with pytest.raises(InputError, match="'a' comes more than once"):
        Screening([Document("b", {}), Document("a", {}), Document("a", {})])
    with pytest.raises(ParameterError):
        Screening(review(3), explore=2.0)
    screening = Screening(review(3))
    for call in (lambda: screening.decide("x", True), lambda: screening.undecide("x"), lambda: screening.explain("x")):
        with pytest.raises(UnknownDocumentError, match="'x'"):
            call()
    with pytest.raises(ParameterError, match="True or False"):
        screening.decide("d0", "yes")
    with pytest.raises(UnknownDocumentError):
        Screening(review(3), decisions={"x": True})
    assert not screening.decisions


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ris"])
def test_round_trip(tmp_path, ending):
    decisions = {"d3": False, "10.1000/x,y": True, 'q"uote': False, "d1": True}
    path = tmp_path / f"d.{ending}"
    write_decisions(path, decisions, {"d3": Document("d3", {"title": "A\ntitle"})})
    assert list(read_decisions(path).items()) == list(decisions.items())
    write_decisions(path, {})
    assert read_decisions(path) == {}
    screening = Screening(review(9), decisions={"d4": True, "d2": False})
    screening.export_decisions(path)
    other = Screening(review(9))
    assert other.import_decisions(path) == 2
    assert list(other.decisions.items()) == list(screening.decisions.items())


def test_what_others_write(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("id,Decision\na,Included\nb,no\nc,\nd,0.0\na,yes\n", encoding="utf-8")
    assert read_decisions(path) == {"a": True, "b": False, "d": False}
    path.write_text("id,Decision\na,perhaps\n", encoding="utf-8")
    with pytest.raises(InputError, match="document 'a': 'perhaps' is no decision"):
        read_decisions(path)
    path.write_text("id,included\na,1\nb,0\na,0\n", encoding="utf-8")
    with pytest.raises(InputError, match="'a' is both included and excluded"):
        read_decisions(path)
    path.write_text("id,verdict\na,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="no column 'included'"):
        read_decisions(path)
    with pytest.raises(ParameterError, match="must end in"):
        read_decisions(tmp_path / "d.xls")
    with pytest.raises(InputError, match="no such file"):
        read_decisions(tmp_path / "none.csv")
    with pytest.raises(ParameterError):
        write_decisions(tmp_path / "d.tsv", {"a\tb": True})
    with pytest.raises(ParameterError):
        write_decisions(tmp_path / "d.ris", {"a\nb": True})


def test_contradictions_and_strangers_change_nothing(tmp_path):
    screening = Screening(review(9), decisions={"d4": True})
    path = tmp_path / "d.csv"
    for rows, message in (("d1,1\nd4,0", "'d4' was decided the other way"), ("d1,1\nx,0", "no document 'x'")):
        path.write_text(f"id,included\n{rows}\n", encoding="utf-8")
        with pytest.raises(InputError, match=message):
            screening.import_decisions(path)
        assert dict(screening.decisions) == {"d4": True}


def test_a_store_is_always_up_to_date(tmp_path, monkeypatch):
    path = tmp_path / "store.jsonl"
    screening = Screening(review(9), store=path)
    assert not path.exists()
    screening.decide("d4", True)
    screening.decide("d2", False)
    assert read_decisions(path) == {"d4": True, "d2": False}
    screening.undecide("d4")
    assert read_decisions(path) == {"d2": False}
    assert dict(Screening(review(9), store=path).decisions) == {"d2": False}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError):
        screening.decide("d5", True)
    assert dict(screening.decisions) == read_decisions(path) == {"d2": False}
    assert [file.name for file in tmp_path.iterdir()] == ["store.jsonl"]


KILLED = """
import sys
from germane.refine.screening import Screening
from germane.types import Document
screening = Screening([Document(str(i), {"title": "x"}) for i in range(100_000)], store=sys.argv[1])
for i in range(100_000):
    screening.decide(str(i), i % 2 == 0)
    print(i, flush=True)
"""


def test_killed_between_writes(tmp_path):
    path = tmp_path / "store.csv"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if int(line) >= 100:
                break
        process.send_signal(signal.SIGKILL)
        said = [int(line) for line in process.stdout if line.endswith("\n")]
    kept = read_decisions(path)
    assert len(kept) > max(said, default=100)
    assert list(kept.items()) == [(str(i), i % 2 == 0) for i in range(len(kept))]


def test_a_session_with_a_random_sample():
    documents = review(200)
    rule = StoppingRule(sample=True)
    screening = Screening(documents, rule=rule, decisions={"d0": True})
    assert "quiet" in screening.recommendation().reason
    assert screening.estimate().high == 199
    for i in range(1, 51):
        assert not screening.next(1)[0].sampled
        screening.decide(f"d{i}", False)
    drawn = [suggestion.id for suggestion in screening.next(200)]
    assert all(suggestion.sampled for suggestion in screening.next(3))
    assert sorted(drawn) == sorted(f"d{i}" for i in range(51, 200))
    other = Screening(documents, rule=rule, decisions=screening.decisions, random_state=1)
    assert [suggestion.id for suggestion in other.next(200)] != drawn
    for doc_id in drawn[:141]:
        assert not screening.recommendation().stop
        screening.put(doc_id, False)
    assert not screening.recommendation().stop
    screening.put(drawn[141], False)
    assert screening.recommendation().stop  # one may be left of 149: P(it was not among 142) = 7/149 < 0.0476
    assert screening.estimate().high == 0
    assert [suggestion.id for suggestion in screening.next(3)] == drawn[142:145]
    assert "drawn at random" in ScreeningResponse.of(screening, 1).next[0].why


def test_the_rule_of_the_session():
    decisions = {f"d{i}": i % 7 == 0 and i < 21 for i in range(45)}
    cautious, bold = (
        Screening(review(), decisions=decisions, rule=StoppingRule(omega=omega)).estimate().high for omega in (1.0, 4.0)
    )
    assert bold < cautious


IDS = ["=1+1", "+a", "-b", "@c", "'=d", "''e", " outer ", "\ttab", "plain", "a,b", 'q"u', "'f"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl"])
def test_decisions_come_back_under_their_own_ids(tmp_path, ending):
    path = tmp_path / f"decisions{ending}"
    decisions = {doc_id: i % 2 == 0 for i, doc_id in enumerate(IDS) if ending != ".tsv" or "\t" not in doc_id}
    write_decisions(path, decisions)
    assert list(read_decisions(path).items()) == list(decisions.items())


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_no_spreadsheet_computes_an_id(tmp_path, ending):
    path = tmp_path / f"decisions{ending}"
    write_decisions(path, {doc_id: True for doc_id in IDS if "\t" not in doc_id})
    for line in path.read_text().splitlines():
        assert line.lstrip('"')[0] not in "=+-@\t\r"
