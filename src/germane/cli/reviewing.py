"""Screening in a workspace, as the command line names it: a workspace, a project in it, a reviewer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from germane.cli.streams import counted, tell
from germane.errors import InputError, ParameterError

if TYPE_CHECKING:
    from germane.refine.screening import Screening
    from germane.types import Document
    from germane.workspace import Workspace
    from germane.workspace.values import Project


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a reviewer's decisions are kept."""

    workspace: str
    project: str
    reviewer: str

    @classmethod
    def of(cls, workspace: str | None, project: str | None, reviewer: str | None) -> "Desk | None":
        """The three options together, or none of them."""
        if workspace is None and project is None and reviewer is None:
            return None
        if workspace is None or project is None or reviewer is None:
            raise ParameterError("--workspace, --project and --reviewer go together: where, what, and who decides")
        return cls(workspace, project, reviewer)

    def documents(self) -> "list[Document]":
        """The records of the project."""
        with self._open(create=False) as workspace:
            project = workspace.projects.get(self.project)
            chosen = [each for each in workspace.collections.all() if each.id == project.collection_id]
            found = [document for each in chosen for document in workspace.collections.documents(each)]
        if not found:
            raise InputError(f"the project '{self.project}' has no records: name a file", source=self.workspace)
        return found

    def screening(self, documents: "Sequence[Document]", **settings: Any) -> "Screening":
        """Screening that keeps the reviewer's decisions; a project that is not there begins with these documents."""
        from germane.workspace.screening import ReviewerScreening

        workspace = self._open(create=True)
        project = self._project(workspace, documents)
        workspace.projects.join(project, self.reviewer)
        return ReviewerScreening(documents, workspace, project, self.reviewer, **settings)

    def _project(self, workspace: "Workspace", documents: "Sequence[Document]") -> "Project":
        known = {project.name: project for project in workspace.projects.all()}
        if self.project in known:
            return known[self.project]
        taken = {collection.name: collection for collection in workspace.collections.all()}
        collection = taken.get(self.project) or workspace.collections.create(self.project)
        report = workspace.collections.add(collection, documents)
        tell(f"a new project, '{self.project}', of {counted(report.added + report.present, 'record')}")
        return workspace.projects.create(self.project, collection)

    def _open(self, *, create: bool) -> "Workspace":
        from germane.workspace import Workspace

        return Workspace.open(self.workspace, create=create)
