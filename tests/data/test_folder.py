import gzip
import os
import stat

import pytest

from germane.data.bad_records import SkipReport
from germane.data.folder import read_folder
from germane.errors import InputError


def test_count_first_last(write, tmp_path):
    write("t/sport/b.txt", "second\r\nline")
    write("t/arts/a.txt", "\ufefffirst")
    write("t/sport/c.txt.gz", gzip.compress(b"last"))
    write("t/.hidden/x.txt", "no")
    write("t/.hidden.txt", "no")
    documents = [(document.id, dict(document.fields)) for document in read_folder(tmp_path / "t", label=True)]
    assert documents == [
        ("arts/a.txt", {"text": "first", "label": "arts"}),
        ("sport/b.txt", {"text": "second\nline", "label": "sport"}),
        ("sport/c.txt.gz", {"text": "last", "label": "sport"}),
    ]
    assert "label" not in next(read_folder(tmp_path / "t")).fields


def test_empty(tmp_path):
    assert list(read_folder(tmp_path)) == []
    with pytest.raises(InputError, match="no such folder"):
        list(read_folder(tmp_path / "nowhere"))


def test_pipes_and_sockets_are_not_waited_for(write, tmp_path):
    write("there/a.txt", "first")
    os.mkfifo(tmp_path / "there" / "b.txt")
    os.mknod(tmp_path / "there" / "c.txt", stat.S_IFSOCK | 0o600)
    (tmp_path / "there" / "d.txt").symlink_to("b.txt")
    (tmp_path / "there" / "e.txt").symlink_to("a.txt")
    assert [document.id for document in read_folder(tmp_path / "there")] == ["a.txt", "e.txt"]
    (tmp_path / "there" / "f.txt").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"f\.txt"):
        list(read_folder(tmp_path / "there"))


def test_bad_files_are_named(write, tmp_path):
    write("good.txt", "x")
    write("latin.txt", b"one\ntwo caf\xe9")
    write("picture.png", b"\x89PNG\0\0")
    with pytest.raises(InputError, match=r"latin\.txt, line 2: byte 8 of the line \(0xe9\) is not valid UTF-8"):
        list(read_folder(tmp_path))
    report = SkipReport()
    assert [document.id for document in read_folder(tmp_path, on_bad=report.note)] == ["good.txt"]
    assert [os.path.basename(skipped.source) for skipped in report.first] == ["latin.txt", "picture.png"]
