"""Files on their way to a reader: each piece is made when the one before was taken."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import anyio.to_thread
import orjson
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from germane.errors import GermaneError
from germane.server.exports import ENDINGS, TYPES, Attachment
from germane.server.problems import ProblemError, problem_document, told

MAKING = 2
"""Pieces that are made at the same time: exports must not keep searches waiting."""


class Streamed(StreamingResponse):
    """A streamed answer, of which nothing is made where only its head was asked for: nobody would take it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["method"] == "HEAD":
            self.body_iterator = _nothing()
        await super().__call__(scope, receive, send)


class EventStream(Streamed):
    """Server-sent events. A request that is refused after they began ends with the event `problem`, which says why."""

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__(_with_problem(events), media_type="text/event-stream")


def event(name: str, content: Any) -> bytes:
    """Return one server-sent event with `content` as JSON."""
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(content) + b"\n\n"


async def _with_problem(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for each in events:
            yield each
    except (ProblemError, GermaneError) as error:
        yield event("problem", problem_document(*told(error)))


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


class Sender:
    """Sends attachments; their pieces are made in threads of their own."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(MAKING)

    async def __call__(self, file: Attachment) -> Response:
        """The answer with the file. What goes wrong before its first piece is told as any other error is."""
        first = await self._next(file.pieces)
        name = f"{file.name}.{ENDINGS[file.format]}"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Streamed(self._pieces(first, file.pieces), media_type=TYPES[file.format], headers=headers)

    async def _pieces(self, first: bytes | None, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
        piece = first
        while piece is not None:
            yield piece
            piece = await self._next(pieces)

    async def _next(self, pieces: Iterator[bytes]) -> bytes | None:
        return await anyio.to_thread.run_sync(lambda: next(pieces, None), limiter=self._limiter)
