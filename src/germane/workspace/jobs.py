"""Jobs: work that waits for somebody to do it, is done by one, and leaves what came of it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, update

from germane.errors import ParameterError
from germane.workspace.database import Database
from germane.workspace.tables import jobs
from germane.workspace.values import Job

STATES = ("waiting", "running", "done", "failed")


class Jobs:
    """The jobs of a workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, kind: str, settings: Mapping[str, Any] = {}) -> Job:
        """A job that waits."""
        row = {"kind": kind, "settings": dict(settings), "state": "waiting", "outcome": None,
               "at": self._database.clock(), "started": None, "ended": None}  # fmt: skip
        with self._database.write() as connection:
            return Job(id=self._database.add(connection, jobs, **row), **row)  # type: ignore[arg-type]

    def take(self) -> Job | None:
        """The job that has waited longest, now running; None where none waits. No two processes get the same."""
        waiting = select(jobs.c.id).where(jobs.c.state == "waiting").order_by(jobs.c.id).limit(1)
        while True:
            with self._database.write() as connection:
                number = connection.execute(waiting).scalar()
                if number is None:
                    return None
                taken = update(jobs).where(jobs.c.id == number, jobs.c.state == "waiting")
                done = connection.execute(taken.values(state="running", started=self._database.clock()))
                if done.rowcount:
                    return Job(**connection.execute(select(jobs).where(jobs.c.id == number)).mappings().one())

    def finish(self, job: Job, outcome: Any = None, *, failed: bool = False) -> Job:
        """Say what came of a running job."""
        with self._database.write() as connection:
            running = update(jobs).where(jobs.c.id == job.id, jobs.c.state == "running")
            state = "failed" if failed else "done"
            done = connection.execute(running.values(state=state, outcome=outcome, ended=self._database.clock()))
            if not done.rowcount:
                raise ParameterError(f"job {job.id} is not running")
            return Job(**connection.execute(select(jobs).where(jobs.c.id == job.id)).mappings().one())

    def all(self, state: str | None = None) -> list[Job]:
        """Every job, or those in a state, the oldest first."""
        if state is not None and state not in STATES:
            raise ParameterError(f"a job is {', '.join(STATES)}, not '{state}'")
        query = select(jobs).order_by(jobs.c.id)
        with self._database.read() as connection:
            found = connection.execute(query if state is None else query.where(jobs.c.state == state))
            return [Job(**row) for row in found.mappings()]
