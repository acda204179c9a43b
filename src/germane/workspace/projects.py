"""Screening projects: several reviewers with decisions of their own, blind to one another until they are revealed."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sqlalchemy import Connection, select, update

from germane.errors import ParameterError
from germane.workspace.agreement import Agreement, agreement
from germane.workspace.database import Database, refusing
from germane.workspace.history import last_standing, standing
from germane.workspace.tables import decisions, projects, resolutions, reviewers
from germane.workspace.values import Collection, Conflict, Decision, Project


class Projects:
    """The screening projects of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, collection: Collection | None = None, *, blind: bool = True) -> Project:
        """A new project, over the records of a collection where they are kept here too."""
        if not name.strip():
            raise ParameterError("a project needs a name")
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
        at = self._database.clock()
        made = []
        for document, included in given.items():
            if included is not None and not isinstance(included, bool):
                raise ParameterError(f"the decision on '{document}' must be True, False or None, not {included!r}")
        with self._database.write() as connection:
            number = self._reviewer(connection, project, reviewer)
            for document, included in given.items():
                row = {"document": document, "included": included, "reason": reason, "at": at, "undoes": None}
                entry = self._database.add(connection, decisions, reviewer_id=number, **row)
                made.append(Decision(id=entry, reviewer=reviewer, **row))  # type: ignore[arg-type]
        return made

    def keep(
        self, project: Project, reviewer: str, wanted: Mapping[str, bool], reasons: Mapping[str, str] | None = None
    ) -> int:
        """Make a reviewer's decisions these, by as many entries as it takes, all or none; returns how many."""
        given, at = reasons or {}, self._database.clock()
        with self._database.write() as connection:
            number = self._reviewer(connection, project, reviewer)
            query = select(decisions).where(decisions.c.reviewer_id == number).order_by(decisions.c.id)
            rows = connection.execute(query).all()
            held = standing(
                (row.id, row.document, None if row.included is None else (row.included, row.reason), row.undoes)
                for row in rows
            )
            changed: list[tuple[str, bool | None, str]] = [(each, None, "") for each in held if each not in wanted]
            for document, included in wanted.items():
                before = held.get(document)
                if before is None or before[0] is not included or given.get(document, before[1]) != before[1]:
                    changed.append((document, included, given.get(document, "")))
            for document, decided, reason in changed:
                self._database.add(
                    connection, decisions, reviewer_id=number, document=document, included=decided, reason=reason,
                    at=at, undoes=None,
                )  # fmt: skip
        return len(changed)

    def undo(self, project: Project, reviewer: str) -> Decision | None:
        """Take the reviewer's latest decision back, and return it; what was decided before it holds again."""
        while True:
            try:
                with refusing("taken back meanwhile"), self._database.write() as connection:
                    number = self._reviewer(connection, project, reviewer)
                    last = last_standing(connection, decisions, decisions.c.reviewer_id == number)
                    if last is None:
                        return None
                    self._database.add(
                        connection, decisions, reviewer_id=number, document=last.document, included=None, reason="",
                        at=self._database.clock(), undoes=last.id,
                    )  # fmt: skip
                    return _decision(last, reviewer)
            except ParameterError as error:
                if "meanwhile" not in str(error):
                    raise

    def decisions(self, project: Project, reviewer: str, *, seen_by: str | None = None) -> dict[str, bool]:
        """What a reviewer decided and has not taken back, in the order of reading.

        `seen_by` is who asks: in a blind project another reviewer is refused.
        """
        self._check_sight(project, reviewer, seen_by)
        return standing((each.id, each.document, each.included, each.undoes) for each in self._all(project, reviewer))

    def history(self, project: Project, reviewer: str, *, seen_by: str | None = None) -> list[Decision]:
        """Every decision that a reviewer ever made, in its order."""
        self._check_sight(project, reviewer, seen_by)
        return self._all(project, reviewer)

    def reasons(self, project: Project, reviewer: str) -> dict[str, str]:
        """The reasons of the decisions that hold, where one was given."""
        made = self._all(project, reviewer)
        held = standing((each.id, each.document, None if each.included is None else each.reason, each.undoes)
                        for each in made)  # fmt: skip
        return {document: reason for document, reason in held.items() if reason}

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

    def outcome(self, project: Project) -> dict[str, bool]:
        """What all agree on, and what was settled; open conflicts are left out."""
        found: dict[str, bool] = {}
        for name in self.reviewers(project):
            for document, included in self.decisions(project, name).items():
                found.setdefault(document, included)
        for conflict in self._conflicts(project):
            if conflict.resolved is None:
                del found[conflict.document]
            else:
                found[conflict.document] = conflict.resolved
        return found

    # -- inside --------------------------------------------------------------------------------------------------------

    def _conflicts(self, project: Project) -> list[Conflict]:
        said: dict[str, tuple[list[str], list[str]]] = {}
        for name in self.reviewers(project):
            for document, included in self.decisions(project, name).items():
                said.setdefault(document, ([], []))[0 if included else 1].append(name)
        query = select(resolutions).where(resolutions.c.project_id == project.id).order_by(resolutions.c.id)
        with self._database.read() as connection:
            settled = {row.document: row.included for row in connection.execute(query)}
        return [
            Conflict(document, tuple(yes), tuple(no), settled.get(document))
            for document, (yes, no) in said.items()
            if yes and no
        ]

    def _check_sight(self, project: Project, reviewer: str, seen_by: str | None) -> None:
        if seen_by is not None and seen_by != reviewer and self.get(project.name).blind:
            raise ParameterError(f"the project '{project.name}' is blind: '{seen_by}' may not see the decisions of "
                                 f"'{reviewer}'")  # fmt: skip

    def _all(self, project: Project, reviewer: str) -> list[Decision]:
        with self._database.read() as connection:
            number = self._reviewer(connection, project, reviewer)
            query = select(decisions).where(decisions.c.reviewer_id == number).order_by(decisions.c.id)
            return [_decision(row, reviewer) for row in connection.execute(query)]

    def _reviewer(self, connection: Connection, project: Project, name: str) -> int:
        query = select(reviewers.c.id).where(reviewers.c.project_id == project.id, reviewers.c.name == name)
        number = connection.execute(query).scalar()
        if number is None:
            raise ParameterError(f"'{name}' is no reviewer of the project '{project.name}'")
        return int(number)


def _decision(row: Any, reviewer: str) -> Decision:
    return Decision(row.id, reviewer, row.document, row.included, row.reason, row.at, row.undoes)
