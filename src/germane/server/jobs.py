"""Work in the background: imports, training, exports, sources asked again, topics fed.

Jobs are rows of the workspace, so that they are there after a reload and after a restart. Of all processes that serve a
workspace one does them, one after the other: the one that holds the lock `jobs.lock`, which the system lets go however
the process ends. When the server is told to stop, the job under way is put back and goes on at the next start. One that
was interrupted by a kill begins again, an import after the last records that were kept; after the third time it is
stopped, and says what was kept.
"""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from germane.errors import GermaneError
from germane.server.locks import lock_file, locked
from germane.server.problems import ProblemError, told, without_folders
from germane.workspace.jobs import ENDED

if TYPE_CHECKING:
    from germane.workspace.jobs import Jobs
    from germane.workspace.values import Job

MOST_WAITING = 50
"""Jobs that may wait: each may read a whole collection, and write it to the disk."""
MOST_ATTEMPTS = 3
"""A job that the process died in so often is not tried again: it may be why."""
TELL_SECONDS = 0.2
"""How often a job's progress is written at most."""
LOOK_SECONDS = 1.0
"""How often somebody looks for jobs of other processes, or for the lock."""
DAY = 24 * 3600.0


class Stopped(Exception):  # noqa: N818 -- no error: somebody said so
    """The job is to end here."""


class Paused(Exception):  # noqa: N818 -- likewise
    """The server ends, and the job is to go on later."""


class Progress:
    """How far a job is: `done` of `total`, the step, and what else is kept. Telling it also asks whether to go on."""

    def __init__(self, runner: "Runner", job: "Job") -> None:
        self._runner, self._job, self._told = runner, job, 0.0
        before = job.outcome if isinstance(job.outcome, Mapping) else {}
        self.now: dict[str, Any] = {**before, "attempts": int(before.get("attempts", 0)) + 1, "message": ""}
        self.tell(force=True)

    @property
    def done(self) -> int:
        """How far it is, or was when it was interrupted."""
        return int(self.now.get("done", 0))

    def tell(self, *, force: bool = False, **news: Any) -> None:
        """Note what is new; raises where the job is to end."""
        self.now |= news
        if force or time.monotonic() - self._told >= TELL_SECONDS:
            self._told = time.monotonic()
            if not self._runner.jobs.tell(self._job, self.now):
                raise Stopped
        if self._runner.ending.is_set():
            raise Paused

    def step(self, words: str) -> None:
        """Note the step that begins."""
        self.tell(force=True, step=words)


Work = Callable[[Mapping[str, Any], Progress], Mapping[str, Any]]
"""Does a job with its settings, telling of its progress; what came of it."""


class Runner:
    """Does the jobs of a workspace in a thread, if no other process does: the one that holds the lock in `home`.

    `kinds`: what does a job of each kind. `sweep`: what is done at the start and once a day.
    """

    def __init__(self, jobs: "Jobs", home: Path, kinds: Mapping[str, Work], sweep: Callable[[], None]) -> None:
        self.jobs, self._home, self._kinds, self._sweep = jobs, home, kinds, sweep
        self.ending = threading.Event()
        self._woken = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._swept = time.monotonic() - DAY

    def add(self, kind: str, settings: Mapping[str, Any]) -> "Job":
        """A new job, which waits for its turn; a `ProblemError` where too many wait already."""
        if len(self.jobs.all("waiting")) >= MOST_WAITING:
            raise ProblemError(429, f"{MOST_WAITING} jobs wait already: wait for them, or stop some", retry_after="60")
        job = self.jobs.add(kind, settings)
        self.start()
        self._woken.set()
        return job

    def start(self) -> None:
        """Look for jobs from now on."""
        with self._starting:
            if self._thread is None and not self.ending.is_set():
                self._thread = threading.Thread(target=self._run, name="germane-jobs", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Put the job under way back, and look for no other."""
        self.ending.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with lock_file(self._home / "jobs.lock") as lock:
            while not locked(lock):
                if self.ending.wait(LOOK_SECONDS):
                    return
            self._recover()
            while not self.ending.is_set():
                try:
                    self._look()
                except GermaneError:  # a workspace or a log that cannot be written now: perhaps later
                    self.ending.wait(10 * LOOK_SECONDS)

    def _look(self) -> None:
        """Do the next job, or wait a little."""
        if time.monotonic() - self._swept >= DAY:
            self._swept = time.monotonic()
            self._sweep()
        job = self.jobs.take(self._kinds.keys())
        if job is None:
            self._woken.wait(LOOK_SECONDS)
            self._woken.clear()
        else:
            self._do(job)

    def _recover(self) -> None:
        """Take over running jobs: the process that ran them held the lock, and is gone."""
        jobs = self.jobs
        for job in (*jobs.all("running"), *jobs.all("stopping")):
            if job.kind not in self._kinds:
                continue
            kept = dict(job.outcome) if isinstance(job.outcome, Mapping) else {}
            if job.state == "stopping" or int(kept.get("attempts", 0)) >= MOST_ATTEMPTS:
                kept["message"] = "the server was ended while it ran; what was done until then is kept"
                jobs.finish(job, kept, stopped=True)
            else:
                jobs.put_back(job, kept)

    def _do(self, job: "Job") -> None:
        jobs = self.jobs
        progress = None
        try:
            progress = Progress(self, job)
            result = self._kinds[job.kind](job.settings, progress)
            jobs.finish(job, {**progress.now, "result": dict(result)})
        except Stopped:
            jobs.finish(job, {**_kept(progress), "message": "stopped; what was done until then is kept"}, stopped=True)
        except Paused:
            kept = _kept(progress)
            jobs.put_back(job, {**kept, "attempts": int(kept.get("attempts", 1)) - 1})
        except Exception as error:  # a job that fails must not end the thread
            ours = isinstance(error, GermaneError | ProblemError)
            said = told(error).detail if ours else without_folders(f"{type(error).__name__}: {error}")
            jobs.finish(job, {**_kept(progress), "message": said[:1_000]}, failed=True)


def has_ended(job: "Job") -> bool:
    """Whether nothing more will come of it."""
    return job.state in ENDED


def _kept(progress: Progress | None) -> dict[str, Any]:
    return {} if progress is None else progress.now
