"""The end of a server: streams and the job under way are told, connections have a while, and nothing is printed."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from germane.server.safety import App, Message, Receive, Scope, Send

EARLIER = 1.0
"""Seconds before the end of their time in which connections are cut off, so that their requests end by themselves."""


class Server(uvicorn.Server):
    """Calls `ending` first, so that nobody waits for streams and the job under way."""

    def __init__(self, app: App, ending: Callable[[], None], **settings: Any) -> None:
        self._app = _Quiet(app)
        super().__init__(uvicorn.Config(self._app, **settings))
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what is under way end, and cut off the rest."""
        self._app.is_ending = True
        self._ending()
        time = self.config.timeout_graceful_shutdown or EARLIER
        cut = asyncio.get_running_loop().call_later(time - EARLIER, self._cut)
        try:
            await super().shutdown(sockets)
        finally:
            cut.cancel()
            self._cut()
            if self.server_state.tasks:  # nothing waits for them any more where Ctrl+C came twice
                await asyncio.wait(self.server_state.tasks, timeout=1.0)

    def _cut(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class _Quiet:
    """The application, whose requests are cancelled without a word once the server ends."""

    def __init__(self, app: App) -> None:
        self._app, self.is_ending = app, False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            cancelled = message["type"] == "lifespan.shutdown.failed" and "CancelledError" in message["message"]
            if not (cancelled and self.is_ending):
                await send(message)

        try:
            await self._app(scope, receive, sent)
        except asyncio.CancelledError:
            if not self.is_ending:
                raise
