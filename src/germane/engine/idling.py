"""An engine that changes nothing for a while lets others write, without being told to.

The writer's lock is taken by the first change and kept for the next ones, which is quicker. A thread looks every
`IDLE_SECONDS` whether there were any; it begins with the lock and ends with it, and holds no engine that is forgotten.
"""

import threading
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from germane.engine.engine import Engine

IDLE_SECONDS = 0.5
"""So long after its last change an engine gives the writer's lock back; less than who waits for it waits
(`durable.PATIENCE`)."""


def let_go_when_idle(engine: "Engine") -> None:
    """Have the engine give the writer's lock back when it is idle; it has just taken it."""
    threading.Thread(target=_watch, args=(weakref.ref(engine),), name="germane-idle", daemon=True).start()


def _watch(known: "weakref.ref[Engine]") -> None:
    while True:
        time.sleep(IDLE_SECONDS)
        engine = known()
        if engine is None or engine._gave_back(IDLE_SECONDS):
            return
        del engine  # not kept while this sleeps
