"""Workspaces and caches of answers, damaged at random: whatever is asked of them, the error is one of ours.

Case n changes the bytes of one SQLite file, or writes values of another kind into one of its rows, and then asks for
all that it keeps. SQLite sees some damage; other damage looks like content, which has to be refused where it is read.
"""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from fuzz.harness import Verdict, mutated
from germane.errors import GermaneError
from germane.metasearch.cache import Body, Cache
from germane.stream.watch import Watch
from germane.types import Document, Mark, Marks
from germane.workspace import Workspace, database
from germane.workspace.archive import export_archive
from germane.workspace.values import Result

VALUES: tuple[Any, ...] = (
    None, 0, -1, 1, 2**63 - 1, 1.5, float("inf"), "", "x", "null", "[]", "{}", '{"a": 1}', "[1, 2]", "{", "é" * 1000,
    b"", b"\xff\xfe", b"[]\n", b'["k"]\n', bytes(200),
)  # fmt: skip
KEY = b"key"


def make_workspace(path: Path) -> None:
    """A workspace with something of every kind in it."""
    with Workspace.open(path) as workspace:
        reading = workspace.collections.create("reading", "what is read")
        documents = [Document(f"d{i}", {"title": f"Copper {i}", "text": f"Ships of port {i % 7}"}) for i in range(30)]
        workspace.collections.add(reading, documents)
        search = workspace.searches.record("copper", [Result(f"d{i}", {"title": "c"}, 1.0 / (i + 1)) for i in range(9)])
        workspace.searches.click(search, "d1", 2)
        for number in range(12):
            workspace.marks.mark(reading, f"d{number}", Mark.RELEVANT if number % 2 else Mark.NOT_RELEVANT, by="ann")
        workspace.marks.undo(reading)
        workspace.interests.save("ports", "port", marks=Marks(("d1",), ("d2",)), model={"port": 1.0})
        project = workspace.projects.create("review", reading, blind=False)
        for reviewer in ("ann", "bob"):
            workspace.projects.join(project, reviewer)
            for number in range(8):
                included = number % 3 == 0 or reviewer == "bob"
                workspace.projects.decide(project, reviewer, f"d{number}", included, reason="old")
        workspace.projects.resolve(project, "d1", True, by="cat")
        workspace.notes.add("d1", "a note", by="ann")
        workspace.topics.save("ships", {"w": 0.5}, {"a": 1})
        workspace.models.save("m", b"content of a model", kind="k", settings={"b": 2})
        workspace.jobs.add("import", {"c": 3})
        job = workspace.jobs.take()
        assert job is not None
        workspace.jobs.finish(job, {"done": 3})
        workspace.jobs.add("export", {"c": 4})
        general = [{"id": str(n), "text": f"Page {n} of {n % 5} ships and {n % 7} ports"} for n in range(40)]
        watch = Watch.begin(workspace, general)
        watch.follow("quakes", ["An earthquake shook the coast of Chile"])
        watch.process([{"id": "a", "text": "Another earthquake on the coast"}, {"id": "b", "text": "ships and ports"}])
        watch.judge("quakes", "a", on_topic=True, by="ann")
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def uses(workspace: Workspace) -> Iterator[Callable[[], Any]]:
    """Everything that can be asked."""
    for each in workspace.collections.all():
        yield lambda each=each: [dict(document.fields) for document in workspace.collections.documents(each)]
        yield lambda each=each: workspace.collections.size(each)
        yield lambda each=each: (workspace.marks.current(each), workspace.marks.history(each))
        yield lambda each=each: workspace.marks.mark(each, "new", Mark.RELEVANT)
        yield lambda each=each: workspace.marks.undo(each)
    for search in workspace.searches.all():
        yield lambda search=search: (workspace.searches.results(search), workspace.searches.clicks(search))
    for project in workspace.projects.all():
        yield lambda project=project: workspace.projects.documents(project)
        for reviewer in workspace.projects.reviewers(project):
            yield lambda project=project, reviewer=reviewer: (
                workspace.projects.history(project, reviewer), workspace.projects.said(project, reviewer),
                workspace.projects.decide(project, reviewer, "d5", True), workspace.projects.undo(project, reviewer),
            )  # fmt: skip
        yield lambda project=project: (workspace.projects.agreement(project), workspace.projects.outcome(project))
    yield lambda: [workspace.interests.get(name) for name in workspace.interests.names()]
    yield lambda: [workspace.topics.get(name) for name in workspace.topics.names()]
    yield lambda: [workspace.models.content(name) for name in workspace.models.names()]
    yield lambda: (workspace.notes.of("d1"), workspace.notes.by("ann"), workspace.notes.add("d2", "another"))
    yield lambda: [workspace.jobs.cancel(job.id) for job in workspace.jobs.all()]
    yield lambda: watched(Watch.open(workspace))
    yield lambda: export_archive(workspace, Path(workspace.name).with_name("archive.jsonl"))


def watched(watch: Watch) -> None:
    """All of a stream."""
    for topic in watch.topics():
        watch.judged(topic.name)
        watch.hits(topic.name)
        watch.judge(topic.name, "a", on_topic=False)
        watch.undo(topic.name)
    watch.process([{"id": "c", "text": "An earthquake again"}])
    watch.memory()


class WorkspaceJudge:
    """Judges one damage by its number."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._good, self._cache = folder, folder / "good", folder / "cache"
        make_workspace(self._good)
        cache = Cache(self._cache)
        cache.put(KEY, "host", Body(b"an answer" * 100, "text/plain"))
        cache.close()
        with closing(sqlite3.connect(self._good)) as base:
            self._tables = {
                name: [row[1] for row in base.execute(f"PRAGMA table_info({name})")]
                for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }

    def __call__(self, case: int) -> Verdict:
        rng = random.Random(f"workspace {case}")
        work = self._folder / f"case-{os.getpid()}"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        path = work / "w"
        if rng.random() < 0.1:
            path.write_bytes(mutated(self._cache.read_bytes(), rng))
            return self._judged([lambda: self._cached(path)])
        content = self._good.read_bytes()
        path.write_bytes(mutated(content, rng) if rng.random() < 0.5 else content)
        if path.stat().st_size == len(content) and path.read_bytes() == content:
            self._change_a_row(path, rng)
        database.SQLITE_SETTINGS["synchronous"] = "OFF"  # no power fails here
        with Workspace.open(path, create=False) as workspace:
            return self._judged(uses(workspace))

    def _change_a_row(self, path: Path, rng: random.Random) -> None:
        table = rng.choice(sorted(self._tables))
        column, value = rng.choice(self._tables[table]), rng.choice(VALUES)
        with closing(sqlite3.connect(path, isolation_level=None)) as base, suppress(sqlite3.Error):
            base.execute(f'UPDATE {table} SET "{column}" = ?', (value,))

    @staticmethod
    def _cached(path: Path) -> None:
        cache = Cache(path)
        try:
            len(cache)
            cache.get(KEY)
            cache.put(b"other", "host", Body(b"x", "text/plain"))
            cache.clear()
        finally:
            cache.close()

    @staticmethod
    def _judged(asked: Any) -> Verdict:
        """Every use, each whatever came of the ones before; what is no error of ours is raised."""
        refused = ""
        for use in asked:
            try:
                use()
            except GermaneError as error:
                refused = str(error)
        return Verdict("refused" if refused else "same", refused[:300])
