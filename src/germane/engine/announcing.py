"""Kernels are compiled at their first use: that is said once for each feature, and the time it takes is counted."""

import logging
import sys
import time
from functools import cache
from typing import Any, ClassVar

from germane.lazy import on_first_use, with_compiler

with on_first_use(__name__):
    from numba.core import event

_log = logging.getLogger("germane.compiling")


class _Compiled:
    """Seconds that were spent so far, and the beginnings of what is compiled now: a kernel compiles what it calls."""

    seconds = 0.0
    began: ClassVar[list[float]] = []


def compiling_seconds() -> float:
    """Seconds that this process has compiled kernels by now, wherever: no limit of time runs meanwhile."""
    began = [*_Compiled.began[:1]]
    return _Compiled.seconds + (time.perf_counter() - began[0] if began else 0.0)


FEATURES = {
    "germane.index": "indexing", "germane.text": "indexing", "germane.rank.vector": "vectors",
    "germane.latent": "models learnt from clicks", "germane.classify": "classification",
    "germane.refine.screening": "screening", "germane.track": "following topics",
}  # fmt: skip
"""Purpose of kernels, by the beginning of their module's name; all others are for searching."""


@cache
def announce_compiling() -> None:
    """From now on, the first kernel for each feature that is not found in Numba's cache is announced, as a warning of
    the logger `germane.compiling`: on stderr, unless logging was told otherwise. How long each took is told at level
    INFO.
    """
    if "germane.jit" in sys.modules:
        _listen()
    else:
        with_compiler.append(_listen)


def feature_of(module: str) -> str:
    """Return the purpose of the kernels of a module."""
    return next((feature for begin, feature in FEATURES.items() if module.startswith(begin)), "searching")


def _listen() -> None:
    class Announcer(event.Listener):
        def __init__(self) -> None:
            self.told: set[str] = set()

        def on_start(self, started: Any) -> None:
            feature = feature_of(started.data["dispatcher"].py_func.__module__)
            if not _Compiled.began and feature not in self.told:
                self.told.add(feature)
                _log.warning(
                    "compiling kernels for %s, once; this takes some seconds ('germane warmup' does it before) ...",
                    feature,
                )
            _Compiled.began.append(time.perf_counter())

        def on_end(self, ended: Any) -> None:
            seconds = time.perf_counter() - _Compiled.began.pop()
            _Compiled.seconds += 0.0 if _Compiled.began else seconds
            _log.info("compiled %s in %.1f s", ended.data["dispatcher"].py_func.__qualname__, seconds)

    event.register("numba:compile", Announcer())  # type: ignore[no-untyped-call]
