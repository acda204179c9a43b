"""Connections that are not waited for without end.

uvicorn waits as long as it takes for the head of a request. Here a connection is closed that has not sent a whole head
within some seconds, from its beginning or from the first byte of a further request, however it trickles; and one whose
request was answered before its body had come. Bodies have a time of their own (`safety.py`). A head has a largest size.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from germane.server.problems import TITLES, problem_bytes

HEAD_BYTES = 64 << 10
LINGER = 2.0
"""Seconds that a client has to read an answer given before its request had come whole."""


class TimedProtocol(HttpToolsProtocol):
    """HTTP/1.1 over one connection. `head_seconds` is set by a subclass (`timed`)."""

    head_seconds = 15.0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timer: asyncio.TimerHandle | None = None
        self._in_head, self._head_bytes, self._whole = False, 0, True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(self.head_seconds, self._cut, 408, "the request took too long to come")

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._cut(431, f"the head of the request has more than {HEAD_BYTES >> 10} KiB")
            elif self._timer is None:
                self._timer = self.loop.call_later(
                    self.head_seconds, self._cut, 408, "the request took too long to come"
                )

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._in_head, self._head_bytes, self._whole = True, 0, False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._in_head = False
        self._wait_no_more()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._whole = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """It was answered."""
        if not self._whole and not self.transport.is_closing():
            self.loop.call_later(LINGER, self.transport.close)
        super().on_response_complete()

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut(self, status: int, detail: str) -> None:
        """Say why, where somebody may be listening, and close."""
        body = problem_bytes(status, detail)
        head = (
            f"HTTP/1.1 {status} {TITLES[status]}\r\ncontent-type: application/problem+json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self._wait_no_more()
        self.transport.write(head.encode() + body)
        self.transport.close()


def timed(seconds: float) -> type[TimedProtocol]:
    """The protocol with so many seconds for a head."""
    return type("TimedProtocol", (TimedProtocol,), {"head_seconds": seconds})
