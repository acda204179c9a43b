"""Reading one record at a time: what is proposed, undone and kept, against a plain replay of the decisions."""

from pathlib import Path

import numpy as np
import pytest

from germane.errors import InputError, ParameterError, UnknownDocumentError
from germane.refine.screening import Remark, Screening, Sitting, read_decisions
from germane.types import Document

WORDS = ["copper", "liver", "chelator", "wilson", "market", "price", "wires", "metal", "cable", "trade"]
IDS = [f"r{i}" for i in range(30)]


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(3)
    return [Document(doc_id, {"title": " ".join(rng.choice(WORDS, 5)), "text": "common"}) for doc_id in IDS]


def replayed(documents, sitting):
    """What a screening that knows the same decisions proposes."""
    return [one.id for one in Screening(documents, decisions=dict(sitting.screening.decisions)).next(40)]


def test_the_order_of_a_search_comes_first_until_one_is_included(documents):
    order = ["r7", "r3", "r21"]
    sitting = Sitting(Screening(documents, first=order))
    typical = [one.id for one in Screening(documents).next(40)]
    expected = [*order, *(doc_id for doc_id in typical if doc_id not in order)]
    assert [one.id for one in sitting.screening.next(40)] == expected
    sitting.exclude()
    assert sitting.record.id == "r3"
    sitting.include()
    assert sitting.record.id == replayed(documents, sitting)[0]
    with pytest.raises(UnknownDocumentError, match="'nowhere'"):
        Screening(documents, first=["nowhere"])


@pytest.mark.parametrize("seed", range(4))
def test_random_sittings_are_as_their_decisions(documents, tmp_path, seed):
    """Any keys: the file, the screening and a screening made of the file say the same; undoing all leaves nothing."""
    rng = np.random.default_rng(seed)
    store = tmp_path / "decisions.csv"
    sitting = Sitting(Screening(documents, store=store))
    model: list[tuple[dict, dict]] = [({}, {})]  # the states, the last one now
    undone: list[tuple[dict, dict]] = []
    for _ in range(60):
        record = sitting.record
        action = rng.choice(["include", "exclude", "postpone", "note", "undo", "redo", "forward"])
        decisions, remarks = model[-1]
        if action == "undo":
            assert (sitting.undo() is None) == (len(model) == 1)
            if len(model) > 1:
                undone.append(model.pop())
        elif action == "redo":
            assert (sitting.redo() is None) == (not undone)
            if undone:
                model.append(undone.pop())
        elif action == "forward":
            sitting.forward()
            continue
        elif record is not None:
            note = remarks.get(record.id, Remark()).note
            rest = {other: remark for other, remark in remarks.items() if other != record.id}
            if action == "note":
                sitting.note("  a \n note ")
                old = remarks.get(record.id, Remark())
                model.append((decisions, rest | {record.id: Remark("", "a note", old.maybe)}))
            elif action == "postpone":
                sitting.postpone()
                model.append((decisions, rest | {record.id: Remark("", note, True)}))
            else:
                reason = "=design" if action == "exclude" else ""
                sitting.exclude(reason) if reason else sitting.include()
                said = Remark(reason, note)
                model.append(
                    (decisions | {record.id: not reason}, rest | ({record.id: said} if said != Remark() else {}))
                )
            undone = []
        decisions, remarks = model[-1]
        assert dict(sitting.screening.decisions) == decisions
        assert list(sitting.screening.decisions) == list(decisions)
        assert dict(sitting.screening.remarks) == remarks
        if store.exists():
            again = Screening(documents, store=store)
            assert (dict(again.decisions), dict(again.remarks)) == (decisions, remarks)
    while sitting.undo() is not None:
        pass
    assert read_decisions(store) == {}
    assert sitting.screening.remarks == {}


def test_what_waits_comes_when_nothing_else_is_left(documents):
    sitting = Sitting(Screening(documents))
    waiting = sitting.record.id
    sitting.postpone()
    seen = []
    while sitting.record.id != waiting:
        seen.append(sitting.record.id)
        sitting.exclude()
    assert sorted([*seen, waiting]) == sorted(IDS)
    sitting.include()
    assert sitting.record is None
    assert not sitting.screening.remarks
    assert (sitting.forward(), sitting.back()) == (False, False)
    sitting.include()
    sitting.note("nothing happens")
    assert len(sitting.screening.decisions) == len(IDS)


def test_passing_over_and_back(documents):
    sitting = Sitting(Screening(documents))
    proposed = [one.id for one in sitting.screening.next(3)]
    assert not sitting.back()
    assert sitting.forward()
    assert sitting.forward()
    assert sitting.record.id == proposed[2]
    assert sitting.back()
    assert sitting.record.id == proposed[1]
    sitting.exclude()
    assert proposed[1] in sitting.screening.decisions
    assert sitting.record.id == replayed(documents, sitting)[0]


def test_undo_reaches_into_an_earlier_sitting(documents, tmp_path):
    store = tmp_path / "decisions.jsonl"
    first = Sitting(Screening(documents, store=store))
    first.include()
    decided = first.record.id
    first.note("why not")
    first.exclude("population")
    later = Sitting(Screening(documents, store=store))
    assert later.undo() == decided
    assert later.record.id == decided
    assert dict(later.screening.remarks) == {decided: Remark(note="why not")}
    assert later.redo() == decided
    assert later.screening.remarks[decided] == Remark("population", "why not")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "ris"])
def test_remarks_survive_every_format(documents, tmp_path, ending):
    path = tmp_path / f"decisions.{ending}"
    screening = Screening(documents, store=path)
    screening.decide("r1", False, reason="-1 population", note="=SUM(A1), 'quoted', a: b")
    screening.decide("r2", True, note="germane: excluded")
    screening.postpone("r3")
    screening.put("r4", None, Remark(note="undecided, but noted"))
    again = Screening(documents, store=path)
    assert dict(again.decisions) == {"r1": False, "r2": True}
    assert dict(again.remarks) == dict(screening.remarks)
    assert again.remarks["r3"] == Remark(maybe=True)
    again.undecide("r1")
    assert again.remarks["r1"] == Remark(note="=SUM(A1), 'quoted', a: b")
    records = tmp_path / f"records.{ending}"
    assert screening.export_records(records, "decided") == 2
    fresh = Screening(documents)
    fresh.import_decisions(records)
    assert dict(fresh.remarks) == {name: screening.remarks[name] for name in ("r1", "r2")}


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
    assert not screening.remarks
