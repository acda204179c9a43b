"""germane track, from the first topic to its removal, with input good and bad."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.etree import ElementTree

import pytest

from germane.data import read_documents

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sqlalchemy") is None and not os.environ.get("CI"),
    reason="the extra `workspace` is not installed",
)
SEED = "An earthquake of magnitude 7 shook the coast of Chile. Aftershocks damaged houses in Valparaiso."
QUAKE = "Earthquake of magnitude {n} shakes the coast; aftershocks felt in Valparaiso, Chile"
NEWS = [
    {"id": "q1", "title": "Quake", "text": QUAKE.format(n=6), "date": "2024-05-01", "url": "https://x.example/q1"},
    {"id": "s1", "title": "Statins", "text": "Statins lower cholesterol in the blood.", "date": "2024-05-02"},
    {"id": "q2", "title": "Again", "text": QUAKE.format(n=5), "date": "2024-05-01"},
]


def lines(*documents):
    return "".join(json.dumps(document) + "\n" for document in documents)


@pytest.fixture
def files(tmp_path, monkeypatch, sample):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seed.txt").write_text(SEED)
    (tmp_path / "news.jsonl").write_text(lines(*NEWS))
    (tmp_path / "old.jsonl").write_text(sample.read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def quakes(run, files):
    """A topic in `track.workspace`."""
    assert run("track", "new", "quakes", "--seed", "seed.txt", "--background", "old.jsonl").exit_code == 0
    return files


def ids(result):
    assert result.exit_code == 0, result.stderr
    return [line.split("\t")[1] for line in result.stdout.splitlines()]


def test_from_a_seed_to_a_digest(run, quakes):
    done = run("track", "run", "news.jsonl")
    assert ids(done) == ["q1", "q2"]
    assert "3 new documents, 2 hits" in done.stderr
    assert "1 document older than one before" in done.stderr
    assert ids(run("track", "run", "news.jsonl")) == []
    shown = run("track", "show", "quakes", "-k", "3").stdout
    assert "earthquak" in shown
    assert "delivers from a score of" in shown
    assert "q2" in shown
    assert run("track", "list").stdout.startswith("quakes (following, germane): 2 hits, the last 20")
    assert "quakes: 2 stories" in run("track", "digest").stdout or "1 story in 2" in run("track", "digest").stdout
    assert "<h1>quakes" in run("track", "digest", "quakes", "--html").stdout
    assert "0 stories" in run("track", "digest", "--since", "2999-01-01").stdout
    assert "2 hits written to d.html" in run("track", "digest", "--html", "--to", "d.html").stderr
    root = ElementTree.fromstring(run("track", "feed", "quakes").stdout)
    assert len(root.findall("{http://www.w3.org/2005/Atom}entry")) == 2
    assert "2 entries written to f.xml" in run("track", "feed", "quakes", "--to", "f.xml").stderr
    assert ElementTree.parse("f.xml").getroot().tag == root.tag
    assert "'quakes' is paused" in run("track", "pause", "quakes").stderr
    assert ids(run("track", "run", stdin=lines({"id": "q3", "text": QUAKE.format(n=4)}))) == []
    assert run("track", "resume", "quakes").exit_code == 0
    assert ids(run("track", "run", "-", stdin=lines({"id": "q4", "text": QUAKE.format(n=4)}))) == ["q4"]
    assert run("track", "remove", "quakes").exit_code == 0
    assert json.loads(run("track", "list", "--json").stdout) == []


def test_answers_for_programs(run, quakes):
    (hit, _) = [json.loads(line) for line in run("track", "run", "news.jsonl", "--json").stdout.splitlines()]
    assert (hit["topic"], hit["id"], hit["date"], hit["url"]) == (
        "quakes",
        "q1",
        "2024-05-01T00:00:00Z",
        NEWS[0]["url"],
    )
    (topic,) = json.loads(run("track", "list", "--json").stdout)
    assert (topic["name"], topic["hits"], topic["status"]) == ("quakes", 2, "following")
    detail = json.loads(run("track", "show", "quakes", "--json").stdout)
    assert [each["id"] for each in detail["hits"]] == ["q1", "q2"]
    new = json.loads(run("track", "new", "copper", "--seed", "-", "--json", stdin="Copper in the liver").stdout)
    assert (new["name"], new["hits"], new["p_miss"]) == ("copper", 0, None)
    assert run("track", "list", "--tsv").stdout.splitlines()[1].startswith("quakes\tfollowing\t")


def test_judging(run, fails, quakes):
    run("track", "run", "news.jsonl")
    assert "q1 is on topic" in run("track", "judge", "quakes", "q1", "yes", "--by", "ann").stderr
    assert "judged so already" in run("track", "judge", "quakes", "q1", "YES").stderr
    assert "s1 is not on topic" in run("track", "judge", "quakes", "s1", "no").stderr
    assert "judgement on s1 is taken back" in run("track", "judge", "quakes", "--undo").stderr
    asked = run("track", "judge", "quakes", stdin="x\ns\nn\n")
    assert "delivered, score" in asked.stdout
    assert "not delivered, score" in asked.stdout
    assert "1 judgement made" in asked.stderr
    assert "taken back: s1" in run("track", "judge", "quakes", stdin="u\nq\n").stdout
    assert "0 judgements made" in run("track", "judge", "quakes", stdin="").stderr
    assert "say yes or no" in fails("track", "judge", "quakes", "q1")
    assert "no document 'zz' was seen" in fails("track", "judge", "quakes", "zz", "yes")
    assert "whatever its document" in fails("track", "judge", "quakes", "q1", "--undo")
    assert run("track", "judge", "quakes", "q1", "maybe").exit_code == 2


def test_a_report(run, fails, quakes):
    run("track", "run", "news.jsonl")
    assert "no misses and false alarms to tell of" in run("track", "report", "quakes").stdout
    assert "there is no curve" in fails("track", "report", "quakes", "--det", "d.png")
    (quakes / "qrels.txt").write_text("quakes 0 q1 1\nquakes 0 q2 1\n")
    shown = run("track", "report", "quakes", "--qrels", "qrels.txt").stdout
    assert "2 documents on topic and 1 off it" in shown
    assert re.search(r"^2024-05-01  #+ 2$", shown, re.MULTILINE)
    words = ("--qrels", "qrels.txt", "--det", "det.svg", "--plot", "time.png", "--json")
    answer = json.loads(run("track", "report", "quakes", *words).stdout)
    assert answer["detection"]["p_miss"] == 0.0
    assert answer["timeline"] == [{"day": "2024-05-01", "hits": 2}]
    assert (quakes / "det.svg").read_text().startswith("<?xml")
    assert (quakes / "time.png").read_bytes().startswith(b"\x89PNG")
    assert "would be overwritten" in fails("track", "report", "quakes", "--qrels", "qrels.txt", "--det", "qrels.txt")


def test_seeds_from_an_index_and_a_default_background(run, fails, files, built):
    made = run("track", "new", "vaccines", "--seed", "malaria-vaccine", "--index", built, "-w", "a.workspace")
    assert "no --background was named: 80 short texts" in made.stderr
    assert "malaria" in run("track", "show", "vaccines", "-w", "a.workspace").stdout
    words = (
        "--seed",
        "malaria-vaccine",
        "--index",
        built,
        "--background",
        built,
        "-w",
        "b.workspace",
        "--method",
        "rm",
    )
    assert "no --background" not in run("track", "new", "vaccines", *words).stderr
    assert "background already" in fails("track", "new", "other", *words)
    assert (
        run("track", "new", "other", *words, "--stream", "second", "--cost-miss", "50", "--unjudged", "0").exit_code
        == 0
    )
    assert len(json.loads(run("track", "list", "--json", "-w", "b.workspace").stdout)) == 1
    assert "no topic 'other'" in fails("track", "show", "other", "-w", "b.workspace")
    assert run("track", "show", "other", "-w", "b.workspace", "--stream", "second").exit_code == 0


def test_what_is_wrong_is_said(run, fails, files):
    assert "no such file to take a seed from" in fails("track", "new", "x", "--seed", "nowhere.txt")
    (files / "empty.txt").write_text(" ")
    (files / "stop.txt").write_text("of the and")
    assert "a seed with at least one word" in fails("track", "new", "x", "--seed", "stop.txt")
    assert "there is no document in it" in fails("track", "new", "x", "--seed", "empty.txt")
    assert "there is no method 'magic'" in fails("track", "new", "x", "--seed", "seed.txt", "--method", "magic")
    assert "a number above 0, not 0" in fails("track", "new", "x", "--seed", "seed.txt", "--cost-miss", "0")
    assert "no stream 'main'" in fails("track", "list")  # none of these has begun one
    assert "there is no such workspace" in fails("track", "list", "-w", "nowhere.workspace")
    (files / "x.txt").write_text("Zzyzx qwrtp")
    assert "no word of the seed occurs in the background" in run("track", "new", "odd", "--seed", "x.txt").stderr
    assert "there is a topic 'odd' already" in fails("track", "new", "odd", "--seed", "x.txt")
    assert "there is no such file, folder or address" in fails("track", "run", "nowhere.jsonl")
    assert "begins with http" in fails("track", "run", "news.jsonl", "--webhook", "ftp://x.example/")
    assert "name an address" in fails("track", "run", "news.jsonl", "--secret", "KEY")
    assert "--since wants a date" in fails("track", "digest", "--since", "soon")
    run("workspace", "init", "bare.workspace")
    assert "no stream 'main'" in fails("track", "run", "news.jsonl", "-w", "bare.workspace")


def test_bad_documents_do_not_stop_the_stream(run, quakes):
    odd = (
        b"not json\n[1]\n{}\n" + json.dumps({"text": f"<p>{QUAKE.format(n=4)}</p>"}).encode()
        + b'\n{"id":"q1","text":"caf\xe9","date":"1999"}\n{"id":"q1","text":"other"}\n{"id":["x"],"text":{"a":1}}\n\n'
    )  # fmt: skip
    done = run("track", "run", stdin=odd)
    (found,) = ids(done)
    assert found.startswith("sha256:")
    for told in ("2 troubles, told above", "1 document had been seen before, 1 of them with another text",
                 "without an id", "with HTML in them", "not in UTF-8"):  # fmt: skip
        assert told in done.stderr, done.stderr


def test_the_exit_code_tells_that_nothing_could_be_read(run, quakes):
    (quakes / "bad.jsonl").write_text("{\n")
    assert run("track", "run", "bad.jsonl").exit_code == 1
    assert run("track", "run", "bad.jsonl").exit_code == 0  # as it was: nothing new, and no trouble
    assert run("track", "run", "-", stdin="{\n").exit_code == 1
    assert run("track", "run", "-", "bad.jsonl", stdin="{\n").exit_code == 0
    (quakes / "bad.jsonl").write_text("{{\n")
    assert run("track", "run", "-", "bad.jsonl", stdin="{\n").exit_code == 1
    (quakes / "bad.jsonl").write_text("{{{\n")
    assert run("track", "run", "-", "bad.jsonl", stdin=lines(NEWS[1])).exit_code == 0


class Server:
    """A feed at /feed.xml, and a hook at /hook that fails once."""

    def __init__(self, feed):
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                moved = self.path == "/moved"
                self.send_response(302 if moved else 200)
                if moved:
                    self.send_header("Location", "http://192.168.0.1/feed.xml")
                body = b"" if moved else b"<rss><chan" if self.path == "/broken" else feed.encode()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                received.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(500 if len(received) == 1 else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server():
    item = f"<item><guid>f1</guid><title>Feed</title><description>{QUAKE.format(n=5)}</description></item>"
    made = Server(f"<rss><channel>{item}</channel></rss>")
    yield made
    made.close()


def test_feeds_in_and_messages_out(run, quakes, server, monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "s3cret")
    hook = ("--webhook", f"{server.url}/hook", "--secret", "HOOK_KEY")
    feed, broken, moved = (f"{server.url}/{name}" for name in ("feed.xml", "broken", "moved"))
    done = run("track", "run", broken, moved, feed, *hook)
    assert ids(done) == [f"{feed}#f1"]
    assert "broken XML" in done.stderr
    assert "private address" in done.stderr
    assert "a message did not arrive, and is kept" in done.stderr
    assert "1 message to a webhook not delivered yet" in done.stderr
    import sqlite3

    with sqlite3.connect("track.workspace") as raw:
        raw.execute("UPDATE outbox SET not_before = 0")  # as if it had been a while
    assert "not delivered yet" not in run("track", "run", feed).stderr
    (headers, body) = server.received[-1]
    assert json.loads(body)["id"] == f"{feed}#f1"
    import hashlib
    import hmac

    assert headers["Germane-Signature"] == "sha256=" + hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()


def test_the_program_itself_follows_a_pipe_and_a_folder(quakes):
    """A hit is printed while the pipe is still open; and a file that comes later is read by --follow."""
    program = [sys.executable, "-m", "germane.cli", "track", "run"]
    child = subprocess.Popen([*program, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    child.stdin.write(lines(NEWS[0]).encode())
    child.stdin.flush()
    assert child.stdout.readline().split(b"\t")[1] == b"q1"
    child.stdin.close()
    assert child.wait(600) == 0
    child.stdout.close()
    (quakes / "inbox").mkdir()
    (quakes / "inbox" / "one.jsonl").write_text(lines(NEWS[2]))
    child = subprocess.Popen(
        [*program, "inbox", "--follow", "--every", "0.05"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout.readline().split(b"\t")[1] == b"q2"
    (quakes / "inbox" / "two.jsonl").write_text(lines({"id": "q5", "text": QUAKE.format(n=3)}))
    assert child.stdout.readline().split(b"\t")[1] == b"q5"
    child.kill()
    child.wait(600)
    child.stdout.close()


def test_a_service_that_is_ended_sums_up(quakes):
    """SIGTERM as Ctrl-C."""
    program = [sys.executable, "-m", "germane.cli", "track", "run", "news.jsonl", "--follow", "--every", "600"]
    child = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline().split(b"\t")[1] == b"q1"
    assert child.stdout.readline().split(b"\t")[1] == b"q2"
    child.terminate()
    _, said = child.communicate(timeout=600)
    assert child.returncode == 130
    assert b"3 new documents, 2 hits" in said
    assert said.endswith(b"germane: interrupted\n")


def test_new_stories(run, quakes):
    run("track", "run", "news.jsonl")
    found = run("track", "stories", "--json", "-n", "2")
    assert [each["id"] for each in json.loads(found.stdout)] == ["s1"]
    assert ids(run("track", "stories")) == ["q1", "s1"]


def test_what_was_not_printed_is_printed_by_the_next_run(run, quakes):
    """A program that is killed after a batch is kept has printed nothing of it."""
    from germane.stream import Watch
    from germane.workspace import Workspace

    with Workspace.open("track.workspace") as workspace:
        Watch.open(workspace).process(read_documents("news.jsonl"))
    assert ids(run("track", "run", "news.jsonl")) == ["q1", "q2"]
    assert ids(run("track", "run", "news.jsonl")) == []
