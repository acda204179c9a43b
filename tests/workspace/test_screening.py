"""Screening in a project: what follows from the decisions is what follows from the same ones in a file."""

import pytest

from germane.data import read_documents
from germane.errors import StorageError, UnknownDocumentError
from germane.refine.screening import Annotation, ReviewSession, Screening
from germane.refine.screening.decisions import read_verdicts
from germane.types import Document
from germane.workspace.screening import ReviewerScreening

WORDS = ["copper liver", "copper wire", "liver damage", "iron ore", "copper in the liver of mice", "steel"]
DOCUMENTS = [Document(str(n), {"title": text}) for n, text in enumerate(WORDS)]


@pytest.fixture
def project(workspace):
    made = workspace.projects.create("review")
    workspace.projects.join(made, "ann")
    return made


def test_the_same_as_with_a_file(workspace, project, tmp_path):
    kept = ReviewerScreening(DOCUMENTS, workspace, project, "ann")
    filed = Screening(DOCUMENTS, store=tmp_path / "d.csv")
    for screening in (kept, filed):
        screening.decide("0", True)
        screening.decide("3", False, reason="metal", note="see 5")
        screening.decide("1", True)
        screening.decide("1", False)
        screening.decide("5", True)
        screening.undecide("5")
    again = ReviewerScreening(DOCUMENTS, workspace, project, "ann")
    filed_again = Screening(DOCUMENTS, store=tmp_path / "d.csv")
    for screening in (kept, again, filed_again):
        assert list(screening.decisions.items()) == list(filed.decisions.items())
        assert screening.next(5) == filed.next(5)
        assert screening.estimate() == filed.estimate()
        assert dict(screening.annotations) == dict(filed.annotations)
    assert workspace.projects.reasons(project, "ann") == {"3": "metal"}
    # The file leaves and comes in again, the same.
    again.export_decisions(tmp_path / "out.csv")
    assert unsigned(tmp_path / "out.csv") == read_verdicts(tmp_path / "d.csv")
    workspace.projects.join(project, "bob")
    ReviewerScreening(DOCUMENTS, workspace, project, "bob").import_decisions(tmp_path / "d.csv")
    assert workspace.projects.decisions(project, "bob") == workspace.projects.decisions(project, "ann")
    assert len(list(read_documents(tmp_path / "out.csv"))) == 3


def unsigned(path):
    """What a file says, but for who said it and when."""
    return {name: verdict._replace(by="", at="") for name, verdict in read_verdicts(path).items()}


def test_what_cannot_be_kept_is_not_decided(workspace, project):
    screening = ReviewerScreening(DOCUMENTS, workspace, project, "ann")
    screening.decide("0", True)

    def full(*_, **__):
        raise StorageError("the disk is full")

    workspace.projects.record = full
    with pytest.raises(StorageError):
        screening.decide("1", True)
    assert dict(screening.decisions) == {"0": True}


def test_a_project_of_other_records_is_refused(workspace, project):
    workspace.projects.decide(project, "ann", "elsewhere", True)
    with pytest.raises(UnknownDocumentError, match="elsewhere"):
        ReviewerScreening(DOCUMENTS, workspace, project, "ann")


def test_what_waits_and_notes_are_kept(workspace, project, tmp_path):
    """As in a file: maybe, notes that change and notes that are taken off, through a session with undo."""
    kept = ReviewerScreening(DOCUMENTS, workspace, project, "ann")
    filed = Screening(DOCUMENTS, store=tmp_path / "d.csv")
    for screening in (kept, filed):
        screening.postpone("2")
        screening.put("2", None, Annotation.of("", "ask ann", maybe=True))
        screening.postpone("4")
        screening.decide("4", False, reason="mice")
        screening.decide("1", True, note="good")
        screening.decide("1", True, note="")
        session = ReviewSession(screening)
        session.postpone()
        session.undo()
    again = ReviewerScreening(DOCUMENTS, workspace, project, "ann")
    assert dict(again.annotations) == dict(kept.annotations) == dict(filed.annotations)
    assert dict(again.annotations) == {"2": Annotation("", "ask ann", True), "4": Annotation("mice")}
    assert list(again.decisions.items()) == [("4", False), ("1", True)]
    again.export_decisions(tmp_path / "out.csv")
    assert unsigned(tmp_path / "out.csv") == read_verdicts(tmp_path / "d.csv")


def test_two_processes_of_one_reviewer_lose_nothing(workspace, project):
    one = ReviewerScreening(DOCUMENTS, workspace, project, "ann")
    other = ReviewerScreening(DOCUMENTS, workspace, project, "ann")
    one.decide("0", True)
    other.decide("1", False)
    one.decide("2", True)
    other.decide("3", True)
    assert workspace.projects.decisions(project, "ann") == {"0": True, "1": False, "2": True, "3": True}
