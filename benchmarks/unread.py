"""What memory a server holds for readers that take nothing, or a byte a second.

    python benchmarks/unread.py [--connections 200] [--megabytes 60]

An index whose export has so many megabytes is served by a process of its own. So many connections ask for the export
and read nothing; then so many others read one byte a second. The server's resident memory is read all the while, and
again after they have left. The bar: it grows by less than 300 MB, and falls again.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

from germane.engine import Engine
from germane.types import Document

BAR = 300
SECONDS = 45
"""Longer than the server waits for a reader that takes nothing."""
REQUEST = b"GET /api/v1/collections/library/export HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


def documents(megabytes: int) -> Iterator[Document]:
    """Documents of eight kilobytes, next to nothing of which is text to be searched."""
    for number in range(megabytes * 128):
        yield Document(f"d{number}", {"title": f"Copper {number}", "payload": f"{number:08}" * 1024})


def megabytes_of(process: psutil.Process) -> float:
    """What the server and its children hold."""
    return sum(float(each.memory_info().rss) for each in (process, *process.children(recursive=True))) / 1e6


def opened(port: int, count: int, stack: ExitStack) -> list[socket.socket]:
    """Connections that asked for the export."""
    found = []
    for _ in range(count):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
        connection.setblocking(False)
        connection.send(REQUEST)
        found.append(connection)
    return found


def watched(process: psutil.Process, each_second: Callable[[], object]) -> float:
    """The most that the server holds meanwhile."""
    most = 0.0
    for _ in range(SECONDS):
        each_second()
        most = max(most, megabytes_of(process))
        time.sleep(1)
    return most


def a_byte_of(connections: list[socket.socket]) -> None:
    """Take one byte of each."""
    for connection in connections:
        with suppress(OSError):
            connection.recv(1)


def main() -> int:
    """Measure and tell; status 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description="Memory of a server whose answers nobody reads.")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--megabytes", type=int, default=60, help="of the export")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Engine.create(home / "library") as engine:
            engine.add(documents(given.megabytes))
        command = [
            sys.executable, "-m", "germane.cli", "serve", "--index", str(home / "library"), "--workspace",
            str(home / "w"), "--port", "0", "--no-browser", "--rate", "0",
        ]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as server:
            assert server.stderr is not None
            line = ""
            while "127.0.0.1:" not in line:
                line = server.stderr.readline()
            port = int(line.split("127.0.0.1:")[1].split("/")[0])
            while not _is_open(port):
                time.sleep(0.1)
            try:
                return _measured(psutil.Process(server.pid), port, given.connections)
            finally:
                server.send_signal(signal.SIGINT)


def _is_open(port: int) -> bool:
    with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def _measured(process: psutil.Process, port: int, connections: int) -> int:
    with ExitStack() as stack:  # what the first export loads is no growth
        whole, received = opened(port, 1, stack)[0], 0
        whole.setblocking(True)
        while not (part := whole.recv(1 << 20)).endswith(b"0\r\n\r\n"):
            received += len(part)
    before = megabytes_of(process)
    print(f"an export of {received / 1e6:,.0f} MB; the server holds {before:,.0f} MB")
    grown = []
    for said, takes in (("read nothing", False), ("take a byte a second", True)):
        with ExitStack() as stack:
            waiting = opened(port, connections, stack)
            most = watched(process, lambda takes=takes, waiting=waiting: a_byte_of(waiting) if takes else None)  # type: ignore[misc]
        time.sleep(5)
        after = megabytes_of(process)
        grown.append(most - before)
        print(
            f"{connections} connections that {said}: {most - before:+,.0f} MB at most, {after - before:+,.0f} MB after"
        )
    return int(max(grown) >= BAR)


if __name__ == "__main__":
    raise SystemExit(main())
