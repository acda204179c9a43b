"""What comes in, good and bad: nothing stops the stream, everything is counted, nothing is lost."""

import gzip
import hashlib
import io
import json
import os
from itertools import islice
from pathlib import Path

import pytest

from germane.metasearch.payload import Payload
from germane.stream import Watch, files, sources
from germane.stream import lines as reading
from germane.stream.arrivals import Arrival, iso_date
from germane.stream.feeds import feed_arrivals
from germane.stream.files import Files, file_arrivals
from germane.stream.intake import SHOWN, Intake
from germane.stream.running import run
from germane.stream.sources import Pipe
from germane.types import Document
from germane.workspace import Workspace
from stream.conftest import BACKGROUND, made_document

ATOM = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
<entry><id>tag:x,2024:2</id><title>Second</title><updated>2024-05-02T10:00:00+02:00</updated>
 <link rel="self" href="https://x.example/self"/><link href="https://x.example/2"/>
 <summary>short</summary>
 <content type="html">&lt;p&gt;The &lt;b&gt;whole&lt;/b&gt; text &amp;amp; more&lt;/p&gt;</content></entry>
<entry><id>1</id><title>First</title><published>2024-05-01T10:00:00Z</published><summary>one</summary></entry>
<entry><title>Nameless</title><summary>no id, no link, no date</summary></entry>
</feed>"""
RSS = """<rss version="2.0"><channel><title>News</title>
<item><guid>7</guid><title>Seventh &lt;i&gt;thing&lt;/i&gt;</title><pubDate>Wed, 01 May 2024 12:00:00 +0200</pubDate>
<description>&lt;script&gt;alert(1)&lt;/script&gt;A text</description><link>https://x.example/7</link></item>
</channel></rss>"""


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00Z"), ("20240501", "2024-05-01T00:00:00Z"),
        ("Wed, 01 May 2024 12:00:00 GMT", "2024-05-01T12:00:00Z"), (1714557600, "2024-05-01T10:00:00Z"),
        ("2024-05-01 10:00", "2024-05-01T10:00:00Z"), ("", None), (None, None), ("yesterday", None), (7, None),
        (True, None), ("9999999-99-99", None), (1e30, None), (["2024"], None),
    ],
)  # fmt: skip
def test_dates(given, found):
    assert iso_date(given) == found


def test_an_arrival():
    html = "<p>A &amp; B<br>5 &lt; 7</p><style>p {}</style>"
    found = Arrival.of({"id": " x ", "title": "T", "text": html, "date": "2024-05-01", "tags": ["<b>a</b>", 1]}, "s")
    assert found == Arrival("x", {"title": "T", "text": "A & B\n5 < 7", "date": "2024-05-01", "tags": ["a", 1]}, "s",
                            "2024-05-01T00:00:00Z", ("markup",))  # fmt: skip
    nameless = Arrival.of({"text": "a < b & c"})
    assert nameless.oddities == ("no id", "no date")
    assert nameless.id == Arrival.of(Document("", {"text": "a < b & c"})).id != Arrival.of({"text": "other"}).id
    assert nameless.fields == {"text": "a < b & c"}  # signs are no markup
    assert Arrival.of({"id": "1", "b": 1, "a": 2}).digest == Arrival.of({"id": "1", "a": 2, "b": 1}).digest


def polled(source, intake=None):
    intake = intake or Intake()
    found = [arrival for batch in source.poll(intake) for arrival in batch]
    source.settle()
    return found, intake


def test_lines_of_a_pipe(monkeypatch):
    monkeypatch.setattr(reading, "MAX_LINE", 200)
    lines = [
        b'{"id":"a","text":"one","date":"2024-05-02"}', b"", b"[1]",
        b'{"id":"b","text":"' + b"x" * 500 + b'"}', b"{broken",
        '{"id":"c","text":"Café","date":"2024-05-01"}'.encode("latin-1"),
        b'{"text":"two","deep":{"x":[1]},"l":[{"y":2}]}',
        b'{"id":7,"text":null}',
    ]  # fmt: skip
    monkeypatch.setattr(sources, "_PIECE", 64)
    found, intake = polled(Pipe.of_stream(io.BytesIO(b"\n".join(lines))))
    assert [arrival.id for arrival in found][:2] == ["a", "c"]
    assert found[1].fields["text"] == "Café"
    assert found[2].fields == {"text": "two", "deep": '{"x":[1]}', "l": ['{"y":2}']}
    assert found[3].id == "7"
    assert intake.odd == {"dates back": 1, "encoding": 1, "no id": 1, "no date": 2}
    assert [sentence.partition(":")[2][:22] for sentence in intake.troubles] == [
        " a JSON object is need", " a line of more than 2", " not valid JSON (unexp",
    ]  # fmt: skip


ODD_LINES = [
    b'\xef\xbb\xbf{"id":0,"text":"zero"}',
    b'{"id":"nul","text":"a\0b"}',
    '{"id":"c","text":"Café"}'.encode("cp1252"),
    b'{"id":"long","text":"' + b"x" * 300 + b'"}',
    rb'{"_id":"half","text":"a\ud83d b \ud83d\ude00 \\ud800","n":{"x":"\udc00"}}',
    b'{"id":"list","text":["one","two"]}\r',
    b"{",
    b'{"id":"last","text":"' + b"y" * 300,
]


def test_files_and_pipes_agree(tmp_path, monkeypatch):
    """A line that cannot be read costs only itself, wherever it stands."""
    monkeypatch.setattr(reading, "MAX_LINE", 200)
    monkeypatch.setattr(sources, "_PIECE", 64)
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(ODD_LINES))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"\n".join(ODD_LINES)))
    piped, told = polled(Pipe.of_stream(io.BytesIO(b"\n".join(ODD_LINES))))
    assert [arrival.id for arrival in piped] == ["0", "c", "half", "list"]
    assert piped[1].fields["text"] == "Café"
    assert piped[2].fields == {"text": "a\ufffd b \U0001f600 \\ud800", "n": '{"x":"\ufffd"}'}
    assert piped[3].title == piped[3].text(("text",)).replace("\n", " ") == "one two"
    assert [sentence.partition(":")[0] for sentence in told.troubles] == [f"stdin, line {n}" for n in (2, 4, 7, 8)]
    for name in ("a.jsonl", "b.jsonl.gz"):
        intake = Intake()
        found = [intake.take(arrival) for arrival in file_arrivals(tmp_path / name, intake)]
        assert [(each.id, each.fields) for each in found] == [(each.id, each.fields) for each in piped]
        assert [each.partition(",")[2] for each in intake.troubles] == [
            each.partition(",")[2] for each in told.troubles
        ]
        assert intake.odd == told.odd


def test_what_was_skipped_is_told_of_a_file_that_breaks_off(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,text\na,one\nb\nc,two\nd,\0\n")
    intake = Intake()
    assert [arrival.id for arrival in file_arrivals(tmp_path / "a.csv", intake)] == ["a", "c"]
    assert "line 3" in intake.troubles[0]
    assert "NUL" in intake.troubles[1]


def test_a_pipe_hands_on_what_is_waiting():
    """A document is not kept back until more come."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as stream:
        batches = Pipe.of_stream(stream).poll(Intake())
        os.write(writer, b'{"id":"a","text":"x"}\n{"id":"b","text":"x"}\n{"id":"c",')
        assert [arrival.id for arrival in next(batches)] == ["a", "b"]
        os.write(writer, b'"text":"x"}\n')
        assert [arrival.id for arrival in next(batches)] == ["c"]
        os.write(writer, b'{"id":"d","text":"without a line end"}')
        os.close(writer)
        assert [arrival.id for arrival in next(batches)] == ["d"]
        assert list(batches) == []


@pytest.fixture
def watch(tmp_path):
    with Workspace.open(tmp_path / "w.workspace") as workspace:
        made = Watch.begin(workspace, BACKGROUND)
        made.follow("quake", [made_document(0, "quake")["text"]])
        yield made


def text_id(path, text):
    return f"{path.resolve()}#{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def test_a_watched_folder(watch, tmp_path):
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"id":"a1","text":"x","date":"2024-05-01"}\n{"text":"nameless"}\nbad\n')
    (folder / "b.txt").write_text("A text on its own")
    (folder / "c.xml").write_text(RSS)
    (folder / "d.ris").write_text("TY  - JOUR\nTI  - Title\nAB  - Abstract\nER  - \n")
    (folder / "e.jsonl.gz").write_bytes(gzip.compress(b'{"id":"e1","text":"packed"}\n'))
    (folder / "f.txt.part").write_text("not yet")
    (folder / ".hidden").write_text("no")
    (folder / "g.txt").write_bytes(b"caf\xe9")
    source = Files(folder, watch.store)
    found, intake = polled(source)
    ids = [arrival.id for arrival in found]
    assert [ids[0], ids[2], ids[3], ids[5]] == [
        "a1", text_id(folder / "b.txt", "A text on its own"), f"{folder.resolve()}/c.xml#7", "e1",
    ]  # fmt: skip
    assert ids[1].startswith("sha256:")
    assert ids[4].startswith("sha256:")  # of a record that has no id of its own
    assert found[3].fields["title"] == "Seventh thing"
    assert found[3].fields["text"] == "A text"
    assert found[4].fields["title"] == "Title"
    assert intake.n_troubles == 2
    assert "line 3: not valid JSON" in intake.troubles[0]
    assert "g.txt" in intake.troubles[1]
    assert "not valid UTF-8" in intake.troubles[1]
    assert polled(source)[0] == []  # as they were
    (folder / "a.jsonl").write_text('{"id":"a1","text":"x"}\n{"id":"a2","text":"new"}\n')
    (folder / "h.txt").write_text("later")
    found, _ = polled(Files(folder, watch.store))
    assert [arrival.id for arrival in found] == ["a1", "a2", text_id(folder / "h.txt", "later")]


def test_a_text_that_changes_is_a_new_document(watch, tmp_path, monkeypatch):
    """And the same text under a path typed otherwise is not."""
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "a.txt").write_text("half")
    (folder / "empty.txt").write_text(" \n")
    monkeypatch.chdir(tmp_path)
    assert [arrival.id for arrival in polled(Files(Path("inbox"), watch.store))[0]] == [
        text_id(folder / "a.txt", "half")
    ]
    (folder / "link").symlink_to(folder / "a.txt")
    assert polled(Files(folder, watch.store)) == ([], Intake())
    (folder / "a.txt").write_text("half and the rest")
    ids = [arrival.id for arrival in polled(Files(Path("inbox/a.txt"), watch.store))[0]]
    assert ids == [text_id(folder / "a.txt", "half and the rest")]
    assert polled(Files(folder, watch.store)) == ([], Intake())
    assert polled(Files(Path(os.devnull), watch.store)) == ([], Intake())


def test_a_file_is_read_again_where_its_documents_were_not_kept(watch, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id":"a1","text":"x"}\n')
    source = Files(tmp_path / "a.jsonl", watch.store)
    assert len(list(source.poll(Intake()))) == 1  # and then the program ends
    assert len(list(Files(tmp_path / "a.jsonl", watch.store).poll(Intake()))) == 1


def test_a_file_that_may_not_be_read_is_asked_for_again(watch, tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"id":"a1","text":"x"}\n')
    with monkeypatch.context() as barred:
        barred.setattr(os, "access", lambda *_: False)
        found, intake = polled(Files(tmp_path / "a.jsonl", watch.store))
    assert found == []
    assert "may not be read" in intake.troubles[0]
    assert [arrival.id for arrival in polled(Files(tmp_path / "a.jsonl", watch.store))[0]] == ["a1"]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.jsonl", b"", ""), ("empty.xml", b"<feed xmlns='http://www.w3.org/2005/Atom'/>", ""),
        ("broken.xml", b"<rss><channel><item>", "broken XML"),
        ("bomb.xml", b'<!DOCTYPE x [<!ENTITY a "b">]><rss>&a;</rss>',
         "declares entities|not recognised"),
        ("other.xml", b"<?xml version='1.0'?><svg/>", "PubMed|svg|no documents|not"),
        ("x.bin", bytes(range(256)), "not"),
        ("array.json", b'[{"id": 1}]', "one object per line"), ("gone.jsonl", None, "No such file"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read(tmp_path, name, content, sentence):
    import re

    if content is not None:
        (tmp_path / name).write_bytes(content)
    intake = Intake()
    assert list(file_arrivals(tmp_path / name, intake)) == []
    assert re.search(sentence, " ".join(intake.troubles)), intake.troubles
    assert (intake.n_troubles > 0) == bool(sentence)


def test_a_feed_that_is_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FEED", 100)
    (tmp_path / "long.xml").write_text(RSS)
    intake = Intake()
    assert list(file_arrivals(tmp_path / "long.xml", intake)) == []
    assert "more than 100 bytes" in intake.troubles[0]


def test_feeds():
    found, troubles = feed_arrivals(Payload(ATOM.encode()), "https://x.example/feed")
    assert troubles == []
    assert [arrival.id for arrival in found][1:] == ["https://x.example/feed#1", "tag:x,2024:2"]
    assert found[0].id.startswith("sha256:")
    assert found[2].fields["text"] == "The whole text & more"
    assert found[2].fields["url"] == "https://x.example/2"
    assert (found[2].date, found[1].date, found[0].date) == ("2024-05-02T08:00:00Z", "2024-05-01T10:00:00Z", None)
    cut, troubles = feed_arrivals(Payload(ATOM[: ATOM.index("<entry><title>Nameless")].encode()), "f")
    assert [arrival.id for arrival in cut] == ["f#1", "tag:x,2024:2"]
    assert "broken XML" in troubles[0]


def test_many_troubles_are_counted():
    intake = Intake()
    for number in range(SHOWN + 5):
        intake.trouble(str(number))
    assert (intake.n_troubles, len(intake.troubles)) == (SHOWN + 5, SHOWN)
    assert intake.untold() == [str(number) for number in range(SHOWN)]
    intake.trouble("of the same round")
    intake.begin_round()
    intake.trouble("of the next")
    assert intake.untold() == ["of the next"]
    assert (intake.n_troubles, intake.n_told) == (SHOWN + 7, SHOWN + 1)


def test_rounds(watch, tmp_path):
    """With `follow` sources are asked again, and what came of every batch is handed on."""
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(made_document(9, "quake")) + "\n")
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 3:
            raise KeyboardInterrupt
        with path.open("a") as stream:
            stream.write(json.dumps(made_document(10 + len(slept), "quake")) + "\n")

    intake = Intake()
    rounds = run(watch, [Files(path, watch.store)], intake, follow=True, every=5.0, sleep=sleep)
    done = []
    with pytest.raises(KeyboardInterrupt):
        done.extend(rounds)
    assert slept == [5.0, 5.0, 5.0]
    assert (intake.new, intake.repeated, intake.hits) == (3, 3, 3)
    assert [hit.document for hit in watch.hits()] == ["d9", "d11", "d12"]


def test_troubles_are_handed_on_after_each_round(watch, tmp_path):
    """Also where no document comes."""
    intake = Intake()
    rounds = run(watch, [Files(tmp_path / "gone", watch.store)], intake, follow=True, sleep=lambda _: None)
    told = [(done.new, intake.untold()) for done in islice(rounds, 3)]
    assert told == [(0, [f"{tmp_path}/gone: No such file or directory"])] * 3


def test_a_quiet_pipe_lets_other_sources_have_their_turn(watch, tmp_path):
    """It is open and says nothing for three seconds; files that come meanwhile are read, each in its round."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    seconds = iter(range(100))
    quiet = iter([False, False, False, False, True, True])

    def ready(wait):
        if wait:
            number = 9 * next(seconds) + 18
            (inbox / f"{number}.jsonl").write_text(json.dumps(made_document(number, "quake")))
        return next(quiet)

    pieces = iter([json.dumps(made_document(9, "quake")).encode() + b"\n", b""])
    clock = iter(range(0, 1000, 10))
    rounds = run(
        watch, [Pipe(lambda: next(pieces), ready), Files(inbox, watch.store)], Intake(), follow=True, every=5.0,
        now=lambda: next(clock), sleep=lambda _: None,
    )  # fmt: skip
    hits = [hit.document for done in islice(rounds, 20) for hit in done.hits]
    assert hits == ["d18", "d27", "d36", "d9", "d45"]
