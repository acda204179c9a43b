"""Screening projects as the page reads them: one record at a time, per reviewer, over the workspace's projects."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from germane.errors import ParameterError
from germane.refine.screening import ReviewSession, Suggestion
from germane.refine.screening.annotations import NO_ANNOTATION
from germane.refine.screening.remaining import Remaining
from germane.refine.screening.session import WHICH, Which
from germane.refine.screening.stopping import Recommendation
from germane.refine.screening.verdicts import Verdict
from germane.server.problems import ProblemError
from germane.types import Document
from germane.workspace import Workspace
from germane.workspace.agreement import Agreement
from germane.workspace.names import check_name
from germane.workspace.screening import ReviewerScreening
from germane.workspace.values import Conflict, Project

IN_MEMORY = 8
REASONS = ("wrong population", "wrong intervention", "wrong outcome", "wrong design", "not a study")
"""Reasons for exclusion, by the number keys, unless a project has its own."""
MOST_REVIEWERS, LONGEST_NAME = 100, 100
"""Reviewers whose decisions a file may hold, and characters of a reviewer's name."""
DECISIONS = ("include", "exclude", "maybe", "undo", "redo", "skip")


class Outcome(NamedTuple):
    """What several reviewers say together, once revealed: included and excluded by all or as settled, open conflicts,
    read by nobody, and how far each pair agrees."""

    included: int
    excluded: int
    open: int
    unread: int
    agreement: tuple[Agreement, ...]


@dataclass(frozen=True, slots=True)
class ScreenState:
    """Where a reviewer stands: the record to read, what was found so far in the order of reading, what remains."""

    project: Project
    reviewer: str
    record: Document | None
    suggestion: Suggestion | None
    note: str
    read: int
    total: int
    found: tuple[int, ...]
    remaining: Remaining
    recommendation: Recommendation
    excluded: tuple[tuple[str, int], ...]
    waiting: int
    decided: tuple[tuple[str, str, bool], ...]
    conflicts: tuple[Conflict, ...] | None
    titles: dict[str, str]
    outcome: Outcome | None


@dataclass(slots=True)
class _Desk:
    session: ReviewSession
    lock: threading.Lock = field(default_factory=threading.Lock)


class Screens:
    """The screening projects of a workspace, with the sessions of their reviewers."""

    def __init__(self, workspace: Workspace, *, shared: bool = False) -> None:
        self._workspace, self._shared = workspace, shared
        self._desks: OrderedDict[tuple[str, str], _Desk] = OrderedDict()
        self._lock = threading.Lock()

    def create(
        self,
        name: str,
        documents: Iterable[Document],
        *,
        blind: bool = True,
        decided: Mapping[str, Sequence[Verdict]] | None = None,
        reviewer: str = "",
    ) -> Project:
        """A project over these records, which are kept with it.

        `decided`: what was said of them already, by id; `reviewer` is who said it where nobody is named.
        """
        check_name(name, "a project")
        listed = list(documents)
        if not listed:
            raise ParameterError("a project needs records to read")
        said: dict[str, dict[str, Verdict]] = {}
        for document, verdicts in (decided or {}).items():
            for verdict in verdicts:
                said.setdefault(verdict.by.strip() or reviewer, {})[document] = verdict
        _check_reviewers(said)
        known = {collection.name for collection in self._workspace.collections.all()}
        own = next(each for each in (name, *(f"{name} {n}" for n in range(2, 1000))) if each not in known)
        if name in {project.name for project in self._workspace.projects.all()}:
            raise ParameterError(f"there is a project '{name}' already: choose another name")
        collection = self._workspace.collections.create(own, "records of a screening project")
        self._workspace.collections.add(collection, listed)
        project = self._workspace.projects.create(name, collection, blind=blind)
        for by, held in said.items():
            self._workspace.projects.join(project, by)
            self._workspace.projects.record(
                project, by, {document: (each.included, each.annotation) for document, each in held.items()},
                times={document: each.at for document, each in held.items()},
            )  # fmt: skip
        return project

    def projects(self) -> list[tuple[Project, int, list[tuple[str, int]]]]:
        """Each project with its size, and how many records each reviewer decided."""
        found = []
        for project in self._workspace.projects.all():
            names = self._workspace.projects.reviewers(project)
            read = [(name, len(self._workspace.projects.decisions(project, name))) for name in names]
            found.append((project, len(self._workspace.projects.documents(project)), read))
        return found

    def join(self, name: str, reviewer: str) -> None:
        """Make somebody a reviewer of a project."""
        self._workspace.projects.join(self._workspace.projects.get(name), reviewer)

    def reveal(self, name: str) -> None:
        """End the blindness of a project."""
        self._workspace.projects.reveal(self._workspace.projects.get(name))

    def settle(self, name: str, document: str, included: bool, *, by: str, reason: str = "") -> None:
        """Settle a conflict between reviewers."""
        self._workspace.projects.resolve(
            self._workspace.projects.get(name), document, included, by=by, reason=reason.strip()
        )

    def has(self, name: str, reviewer: str) -> bool:
        """Whether somebody is a reviewer of a project."""
        return reviewer in self._workspace.projects.reviewers(self._workspace.projects.get(name))

    def check_sight(self, name: str, reviewer: str, bound: str | None) -> None:
        """Refuse whoever is bound to one name and looks as another reviewer while the project is blind."""
        if bound is not None and bound != reviewer and self._workspace.projects.get(name).blind:
            raise ProblemError(403, f"the project '{name[:80]}' is blind: {_own(bound)}")

    def check_act(self, reviewer: str, bound: str | None) -> None:
        """Refuse whoever is bound to one name and acts as another reviewer."""
        if bound is not None and bound != reviewer:
            raise ProblemError(403, f"nobody decides in the name of another: {_own(bound)}")

    def check_reveal(self, name: str, bound: str | None) -> None:
        """Refuse to end the blindness for whoever is bound to a name that does not review the project."""
        if bound is not None and not self.has(name, bound):
            raise ProblemError(403, "only a reviewer of the project, or an admin, reveals its decisions")

    def state(self, name: str, reviewer: str) -> ScreenState:
        """Where the reviewer stands."""
        project, desk = self._desk(name, reviewer)
        with desk.lock:
            return self._state(project, reviewer, desk.session)

    def act(
        self, name: str, reviewer: str, action: str, document: str, reason: str = "", note: str = ""
    ) -> ScreenState:
        """Decide on the record before the reviewer, or move; it is on disk when this returns.

        `document` must be the record before the reviewer, so that a decision sent twice, or from an old page, does not
        fall on another record.
        """
        project, desk = self._desk(name, reviewer)
        with desk.lock:
            session = desk.session
            if action not in DECISIONS:
                raise ParameterError(f"an action is one of {', '.join(DECISIONS)}, not '{action}'")
            if action in ("include", "exclude", "maybe", "skip"):
                record = session.record
                if record is None or record.id != document:
                    raise ParameterError(_not_next(session, document))
                if note.strip() and action != "skip":
                    session.note(note)
            if action == "include":
                session.include()
            elif action == "exclude":
                session.exclude(reason)
            elif action == "maybe":
                session.postpone()
            elif action == "skip":
                session.forward()
            elif action == "undo":
                session.undo()
            else:
                session.redo()
            return self._state(project, reviewer, session)

    def documents(self, name: str, reviewer: str, which: str, format: str) -> list[Document]:
        """The included, excluded, decided or unread records of a reviewer, or all, each with what they said of it."""
        _, desk = self._desk(name, reviewer)
        if which not in WHICH:
            raise ParameterError(f"which records is {', '.join(WHICH[:-1])} or {WHICH[-1]}, not '{which}'")
        return desk.session.screening.records(cast(Which, which), format)

    def _desk(self, name: str, reviewer: str) -> tuple[Project, _Desk]:
        project = self._workspace.projects.get(name)
        with self._lock:
            desk = self._desks.get((name, reviewer))
            if desk is not None and self._shared:  # another process may have taken decisions since
                known = self._workspace.projects.decisions(project, reviewer)
                desk = desk if dict(known) == dict(desk.session.screening.decisions) else None
            if desk is None:
                if reviewer not in self._workspace.projects.reviewers(project):
                    raise ParameterError(f"there is no reviewer '{reviewer}' in the project '{name}': join it first")
                documents = self._workspace.projects.documents(project)
                if not documents:
                    raise ParameterError(f"the project '{name}' has no records here: import them first")
                screening = ReviewerScreening(documents.values(), self._workspace, project, reviewer)
                desk = self._desks[name, reviewer] = _Desk(ReviewSession(screening))
                while len(self._desks) > IN_MEMORY:
                    self._desks.popitem(last=False)
            self._desks.move_to_end((name, reviewer))
        return project, desk

    def _state(self, project: Project, reviewer: str, session: ReviewSession) -> ScreenState:
        screening = session.screening
        record = session.record
        decisions, annotations = screening.decisions, screening.annotations
        found, so_far = [], 0
        for included in decisions.values():
            so_far += included
            found.append(so_far)
        excluded = (annotations.get(each, NO_ANNOTATION) for each, included in decisions.items() if not included)
        reasons = Counter(annotation.reason or "no reason given" for annotation in excluded)
        several = len(self._workspace.projects.reviewers(project)) > 1
        blind = self._workspace.projects.get(project.name).blind
        conflicts = tuple(self._workspace.projects.conflicts(project)) if several and not blind else None
        latest = list(decisions.items())[-8:][::-1]
        return ScreenState(
            project,
            reviewer,
            None if record is None else screening.documents[record.id],
            record,
            annotations[record.id].note if record is not None and record.id in annotations else "",
            len(decisions),
            len(screening.documents),
            tuple(found),
            screening.estimate(),
            screening.recommendation(),
            tuple(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
            sum(annotation.maybe for annotation in annotations.values()),
            tuple((each, str(screening.documents[each].fields.get("title") or each), yes) for each, yes in latest),
            conflicts,
            {each.document: _title(screening.documents.get(each.document), each.document) for each in conflicts or ()},
            None if conflicts is None else self._outcome(project, conflicts, len(screening.documents)),
        )

    def _outcome(self, project: Project, conflicts: Sequence[Conflict], total: int) -> Outcome:
        decided, _ = self._workspace.projects.outcome(project)
        open_ones = sum(each.resolved is None for each in conflicts)
        included = sum(decided.values())
        return Outcome(
            included, len(decided) - included, open_ones, total - len(decided) - open_ones,
            tuple(self._workspace.projects.agreement(project)),
        )  # fmt: skip


def _own(bound: str) -> str:
    if not bound:
        return "the token that was given has no name, so it is no reviewer's: ask whoever runs the server for one with"
    return f"the token that was given is that of '{bound}', who reads as '{bound}'"


def _not_next(session: ReviewSession, document: str) -> str:
    """Why a decision on this record is not taken."""
    screening, record = session.screening, session.record
    if not document:
        return "a decision names its record ('document')"
    if document not in screening.documents:
        return f"there is no record '{document[:80]}' in this project"
    if document in screening.decisions:
        return f"the record '{document[:80]}' was decided already, perhaps in another window: look at the next"
    if record is None:
        return "every record is read: take a decision back (undo) to change it"
    return f"the record to read is '{record.id[:80]}', not '{document[:80]}': decide on that one first"


def _title(document: Document | None, name: str) -> str:
    return str(document.fields.get("title") or name) if document is not None else name


def _check_reviewers(names: Collection[str]) -> None:
    """Raise `ParameterError` for the reviewers of a file that could not have joined, or are too many to be people."""
    if len(names) > MOST_REVIEWERS:
        raise ParameterError(
            f"the file holds decisions of {len(names):,} reviewers, where {MOST_REVIEWERS} are taken: keep theirs alone"
        )
    for name in names:
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise ParameterError(
                f"a reviewer's name is one line of at most {LONGEST_NAME} characters, not {name[:40]!r} in the file"
            )
