import io
import math
import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from germane.data import SkipReport, read_run, write_run
from germane.errors import InputError, StorageError
from germane.types import RunEntry


def test_count_first_last(write):
    path = write("run", "1 Q0 a 1 -3.5 x\n1\tQ0  b\t2 -4e0 x\r\n\n2 Q0 a 1 inf x")
    assert list(read_run(path)) == [("1", "a", 1, -3.5, "x"), ("1", "b", 2, -4.0, "x"), ("2", "a", 1, math.inf, "x")]


def test_a_no_break_space_is_part_of_an_id(write):
    (entry,) = read_run(write("run", "1 Q0 a\u00a0b 1 1 x\n"))
    assert entry.doc_id == "a\u00a0b"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 Q0 b 2 1.0", "line 2: 5 columns, where 6"),
        ("1 Q0 b 2 1.0 my run", "line 2: 7 columns, where 6"),
        ("1 Q0 b second 1.0 x", "line 2, field 'rank': a rank must be a whole number of at most 64 bits, not 'second'"),
        ("1 Q0 b 2 high x", "line 2, field 'score': a score must be a number, not 'high'"),
        ("1 Q0 b 2 NaN x", "line 2, field 'score': a score must be a number, not 'NaN'"),
        ("1 Q0 b 2 1_0 x", "line 2, field 'score'"),
        ("1 Q0 a 2 1.0 x", "line 2: query '1' and document 'a' are on line 1 already"),
    ],
)
def test_broken(write, line, message):
    path = write("run.txt", f"1 Q0 a 1 2.0 x\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_run(path))
    assert caught.value.source == str(path)


def test_lines_that_cannot_be_used_are_handed_over(write):
    report = SkipReport()
    lines = ["1 Q0 a 1 2.0 x", "1 Q0 b", "1 Q0 a 2 1.0 x", "1 Q0 c 3 high x", "2 Q0 a 1 2.0 x"]
    found = list(read_run(write("run.txt", "\n".join(lines)), on_bad=report.note))
    assert [(entry.query_id, entry.doc_id) for entry in found] == [("1", "a"), ("2", "a")]
    assert [(each.line, each.field) for each in report.first] == [(2, None), (3, None), (4, "score")]


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\v\f\0\ufeff"), min_size=1)
scores = st.floats(allow_nan=False)


@settings(deadline=None)
@given(st.dictionaries(st.tuples(names, names), st.tuples(st.integers(0, 10**6), scores)), names)
@example({("1", "a"): (1, 0.1 + 0.2), ("1", "b"): (2, 5e-324), ("1", "c"): (3, -0.0)}, "tag")
def test_round_trip(tmp_path_factory, ranked, tag):
    path = tmp_path_factory.mktemp("run") / "run.txt"
    entries = [RunEntry(query, doc, rank, score, tag) for (query, doc), (rank, score) in ranked.items()]
    write_run(path, entries)
    assert list(read_run(path)) == entries


def test_numpy_scores():
    file = io.StringIO()
    write_run(file, [RunEntry("1", "a", np.int64(1), np.float64(0.1), "x")])
    assert file.getvalue() == "1 Q0 a 1 0.1 x\n"


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "\ud800", "\0", "\ufeffa"])
def test_ids_that_cannot_be_columns(tmp_path, name):
    path = tmp_path / "run"
    path.write_text("before")
    entries = [RunEntry("1", "a", 1, 1.0, "x"), RunEntry("1", name, 2, 1.0, "x")]
    with pytest.raises(InputError, match=r"field 'doc_id': .* cannot be a column"):
        write_run(path, entries)
    assert os.listdir(tmp_path) == ["run"]  # the old file is whole, and nothing else is left behind
    assert path.read_text() == "before"


def test_nan_is_not_written():
    with pytest.raises(InputError, match="document 'a' for query '1' is NaN"):
        write_run(io.StringIO(), [RunEntry("1", "a", 1, math.nan, "x")])


def test_writing_keeps_permissions(tmp_path):
    path = tmp_path / "run"
    path.touch(mode=0o600)
    os.chmod(path, 0o640)
    write_run(path, [])
    assert path.stat().st_mode & 0o777 == 0o640


def test_unwritable_folder(tmp_path):
    with pytest.raises(StorageError, match="cannot be written"):
        write_run(tmp_path / "nowhere" / "run", [])


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    write_run(tmp_path / "link", [RunEntry("1", "a", 1, 1.0, "x")])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "1 Q0 a 1 1.0 x\n"


def test_what_is_no_file_is_written_directly():
    write_run(os.devnull, [RunEntry("1", "a", 1, 1.0, "x")])
    assert not os.path.isfile(os.devnull)
