"""Screening whose decisions are a reviewer's in a project: each is in the workspace before it is made."""

from collections.abc import Iterable
from typing import Any

from germane.refine.screening import Screening
from germane.refine.screening.remarks import NO_REMARK, Remark
from germane.refine.screening.verdicts import Verdict
from germane.types import Document
from germane.workspace.values import Project
from germane.workspace.workspace import Workspace


class ReviewerScreening(Screening):
    """`Screening` with the decisions of one reviewer of a project, taken over from the workspace and kept in it.

    Reasons, notes and which records wait ("maybe") are kept with the decisions. Only what changes is written: what
    another process keeps meanwhile for the same reviewer stays.
    """

    def __init__(
        self, documents: Iterable[Document], workspace: Workspace, project: Project, reviewer: str, **settings: Any
    ) -> None:
        self._kept: tuple[Workspace, Project, str] | None = None
        super().__init__(documents, **settings)
        self._take_over(*workspace.projects.said(project, reviewer))
        self._kept = (workspace, project, reviewer)

    def verdicts(self) -> dict[str, Verdict]:
        if self._kept is None:
            return super().verdicts()
        workspace, project, reviewer = self._kept
        return workspace.projects.verdicts(project, reviewer)

    def _change(self, decisions: dict[str, bool], remarks: dict[str, Remark]) -> None:
        """The workspace first: what cannot be kept is not decided."""
        if self._kept is not None:
            workspace, project, reviewer = self._kept
            named = dict.fromkeys([*decisions, *remarks, *self._decisions, *self._remarks])
            said = {document: (decisions.get(document), remarks.get(document, NO_REMARK)) for document in named}
            changed = {
                document: now
                for document, now in said.items()
                if now != (self._decisions.get(document), self._remarks.get(document, NO_REMARK))
            }
            if changed:
                workspace.projects.record(project, reviewer, changed)
        super()._change(decisions, remarks)
