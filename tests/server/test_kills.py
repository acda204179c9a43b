"""SIGKILL under load: every mark, click and document that was acknowledged is there after the next start.

A few kills by default; GERMANE_KILLS=50 for the bar.
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

from germane.engine import Engine

KILLS = int(os.environ.get("GERMANE_KILLS", "2"))
V1 = "/api/v1"
HEADERS = {"content-type": "application/json", "x-requested-with": "tests"}
MARKED = 500


class Server:
    """`germane serve` in a process of its own."""

    def __init__(self, home: Path) -> None:
        command = [
            sys.executable, "-m", "germane.cli", "serve", "--index", str(home / "own"), "--workspace", str(home / "w"),
            "--port", "0", "--no-browser",
        ]  # fmt: skip
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.port = int(self.process.stderr.readline().split("127.0.0.1:")[1].split("/")[0])
        while True:
            with suppress(OSError):
                if self.ask("GET", "/health")[0] == 200:
                    return
            time.sleep(0.02)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)) as connection:
            return asked(connection, method, path, body)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


def asked(connection: http.client.HTTPConnection, method: str, path: str, body: object = None) -> tuple[int, bytes]:
    connection.request(method, V1 + path, None if body is None else json.dumps(body), HEADERS)
    answer = connection.getresponse()
    return answer.status, answer.read()


def write(port: int, kind: str, begin: int, acknowledged: set[str]) -> None:
    """One change after the other, each noted once it is acknowledged, until the server is gone."""
    with (
        suppress(OSError, http.client.HTTPException),
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600)) as connection,
    ):
        for n in range(begin, begin + 10**6):
            if kind == "document":
                status, _ = asked(connection, "PUT", f"/collections/own/documents/new{n}", {"title": f"New copper {n}"})
            elif kind == "mark":
                body = {"document": f"d{n % MARKED}", "mark": "relevant"}
                status, _ = asked(connection, "POST", "/searches/1/marks", body)
            else:
                status, _ = asked(connection, "POST", "/events", {"events": [{"query_id": f"c{n}", "action": "click"}]})
            assert status in (200, 201), status
            acknowledged.add(f"new{n}" if kind == "document" else f"d{n % MARKED}" if kind == "mark" else f"c{n}")


def test_what_was_acknowledged_survives_kills(tmp_path):
    with Engine.create(tmp_path / "own") as engine:
        engine.add({"id": f"d{n}", "title": f"Copper {n}"} for n in range(MARKED))
    chance = random.Random(7)
    done: dict[str, set[str]] = {"document": set(), "mark": set(), "click": set()}
    server = Server(tmp_path)
    status, kept = server.ask("POST", "/searches", {"query": "copper", "k": MARKED})
    assert (status, json.loads(kept)["results"]) == (201, MARKED)
    for kill in range(KILLS):
        before = {kind: len(those) for kind, those in done.items()}
        threads = [
            threading.Thread(target=write, args=(server.port, kind, 10**6 * kill + before[kind], done[kind]))
            for kind in done
        ]
        for thread in threads:
            thread.start()
        wanted = {kind: before[kind] + chance.randrange(1, 8) for kind in done}
        wanted["mark"] = min(wanted["mark"], MARKED)
        while any(len(done[kind]) < wanted[kind] for kind in done):
            time.sleep(0.002)
        time.sleep(chance.random() / 20)
        server.kill()
        for thread in threads:
            thread.join()
        server = Server(tmp_path)
        relevant = set(json.loads(server.ask("GET", "/searches?k=1000")[1])["searches"][-1]["relevant"])
        assert done["mark"] - relevant == set()
        clicks = {json.loads(line)["query_id"] for line in server.ask("GET", "/events")[1].splitlines() if line}
        assert done["click"] - clicks == set()
        export = server.ask("GET", "/collections/own/export")[1].splitlines()
        assert done["document"] - {json.loads(line)["id"] for line in export} == set()
    assert all(done.values())
    server.process.send_signal(signal.SIGTERM)
    assert "Traceback" not in server.process.communicate(timeout=600)[1]
    print({kind: len(those) for kind, those in done.items()}, "survived", KILLS, "kills")
