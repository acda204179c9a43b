"""What reading a file may cost: seconds of the processor, and bytes of a record; for files that strangers hand in.

Readers ask as they go (`spend`), between lines, records and pieces: a file that was made to be slow ends in a sentence.
A budget holds for one thread, within `with allowance(...)`. Without one, time is not limited.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from germane.errors import InputError

_OWN = threading.local()


@contextmanager
def allowance(seconds: float, record_bytes: int) -> Iterator[None]:
    """Allow reading so much within the block: an `InputError` ends it beyond."""
    _OWN.until, _OWN.seconds, _OWN.record_bytes = time.thread_time() + seconds, seconds, record_bytes
    try:
        yield
    finally:
        del _OWN.until, _OWN.seconds, _OWN.record_bytes


def spend() -> None:
    """Complain where the time is up."""
    until = getattr(_OWN, "until", None)
    if until is not None and time.thread_time() > until:
        raise InputError(
            f"reading it takes more than {_OWN.seconds:g} seconds of processor time: is this a file of records? A large"
            " one can be handed in as several"
        )


def longest_record(usual: int) -> int:
    """The longest record that may be read, in bytes."""
    return min(usual, getattr(_OWN, "record_bytes", usual))
