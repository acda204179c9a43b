"""Connections that are not waited for without end, and that hold little memory whatever is sent or left unread.

- A connection is closed that has not sent a whole head within some seconds, from its beginning or from the first byte
  of a further request, however it trickles; not while an earlier answer is under way. Bodies have a time of their own
  (`safety.py`). A head has a largest size.
- Of requests that come one behind the other without waiting for answers (pipelining), a few are understood ahead; the
  rest stays as bytes, and no more are read meanwhile.
- A reader that takes nothing of what waits for it is dropped after some seconds; sooner if more waits for all readers
  together than there is room for: then those who took nothing for longest go first.
- Of more connections than there is room for, the address that has the most loses one: one at rest, else the one that
  asked longest ago. So nobody keeps others out by holding connections.
- A request whose target names another site than its `Host` (`GET http://other/`) is refused: a proxy that reads the
  one and a server that reads the other would take it for two.
- A request that is refused before it has come whole is answered once the answers before it are, and the connection ends
  gently (`lingering.py`).
"""

import asyncio
import re
from collections import Counter
from typing import Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from germane.server.lingering import ARRIVING, Lingering
from germane.server.memory import give_back_soon
from germane.server.problems import TITLES, problem_bytes

HEAD_BYTES = 64 << 10
AHEAD = 16
"""Requests that are understood while an earlier one is answered."""
PIECE = 4 << 10
"""Bytes that are understood at once."""
MOST_WAITING = 96 << 20
"""Bytes of answers that wait for their readers, of all connections."""
MOST_CONNECTIONS = 400
"""Connections of all addresses together; fewer than those at which the server refuses everybody (`running.py`)."""
TOO_SLOW = "the request took too long to come"
OTHER_SITE = "the target of the request names another site than its header Host: both are to be the same"
NO_HTTP = "this is no request of HTTP/1.1 that can be understood"


class _Flow(FlowControl):
    """Reading is not resumed while bytes wait to be understood."""

    holding = False

    def resume_reading(self) -> None:
        if not self.holding:
            super().resume_reading()


class TimedProtocol(HttpToolsProtocol):
    """HTTP/1.1 over one connection. The seconds are set by a subclass (`timed`)."""

    head_seconds = 15.0
    take_seconds = 30.0
    transport: Lingering  # type: ignore[assignment]
    flow: _Flow

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head_timer: asyncio.TimerHandle | None = None
        self._in_head, self._head_bytes, self._began = False, 0, False
        self._arriving = {"whole": True}
        self._rest = b""
        self._refusal: bytes | None = None
        self._taken, self._taken_at, self._was_full = 0, self.loop.time(), False
        self._asked_at = self.loop.time()

    # -- the connection --------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(Lingering(transport, self.loop))  # type: ignore[arg-type]
        self.flow = _Flow(self.transport)  # type: ignore[arg-type]
        self._wait_for_head()
        self._look_timer = self.loop.call_later(self.take_seconds / 3, self._look)
        if len(self.server_state.connections) > MOST_CONNECTIONS:
            self._make_room()

    def _make_room(self) -> None:
        """End a connection of the address that has the most."""
        connections = [each for each in self._all() if not each.transport.is_closing()]
        counts = Counter(each._address for each in connections)
        most = max(counts, key=counts.__getitem__)
        mine = (each for each in connections if each._address == most and each is not self)
        least = min(mine, key=lambda each: (each._is_busy(), each._asked_at), default=None)
        if least is not None:
            least.transport.abort()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _all(self) -> "list[TimedProtocol]":
        return [each for each in self.server_state.connections if isinstance(each, TimedProtocol)]

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_no_more()
        self._look_timer.cancel()
        self.transport.forget()
        self._rest = b""
        self.pipeline.clear()
        super().connection_lost(exc)
        if self._was_full:
            give_back_soon(self.loop)

    def shutdown(self) -> None:
        """The server ends."""
        if self._is_busy():
            super().shutdown()
        else:
            self.transport.close_now()

    def timeout_keep_alive_handler(self) -> None:
        """Nothing was asked for a while."""
        self.transport.close_now()

    # -- requests --------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """A part of a request, or several."""
        if self.transport.is_closing():
            self.transport.discard()
        elif self._refusal is None:
            self._rest += data
            self._understand()

    def _understand(self) -> None:
        """Understand what has come, as far as there is room for requests."""
        at = 0
        while at < len(self._rest) and len(self.pipeline) < AHEAD and not self._is_over():
            piece = self._rest[at : at + PIECE]
            at += len(piece)
            self._began = False
            super().data_received(piece)
            self._head_bytes += 0 if self._began else len(piece)
            if self._in_head and self._head_bytes > HEAD_BYTES:
                self._refuse(431, f"the head of the request has more than {HEAD_BYTES >> 10} KiB")
        self._rest = b"" if self._is_over() else self._rest[at:]
        if self._rest:
            self.flow.holding = True
            self.flow.pause_reading()
        elif self.flow.holding:
            self.flow.holding = False
            if not self.pipeline and (self.cycle is None or len(self.cycle.body) <= HIGH_WATER_LIMIT):
                self.flow.resume_reading()
        if self._in_head and self._head_timer is None and not self._is_busy() and not self._is_over():
            self._wait_for_head()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._in_head, self._head_bytes, self._began = True, 0, True
        self._asked_at = self.loop.time()
        super().on_message_begin()
        self._arriving = {"whole": False}
        self.scope["extensions"] = {ARRIVING: self._arriving}  # type: ignore[dict-item]

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. What comes behind a body (trailers) is thrown away: the request was checked without it."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        if self._other_site():
            raise ValueError(OTHER_SITE)  # the parser ends with it, and `send_400_response` is asked for
        super().on_headers_complete()  # raises where the address cannot be understood
        self._in_head = False
        self._wait_no_more()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._arriving["whole"] = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """A request was answered."""
        super().on_response_complete()
        if self._refusal is not None:
            if not self._is_busy():
                self._say_refusal()
        elif self._rest:
            self._understand()
        elif self._in_head and not self._is_busy():
            self._unset_keepalive_if_required()
            self._wait_for_head()

    def _is_busy(self) -> bool:
        """Whether a request is being answered, or waits for it."""
        return self.cycle is not None and not self.cycle.response_complete

    def _is_over(self) -> bool:
        return self._refusal is not None or self.transport.is_closing()

    # -- what is not waited for ------------------------------------------------------------------------------------

    def _wait_for_head(self) -> None:
        self._wait_no_more()
        self._head_timer = self.loop.call_later(self.head_seconds, self._refuse, 408, TOO_SLOW)

    def _wait_no_more(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP, or names two sites."""
        self._refuse(400, OTHER_SITE if self._in_head and self._other_site() else NO_HTTP)

    def _other_site(self) -> bool:
        """Whether the target has an authority, and it is not what the Host header says."""
        scheme, sign, rest = self.url.partition(b"://")
        if not sign or not scheme.isalpha():
            return False
        authority = re.split(rb"[/?#]", rest, maxsplit=1)[0]
        return any(name == b"host" and value.lower() != authority.lower() for name, value in self.headers)

    def _refuse(self, status: int, detail: str) -> None:
        """Say why, once the requests before were answered, and close."""
        body = problem_bytes(status, detail)
        head = (
            f"HTTP/1.1 {status} {TITLES[status]}\r\ncontent-type: application/problem+json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self._wait_no_more()
        self._refusal = head.encode() + body
        half = self.cycle if not self._in_head and not self._arriving["whole"] else None
        if half is not None and not half.response_started and not self.pipeline:
            half.disconnected = True  # its body is broken: it gets this answer, and no other
            half.message_event.set()
            self._say_refusal()
        elif not self._is_busy():
            self._say_refusal()

    def _say_refusal(self) -> None:
        self.transport.write(self._refusal or b"")
        self.transport.close()

    # -- readers that take nothing ---------------------------------------------------------------------------------

    def pause_writing(self) -> None:
        """More waits for the reader than a connection takes at once."""
        super().pause_writing()
        self._was_full = True
        connections = self._all()
        waiting = sum(each.waiting for each in connections)
        if waiting > MOST_WAITING:
            for each in sorted(connections, key=TimedProtocol.taking_since):
                if waiting <= MOST_WAITING:
                    break
                waiting -= each.waiting
                each.transport.abort()

    @property
    def waiting(self) -> int:
        """Bytes that wait for the reader."""
        return self.transport.waiting

    def taking_since(self) -> float:
        """When the reader was last seen to take something, or had nothing to take."""
        if self.transport.taken != self._taken or not self.waiting:
            self._taken, self._taken_at = self.transport.taken, self.loop.time()
        return self._taken_at

    def _look(self) -> None:
        if self.loop.time() - self.taking_since() >= self.take_seconds:
            self.transport.abort()
        else:
            self._look_timer = self.loop.call_later(self.take_seconds / 3, self._look)


def timed(head_seconds: float, take_seconds: float) -> type[TimedProtocol]:
    """The protocol with this many seconds for a head, and for a reader to take something."""
    return type("TimedProtocol", (TimedProtocol,), {"head_seconds": head_seconds, "take_seconds": take_seconds})
