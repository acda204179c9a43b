"""From a folder to a running server: the sample where nothing is named, the workspace, the socket, the end."""

import json
import os
import shutil
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from germane.engine import Engine
from germane.errors import GermaneError, MissingExtraError, ParameterError
from germane.server.library import Library
from germane.server.sample import NAME, sample_documents
from germane.server.settings import Settings, is_loopback
from germane.types import Document
from germane.workspace import Workspace

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette

WORKSPACE = "germane.workspace"
GRACE = 10
"""Seconds that requests under way have to end when the server is told to stop."""


def home_folder() -> Path:
    """Where the sample, the workspace and the logs of the server lie unless others are named: GERMANE_HOME, else the
    user's folder for the data of programs."""
    named = os.environ.get("GERMANE_HOME")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "germane"


def sample_engine(home: Path, watched: Callable[[Iterable[Document]], Iterable[Document]] = iter) -> Engine:
    """The sample collection, indexed where it is not yet; whole or not at all."""
    folder = home / NAME
    if not folder.exists():
        home.mkdir(parents=True, exist_ok=True)
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
    home.mkdir(parents=True, exist_ok=True)
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
    """What a browser is to open."""
    host = "127.0.0.1" if is_loopback(settings.host) else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{taken.getsockname()[1]}/"


def server_of(library: Library) -> "uvicorn.Server":
    """The server of the page; `run(sockets=[...])` runs it until it is told to stop."""
    try:
        from germane.server.app import create_app
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "starlette", "web", "The server") from None
    warm = threading.Thread(target=_warm, args=(library,), name="germane-warm", daemon=True)
    warm.start()
    return uvicorn_server(create_app(library), library)


def uvicorn_server(app: "Starlette", library: Library) -> "uvicorn.Server":
    """A server of the application, with limits of its own for connections."""
    try:
        import uvicorn

        from germane.server.connections import timed
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "uvicorn", "web", "The server") from None

    class Server(uvicorn.Server):
        """Ends streams and the job under way first, so that nobody waits for them."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            library.jobs.ending.set()
            await super().shutdown(sockets)

    return Server(
        uvicorn.Config(
            app,
            http=timed(library.settings.head_seconds),
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=True,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=GRACE,
            limit_concurrency=500,
            lifespan="on",
        )
    )


def open_when_ready(server: "uvicorn.Server", address: str) -> None:
    """Open the page once the server answers, where there is a browser for a person to see."""
    if (
        os.name == "posix"
        and sys.platform != "darwin"
        and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))
    ):
        return

    def wait() -> None:
        import webbrowser

        while not server.started and not server.should_exit:
            time.sleep(0.05)
        webbrowser.open(address)

    threading.Thread(target=wait, name="germane-browser", daemon=True).start()


def _warm(library: Library) -> None:
    """Load the kernels before somebody waits for them."""
    try:
        for engine in library.engines.values():
            for _ in range(2):
                engine.search("the first words of a search", 10)
    except GermaneError:
        return  # whoever searches is told


def answers_once(library: Library, taken: socket.socket, seconds: float = 60.0) -> dict[str, Any]:
    """Run the server, fetch the page and its health once, and stop: what was answered."""
    server = server_of(library)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    address = address_of(library.settings, taken)
    try:
        until = time.monotonic() + seconds
        while not server.started:
            if time.monotonic() > until or not thread.is_alive():
                raise ParameterError("the server did not start")
            time.sleep(0.02)
        tokens = library.settings.all_tokens
        headers = {"Authorization": f"Bearer {tokens[0].value}"} if tokens else {}
        found = {}
        for name, path in (("page", ""), ("search", "search?q=sleep+memory"), ("health", "api/v1/health")):
            with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers), timeout=30) as answer:
                found[name] = (answer.status, answer.read())
        health = json.loads(found["health"][1])
        return {"page": len(found["page"][1]), "search": len(found["search"][1]), "documents": health["collections"]}
    finally:
        server.should_exit = True
        thread.join()
