"""The application: routes, the threads that searches run in, and what is said when something goes wrong."""

import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from importlib.resources import files

import anyio
import anyio.to_thread
import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from germane.declare import Field
from germane.errors import GermaneError
from germane.metasearch.responses import FindResponse
from germane.schema import Response as Answer
from germane.server import api, finding, pages, work_api
from germane.server.api import ATOM
from germane.server.aside import Aside
from germane.server.budget import MOST_SOURCES
from germane.server.exports import Attachment
from germane.server.library import Library
from germane.server.metrics import Metrics
from germane.server.operations import PREFIX, Media, Operation, openapi
from germane.server.problems import ProblemError, problem_bytes, told
from germane.server.rendering import Renderer
from germane.server.roles import Role, require
from germane.server.safety import Safety
from germane.server.sending import EventStream, Sender, event

STREAMED = Operation(
    "GET", "/find", "Ask several sources; answers stream in as server-sent events, 'answer' for each source and 'list' "
    "for the merged list so far", lambda library, given: None, Media(("text/event-stream",)), (
        Field("q", "the query", required=True, least=1, most=2_000),
        Field("source", "the name of a source", many=True, most=200, items=MOST_SOURCES)),
)  # fmt: skip
"""Like the stream of a job, no function of what was given: it goes on telling."""
OPERATIONS = (*api.OPERATIONS, *work_api.OPERATIONS)
"""All others."""
MOST_ANSWER = 64 << 20
"""Bytes of an answer in JSON, which is written at once: more would not find room while its reader takes it."""
SHORT = 64 << 10
"""Bytes of a body that is read on the event loop; longer ones are read aside."""
SWITCH = 0.001
"""Seconds that a thread keeps the interpreter while another waits for it: what is short goes between what is long."""


def create_app(library: Library) -> Starlette:
    """The application over a library, which is closed with it."""
    metrics = Metrics()
    aside = Aside(library.settings.threads)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        library.jobs.start()
        sys.setswitchinterval(SWITCH)
        yield
        await anyio.to_thread.run_sync(library.close)

    renderer, sender = Renderer(library), Sender()
    static = StaticFiles(directory=str(files("germane") / "server" / "static"))
    routes: list[BaseRoute] = [
        *_api_routes(library, metrics, aside, sender),
        *pages.routes(library, renderer, aside, sender),
        Mount("/static", static, name="static"),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            ProblemError: _failed(renderer),
            GermaneError: _failed(renderer),
            HTTPException: _failed(renderer),
            ClientDisconnect: _failed(renderer),
            Exception: _failed(renderer),
        },
        middleware=[Middleware(Safety, settings=library.settings, metrics=metrics)],
    )
    app.state.library = library
    return app


def _api_routes(library: Library, metrics: Metrics, aside: Aside, sender: Sender) -> list[BaseRoute]:
    described = orjson.dumps(openapi((*OPERATIONS, STREAMED, work_api.STREAM)))

    async def document(request: Request) -> Response:
        return Response(described, media_type="application/json")

    async def prometheus(request: Request) -> Response:
        sizes = {name: float(len(engine)) for name, engine in library.engines.items()}
        return PlainTextResponse(metrics.text({"germane_documents": sizes}))

    async def find(request: Request) -> Response:
        given = STREAMED.read({}, request.query_params, b"", "")
        finding.sources_named(library, given["source"])  # complains before anything streams
        if not given["q"].strip():
            raise ProblemError(422, "the query is empty")
        streamed = _stream(library, given["q"], given["source"])
        return EventStream(aside.streamed(streamed))

    async def progress(request: Request) -> Response:
        given = work_api.STREAM.read(request.path_params, request.query_params, b"", "")
        await aside(lambda: library.workspace.jobs.get(given["job"]))  # complains before anything streams

        async def events() -> AsyncIterator[bytes]:
            async for name, content in work_api.progress_of(library, given["job"], aside):
                yield event(name, content)

        return EventStream(events())

    routes: list[BaseRoute] = [
        Route(f"{PREFIX}/openapi.json", document),
        Route(f"{PREFIX}/jobs/{{job}}/events", progress),
        Route(f"{PREFIX}/find", find),
        Route("/metrics", prometheus),
    ]
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    for path, operations in by_path.items():
        taken = path.replace("{id}", "{id:path}").replace(
            "{name}", "{name:path}" if path.endswith("{name}") else "{name}"
        )
        routes.append(Route(PREFIX + taken, _endpoint(library, operations, aside, sender), methods=list(operations)))
    # An id may hold slashes, so its route takes all that follows: others of the same beginning come first.
    return sorted(routes, key=lambda route: ":path}" in str(getattr(route, "path", "")))


def _endpoint(
    library: Library, operations: dict[str, Operation], aside: Aside, sender: Sender
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        operation = operations["GET" if request.method == "HEAD" else request.method]
        require(request.state.role, operation.role)
        raw = await request.body() if operation.body is not None or operation.raw else b""
        kind = request.headers.get("content-type", "")
        read = partial(operation.read, request.path_params, request.query_params, raw, kind)
        given = read() if len(raw) <= SHORT else await aside(read, changing=True)
        given = replace(given, bound=request.state.bound, role=request.state.role, known=request.state.known)

        def call() -> bytes | Attachment | Response:  # written as JSON aside too: large answers hold nobody up
            answer = operation.handler(library, given)
            return answer if isinstance(answer, bytes | Attachment) else json_response(answer, operation.status)

        cost = operation.cost(given) if callable(operation.cost) else operation.cost
        answer = await aside(call, changing=operation.role > Role.READER, cost=cost)
        if isinstance(answer, Attachment):
            return await sender(answer)
        written: Response = Response(answer, media_type=ATOM) if isinstance(answer, bytes) else answer
        return written

    return endpoint


def json_response(answer: Answer, status: int = 200) -> Response:
    """A response of the packages, as JSON."""
    written = orjson.dumps(answer.to_dict())
    if len(written) > MOST_ANSWER:
        raise ProblemError(
            422, f"the answer has {len(written) >> 20} MiB, where {MOST_ANSWER >> 20} are given at once: lower 'k', or "
            "take the export, which comes piece by piece",
        )  # fmt: skip
    return Response(written, status, media_type="application/json")


async def _stream(library: Library, query: str, names: tuple[str, ...]) -> AsyncIterator[bytes]:
    """Server-sent events: `answer` for each source, `list` for all so far, `done` at the end."""
    async for answer, found in finding.answers(library, query, names):
        yield event("answer", finding.answer_summary(answer))
        yield event("list", FindResponse.of(found, k=library.settings.depth).to_dict())
    yield event("done", {})


def _failed(renderer: Renderer) -> Callable[[Request, Exception], Response]:
    def failed(request: Request, error: Exception) -> Response:
        headers: dict[str, str] = {}
        if isinstance(error, HTTPException):
            status, detail = error.status_code, _said(error)
            headers = dict(error.headers or {})
        elif isinstance(error, ClientDisconnect):
            status, detail = 400, "the request ended before it had come whole"  # nobody reads it, but metrics count it
        else:
            status, detail = told(error)
            headers = error.headers if isinstance(error, ProblemError) else {}
        path = request.url.path
        if (
            path.startswith(PREFIX)
            or path == "/metrics"
            or "text/html" not in request.headers.get("accept", "text/html")
        ):
            body = problem_bytes(status, detail, path)
            return Response(body, status, headers, media_type="application/problem+json")
        return renderer.page(request, "problem.html", status, title="", status=status, detail=detail, headers=headers)

    return failed


def _said(error: HTTPException) -> str:
    if error.status_code == 404:
        return "there is nothing at this address: go back to the search"
    if error.status_code == 405:
        return "this address cannot be asked in this way; the OpenAPI document at /api/v1/openapi.json says how"
    return str(error.detail)
