"""What the command line says of a workspace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from germane.schema import ABSENT, Response
from germane.types import FieldValue
from germane.workspace.agreement import Agreement
from germane.workspace.values import Conflict, Note
from germane.workspace.workspace import Workspace


class Part(NamedTuple):
    """Something in a workspace: its kind, its name, and how much is in it."""

    kind: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class WorkspaceResponse(Response):
    """What a workspace holds."""

    workspace: str
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, workspace: Workspace) -> "WorkspaceResponse":
        """Collections with their records, searches with their results, projects with their decisions, and the rest."""
        collections, searches, projects = workspace.collections, workspace.searches, workspace.projects
        parts = [Part("collection", each.name, collections.size(each)) for each in collections.all()]
        parts += [Part("search", f"{each.id}: {each.query}", searches.size(each)) for each in searches.all()]
        for project in projects.all():
            for name in projects.reviewers(project):
                parts.append(Part("project", f"{project.name}, {name}", len(projects.decisions(project, name))))
        named = (("interest", workspace.interests), ("topic", workspace.topics), ("model", workspace.models))
        parts += [Part(kind, name, versions.get(name).version) for kind, versions in named for name in versions.names()]
        parts += [Part("job", f"{job.id}: {job.kind}, {job.state}", 1) for job in workspace.jobs.all()]
        return cls(workspace.name, tuple(parts))


@dataclass(frozen=True, slots=True)
class KeptRecord(Response):
    """A record that is kept, and what was said of it: a mark, or a decision and its reason."""

    id: str
    title: str
    fields: Mapping[str, FieldValue]
    said: Annotated[str | None, ABSENT] = None
    reason: Annotated[str | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class AgreementResponse(Response):
    """How far reviewers agree, pair by pair."""

    project: str
    pairs: tuple[Agreement, ...]


@dataclass(frozen=True, slots=True)
class ConflictsResponse(Response):
    """The records on which reviewers differ."""

    project: str
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True)
class NotesResponse(Response):
    """The notes on a document, the oldest first."""

    document: str
    notes: tuple[Note, ...]
