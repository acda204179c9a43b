"""Tell the user why the first run takes a minute: Numba compiles the kernels once and keeps them on disk."""

from functools import cache
from typing import Any

from germane.cli.streams import tell


@cache
def announce_compiling() -> None:
    """From now on, the first kernel that is not found in Numba's cache is announced on stderr."""
    from numba.core.event import Listener, register

    class Announcer(Listener):
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told:
                self.told = True
                tell("compiling search kernels, once; this takes about a minute ...")

        def on_end(self, event: Any) -> None:
            pass

    register("numba:compile", Announcer())  # type: ignore[no-untyped-call]
