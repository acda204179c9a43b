"""From a folder to a running server: the sample where nothing is named, the workspace, the socket, the end."""

import json
import os
import shutil
import socket
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from germane.data.owned import make_private_folder
from germane.engine import Engine
from germane.errors import ParameterError
from germane.lazy import on_first_use, optional
from germane.server.library import Library
from germane.server.sample import NAME, sample_documents
from germane.server.settings import Settings, is_loopback
from germane.types import Document
from germane.workspace import Workspace

with on_first_use(__name__):
    import webbrowser

    from germane.server import connections, starting
    from germane.server import ending as server_ending

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

    from germane.server.safety import App
    from germane.server.starting import Say, Start

WORKSPACE = "germane.workspace"
GRACE = 10
"""Seconds that requests under way have to end when the server stops."""
NOT_SENT = 128 << 10
"""Bytes of an answer that the system takes in advance: what a slow reader takes is soon seen."""


def home_folder() -> Path:
    """Return the default folder of the sample, the workspace and the logs of the server: GERMANE_HOME, else the
    user's folder for the data of programs."""
    named = os.environ.get("GERMANE_HOME")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "germane"


def make_home(home: Path) -> None:
    """Make the folder where it is not there: for its owner alone. One that is there may be anything of the user's."""
    if not home.exists():
        make_private_folder(home)


def sample_engine(home: Path, watched: Callable[[Iterable[Document]], Iterable[Document]] = iter) -> Engine:
    """The sample collection, indexed where it is not yet; whole or not at all."""
    folder = home / NAME
    if not folder.exists():
        make_home(home)
        new = home / f"{NAME}.new"
        shutil.rmtree(new, ignore_errors=True)
        with Engine.create(new) as engine:
            engine.add(watched(sample_documents()))
        new.rename(folder)
    return Engine.open(folder)


def engines_of(indexes: Sequence[Path]) -> dict[str, Engine]:
    """The indexes by the names of their folders."""
    engines: dict[str, Engine] = {}
    for path in indexes:
        folder = path.resolve()  # absolute, so that messages can be told without where it lies
        if folder.name in engines:
            raise ParameterError(f"two indexes are called '{folder.name}': their folders need different names")
        engines[folder.name] = Engine.open(folder)
    return engines


def open_library(
    indexes: Sequence[Path],
    settings: Settings,
    *,
    workspace: str | Path | None = None,
    watched: Callable[[Iterable[Document]], Iterable[Document]] = iter,
) -> Library:
    """The indexes by the names of their folders, or the sample, and the workspace; logs lie beside that."""
    home = home_folder() if workspace is None or "://" in str(workspace) else Path(workspace).resolve().parent
    make_home(home)
    engines = engines_of(indexes)
    sample = "" if engines else NAME
    engines = engines or {NAME: sample_engine(home, watched)}
    settings = replace(settings, audit=settings.audit or home / "audit.jsonl")
    return Library(engines, Workspace.open(workspace or home / WORKSPACE), settings, home, sample)


def listening(settings: Settings) -> socket.socket:
    """A socket at the address; port 0 takes any that is free. A `ParameterError` where the port is taken. Of several
    processes each has one at the same port."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    found = socket.socket(family)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # each connection inherits it: the system keeps little that is not sent
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, NOT_SENT)
    if settings.workers > 1:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        found.bind((settings.host, settings.port))
    except OSError as error:
        found.close()
        raise ParameterError(
            f"port {settings.port} of {settings.host} cannot be taken ({error.strerror}): choose another with --port, "
            "or 0 for any"
        ) from None
    return found


def address_of(settings: Settings, taken: socket.socket) -> str:
    """Return the address that a browser opens."""
    host = "127.0.0.1" if is_loopback(settings.host) else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{taken.getsockname()[1]}/"


def server_of(library: Library) -> "uvicorn.Server":
    """The server of the page over what is open; `run(sockets=[...])` runs it until it is stopped."""
    return starting_server(library.settings, lambda say: library, listens=False)[0]


def starting_server(
    settings: Settings, make: "Callable[[Say], Library]", *, compiles: bool = True, listens: bool = True
) -> "tuple[uvicorn.Server, Start]":
    """A server that answers while `make` still opens what it serves, and how far it is (`server.starting`)."""
    optional("germane.server.starting", "The server")
    start = starting.Start(make, compiles=compiles, listens=listens)
    server = _server(start, settings, start.ending)

    def stop() -> None:
        server.should_exit = True

    start.stop = stop
    return server, start


def run(server: "uvicorn.Server", start: "Start", taken: socket.socket) -> None:
    """Run the server until it is stopped. What kept it from starting is raised."""
    server.run(sockets=[taken])
    if start.error is not None:
        raise start.error


def uvicorn_server(app: "Starlette", library: Library) -> "uvicorn.Server":
    """A server of an application over what is open, with limits of its own for connections."""
    return _server(app, library.settings, library.jobs.ending.set)


def _server(app: "App", settings: Settings, ending: Callable[[], None]) -> "uvicorn.Server":
    optional("germane.server.connections", "The server")
    optional("germane.server.ending", "The server")
    return server_ending.Server(
        app,
        ending,
        http=connections.timed(settings.head_seconds, settings.take_seconds),
        ws="none",
        proxy_headers=False,  # `safety.py` does it, for the proxies that were named
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE,
        limit_concurrency=500,
        lifespan="on",
    )


def tell_when_ready(start: "Start", tell: Callable[[], None]) -> None:
    """Call `tell` once the server answers, if it ever does."""

    def wait() -> None:
        if start.wait():
            tell()

    threading.Thread(target=wait, name="germane-ready", daemon=True).start()


def open_page(address: str) -> None:
    """Open the page, where there is a browser for a person to see."""
    if (
        os.name == "posix"
        and sys.platform != "darwin"
        and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))
    ):
        return
    webbrowser.open(address)


def answers_once(server: "uvicorn.Server", start: "Start", settings: Settings, taken: socket.socket) -> dict[str, Any]:
    """Run the server, fetch the page and its health once it is ready, and stop: what was answered.

    No time is too long: on a slow machine much is made for the first time.
    """
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    address = address_of(settings, taken)
    try:
        while thread.is_alive() and not start.ready.wait(0.05):
            pass
        if start.error is not None:
            raise start.error
        if not start.ready.is_set():
            raise ParameterError("the server did not start")
        tokens = settings.all_tokens
        headers = {"Authorization": f"Bearer {tokens[0].value}"} if tokens else {}
        found = {}
        for name, path in (("page", ""), ("search", "search?q=sleep+memory"), ("health", "api/v1/health")):
            with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers)) as answer:
                found[name] = (answer.status, answer.read())
        health = json.loads(found["health"][1])
        return {"page": len(found["page"][1]), "search": len(found["search"][1]), "documents": health["collections"]}
    finally:
        server.should_exit = True
        thread.join()
