"""Reading one record at a time: what is proposed, undone and kept, against a plain replay of the decisions."""

from pathlib import Path

import numpy as np
import pytest

from germane.errors import InputError, ParameterError, UnknownDocumentError
from germane.refine.screening import Annotation, ReviewSession, Screening, read_decisions
from germane.types import Document

WORDS = ["copper", "liver", "chelator", "wilson", "market", "price", "wires", "metal", "cable", "trade"]
IDS = [f"r{i}" for i in range(30)]


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(3)
    return [Document(doc_id, {"title": " ".join(rng.choice(WORDS, 5)), "text": "common"}) for doc_id in IDS]


def replayed(documents, session):
    """What a screening that knows the same decisions proposes."""
    return [one.id for one in Screening(documents, decisions=dict(session.screening.decisions)).next(40)]


def test_the_order_of_a_search_comes_first_until_one_is_included(documents):
    order = ["r7", "r3", "r21"]
    session = ReviewSession(Screening(documents, first=order))
    typical = [one.id for one in Screening(documents).next(40)]
    expected = [*order, *(doc_id for doc_id in typical if doc_id not in order)]
    assert [one.id for one in session.screening.next(40)] == expected
    session.exclude()
    assert session.record.id == "r3"
    session.include()
    assert session.record.id == replayed(documents, session)[0]
    with pytest.raises(UnknownDocumentError, match="'nowhere'"):
        Screening(documents, first=["nowhere"])


@pytest.mark.parametrize("seed", range(4))
def test_random_sessions_are_as_their_decisions(documents, tmp_path, seed):
    """Any keys: the file, the screening and a screening made of the file say the same; undoing all leaves nothing."""
    rng = np.random.default_rng(seed)
    store = tmp_path / "decisions.csv"
    session = ReviewSession(Screening(documents, store=store))
    model: list[tuple[dict, dict]] = [({}, {})]  # the states, the last one now
    undone: list[tuple[dict, dict]] = []
    for _ in range(60):
        record = session.record
        action = rng.choice(["include", "exclude", "postpone", "note", "undo", "redo", "forward"])
        decisions, annotations = model[-1]
        if action == "undo":
            assert (session.undo() is None) == (len(model) == 1)
            if len(model) > 1:
                undone.append(model.pop())
        elif action == "redo":
            assert (session.redo() is None) == (not undone)
            if undone:
                model.append(undone.pop())
        elif action == "forward":
            session.forward()
            continue
        elif record is not None:
            note = annotations.get(record.id, Annotation()).note
            rest = {other: annotation for other, annotation in annotations.items() if other != record.id}
            if action == "note":
                session.note("  a \n note ")
                old = annotations.get(record.id, Annotation())
                model.append((decisions, rest | {record.id: Annotation("", "a note", old.maybe)}))
            elif action == "postpone":
                session.postpone()
                model.append((decisions, rest | {record.id: Annotation("", note, True)}))
            else:
                reason = "=design" if action == "exclude" else ""
                session.exclude(reason) if reason else session.include()
                said = Annotation(reason, note)
                model.append(
                    (decisions | {record.id: not reason}, rest | ({record.id: said} if said != Annotation() else {}))
                )
            undone = []
        decisions, annotations = model[-1]
        assert dict(session.screening.decisions) == decisions
        assert list(session.screening.decisions) == list(decisions)
        assert dict(session.screening.annotations) == annotations
        if store.exists():
            again = Screening(documents, store=store)
            assert (dict(again.decisions), dict(again.annotations)) == (decisions, annotations)
    while session.undo() is not None:
        pass
    assert read_decisions(store) == {}
    assert session.screening.annotations == {}


def test_what_waits_comes_when_nothing_else_is_left(documents):
    session = ReviewSession(Screening(documents))
    waiting = session.record.id
    session.postpone()
    seen = []
    while session.record.id != waiting:
        seen.append(session.record.id)
        session.exclude()
    assert sorted([*seen, waiting]) == sorted(IDS)
    session.include()
    assert session.record is None
    assert not session.screening.annotations
    assert (session.forward(), session.back()) == (False, False)
    session.include()
    session.note("nothing happens")
    assert len(session.screening.decisions) == len(IDS)


def test_passing_over_and_back(documents):
    session = ReviewSession(Screening(documents))
    proposed = [one.id for one in session.screening.next(3)]
    assert not session.back()
    assert session.forward()
    assert session.forward()
    assert session.record.id == proposed[2]
    assert session.back()
    assert session.record.id == proposed[1]
    session.exclude()
    assert proposed[1] in session.screening.decisions
    assert session.record.id == replayed(documents, session)[0]


def test_undo_reaches_into_an_earlier_session(documents, tmp_path):
    store = tmp_path / "decisions.jsonl"
    first = ReviewSession(Screening(documents, store=store))
    first.include()
    decided = first.record.id
    first.note("why not")
    first.exclude("population")
    later = ReviewSession(Screening(documents, store=store))
    assert later.undo() == decided
    assert later.record.id == decided
    assert dict(later.screening.annotations) == {decided: Annotation(note="why not")}
    assert later.redo() == decided
    assert later.screening.annotations[decided] == Annotation("population", "why not")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ris"])
def test_remarks_survive_every_format(documents, tmp_path, ending):
    path = tmp_path / f"decisions.{ending}"
    screening = Screening(documents, store=path)
    screening.decide("r1", False, reason="-1 population", note="=SUM(A1), 'quoted', a: b")
    screening.decide("r2", True, note="germane: excluded")
    screening.postpone("r3")
    screening.put("r4", None, Annotation(note="undecided, but noted"))
    again = Screening(documents, store=path)
    assert dict(again.decisions) == {"r1": False, "r2": True}
    assert dict(again.annotations) == dict(screening.annotations)
    assert again.annotations["r3"] == Annotation(maybe=True)
    again.undecide("r1")
    assert again.annotations["r1"] == Annotation(note="=SUM(A1), 'quoted', a: b")
    records = tmp_path / f"records.{ending}"
    assert screening.export_records(records, "decided") == 2
    fresh = Screening(documents)
    fresh.import_decisions(records)
    assert dict(fresh.annotations) == {name: screening.annotations[name] for name in ("r1", "r2")}


def test_without_remarks_the_file_is_as_it_was(documents, tmp_path):
    path = tmp_path / "decisions.csv"
    screening = Screening(documents, store=path)
    screening.decide("r1", False)
    assert path.read_text() == "id,included\nr1,0\n"


def test_bad_remarks(documents, tmp_path):
    screening = Screening(documents)
    with pytest.raises(ParameterError, match="'r1' is included: a reason is for one that is excluded"):
        screening.decide("r1", True, reason="population")
    Path(tmp_path / "d.csv").write_text("id,included,screening_note\nnowhere,,a note\n")
    with pytest.raises(InputError, match="there is no document 'nowhere'"):
        screening.import_decisions(tmp_path / "d.csv")
    assert not screening.annotations
