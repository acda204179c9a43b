"""Screening in a workspace, as the command line names it: a workspace, a project in it, a reviewer."""

import getpass
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from germane.cli.streams import tell
from germane.errors import InputError, MissingExtraError, ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    import orjson

    from germane import workspace as workspaces
    from germane.workspace import screening as workspace_screening

if TYPE_CHECKING:
    from germane.refine.screening import Screening
    from germane.types import Document
    from germane.workspace import Workspace
    from germane.workspace.values import Project

WORKSPACE = "germane.workspace"
"""Default file of decisions, in the working directory."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Place of a reviewer's decisions. `begins`: whether a project that is not there is made."""

    workspace: str
    project: str | None
    reviewer: str
    begins: bool = True

    @classmethod
    def of(
        cls, workspace: str | None, project: str | None, reviewer: str | None, data: str | None, *, deciding: bool
    ) -> "Desk | None":
        """The desk that is named, in part or whole; the usual one, if there is something to keep or to take over.

        The project is called like the file of references, the reviewer as they logged in, unless they are named.
        """
        named = not (workspace is None and project is None and reviewer is None)
        if not named and not deciding and not Path(WORKSPACE).is_file():
            return None
        project = project or (None if data is None else _stem(data))
        return cls(workspace or WORKSPACE, project, reviewer or _login(), named or deciding)

    def documents(self) -> "list[Document]":
        """The records of the project."""
        with self._open(create=False) as workspace:
            project = self._found(workspace)
            found = workspace.projects.documents(project)
        if not found:
            raise InputError(f"the project '{project.name}' has no records: name a file", source=self.workspace)
        return list(found.values())

    def screening(self, documents: "Sequence[Document]", source: str, **settings: Any) -> "Screening | None":
        """Screening that keeps the reviewer's decisions; a project that is not there begins with these documents.

        None where there is no such project and none is to be made. `source`: what the documents were read from.
        """
        workspace = self._open(create=self.begins)
        if self.project is None:
            project = self._found(workspace)
        else:
            known = {each.name: each for each in workspace.projects.all()}
            if self.project not in known and not self.begins:
                return None
            project = known.get(self.project) or self._begun(workspace, self.project, documents, source)
        kept = workspace.projects.documents(project)
        if kept:
            _require_same(f"project '{project.name}'", kept, documents, source)
        if self.begins or self.reviewer in workspace.projects.reviewers(project):
            workspace.projects.join(project, self.reviewer)
        else:
            return None
        tell(f"decisions of '{self.reviewer}' in the project '{project.name}' of {workspace.name}")
        return workspace_screening.ReviewerScreening(
            list(kept.values()) or documents, workspace, project, self.reviewer, **settings
        )

    def _found(self, workspace: "Workspace") -> "Project":
        """The project that is named, or the only one."""
        if self.project is not None:
            return workspace.projects.get(self.project)
        known = workspace.projects.all()
        if len(known) != 1:
            names = ", ".join(f"'{each.name}'" for each in known) or "none"
            raise ParameterError(f"name the --project to screen; there are: {names}")
        return known[0]

    @staticmethod
    def _begun(workspace: "Workspace", name: str, documents: "Sequence[Document]", source: str) -> "Project":
        taken = {collection.name: collection for collection in workspace.collections.all()}
        if name in taken:
            kept = {document.id: document for document in workspace.collections.documents(taken[name])}
            _require_same(f"collection '{name}'", kept, documents, source)
            return workspace.projects.create(name, taken[name])
        collection = workspace.collections.create(name)
        added = workspace.collections.add(collection, documents).added
        tell(f"a new project, '{name}', of {counted(added, 'record')}")
        return workspace.projects.create(name, collection)

    def _open(self, *, create: bool) -> "Workspace":
        try:
            return workspaces.Workspace.open(self.workspace, create=create)
        except MissingExtraError as error:
            raise ParameterError(f"{error}; or keep decisions in a file, with --decisions FILE") from None


def _require_same(where: str, kept: "dict[str, Document]", documents: "Sequence[Document]", source: str) -> None:
    """Complain of records that are not those that are kept: decisions would be of other records."""
    for document in documents:
        known = kept.get(document.id)
        if known is None or _said(known) != _said(document):
            what = "is not in" if known is None else "is another record in"
            raise InputError(
                f"'{document.id}' {what} the {where}: leave the file out to screen the records that are kept, or name "
                "another --project",
                source=source,
            )


def _said(document: "Document") -> bytes:
    """Its fields as a workspace keeps them, whichever file they were read from."""
    return orjson.dumps(document.fields, option=orjson.OPT_SORT_KEYS)


def _stem(data: str) -> str:
    """The name of the file without its endings."""
    name = Path(data).name
    return name.split(".")[0] or name


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # nobody by name, as in some containers
        return "reviewer"
