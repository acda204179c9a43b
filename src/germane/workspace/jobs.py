"""Jobs: work that waits for somebody to do it, is done by one, and leaves what came of it.

The outcome of a job that runs is how far it is. A job that is told to stop is `stopping` until whoever does it has
stopped.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import select, update

from germane.errors import ParameterError
from germane.workspace.database import Database
from germane.workspace.tables import jobs
from germane.workspace.values import Job

STATES = ("waiting", "running", "done", "failed", "stopping", "stopped")
ENDED = ("done", "failed", "stopped")


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

    def take(self, kinds: Collection[str] | None = None) -> Job | None:
        """The job, of these kinds or of any, that has waited longest, now running; None where none waits. No two
        processes get the same."""
        waiting = select(jobs.c.id).where(jobs.c.state == "waiting").order_by(jobs.c.id).limit(1)
        if kinds is not None:
            waiting = waiting.where(jobs.c.kind.in_(list(kinds)))
        while True:
            with self._database.write() as connection:
                number = connection.execute(waiting).scalar()
                if number is None:
                    return None
                taken = update(jobs).where(jobs.c.id == number, jobs.c.state == "waiting")
                done = connection.execute(taken.values(state="running", started=self._database.clock()))
                if done.rowcount:
                    return Job(**connection.execute(select(jobs).where(jobs.c.id == number)).mappings().one())

    def tell(self, job: Job, outcome: Any) -> bool:
        """Say how far a running job is; False where it is to stop."""
        with self._database.write() as connection:
            change = update(jobs).where(jobs.c.id == job.id, jobs.c.state.in_(("running", "stopping")))
            connection.execute(change.values(outcome=outcome))
            return connection.execute(select(jobs.c.state).where(jobs.c.id == job.id)).scalar() == "running"

    def finish(self, job: Job, outcome: Any = None, *, failed: bool = False, stopped: bool = False) -> Job:
        """Say what came of a running job."""
        state = "failed" if failed else "stopped" if stopped else "done"
        return self._leave(job, state, outcome, ended=self._database.clock())

    def put_back(self, job: Job, outcome: Any = None) -> Job:
        """Let a running job wait again: whoever does it next begins with this outcome."""
        return self._leave(job, "waiting", outcome, ended=None)

    def _leave(self, job: Job, state: str, outcome: Any, ended: str | None) -> Job:
        with self._database.write() as connection:
            running = update(jobs).where(jobs.c.id == job.id, jobs.c.state.in_(("running", "stopping")))
            done = connection.execute(running.values(state=state, outcome=outcome, ended=ended))
            if not done.rowcount:
                raise ParameterError(f"job {job.id} is not running")
            return Job(**connection.execute(select(jobs).where(jobs.c.id == job.id)).mappings().one())

    def cancel(self, number: int) -> Job:
        """Take a waiting job out of the row, or tell a running one to stop; one that has ended stays as it is."""
        with self._database.write() as connection:
            change = update(jobs).where(jobs.c.id == number)
            waiting = change.where(jobs.c.state == "waiting")
            connection.execute(waiting.values(state="stopped", ended=self._database.clock()))
            connection.execute(change.where(jobs.c.state == "running").values(state="stopping"))
        return self.get(number)

    def get(self, number: int) -> Job:
        """The job of that number."""
        with self._database.read() as connection:
            found = connection.execute(select(jobs).where(jobs.c.id == number)).mappings().one_or_none()
        if found is None:
            raise ParameterError(f"there is no job {number}")
        return Job(**found)

    def all(self, state: str | None = None) -> list[Job]:
        """Every job, or those in a state, the oldest first."""
        if state is not None and state not in STATES:
            raise ParameterError(f"a job is {', '.join(STATES)}, not '{state}'")
        query = select(jobs).order_by(jobs.c.id)
        with self._database.read() as connection:
            found = connection.execute(query if state is None else query.where(jobs.c.state == state))
            return [Job(**row) for row in found.mappings()]
