"""Work that blocks, done beside the event loop by a thread that nobody has to wait for."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


async def aside(work: Callable[[], Value]) -> Value:
    """What `work()` returns or raises.

    The thread is a daemon: where the caller has given up (a name server that never answers, a dead disk), neither the
    event loop nor the program waits for it, as both would for a thread of asyncio's own.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Value] = loop.create_future()

    def settle(value: Value | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, failed = None, None
        try:
            value = work()
        except BaseException as error:
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, failed)

    threading.Thread(target=run, name="germane-metasearch", daemon=True).start()
    return await done
