"""The learnt model that plain searches use: the one that was promoted last, as long as it serves.

A search is plain if it is words, and names no ranking of its own: no model or parameters, no feedback or marks, no
field to be sorted by, no second stage. Looking whether a model was promoted costs such a search a look at one file's
time.
"""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from germane.errors import GermaneError
from germane.text import Analyzer

if TYPE_CHECKING:
    from germane.engine.models.stage import LatentStage

FOLDER, LATEST = "models", "PROMOTED"
"""The folder of an index that holds its learnt models, and the file there that is written anew whenever one begins to
serve or stops."""
OUT_OF_USE = "the promoted model cannot rank, and the plain ranking stands"


class Promotable(Protocol):
    """What is asked of a store of learnt models."""

    def promoted(self) -> str | None:
        """The name that was promoted last and serves; None if none does."""

    def serving_number(self, name: str) -> int | None:
        """The number of the version that serves under the name; None if none does."""

    def stage(self, reference: str) -> "LatentStage":
        """The version as a second stage."""


class Promotion(NamedTuple):
    """The promoted version, as `clicks@3`: its second stage, or why there is none."""

    reference: str | None = None
    stage: "LatentStage | None" = None
    problem: str | None = None


class Promotions:
    """What is promoted in an index, looked up again when that may have changed."""

    def __init__(self, folder: Path) -> None:
        self._places = folder / FOLDER / LATEST, folder / FOLDER
        self._seen: tuple[tuple[int, int] | None, Promotion | None] = None, None

    def of(self, models: "Callable[[], Promotable]", analyzer: Analyzer) -> Promotion | None:
        """What plain searches use now; None for the plain ranking. `models` opens the store where it is needed."""
        stamp = self._stamp()
        if stamp is None:
            return None
        seen, found = self._seen
        if stamp != seen:
            found = _looked_up(models(), analyzer)
            self._seen = stamp, found
        return found

    def _stamp(self) -> tuple[int, int] | None:
        for place in self._places:
            with contextlib.suppress(OSError):
                found = os.stat(place)
                return found.st_ino, found.st_mtime_ns
        return None


def _looked_up(models: Promotable, analyzer: Analyzer) -> Promotion | None:
    reference = None
    try:
        name = models.promoted()
        if name is None:
            return None
        reference = f"{name}@{models.serving_number(name)}"
        stage = models.stage(reference)
        stage.require_same_words(analyzer)
    except (GermaneError, OSError) as error:
        return unused(reference, error)
    return Promotion(reference, stage)


def unused(reference: str | None, error: Exception) -> Promotion:
    """A promotion that cannot be followed."""
    return Promotion(reference, None, f"{OUT_OF_USE}: {error}")
