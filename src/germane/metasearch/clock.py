"""Time, as the package sees it; tests have one of their own."""

import asyncio
import time


class Clock:
    """The machine's clocks."""

    def now(self) -> float:
        """Seconds that never go back, for waiting."""
        return time.monotonic()

    def date(self) -> float:
        """Seconds since 1970, for the age of what is kept."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Let others work so long."""
        await asyncio.sleep(seconds)
