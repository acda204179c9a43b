"""The server that the other files attack starts, answers and ends without a complaint."""

import json
import subprocess
import sys

from attacks.conftest import ServerProcess


def test_it_answers(server: ServerProcess) -> None:
    status, health = server.api("GET", "/health")
    assert status == 200
    assert health["collections"] == {"library": 60}
    assert b"200 OK" in server.raw(b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
    assert server.resident() > 0


def test_it_ends_without_a_complaint(start_server) -> None:
    said = start_server().stop()
    assert "Traceback" not in said


def test_other_programs_write_beside_a_server_that_has_written(server: ServerProcess) -> None:
    """`germane add` was refused as long as the server lived, once it had changed anything."""
    extra = server.home / "extra.jsonl"
    for turn in range(2):
        document = {"title": "Told over HTTP", "text": "copper"}
        assert server.api("PUT", f"/collections/library/documents/http{turn}", document)[0] in (200, 201)
        extra.write_text(json.dumps({"id": f"typed{turn}", "title": "Typed", "text": "copper"}))
        command = [sys.executable, "-m", "germane", "add", str(server.home / "library"), str(extra)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    for name in ("http0", "typed0", "http1", "typed1"):
        assert server.api("GET", f"/collections/library/documents/{name}")[0] == 200
