"""Screening projects: several reviewers with decisions of their own, blind to one another until they are revealed."""

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, select, update

from germane.errors import ParameterError
from germane.refine.screening.annotations import Annotation
from germane.refine.screening.decisions import verdicts
from germane.refine.screening.verdicts import Verdict
from germane.types import Document
from germane.workspace.agreement import Agreement, agreement
from germane.workspace.collections import records_of
from germane.workspace.database import Database, refusing
from germane.workspace.history import last_standing, standing
from germane.workspace.names import check_name
from germane.workspace.tables import decisions, projects, resolutions, reviewers
from germane.workspace.values import Collection, Conflict, Decision, Project

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


class Projects:
    """The screening projects of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, collection: Collection | None = None, *, blind: bool = True) -> Project:
        """A new project, over the records of a collection where they are kept here too."""
        check_name(name, "a project")
        row = {"name": name, "collection_id": collection.id if collection else None, "blind": blind,
               "at": self._database.clock(), "revealed": None}  # fmt: skip
        with refusing(f"there is a project '{name}' already"), self._database.write() as connection:
            return Project(id=self._database.add(connection, projects, **row), **row)  # type: ignore[arg-type]

    def get(self, name: str) -> Project:
        """The project of that name."""
        with self._database.read() as connection:
            row = connection.execute(select(projects).where(projects.c.name == name)).mappings().first()
        if row is None:
            known = ", ".join(f"'{each.name}'" for each in self.all()) or "none"
            raise ParameterError(f"there is no project '{name}'; there are: {known}")
        return Project(**row)

    def all(self) -> list[Project]:
        """Every project, the oldest first."""
        with self._database.read() as connection:
            return [Project(**row) for row in connection.execute(select(projects).order_by("id")).mappings()]

    def documents(self, project: Project) -> dict[str, Document]:
        """The records of the project by id, where they are kept here."""
        if project.collection_id is None:
            return {}
        return {document.id: document for document in records_of(self._database, project.collection_id)}

    def reveal(self, project: Project) -> Project:
        """End the blindness: from now on everybody may see what everybody decided. When that was is kept."""
        with self._database.write() as connection:
            change = update(projects).where(projects.c.id == project.id, projects.c.blind)
            connection.execute(change.values(blind=False, revealed=self._database.clock()))
        return self.get(project.name)

    # -- reviewers and their decisions ---------------------------------------------------------------------------------

    def join(self, project: Project, reviewer: str) -> None:
        """Make somebody a reviewer; who is one already stays one."""
        if not reviewer.strip():
            raise ParameterError("a reviewer needs a name")
        if reviewer in self.reviewers(project):
            return
        try:
            with refusing(f"'{reviewer}' cannot join"), self._database.write() as connection:
                self._database.add(
                    connection, reviewers, project_id=project.id, name=reviewer, at=self._database.clock()
                )
        except ParameterError:
            if reviewer not in self.reviewers(project):  # else another process was first
                raise

    def reviewers(self, project: Project) -> list[str]:
        """Their names, in the order they joined."""
        query = select(reviewers.c.name).where(reviewers.c.project_id == project.id).order_by(reviewers.c.id)
        with self._database.read() as connection:
            return [row.name for row in connection.execute(query)]

    def decide(
        self, project: Project, reviewer: str, document: str, included: bool | None, *, reason: str = ""
    ) -> Decision:
        """Include, exclude, or take the decision back (None). It is on disk when this returns."""
        return self.decide_all(project, reviewer, {document: included}, reason=reason)[0]

    def decide_all(
        self, project: Project, reviewer: str, given: Mapping[str, bool | None], *, reason: str = ""
    ) -> list[Decision]:
        """Several decisions, all or none."""
        annotation = Annotation(reason)
        return self.record(
            project, reviewer, {document: (included, annotation) for document, included in given.items()}
        )

    def record(
        self,
        project: Project,
        reviewer: str,
        said: Mapping[str, tuple[bool | None, Annotation]],
        *,
        times: Mapping[str, str] | None = None,
    ) -> list[Decision]:
        """All that a reviewer says of documents: yes, no or neither, and a reason, a note, or that it waits (maybe).

        It stands instead of what was said of them before. All are kept or none. `times`: when each was said, where that
        is known from elsewhere.
        """
        now, times = self._database.clock(), {doc: at for doc, at in (times or {}).items() if _TIME.fullmatch(at)}
        for document, (included, _) in said.items():
            if included is not None and not isinstance(included, bool):
                raise ParameterError(f"the decision on '{document}' must be True, False or None, not {included!r}")
        made = []
        with self._database.write() as connection:
            number = self._reviewer(connection, project, reviewer)
            for document, (included, annotation) in said.items():
                at = times.get(document, now)
                row = {"document": document, "included": included, "at": at, "undoes": None, **annotation._asdict()}
                entry = self._database.add(connection, decisions, reviewer_id=number, **row)
                made.append(Decision(id=entry, reviewer=reviewer, **row))
        return made

    def undo(self, project: Project, reviewer: str) -> Decision | None:
        """Take the reviewer's latest decision back, and return it; what was decided before it holds again."""
        with self._database.write() as connection:
            number = self._reviewer(connection, project, reviewer)
            last = last_standing(connection, decisions, decisions.c.reviewer_id == number)
            if last is None:
                return None
            self._database.add(
                connection, decisions, reviewer_id=number, document=last.document, included=None, reason="",
                at=self._database.clock(), undoes=last.id,
            )  # fmt: skip
        return _decision(last, reviewer)

    def decisions(self, project: Project, reviewer: str, *, seen_by: str | None = None) -> dict[str, bool]:
        """What a reviewer decided and has not taken back, in the order of reading.

        `seen_by` is who asks: in a blind project another reviewer is refused.
        """
        return self.said(project, reviewer, seen_by=seen_by)[0]

    def said(
        self, project: Project, reviewer: str, *, seen_by: str | None = None
    ) -> tuple[dict[str, bool], dict[str, Annotation]]:
        """The decisions that hold, and the annotations: reasons, notes, and what waits for a decision."""
        made = self.history(project, reviewer, seen_by=seen_by)
        decided = standing((each.id, each.document, each.included, each.undoes) for each in made)
        return decided, standing((each.id, each.document, each.annotation, each.undoes) for each in made)

    def verdicts(self, project: Project, reviewer: str | None, *, seen_by: str | None = None) -> dict[str, Verdict]:
        """What a reviewer says of each record, with their name and the time; without one, what all say (`outcome`)."""
        if reviewer is None:
            return verdicts(*self.outcome(project))
        made = self.history(project, reviewer, seen_by=seen_by)
        said = standing((each.id, each.document, each.verdict, each.undoes) for each in made)
        return dict(sorted(said.items(), key=lambda each: each[1].included is None))

    def history(self, project: Project, reviewer: str, *, seen_by: str | None = None) -> list[Decision]:
        """Every decision that a reviewer ever made, in its order."""
        self._check_sight(project, reviewer, seen_by)
        with self._database.read() as connection:
            number = self._reviewer(connection, project, reviewer)
            query = select(decisions).where(decisions.c.reviewer_id == number).order_by(decisions.c.id)
            return [_decision(row, reviewer) for row in connection.execute(query)]

    def reasons(self, project: Project, reviewer: str) -> dict[str, str]:
        """The reasons of the decisions that hold, where one was given."""
        decided, annotations = self.said(project, reviewer)
        return {document: annotations[document].reason for document in decided
                if document in annotations and annotations[document].reason}  # fmt: skip

    # -- several reviewers ---------------------------------------------------------------------------------------------

    def agreement(self, project: Project) -> list[Agreement]:
        """Cohen's kappa of each pair of reviewers. It tells of no single record, so a blind project has it too."""
        of = {name: self.decisions(project, name) for name in self.reviewers(project)}
        return [agreement(one, of[one], other, of[other]) for one, other in combinations(of, 2)]

    def conflicts(self, project: Project) -> list[Conflict]:
        """The records on which reviewers differ, in the order they were first decided; not while it is blind."""
        if self.get(project.name).blind:
            raise ParameterError(f"the project '{project.name}' is blind: reveal it to see who decided what")
        return self._conflicts(project)

    def resolve(self, project: Project, document: str, included: bool, *, by: str, reason: str = "") -> None:
        """Settle a conflict. A later word on the same record counts instead of it."""
        if document not in {conflict.document for conflict in self.conflicts(project)}:
            raise ParameterError(f"there is no conflict on '{document}' in the project '{project.name}'")
        with self._database.write() as connection:
            self._database.add(
                connection, resolutions, project_id=project.id, document=document, included=included, by=by,
                reason=reason, at=self._database.clock(),
            )  # fmt: skip

    def outcome(self, project: Project) -> tuple[dict[str, bool], dict[str, Annotation]]:
        """What all agree on, and what was settled, with the reasons; open conflicts are left out.

        A blind project of several reviewers has none yet: it would tell one what another decided.
        """
        names = self.reviewers(project)
        if len(names) > 1 and self.get(project.name).blind:
            raise ParameterError(
                f"the project '{project.name}' is blind: reveal it to see what all decided, or name one reviewer"
            )
        found: dict[str, bool] = {}
        reasons: dict[str, list[str]] = {}
        for name in names:
            decided, annotations = self.said(project, name)
            for document, included in decided.items():
                found.setdefault(document, included)
                if document in annotations and annotations[document].reason not in ("", *reasons.get(document, ())):
                    reasons.setdefault(document, []).append(annotations[document].reason)
        for conflict in self._conflicts(project):
            if conflict.resolved is None:
                del found[conflict.document]
                continue
            found[conflict.document] = conflict.resolved
            if conflict.reason or conflict.resolved:
                reasons[conflict.document] = [conflict.reason] if conflict.reason else []
        return found, {
            document: Annotation("; ".join(reasons[document])) for document in found if reasons.get(document)
        }

    # -- inside --------------------------------------------------------------------------------------------------------

    def _conflicts(self, project: Project) -> list[Conflict]:
        said: dict[str, tuple[list[str], list[str]]] = {}
        for name in self.reviewers(project):
            for document, included in self.decisions(project, name).items():
                said.setdefault(document, ([], []))[0 if included else 1].append(name)
        query = select(resolutions).where(resolutions.c.project_id == project.id).order_by(resolutions.c.id)
        with self._database.read() as connection:
            settled = {row.document: (row.included, row.by, row.reason) for row in connection.execute(query)}
        return [
            Conflict(document, tuple(yes), tuple(no), *settled.get(document, (None, "", "")))
            for document, (yes, no) in said.items()
            if yes and no
        ]

    def _check_sight(self, project: Project, reviewer: str, seen_by: str | None) -> None:
        if seen_by is not None and seen_by != reviewer and self.get(project.name).blind:
            raise ParameterError(f"the project '{project.name}' is blind: '{seen_by}' may not see the decisions of "
                                 f"'{reviewer}'")  # fmt: skip

    def _reviewer(self, connection: Connection, project: Project, name: str) -> int:
        query = select(reviewers.c.id).where(reviewers.c.project_id == project.id, reviewers.c.name == name)
        number = connection.execute(query).scalar()
        if number is None:
            raise ParameterError(f"'{name}' is no reviewer of the project '{project.name}'")
        return int(number)


def _decision(row: Any, reviewer: str) -> Decision:
    return Decision(row.id, reviewer, row.document, row.included, row.reason, row.at, row.undoes, row.maybe, row.note)
