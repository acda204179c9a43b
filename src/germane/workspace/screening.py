"""Screening whose decisions are a reviewer's in a project: each is in the workspace before it is made."""

from collections.abc import Iterable, Mapping
from typing import Any

from germane.refine.screening import Screening
from germane.types import Document
from germane.workspace.values import Project
from germane.workspace.workspace import Workspace


class ReviewerScreening(Screening):
    """`Screening` with the decisions of one reviewer of a project, taken over from the workspace and kept in it."""

    def __init__(
        self, documents: Iterable[Document], workspace: Workspace, project: Project, reviewer: str, **settings: Any
    ) -> None:
        self._kept: tuple[Workspace, Project, str] | None = None
        held = workspace.projects.decisions(project, reviewer)
        super().__init__(documents, decisions=held, **settings)
        self._kept = (workspace, project, reviewer)

    def _change(self, decisions: dict[str, bool], *more: Any) -> None:
        """The workspace first: what cannot be kept is not decided."""
        if self._kept is not None:
            workspace, project, reviewer = self._kept
            workspace.projects.keep(project, reviewer, decisions, _reasons(*more))
        super()._change(decisions, *more)


def _reasons(remarks: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Why documents were excluded, where a remark says so."""
    return {
        document: reason for document, remark in (remarks or {}).items() if (reason := getattr(remark, "reason", ""))
    }
