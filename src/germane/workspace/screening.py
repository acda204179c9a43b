"""Screening whose decisions are a reviewer's in a project: each is in the workspace before it is made."""

from collections.abc import Iterable
from typing import Any

from germane.refine.screening import Screening
from germane.refine.screening.remarks import NO_REMARK, Remark
from germane.types import Document
from germane.workspace.values import Project
from germane.workspace.workspace import Workspace


class ReviewerScreening(Screening):
    """`Screening` with the decisions of one reviewer of a project, taken over from the workspace and kept in it.

    Reasons are kept with the decisions, notes among the notes of the workspace. Which records were put off ("maybe") is
    known until the end of the session only.
    """

    def __init__(
        self, documents: Iterable[Document], workspace: Workspace, project: Project, reviewer: str, **settings: Any
    ) -> None:
        self._kept: tuple[Workspace, Project, str] | None = None
        super().__init__(documents, decisions=workspace.projects.decisions(project, reviewer), **settings)
        reasons = workspace.projects.reasons(project, reviewer)
        notes = {note.document: note.text for note in workspace.notes.by(reviewer) if note.document in self.documents}
        self._remarks = {
            document: Remark.of(reasons.get(document), notes.get(document)) for document in {**reasons, **notes}
        }
        self._kept = (workspace, project, reviewer)

    def _change(self, decisions: dict[str, bool], remarks: dict[str, Remark]) -> None:
        """The workspace first: what cannot be kept is not decided."""
        if self._kept is not None:
            workspace, project, reviewer = self._kept
            reasons = {document: remarks.get(document, NO_REMARK).reason for document in decisions}
            workspace.projects.keep(project, reviewer, decisions, reasons)
            for document, remark in remarks.items():
                if remark.note and remark.note != self._remarks.get(document, NO_REMARK).note:
                    workspace.notes.add(document, remark.note, by=reviewer)
        super()._change(decisions, remarks)
