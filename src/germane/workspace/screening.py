"""Screening whose decisions are a reviewer's in a project: each is in the workspace before it is made."""

from collections.abc import Iterable
from typing import Any

from germane.refine.screening import Screening
from germane.refine.screening.annotations import NO_ANNOTATION, Annotation
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

    def _change(self, decisions: dict[str, bool], annotations: dict[str, Annotation]) -> None:
        """The workspace first: what cannot be kept is not decided."""
        if self._kept is not None:
            workspace, project, reviewer = self._kept
            named = dict.fromkeys([*decisions, *annotations, *self._decisions, *self._annotations])
            said = {document: (decisions.get(document), annotations.get(document, NO_ANNOTATION)) for document in named}
            changed = {
                document: now
                for document, now in said.items()
                if now != (self._decisions.get(document), self._annotations.get(document, NO_ANNOTATION))
            }
            if changed:
                workspace.projects.record(project, reviewer, changed)
        super()._change(decisions, annotations)
