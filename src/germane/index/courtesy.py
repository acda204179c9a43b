"""Searches go first: where a process searches in one thread and changes an index in another, both want the interpreter.

Who makes a file holds it for some milliseconds, and hands it to and fro with those who search, which costs both more
than their work. So the one rests now and then on its way, while others search, for longer than it worked. Where
another process searches, each commit costs that one something: then the rests are shorter.
"""

import threading
import time

SHARE, SHARE_ELSEWHERE = 8, 4
"""Who makes a file rests so many times as long as it worked, where this process searches and where another does."""
LEAST_WORK, LONGEST_REST = 0.005, 0.025
"""Seconds of work that are worth a rest, and of a rest at most: one, and seldom two, for each small commit."""


ELSEWHERE = -1
"""In place of a thread of this process."""


class _Searches:
    """How many there were, and the thread of the last one."""

    count = 0
    thread = 0


class _Work(threading.local):
    """What a thread that changes an index had seen when it rested last."""

    searches = 0
    seconds = 0.0


_work = _Work()


def note_search() -> None:
    """A search begins in this thread."""
    _Searches.count += 1
    _Searches.thread = threading.get_ident()


def note_reader() -> None:
    """Another process searches what is committed here."""
    _Searches.count += 1
    _Searches.thread = ELSEWHERE


def others_search() -> bool:
    """Whether others have searched since this thread rested last."""
    return _work.searches != _Searches.count and _Searches.thread != threading.get_ident()


def give_way() -> None:
    """Rest for a moment if this thread has worked for a while, and others have searched since it rested last."""
    if not others_search():
        return
    worked = time.thread_time() - _work.seconds
    if worked >= LEAST_WORK:
        share = SHARE_ELSEWHERE if _Searches.thread == ELSEWHERE else SHARE
        time.sleep(min(share * worked, LONGEST_REST))
        _work.searches, _work.seconds = _Searches.count, time.thread_time()
