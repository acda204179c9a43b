"""Kernels for a server: compiled by a process of its own where they are not kept, then loaded into this one.

A collection of some thousand documents needs none at first: NumPy searches it in milliseconds (`germane.lazy`). The
server of such collections answers at once, and kernels come behind. Where one is larger they come first.
"""

import subprocess
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from germane import kernel_cache
from germane.engine.compiling import warm_up_apart
from germane.errors import GermaneError
from germane.lazy import compiler_is_loaded, load_compiler, wait_for_kernels

if TYPE_CHECKING:
    from germane.engine import Engine

LARGE = 20_000
"""Documents of a collection whose searches wait for kernels: by NumPy they would take too long for several people."""


class Warming:
    """Kernels for these collections; nothing else of the process compiles meanwhile if it can be done without."""

    def __init__(self, engines: "Iterable[Engine]") -> None:
        self._engines = list(engines)
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._closed = threading.Lock(), False
        if not compiler_is_loaded():
            wait_for_kernels(True)

    @property
    def comes_first(self) -> bool:
        """Whether the first answer waits for kernels."""
        return any(len(engine) > LARGE for engine in self._engines)

    def begin(self) -> None:
        """Compile and load behind what is being answered."""
        threading.Thread(target=self.run, name="germane-warming", daemon=True).start()

    def run(self) -> None:
        """Compile what is not kept and load it. Kernels that cannot be kept are compiled here, if they come first, and
        not at all otherwise."""
        if not compiler_is_loaded():
            if not kernel_cache.are_kept():
                self._compile()
            if self._closed or not (self.comes_first or kernel_cache.are_kept()):
                return
            load_compiler()
        with suppress(GermaneError):  # whoever searches is told
            for engine in self._engines:
                for _ in range(2):  # the first search of an index may do without
                    engine.search("the first words of a search", 10)

    def _compile(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._process = warm_up_apart(politely=not self.comes_first)
        self._process.wait()

    def close(self) -> None:
        """End what is still compiling."""
        with self._lock:
            self._closed = True
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        wait_for_kernels(False)
