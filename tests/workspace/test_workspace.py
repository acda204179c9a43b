"""Everything that is kept comes back, in both databases; nothing is deleted; what cannot be is said in a sentence."""

import itertools
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event, text

from germane.errors import InputError, MissingExtraError, ParameterError, StorageError
from germane.refine.screening import Annotation
from germane.types import Document, Mark, Marks
from germane.workspace import Workspace, cohens_kappa, database, migrations
from germane.workspace.database import _engine_of
from germane.workspace.migrations import VERSION_TABLE
from germane.workspace.tables import metadata
from germane.workspace.values import Collection, Result, Search

HOSTILE = "'; DROP TABLE marks; --\n\u202e%s ?:x \U0001f600"


def test_the_migrations_make_the_tables(workspace):
    """Alembic's own comparison of the database with the tables that the sources name."""
    with workspace.database.read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []


def test_collections(workspace):
    reading = workspace.collections.create("reading", HOSTILE)
    documents = [Document(str(n), {"title": f"{n} {HOSTILE}", "author": ["a", "b"], "n": n / 7}) for n in range(1200)]
    assert workspace.collections.add(reading, documents) == (1200, 0, ())
    again = [documents[3], Document("4", {"title": "another"}), Document("new", {}), Document("new", {"x": 1})]
    assert workspace.collections.add(reading, again) == (1, 1, ("4", "new"))
    assert list(workspace.collections.documents(reading)) == [*documents, Document("new", {})]
    assert workspace.collections.size(reading) == 1201
    assert workspace.collections.get("reading") == reading
    assert workspace.collections.all() == [reading]
    with pytest.raises(ParameterError, match="there is a collection 'reading' already"):
        workspace.collections.create("reading")
    with pytest.raises(ParameterError, match="no collection 'x'; there are: 'reading'"):
        workspace.collections.get("x")
    with pytest.raises(ParameterError, match="needs a name"):
        workspace.collections.create(" ")
    with pytest.raises(ParameterError, match="there is no collection 'gone' any more"):
        workspace.collections.add(Collection(99, "gone", "", ""), documents[:1])


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (Document("a\0b", {}), "NUL"),
        (Document("\ud800", {}), "not valid Unicode"),
        (Document("a", {"x": "\ud800"}), "as JSON"),
        (Document("a", {"x": float("nan")}), "not a number"),
        (Document("a", {"x": 1 << 70}), "as JSON"),
        (Document(7, {}), "a text is needed"),
    ],
)
def test_what_cannot_be_kept_leaves_nothing_behind(workspace, document, sentence):
    reading = workspace.collections.create("reading")
    with pytest.raises(ParameterError, match=sentence):
        workspace.collections.add(reading, [Document("good", {}), document])
    assert workspace.collections.size(reading) == 0
    assert workspace.collections.add(reading, [Document("good", {"x": "a\0b"})]).added == 1
    assert next(workspace.collections.documents(reading)).fields == {"x": "a\0b"}


def test_searches_with_their_results_as_fetched(workspace):
    found = [
        Result("b", {"title": HOSTILE, "year": 1999}, 0.1 + 0.2, {"pubmed": [1, "7"], "link": None}),
        Result("a", {}, None),
    ]
    search = workspace.searches.record(HOSTILE, found, source="pubmed", settings={"n": 2, "failed": {"arxiv": "slow"}})
    assert workspace.searches.get(search.id) == search == workspace.searches.all()[0]
    assert workspace.searches.results(search) == found
    click = workspace.searches.click(search, "a", 2, by="ann")
    assert workspace.searches.clicks(search) == [click]
    with pytest.raises(ParameterError, match="no search 7"):
        workspace.searches.get(7)
    with pytest.raises(ParameterError, match="no search 99"):
        workspace.searches.click(Search(99, "", "", {}, ""), "a", 1)


def test_marks_and_undo_as_history(workspace):
    on = workspace.searches.record("q", [Result("a", {}), Result("b", {})])
    other = workspace.collections.create("other")
    workspace.marks.mark(other, "a", Mark.RELEVANT)
    made = [workspace.marks.mark(on, document, mark, by="ann") for document, mark in
            [("a", Mark.RELEVANT), ("b", Mark.RELEVANT), ("a", Mark.NOT_RELEVANT), ("b", Mark.UNMARKED)]]  # fmt: skip
    assert workspace.marks.current(on) == Marks([], ["a"])
    assert workspace.marks.undo(on) == made[3]
    assert workspace.marks.current(on) == Marks(["b"], ["a"])
    assert workspace.marks.undo(on) == made[2]
    assert workspace.marks.current(on) == Marks(["a", "b"])
    workspace.marks.mark(on, "c", Mark.RELEVANT)
    assert [workspace.marks.undo(on).document for _ in range(3)] == ["c", "b", "a"]
    assert workspace.marks.undo(on) is None
    assert workspace.marks.current(on) == Marks()
    assert workspace.marks.history(on)[:4] == made
    assert len(workspace.marks.history(on)) == 10
    assert workspace.marks.current(other) == Marks(["a"])
    with pytest.raises(ParameterError, match=r"a mark is Mark\.RELEVANT"):
        workspace.marks.mark(on, "a", 1)
    with pytest.raises(ParameterError, match="no such list"):
        workspace.marks.mark(Collection(99, "", "", ""), "a", Mark.RELEVANT)
    with pytest.raises(ParameterError, match="on a search or a collection"):
        workspace.marks.mark("reading", "a", Mark.RELEVANT)


def test_undo_takes_back_what_a_stack_would(tmp_path):
    """Against a list from which undo removes the last."""
    names = map(str, itertools.count())

    @settings(max_examples=40)  # each action waits for the disk
    @given(st.lists(st.sampled_from(["mark", "undo"]), max_size=25))
    def holds(actions):
        on = workspace.collections.create(next(names))
        stack: list[str] = []
        for number, action in enumerate(actions):
            if action == "mark":
                workspace.marks.mark(on, str(number), Mark.RELEVANT)
                stack.append(str(number))
            else:
                taken = workspace.marks.undo(on)
                assert (taken.document if taken else None) == (stack.pop() if stack else None)
        assert workspace.marks.current(on) == Marks(stack)

    with Workspace.open(tmp_path / "w") as workspace:
        holds()


def test_a_hundred_undos_read_as_much_as_one(workspace):
    """Each looks at a few rows, however many were taken back before."""
    on = workspace.collections.create("reading")
    for number in range(100):
        workspace.marks.mark(on, str(number), Mark.RELEVANT)
    asked: list[str] = []
    event.listen(workspace.database._engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    counts = []
    for _ in range(100):
        asked.clear()
        workspace.marks.undo(on)
        counts.append(sum(statement.startswith("SELECT") for statement in asked))
    assert set(counts) == {1, 2}


def test_an_older_workspace_is_brought_up_to_date(places):
    """A workspace of the first schema, with a decision in it."""
    from alembic import command
    from alembic.config import Config

    where = places()
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent).replace("%", "%%"))
    engine, _ = _engine_of(where, create=True)
    with engine.connect() as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for row in (
            "projects (id, name, blind, at) VALUES (1, 'review', false, 'then')",
            "reviewers (id, project_id, name, at) VALUES (1, 1, 'ann', 'then')",
            "decisions (reviewer_id, document, included, reason, at) VALUES (1, 'a', true, '', 'then')",
            "decisions (reviewer_id, document, included, reason, at) VALUES (1, 'b', false, 'old', 'then')",
        ):
            connection.execute(text(f"INSERT INTO {row}"))  # fmt: skip
    engine.dispose()
    with Workspace.open(where, create=False) as workspace:
        project = workspace.projects.get("review")
        assert workspace.projects.said(project, "ann") == ({"a": True, "b": False}, {"b": Annotation("old")})
        with workspace.database.read() as connection:
            context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
            assert compare_metadata(context, metadata) == []


def test_a_blind_project_has_no_outcome_yet(workspace):
    projects = workspace.projects
    project = projects.create("review")
    projects.join(project, "ann")
    projects.decide(project, "ann", "1", False, reason="mice")
    assert projects.outcome(project) == ({"1": False}, {"1": Annotation("mice")})  # nobody else's
    projects.join(project, "bob")
    with pytest.raises(ParameterError, match="is blind: reveal it"):
        projects.outcome(project)
    projects.decide(project, "bob", "1", False, reason="in vitro")
    for document, by_ann, by_bob in (("2", True, False), ("3", True, False), ("4", True, False)):
        projects.decide(project, "ann", document, by_ann)
        projects.decide(project, "bob", document, by_bob, reason="old")
    projects.reveal(project)
    projects.resolve(project, "2", False, by="cat", reason="too old")
    projects.resolve(project, "3", True, by="cat")
    assert projects.outcome(project) == (
        {"1": False, "2": False, "3": True},
        {"1": Annotation("mice; in vitro"), "2": Annotation("too old")},
    )
    assert projects.conflicts(project)[0] == ("2", ("ann",), ("bob",), False, "cat", "too old")


def test_a_commit_waits_for_the_disk(tmp_path, monkeypatch, no_power_fails):
    """As shipped; the other tests do not wait."""
    monkeypatch.setattr(database, "SQLITE_SETTINGS", no_power_fails)
    with Workspace.open(tmp_path / "w") as workspace, workspace.database.write() as connection:
        told = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("synchronous", "journal_mode")]
    assert told == [2, "wal"]  # 2: FULL


def test_any_name_of_a_file(tmp_path):
    for name in ("a ?x=1#y%41.workspace", "näme 'q' \"z\"", "🐸;--"):
        with Workspace.open(tmp_path / name) as workspace:
            workspace.collections.create("reading")
        assert (tmp_path / name).is_file()
        with Workspace.open(tmp_path / name, create=False) as workspace:
            assert [each.name for each in workspace.collections.all()] == ["reading"]
    with pytest.raises(StorageError, match="its folder must be there"):
        Workspace.open(tmp_path / "no folder" / "x")


def test_screening_by_several(workspace):
    projects = workspace.projects
    project = projects.create("review", workspace.collections.create("reading"))
    for name in ("ann", "bob", "ann"):
        projects.join(project, name)
    assert projects.reviewers(project) == ["ann", "bob"]
    projects.decide_all(project, "ann", {"1": True, "2": False, "3": True, "4": False}, reason="title")
    for document, included in [("1", True), ("2", False), ("3", False), ("4", False)]:
        projects.decide(project, "bob", document, included)
    assert list(projects.decisions(project, "ann")) == ["1", "2", "3", "4"]
    (agreement,) = projects.agreement(project)
    # By hand: p_o = 3/4; ann included 1/2, bob 1/4; p_e = 1/2*1/4 + 1/2*3/4 = 1/2; kappa = (3/4-1/2)/(1-1/2).
    assert agreement == ("ann", "bob", 4, 3, 0.5)
    with pytest.raises(ParameterError, match="'bob' may not see the decisions of 'ann'"):
        projects.decisions(project, "ann", seen_by="bob")
    assert projects.decisions(project, "bob", seen_by="bob")["3"] is False
    with pytest.raises(ParameterError, match="is blind: reveal it"):
        projects.conflicts(project)
    revealed = projects.reveal(project)
    assert projects.outcome(project)[0] == {"1": True, "2": False, "4": False}
    assert not revealed.blind
    assert projects.reveal(project).revealed == revealed.revealed
    assert projects.conflicts(project) == [("3", ("ann",), ("bob",), None, "", "")]
    projects.resolve(project, "3", True, by="cat", reason=HOSTILE)
    assert projects.conflicts(project)[0].resolved is True
    assert projects.outcome(project)[0]["3"] is True
    with pytest.raises(ParameterError, match="no conflict on '1'"):
        projects.resolve(project, "1", True, by="cat")
    assert projects.reasons(project, "ann")["2"] == "title"
    projects.decide(project, "ann", "1", False)
    assert next(iter(projects.decisions(project, "ann").items())) == ("1", False)
    projects.decide(project, "ann", "2", None)
    assert projects.undo(project, "ann").included is None
    assert projects.undo(project, "ann").included is False
    assert projects.decisions(project, "ann") == {"1": True, "2": False, "3": True, "4": False}
    assert len(projects.history(project, "ann", seen_by="bob")) == 8
    with pytest.raises(ParameterError, match="'eve' is no reviewer"):
        projects.decide(project, "eve", "1", True)
    with pytest.raises(ParameterError, match="must be True, False or None"):
        projects.decide(project, "ann", "1", "yes")
    assert projects.get("review").blind is False
    with pytest.raises(ParameterError, match="there is a project 'review' already"):
        projects.create("review")


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40))
def test_kappa_is_that_of_the_table_of_counts(pairs):
    """Against the formula over the 2x2 table, in exact fractions."""
    from fractions import Fraction

    one, other = ({str(n): pair[side] for n, pair in enumerate(pairs)} for side in (0, 1))
    found = cohens_kappa({**one, "alone": True}, {**other, "elsewhere": False})
    n = len(pairs)
    observed = Fraction(sum(a == b for a, b in pairs), n) if n else Fraction(0)
    shares = [Fraction(sum(pair[side] for pair in pairs), n) if n else Fraction(0) for side in (0, 1)]
    expected = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    if not n or expected == 1:
        assert found is None
    else:
        assert found == pytest.approx(float((observed - expected) / (1 - expected)), abs=1e-12)


def test_what_is_saved_again_is_a_new_version(workspace):
    first = workspace.interests.save("copper", "copper liver", marks=Marks(["a"], ["b"]), model={"copper": 0.5})
    second = workspace.interests.save("copper", "copper", method="sd")
    assert workspace.interests.get("copper") == second
    assert workspace.interests.get("copper", 1) == first
    assert (first.version, second.version, workspace.interests.names()) == (1, 2, ["copper"])
    with pytest.raises(ParameterError, match="an interest 'copper' is not there in version 3; there are: 'copper'"):
        workspace.interests.get("copper", 3)
    topic = workspace.topics.save("news", {"words": {"a": 1.5}}, {"threshold": 0.1})
    assert workspace.topics.get("news") == topic
    content = bytes(range(256)) * 3
    model = workspace.models.save("mails", content, kind="sd-ce", settings={"mu": 2500})
    assert workspace.models.get("mails") == model
    assert workspace.models.content("mails") == content
    with workspace.database.write() as connection:
        connection.execute(text("UPDATE models SET sha256 = 'x'"))
    with pytest.raises(StorageError, match="not what was saved"):
        workspace.models.content("mails")


def test_notes_and_jobs(workspace):
    note = workspace.notes.add("a", HOSTILE, by="ann")
    assert workspace.notes.of("a") == [note]
    assert workspace.notes.of("b") == []
    with pytest.raises(ParameterError, match="needs a text"):
        workspace.notes.add("a", " ")
    first, second = workspace.jobs.add("index", {"path": "x"}), workspace.jobs.add("learn")
    taken = workspace.jobs.take()
    assert (taken.id, taken.state, taken.settings) == (first.id, "running", {"path": "x"})
    assert workspace.jobs.finish(taken, {"documents": 3}).outcome == {"documents": 3}
    with pytest.raises(ParameterError, match="is not running"):
        workspace.jobs.finish(taken)
    workspace.jobs.finish(workspace.jobs.take(), "disk full", failed=True)
    assert workspace.jobs.take() is None
    assert [job.state for job in workspace.jobs.all()] == ["done", "failed"]
    assert [job.id for job in workspace.jobs.all("failed")] == [second.id]
    with pytest.raises(ParameterError, match="waiting, running, done, failed"):
        workspace.jobs.all("asleep")


def test_jobs_are_told_of_stopped_and_put_back(workspace):
    jobs = workspace.jobs
    first, second = jobs.add("a"), jobs.add("b")
    taken = jobs.take(["b"])
    assert taken.id == second.id
    assert jobs.take(["c"]) is None
    assert jobs.tell(taken, {"done": 1})
    assert (jobs.cancel(second.id).state, jobs.cancel(first.id).state) == ("stopping", "stopped")
    assert not jobs.tell(taken, {"done": 2})
    assert jobs.put_back(taken, {"done": 2}).state == "waiting"
    again = jobs.take()
    assert (again.id, again.outcome) == (second.id, {"done": 2})
    assert jobs.finish(again, {"done": 3}, stopped=True).state == "stopped"
    assert jobs.cancel(second.id).outcome == {"done": 3}
    with pytest.raises(ParameterError, match="there is no job 99"):
        jobs.get(99)


def test_a_workspace_is_there_when_it_is_opened_again(places):
    where = places()
    with Workspace.open(where) as workspace:
        workspace.notes.add("a", "x")
    with Workspace.open(where, create=False) as workspace:
        assert workspace.notes.of("a")[0].text == "x"
        with workspace.database.write() as connection:
            connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(InputError, match=r"newer version of Germane \(schema 9999; this one knows 0003\): update"):
        Workspace.open(where)


def test_a_database_of_others_is_refused(places):
    where = places()
    with Workspace.open(where) as workspace, workspace.database.write() as connection:
        connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
    with pytest.raises(InputError, match="not a workspace: it has other tables"):
        Workspace.open(where)


def test_what_is_no_workspace_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes, and no database at all. " * 40)
    with pytest.raises(InputError, match=r"notes\.txt: not a workspace: the file is no SQLite database"):
        Workspace.open(path)
    assert path.read_text() == "These are my notes, and no database at all. " * 40
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    before = other.read_bytes()
    with pytest.raises(InputError, match="it has other tables"):
        Workspace.open(other)
    assert other.read_bytes() == before
    for wrong, sentence in [
        (tmp_path, "a folder"), (tmp_path / "none", "no such workspace: make one"),
        ("mysql://u:secret@h/d", r"a file \(SQLite\) or a postgresql"), ("://", "no URL"),
    ]:  # fmt: skip
        with pytest.raises((InputError, ParameterError), match=sentence) as caught:
            Workspace.open(wrong, create=False)
        assert "secret" not in str(caught.value)
    with pytest.raises(StorageError) as failed:
        Workspace.open("postgresql://me:secret@127.0.0.1:1/nobody?connect_timeout=2")
    assert "secret" not in str(failed.value)
    assert not (tmp_path / "none").exists()


def test_a_damaged_file_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / "w"
    with Workspace.open(path) as workspace:
        reading = workspace.collections.create("reading")
        workspace.collections.add(reading, [Document(str(n), {"title": "x" * 500}) for n in range(500)])
    content = bytearray(path.read_bytes())
    for place in range(4096, len(content), 512):
        content[place : place + 64] = bytes(64)
    path.write_bytes(content)
    with pytest.raises((InputError, StorageError, ParameterError)), Workspace.open(path) as workspace:
        list(workspace.collections.documents(workspace.collections.get("reading")))


def test_without_the_packages_it_is_said_what_to_install(monkeypatch, tmp_path):
    import sys

    for name in [name for name in sys.modules if name.startswith("germane.workspace.database")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingExtraError, match=r"germane\[workspace\]"):
        Workspace.open(tmp_path / "w")
