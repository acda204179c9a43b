"""Messages that were promised: sent after what they tell of is on disk, and again until they arrive."""

import math
import os
import re
from dataclasses import dataclass
from typing import Any

from germane.metasearch.answers import SourceError
from germane.stream.fetching import Fetcher
from germane.stream.intake import Intake
from germane.stream.store import Store
from germane.workspace.columns import ascended, json_text

FIRST_WAIT, LONGEST_WAIT = 10.0, 3600.0
"""Seconds until a message is sent again after one failure, doubled for each after it."""
REFUSALS = 10
"""A message that is refused (HTTP 4xx) so many times in a row is given up, and the next is sent."""
NEVER = "never"
"""What is said, in place of the time, of the delivery of a message that was given up."""
AT_ONCE = 100
_REFUSED = re.compile(r"refused (\d+) times: ")


@dataclass(frozen=True)
class Outbox:
    """The messages of a stream. Each is sent once at least; its number goes with it, so that a receiver can tell."""

    store: Store
    fetcher: Fetcher

    def deliver(self, intake: Intake) -> int:
        """Send what is due, the oldest first; returns how many arrived. An address that fails is left alone for a
        while, and the stream goes on."""
        failed: set[str] = set()
        arrived = last = 0
        now = self.fetcher.clock.date()
        while rows := self.store.outbox(AT_ONCE, after=last, passing=failed):
            last = ascended(last, rows[-1].id)
            for row in rows:
                if row.not_before > now:
                    failed.add(row.url)  # in their order
                if row.url not in failed:
                    if self._sent(row, now, intake):
                        arrived += 1
                    else:
                        failed.add(row.url)
        return arrived

    def _sent(self, row: Any, now: float, intake: Intake) -> bool:
        try:
            self.fetcher.send(row.url, json_text(row.message).encode(), row.id, _secret(row.secret))
        except SourceError as error:
            attempts, refusals = row.attempts + 1, _refusals(row.trouble) + 1
            refused = error.failure.kind == "refused" and not error.again
            wait = max(min(FIRST_WAIT * 2.0 ** min(attempts - 1, 20), LONGEST_WAIT), error.wait or 0.0)
            trouble = f"refused {refusals} times: {error}" if refused else str(error)
            given_up = NEVER if refused and refusals >= REFUSALS else None
            self.store.set_message(
                row.id, attempts=attempts, not_before=now + wait, trouble=trouble, delivered=given_up
            )
            if given_up:
                intake.trouble(f"{row.url}: message {row.id} was refused {refusals} times, and is given up ({error})")
            else:
                intake.trouble(f"{row.url}: a message did not arrive, and is kept ({error})")
            return False
        self.store.set_message(row.id, attempts=row.attempts + 1, delivered=self.store.database.clock(), trouble="")
        return True

    def waiting(self) -> int:
        """How many messages have not arrived."""
        return self.store.count_messages()

    def undeliverable(self) -> int:
        """How many messages were given up."""
        return self.store.count_messages(NEVER)

    def due_in(self) -> float:
        """Seconds until a message is to be sent again."""
        due = self.store.next_message()
        return math.inf if due is None else due - self.fetcher.clock.date()


def _refusals(trouble: str) -> int:
    """How many times in a row a message was refused, by what is kept of the last time."""
    matched = _REFUSED.match(trouble)
    return int(matched[1]) if matched else 0


def _secret(variable: str) -> str | None:
    """What signs a message: the value of an environment variable, so that no key is kept."""
    if not variable:
        return None
    if not os.environ.get(variable):
        raise SourceError("local", f"the environment variable {variable}, which signs it, is not set")
    return os.environ[variable]
