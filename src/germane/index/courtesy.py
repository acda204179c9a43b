"""Searches go first: where a process searches in one thread and changes an index in another, both want the interpreter.

A thread that makes a file holds it for some milliseconds, and a search that must wait for it takes many times as long
as it should. So the one stops again and again on its way, while others search, for several times as long as it worked.
"""

import threading
import time

SHARE = 4
"""A thread that gives way rests so many times as long as it worked."""
LONGEST_REST = 0.002
"""Seconds."""


class _Searches:
    """How many there were, and the thread of the last one."""

    count = 0
    thread = 0


class _Work(threading.local):
    """What a thread that changes an index had seen when it stopped last."""

    searches = 0
    seconds = 0.0


_work = _Work()


def note_search() -> None:
    """A search begins in this thread."""
    _Searches.count += 1
    _Searches.thread = threading.get_ident()


def give_way() -> None:
    """Rest for a moment if other threads have searched since this one rested last."""
    if _work.searches == _Searches.count or _Searches.thread == threading.get_ident():
        return
    worked = time.thread_time() - _work.seconds
    time.sleep(min(SHARE * worked, LONGEST_REST))
    _work.searches, _work.seconds = _Searches.count, time.thread_time()
