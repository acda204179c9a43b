"""What was acknowledged is there after SIGKILL at any moment, and two processes at once lose nothing.

`GERMANE_KILLS=200` kills at 200 moments; the tests run fewer.
"""

import os
import random
import select
import signal

import pytest

from germane.types import Mark
from germane.workspace import Workspace

KILLS = int(os.environ.get("GERMANE_KILLS", "12"))


def write_until_killed(where, pipe, name):
    """Marks and decisions without end, each told to the pipe after it was acknowledged."""
    with Workspace.open(where, create=False) as workspace:
        reading = workspace.collections.get("reading")
        project = workspace.projects.get("review")
        for number in range(10**9):
            document = f"{name}-{number}"
            if number % 5 == 4:
                workspace.marks.undo(reading)
            elif number % 2:
                workspace.marks.mark(reading, document, Mark.RELEVANT)
            else:
                workspace.projects.decide(project, "ann", document, True, reason="because")
            os.write(pipe, f"{number}\n".encode())


def spawned(function, *given):
    """A child that runs the function and never returns to the tests."""
    child = os.fork()
    if not child:
        try:
            function(*given)
        finally:
            os._exit(0)
    return child


def prepared(where):
    with Workspace.open(where) as workspace:
        workspace.collections.create("reading")
        workspace.projects.join(workspace.projects.create("review"), "ann")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_killed_at_any_moment(places):
    where = places()
    prepared(where)
    moments = random.Random(7)
    kept_marks = kept_decisions = 0
    for kill in range(KILLS):
        reader, writer = os.pipe()
        child = spawned(write_until_killed, where, writer, kill)
        os.close(writer)
        told = b""
        wanted = moments.randrange(1, 12)
        while told.count(b"\n") < wanted:
            piece = os.read(reader, 1 << 16)
            assert piece, "the child ended by itself"
            told += piece
        for _ in range(moments.randrange(100_000)):  # into the midst of the next write
            pass
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while select.select([reader], [], [], 0)[0] and (piece := os.read(reader, 1 << 16)):
            told += piece
        os.close(reader)
        acknowledged = [int(line) for line in told.split()]
        with Workspace.open(where, create=False) as workspace:
            reading = workspace.collections.get("reading")
            history = workspace.marks.history(reading)
            marked = {entry.document for entry in history if entry.undoes is None}
            decided = workspace.projects.decisions(workspace.projects.get("review"), "ann")
        for number in acknowledged:
            if number % 5 == 4:
                continue
            assert f"{kill}-{number}" in (marked if number % 2 else decided)
        undone = sum(entry.undoes is not None for entry in history)
        # No more than the one write that was under way can be there without being told.
        extra_marks = len(marked) + undone - kept_marks
        extra_decisions = len(decided) - kept_decisions
        assert len(acknowledged) <= extra_marks + extra_decisions <= len(acknowledged) + 1
        kept_marks, kept_decisions = len(marked) + undone, len(decided)


def mark_many(where, name, count):
    with Workspace.open(where) as workspace:
        reading = workspace.collections.get("reading")
        project = workspace.projects.get("review")
        for number in range(count):
            workspace.marks.mark(reading, f"{name}-{number}", Mark.RELEVANT)
            workspace.projects.decide(project, "ann", f"{name}-{number}", bool(number % 2))
            workspace.interests.save("shared", str(number))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_two_processes_at_once_lose_nothing(places):
    where = places()
    prepared(where)
    for child in [spawned(mark_many, where, name, 40) for name in ("one", "other")]:
        os.waitpid(child, 0)
    with Workspace.open(where) as workspace:
        reading = workspace.collections.get("reading")
        wanted = {f"{name}-{number}" for name in ("one", "other") for number in range(40)}
        assert set(workspace.marks.current(reading).relevant) == wanted
        assert workspace.projects.decisions(workspace.projects.get("review"), "ann").keys() == wanted
        assert workspace.interests.get("shared").version == 80


def take_all(where, pipe):
    with Workspace.open(where) as workspace:
        while job := workspace.jobs.take():
            os.write(pipe, f"{job.id}\n".encode())
            workspace.jobs.finish(job)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_no_job_is_taken_twice_and_a_new_workspace_is_made_once(places):
    where = places()
    reader, writer = os.pipe()
    for child in [spawned(prepared_quietly, where) for _ in range(3)]:
        os.waitpid(child, 0)
    with Workspace.open(where, create=False) as workspace:
        for _ in range(30):
            workspace.jobs.add("work")
    for child in [spawned(take_all, where, writer) for _ in range(2)]:
        os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as told:
        assert sorted(int(line) for line in told) == list(range(1, 31))


def prepared_quietly(where):
    Workspace.open(where).close()
