"""A server that answers before it is ready: by a page that says what is being made, and by 503 for programs.

What is made, in a thread: collections opened (the sample indexed at the first start), the workspace brought up to date,
kernels where a collection is large (`warming.py`), the application. Then that answers. No limit of time counts before.
"""

import asyncio
import threading
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from germane import __version__
from germane.server.app import create_app
from germane.server.operations import PREFIX
from germane.server.problems import problem_bytes
from germane.server.responses import HealthResponse
from germane.server.safety import HEADERS, App, Receive, Scope, Send
from germane.server.warming import Warming

if TYPE_CHECKING:
    from germane.server.library import Library

Say = Callable[[str], None]
STARTING = "starting"
"""The status of the server's health until it is ready."""


class Start:
    """An application that makes itself: until it is `ready`, every answer says what is being made.

    `make` opens what is served; it is given what takes a sentence on what it does. `compiles`: whether kernels are
    compiled and loaded behind the answers. `listens`: whether the server listens before it is ready. An error of `make`
    ends the server by `stop`, and is kept as `error`.
    """

    def __init__(self, make: "Callable[[Say], Library]", *, compiles: bool = True, listens: bool = True) -> None:
        self._make, self._compiles, self._listens = make, compiles, listens
        self.doing = "opening the collections"
        self.library: Library | None = None
        self.error: BaseException | None = None
        self.ready, self.over = threading.Event(), threading.Event()
        """Set when it answers; set when it does not start or has ended."""
        self.stop: Callable[[], None] = lambda: None
        self._warming: Warming | None = None
        self._app: App | None = None
        self._static = StaticFiles(directory=str(files("germane") / "server" / "static"))
        page = (files("germane") / "server" / "templates" / "starting.html").read_text("utf-8")
        self._page = jinja2.Environment(autoescape=True).from_string(page)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self._app is not None:
            await self._app(scope, receive, send)
        elif str(scope.get("path")).startswith("/static/"):
            await self._static({**scope, "path": str(scope["path"]).removeprefix("/static")}, receive, send)
        elif scope["type"] == "http":
            await self._not_yet(Request(scope))(scope, receive, send)

    def wait(self) -> bool:
        """Wait until it is ready, however long; whether it is."""
        while not (self.ready.wait(0.05) or self.over.is_set()):
            pass
        return self.ready.is_set() and self.error is None

    def ending(self) -> None:
        """End streams and the job under way, so that nobody waits for them."""
        if self.library is not None:
            self.library.jobs.ending.set()

    # -- what is answered until then -----------------------------------------------------------------------------------

    def _not_yet(self, request: Request) -> Response:
        path, doing = request.url.path, self.doing
        headers = {"retry-after": "2", "cache-control": "no-store"}
        headers |= {name.decode(): value.decode() for name, value in HEADERS}
        if request.method not in ("GET", "HEAD"):
            headers["connection"] = "close"  # the body is not read
        if path == f"{PREFIX}/health":
            body = orjson.dumps(HealthResponse(STARTING, __version__, {}).to_dict())
            return Response(body, 503, headers, media_type="application/json")
        if path.startswith(PREFIX) or "text/html" not in request.headers.get("accept", "text/html"):
            body = problem_bytes(503, f"the server is starting: {doing}; try again in some seconds", path)
            return Response(body, 503, headers, media_type="application/problem+json")
        again = "" if request.method == "GET" else "/search"
        return Response(self._page.render(doing=doing, again=again), 503, headers, media_type="text/html")

    # -- from the first moment to the last -----------------------------------------------------------------------------

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        loop = asyncio.get_running_loop()
        made: asyncio.Future[Starlette] = loop.create_future()
        closing = asyncio.Event()
        threading.Thread(target=self._prepare, args=(loop, made), name="germane-start", daemon=True).start()
        serving = asyncio.create_task(self._serve(made, closing))
        serving.add_done_callback(self._served)
        if not self._listens:
            await asyncio.to_thread(self.wait)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        closing.set()
        self.over.set()
        if self._warming is not None:
            await asyncio.to_thread(self._warming.close)
        if not self.ready.is_set():
            serving.cancel()
        await asyncio.wait([serving])
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, made: "asyncio.Future[Starlette]", closing: asyncio.Event) -> None:
        app = await made
        async with app.router.lifespan_context(app):
            self._app = app
            self.ready.set()
            await closing.wait()

    def _served(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        self.error = error
        self.over.set()
        self.stop()

    def _prepare(self, loop: asyncio.AbstractEventLoop, made: "asyncio.Future[Starlette]") -> None:
        try:
            self.library = self._make(self._say)
            self._warming = warming = Warming(self.library.engines.values())
            if warming.comes_first:
                self._say("loading what searches need; where it is not compiled yet this takes a minute or two")
                warming.run()
            app = create_app(self.library)
            if self.over.is_set():  # nobody waits for it any more
                self.library.close()
                return
            loop.call_soon_threadsafe(made.set_result, app)
            if self._compiles and not warming.comes_first:
                warming.begin()
        except BaseException as error:
            self._failed(error)

    def _say(self, doing: str) -> None:
        self.doing = doing
