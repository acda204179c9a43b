"""How often a host may be asked: one bucket of tokens for each, whoever asks, from whichever thread."""

import threading
from dataclasses import dataclass

from germane.errors import ParameterError

POLL = 0.05
"""Seconds between two looks whether a connection has become free."""


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` requests in `seconds`, and `together` at a time."""

    count: int
    seconds: float = 1.0
    together: int = 4

    def __post_init__(self) -> None:
        if self.count < 1 or not self.seconds > 0 or self.together < 1:
            raise ParameterError("a rate is at least one request in a time above 0, one at a time or more")


class Bucket:
    """Tokens of one host. `enter` takes one or says how long to wait; `leave` ends a request."""

    def __init__(self, rate: Rate) -> None:
        self._rate, self._told = rate, rate
        self._lock = threading.Lock()
        self._recent: list[float] = []
        self._inside = 0
        self._closed_until = 0.0

    def enter(self, now: float) -> float:
        """0 if a request may go out now, else the seconds after which to ask again.

        In no span of `seconds` do more than `count` requests go out: the bucket does not refill drop by drop, which
        would let through twice as many across the border of two spans.
        """
        with self._lock:
            if now < self._closed_until:
                return self._closed_until - now
            if self._inside >= min(self._rate.together, self._told.together):
                return POLL
            longest = max(self._rate.seconds, self._told.seconds)
            self._recent = [time for time in self._recent if now - time < longest]
            for rate in (self._rate, self._told):
                within = [time for time in self._recent if now - time < rate.seconds]
                if len(within) >= rate.count:
                    return max(rate.seconds - (now - within[-rate.count]), 1e-3)
            self._recent.append(now)
            self._inside += 1
            return 0.0

    def leave(self) -> None:
        """A request has ended, well or not."""
        with self._lock:
            self._inside -= 1

    def close(self, until: float) -> None:
        """The host asked that nobody comes before that time."""
        with self._lock:
            self._closed_until = max(self._closed_until, until)

    def use(self, rate: Rate) -> None:
        """Another rate from now on: a key may allow more."""
        with self._lock:
            if self._told == self._rate:  # nothing else was told
                self._told = rate
            self._rate = rate

    def heed(self, told: Rate) -> None:
        """What the host itself says of its rate; both are kept to."""
        with self._lock:
            self._told = told


class Buckets:
    """The buckets of all hosts, by their names."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[str, Bucket] = {}

    def bucket(self, host: str, rate: Rate) -> Bucket:
        """That of the host, under the rate given last."""
        with self._lock:
            found = self._of.setdefault(host, Bucket(rate))
        found.use(rate)
        return found


SHARED = Buckets()
"""Those of this process."""
