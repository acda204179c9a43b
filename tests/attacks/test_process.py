"""The server that the other files attack starts, answers and ends without a complaint."""

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
