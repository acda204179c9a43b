"""Bytes of bodies that are held: as much as there is room for, and of one caller a part of it.

A body is held from its first byte until its request is answered. What is short is not counted.
"""

from germane.server.problems import ProblemError

SHORT = 256 << 10
"""Bytes of a body that are not counted."""
MOST_HELD = 256 << 20
"""Bytes of all bodies together."""
MOST_OF_CALLER = 96 << 20
"""Of one caller: three of the largest."""


class Bodies:
    """The bytes that callers have under way. Not safe for threads: an event loop asks."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._all = 0

    def hold(self, caller: str, size: int) -> None:
        """Count this many bytes more of a caller; a `ProblemError` where there is no room for them."""
        if self._held.get(caller, 0) + size > MOST_OF_CALLER:
            raise ProblemError(
                429, f"more than {MOST_OF_CALLER >> 20} MiB of yours are on their way: send one file after the other",
                retry_after="5",
            )  # fmt: skip
        if self._all + size > MOST_HELD:
            raise ProblemError(503, "others are sending much at the moment: try again in a minute", retry_after="30")
        self._held[caller] = self._held.get(caller, 0) + size
        self._all += size

    def release(self, caller: str, size: int) -> None:
        """They were dealt with."""
        left = self._held.get(caller, 0) - size
        self._all -= size
        if left > 0:
            self._held[caller] = left
        else:
            self._held.pop(caller, None)
