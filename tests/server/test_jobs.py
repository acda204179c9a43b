"""Work in the background: told as it goes, stopped when asked, there after the server ended, however it did."""

import itertools
import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import PurePath

import anyio
import pytest
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.errors import DamagedIndexError, InputError, StorageError
from germane.server import Library, Settings, create_app, work_api
from germane.server import work as kinds
from germane.server.histories import history
from germane.server.jobs import MOST_ATTEMPTS
from germane.server.problems import told
from germane.server.requested import Requested, requested
from germane.workspace import Workspace

V1 = "/api/v1"
RIS = b"".join(b"TY  - JOUR\nID  - r%d\nTI  - Copper and %d others\nER  - \n\n" % (n, n) for n in range(50))


class Server:
    """A library and its client; `again` is what a restart is."""

    def __init__(self, home, **settings):
        self.home, self.settings = home, settings
        if not (home / "own").exists():
            with Engine.create(home / "own") as engine:
                engine.add([{"id": "1", "title": "Copper in the liver", "text": "Copper, stored.", "year": 1912}])
        self.open()

    def open(self):
        settings = Settings(audit=self.home / "audit.jsonl", per_minute=10**6, **self.settings)
        engines = {"own": Engine.open(self.home / "own")}
        self.library = Library(engines, Workspace.open(self.home / "w"), settings, self.home)
        self.client = TestClient(create_app(self.library), base_url="http://127.0.0.1")
        self.client.headers["x-requested-with"] = "tests"

    def again(self):
        self.library.close()
        self.open()

    def post(self, path, status=202, **body):
        answer = self.client.post(V1 + path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def ended(self, job):
        """The job at its end, as its stream tells it, and all that was told before."""
        lines = self.client.get(f"{V1}/jobs/{job['job']}/events").text.split("\n\n")
        told = [json.loads(each.partition("data: ")[2]) for each in lines if each]
        assert lines[len(told) - 1].startswith("event: done")
        return told[-1], told

    def upload(self):
        answer = self.client.post(f"{V1}/imports?name=records.ris", content=RIS)
        assert answer.status_code == 201
        return answer.json()["key"]


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path)
    yield made
    made.library.close()


def test_an_import_goes_on_while_others_search(server, monkeypatch):
    monkeypatch.setattr(kinds, "BATCH", 20)
    job = server.post("/jobs/imports", key=server.upload())
    last, _ = server.ended(job)
    assert (last["state"], last["done"], last["attempts"]) == ("done", 50, 1)
    assert last["result"] == {"added": 50, "replaced": 0, "skipped": 0, "documents": 51}
    listed = server.client.get(f"{V1}/jobs?state=done").json()["jobs"]
    assert [each["job"] for each in listed] == [job["job"]]
    assert server.client.get(f"{V1}/collections/own/search?q=copper").json()["total"] == 51
    assert server.client.post(f"{V1}/jobs/imports", json={"key": "0" * 32}).status_code == 404


def test_repeated_ids_end_an_import_that_shall_not_have_them(server):
    server.client.put(f"{V1}/collections/own/documents/r7", json={"title": "There"})
    last, _ = server.ended(server.post("/jobs/imports", key=server.upload(), on_duplicate="error"))
    assert last["state"] == "failed"
    assert "r7" in last["message"]
    assert len(server.library.engine("own")) == 2  # nothing of it was kept


class Gate:
    """Holds a job after so many batches, until it is opened."""

    def __init__(self, monkeypatch, after):
        self.reached, self.open, self.left = threading.Event(), threading.Event(), after
        told = kinds.Progress.tell

        def tell(progress, **news):
            told(progress, **news)
            if "done" in news:
                self.left -= 1
                if self.left == 0:
                    self.reached.set()
                    assert self.open.wait(600)
                    told(progress, force=True)

        monkeypatch.setattr(kinds.Progress, "tell", tell)


def test_a_job_is_stopped_and_keeps_what_it_did(server, monkeypatch):
    monkeypatch.setattr(kinds, "BATCH", 20)
    gate = Gate(monkeypatch, after=1)
    job = server.post("/jobs/imports", key=server.upload())
    assert gate.reached.wait(600)
    assert server.post(f"/jobs/{job['job']}/cancel", 200)["state"] == "stopping"
    waits = server.post("/jobs/exports", format="csv")
    assert server.post(f"/jobs/{waits['job']}/cancel", 200)["state"] == "stopped"
    gate.open.set()
    last, _ = server.ended(job)
    assert (last["state"], last["done"]) == ("stopped", 20)
    assert "kept" in last["message"]
    assert len(server.library.engine("own")) == 21


def test_a_job_goes_on_after_a_restart(server, monkeypatch):
    monkeypatch.setattr(kinds, "BATCH", 20)
    gate = Gate(monkeypatch, after=1)
    job = server.post("/jobs/imports", key=server.upload())
    assert gate.reached.wait(600)
    server.library.jobs.ending.set()
    gate.open.set()
    server.again()
    waiting = server.client.get(f"{V1}/jobs/{job['job']}").json()
    assert (waiting["state"], waiting["done"]) == ("waiting", 20)
    server.library.jobs.start()
    last, _ = server.ended(job)
    assert last["state"] == "done"
    assert last["result"] == {"added": 50, "replaced": 0, "skipped": 0, "documents": 51}


def test_a_job_whose_process_was_killed_begins_again_but_not_for_ever(server):
    jobs = server.library.workspace.jobs
    key = server.upload()
    interrupted = jobs.add("import", {"key": key})
    jobs.tell(jobs.take(), {"attempts": 1, "done": 20, "added": 20})
    tired = jobs.add("export", {"file": "x"})
    jobs.tell(jobs.take(), {"attempts": MOST_ATTEMPTS, "step": "writing"})
    other = jobs.add("somebody else's")
    jobs.take()
    server.library.jobs.start()
    last, _ = server.ended({"job": interrupted.id})
    assert (last["state"], last["attempts"], last["result"]["added"]) == ("done", 2, 50)
    last, _ = server.ended({"job": tired.id})
    assert (last["state"], "the server was ended" in last["message"]) == ("stopped", True)
    assert jobs.get(other.id).state == "running"


def test_a_job_is_followed_for_as_long_as_it_lasts(server, monkeypatch):
    """Each look has the time that a request has, not all of them together."""
    monkeypatch.setattr(work_api, "LOOK_SECONDS", 0.0)
    library, hours = server.library, itertools.count(0, 3600)
    library.workspace.jobs.add("fake")
    job = library.workspace.jobs.take(["fake"])
    steps = iter([*("reading", "analysing", "writing"), None])

    async def next_step(work):
        step = next(steps)
        if step is None:
            library.workspace.jobs.finish(job)
        else:
            library.workspace.jobs.tell(job, {"step": step})
        requested.get().look()
        return work()

    async def followed():
        requested.set(Requested("somebody", 3601.0, clock=lambda: next(hours)))
        return [name async for name, _ in work_api.progress_of(library, job.id, next_step)]

    assert anyio.run(followed)[-1] == "done"


def test_of_two_servers_one_does_the_jobs(server):
    server.library.jobs.start()
    first, _ = server.ended(server.post("/jobs/exports"))
    assert first["state"] == "done"
    other = Library(dict(server.library.engines), server.library.workspace, server.library.settings, server.home)
    other.jobs.start()
    assert other.jobs._thread is not None
    last, _ = server.ended({"job": other.jobs.add("export", {"file": "y"}).id})  # done by the first
    assert last["state"] == "done"
    other.jobs.stop()


def test_an_export_is_fetched(server):
    job = server.post("/jobs/exports", format="csv")
    last, _ = server.ended(job)
    assert last["result"]["documents"] == 1
    found = server.client.get(f"{V1}/jobs/{job['job']}/file")
    assert found.headers["content-type"].startswith("text/csv")
    assert b"Copper in the liver" in found.content
    (server.home / "exports" / last["result"]["file"]).unlink()
    assert server.client.get(f"{V1}/jobs/{job['job']}/file").status_code == 404


def test_sources_are_asked_again(server):
    kept = server.post("/searches", 201, query="copper")
    server.client.put(f"{V1}/collections/own/documents/2", json={"title": "Copper wire"})
    last, _ = server.ended(server.post("/jobs/refreshes", search=kept["search"]))
    assert last["state"] == "done", last
    assert (last["result"]["results"], last["result"]["new"]) == (2, ["2"])
    assert server.client.get(f"{V1}/searches/{last['result']['search']}").status_code == 200


def test_topics_are_fed(server):
    server.client.put(f"{V1}/collections/own/documents/2", json={"title": "Tin", "text": "Tin in Cornwall"})
    server.post("/topics", 201, name="copper", documents=["1"])
    last, _ = server.ended(server.post("/jobs/feeds"))
    assert last["result"]["new"] + last["result"]["repeated"] == 2


def test_what_fails_says_why_and_the_next_job_is_done(server, monkeypatch):
    def broken(library, settings, progress):
        raise ZeroDivisionError("by nought")

    server.library.jobs = kinds.runner_of(server.library, {**kinds.KINDS, "feed": broken})
    last, _ = server.ended(server.post("/jobs/feeds"))
    assert (last["state"], last["message"]) == ("failed", "ZeroDivisionError: by nought")
    assert server.ended(server.post("/jobs/exports"))[0]["state"] == "done"


def test_old_clicks_go_at_the_start_and_the_audit_log_says_so(tmp_path):
    server = Server(tmp_path, retain_days=30)
    old, new = (datetime.now(UTC) - timedelta(days=days) for days in (31, 29))
    events = [{"query_id": name, "timestamp": at.isoformat()} for name, at in (("old", old), ("new", new))]
    server.post("/events", 201, events=events)
    assert server.ended(server.post("/jobs/exports"))[0]["state"] == "done"  # the thread was there
    assert [json.loads(line)["query_id"] for line in server.library.events.read()] == ["new"]
    erased = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines() if "ERASE" in line]
    assert [(line["what"], line["count"]) for line in erased] == [("older than 30 days", 1)]
    server.library.close()


def test_a_user_is_erased(server):
    events = [{"query_id": "1", "client_id": "anna"}, {"query_id": "2", "client_id": "bert"}]
    server.post("/events", 201, events=events)
    assert server.client.delete(f"{V1}/events?user=anna").json() == {"count": 1}
    assert [json.loads(line)["client_id"] for line in server.library.events.read()] == ["bert"]
    line = json.loads((server.home / "audit.jsonl").read_text().splitlines()[-1])
    assert (line["method"], line["what"], line["count"]) == ("ERASE", "one user", 1)
    assert "anna" not in (server.home / "audit.jsonl").read_text()


def left_by_a_killed_one(server):
    folder = server.home / ".training-0123"
    folder.mkdir()
    (folder / "log.jsonl").write_text('{"query_id": "1", "client_id": "anna"}')
    return folder


def test_histories_of_killed_processes_go_and_those_in_use_stay(server):
    def erase():
        assert server.client.delete(f"{V1}/events?user=anna").status_code == 200

    for removal in (server.again, erase, lambda: kinds.forget_old_clicks(server.library)):
        left = left_by_a_killed_one(server)
        removal()
        assert not left.exists()
    server.post("/events", 201, events=[{"query_id": "1", "client_id": "anna"}])
    with history(server.home, server.library.events, "own", empty=True):
        (used,) = [path for path in server.home.glob(".training-*") if path.is_dir()]
        left = left_by_a_killed_one(server)
        erase()
        assert (used.exists(), left.exists()) == (True, False)
    assert list(server.home.glob(".training-*")) == []


def test_training_without_clicks_says_where_they_come_from_and_no_path(server):
    last, _ = server.ended(server.post("/jobs/trainings"))
    assert (last["state"], last["message"][:11], "search on the page" in last["message"]) == (
        "failed",
        "no clicks w",
        True,
    )
    told = last["message"] + server.client.get(f"{V1}/jobs").text
    assert str(server.home) not in told
    assert ".training" not in told


@pytest.mark.parametrize(
    "error",
    [
        InputError("it is empty", source="/var/lib/germane/some/file.model"),
        StorageError("cannot write /var/lib/germane/some/file.model: no space left"),
        DamagedIndexError(PurePath("/var/lib/germane/some/file.model"), "the checksum differs"),
    ],
)
def test_no_folder_of_the_server_is_told(error):
    said = told(error).detail
    assert ("file.model" in said, "/var" in said, "germane/" in said) == (True, False, False)
