"""A workspace leaves as one file and comes back identical, from either database into either."""

import hashlib
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from germane.errors import InputError, ParameterError
from germane.refine.screening import Annotation
from germane.types import Document, Mark, Marks
from germane.workspace import Workspace, export_archive, import_archive
from germane.workspace.tables import metadata
from germane.workspace.values import Result

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
scalars = texts | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.none()
fields = st.dictionaries(texts, scalars | st.lists(scalars | st.booleans(), max_size=3), max_size=4)
actions = st.lists(
    st.one_of(
        st.tuples(st.just("add"), texts, fields),
        st.tuples(st.just("mark"), texts, st.sampled_from(Mark)),
        st.tuples(st.just("unmark")),
        st.tuples(st.just("decide"), texts, st.sampled_from([True, False, None]), texts),
        st.tuples(st.just("undecide")),
        st.tuples(st.just("search"), texts, st.lists(st.tuples(texts, fields), max_size=3)),
        st.tuples(st.just("note"), texts, texts.filter(str.strip)),
        st.tuples(st.just("interest"), texts.filter(str.strip), texts),
        st.tuples(st.just("model"), st.binary(max_size=20)),
        st.tuples(st.just("job"), fields),
    ),
    max_size=15,
)


def act(workspace, steps):
    reading = workspace.collections.create("reading")
    project = workspace.projects.create("review", reading)
    workspace.projects.join(project, "ann")
    do = {
        "add": lambda document, content: workspace.collections.add(reading, [Document(document, content)]),
        "mark": lambda document, mark: workspace.marks.mark(reading, document, mark),
        "unmark": lambda: workspace.marks.undo(reading),
        "decide": lambda *given: workspace.projects.decide(project, "ann", *given[:2], reason=given[2]),
        "undecide": lambda: workspace.projects.undo(project, "ann"),
        "search": lambda query, found: workspace.searches.record(query, [Result(*each) for each in found]),
        "note": lambda document, text: workspace.notes.add(document, text),
        "interest": lambda name, query: workspace.interests.save(name, query, marks=Marks(["a"])),
        "model": lambda content: workspace.models.save("m", content),
        "job": lambda content: workspace.jobs.add("j", content),
    }
    for name, *arguments in steps:
        do[name](*arguments)


def archived(workspace):
    target = io.StringIO()
    count = export_archive(workspace, target)
    return count, target.getvalue()


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions)
def test_any_workspace_comes_back_identical(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("w")
    with Workspace.open(folder / "one") as one, Workspace.open(folder / "other") as other:
        act(one, steps)
        count, content = archived(one)
        (folder / "a.jsonl").write_bytes(content.encode())
        assert import_archive(other, folder / "a.jsonl") == count
        assert archived(other) == (count, content)
        for table in metadata.sorted_tables:
            with one.database.read() as mine, other.database.read() as theirs:
                assert mine.execute(table.select()).all() == theirs.execute(table.select()).all()


STEPS = [
    ("add", "a", {"x": 1.5, "author": ["é", None]}), ("mark", "a", Mark.RELEVANT), ("unmark",),
    ("decide", "a", True, "why"), ("search", "q", [("a", {"b": "\0"})]), ("model", b"\0\xff"), ("note", "a", "x"),
]  # fmt: skip


def test_from_one_database_to_the_other(workspace, places, tmp_path):
    act(workspace, STEPS)
    _, content = archived(workspace)
    (tmp_path / "a.jsonl").write_bytes(content.encode())
    with Workspace.open(tmp_path / "sqlite") as first, Workspace.open(places()) as second:
        for other in (first, second):
            import_archive(other, tmp_path / "a.jsonl")
            assert archived(other)[1] == content
            assert other.notes.add("a", "later").id == 2  # numbers go on where they ended
            with pytest.raises(InputError, match="only an empty workspace"):
                import_archive(other, tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: lines[:-1], "cut short"),
        (lambda lines: lines[:-2] + lines[-1:], "was changed"),
        (lambda lines: [*lines, lines[1]], "something follows"),
        (lambda lines: ["{}", *lines[1:]], "line 1: not an archive"),
        (lambda lines: [lines[0].replace('"schema":"0003"', '"schema":"0007"'), *lines[1:]], "schema 0007"),
        (lambda lines: [lines[0], "[", *lines[1:]], "line 2: not valid JSON"),
        (lambda lines: [lines[0], "[1,2]", *lines[1:]], "line 2: a row is"),
        (lambda lines: [lines[0], '["users",{}]', *lines[1:]], "'users' is no table"),
        (lambda lines: [line.replace('"content":"', '"content":"!') for line in lines], "not base64"),
        (lambda lines: [lines[0], lines[1], lines[1], *lines[2:]], "cannot be imported|was changed"),
        (lambda lines: [line.replace('"name":"reading"', '"name":[1]') for line in lines], "a text is needed|changed"),
        (lambda lines: [], "cut short"),
    ],
)
def test_a_bad_archive_leaves_the_workspace_empty(tmp_path, change, sentence):
    with Workspace.open(tmp_path / "one") as one, Workspace.open(tmp_path / "other") as other:
        act(one, STEPS)
        lines = archived(one)[1].splitlines()
        (tmp_path / "a.jsonl").write_text("".join(f"{line}\n" for line in change(lines)), encoding="utf-8")
        empty = archived(other)
        with pytest.raises((InputError, ParameterError), match=sentence):
            import_archive(other, tmp_path / "a.jsonl")
        assert archived(other) == empty


def test_an_archive_is_json_lines(tmp_path):
    with Workspace.open(tmp_path / "one") as one:
        act(one, STEPS)
        assert export_archive(one, tmp_path / "a.jsonl") == 11
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[0] == {"format": "germane workspace archive", "schema": "0003"}
    assert [name for name, _ in lines[1:-1]].count("marks") == 2
    assert lines[-1]["rows"] == 11


def test_an_archive_of_an_older_schema(tmp_path):
    """Rows of the first schema, which knew neither notes on decisions nor what waits."""
    rows = [
        ["projects", {"id": 1, "name": "review", "collection_id": None, "blind": True, "at": "", "revealed": None}],
        ["reviewers", {"id": 1, "project_id": 1, "name": "ann", "at": ""}],
        ["decisions", {"id": 1, "reviewer_id": 1, "document": "a", "included": False, "reason": "old", "at": "",
                       "undoes": None}],
    ]  # fmt: skip
    lines = [json.dumps(line) + "\n" for line in ({"format": "germane workspace archive", "schema": "0001"}, *rows)]
    end = {"rows": 3, "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}
    (tmp_path / "a.jsonl").write_text("".join(lines) + json.dumps(end) + "\n")
    with Workspace.open(tmp_path / "one") as one:
        assert import_archive(one, tmp_path / "a.jsonl") == 3
        assert one.projects.said(one.projects.get("review"), "ann") == ({"a": False}, {"a": Annotation("old")})
        rows[-1][1]["maybe"] = False  # a column that this schema did not have
        lines[-1] = json.dumps(rows[-1]) + "\n"
        end["sha256"] = hashlib.sha256("".join(lines).encode()).hexdigest()
    (tmp_path / "b.jsonl").write_text("".join(lines) + json.dumps(end) + "\n")
    with Workspace.open(tmp_path / "two") as two, pytest.raises(InputError, match="has other columns"):
        import_archive(two, tmp_path / "b.jsonl")
