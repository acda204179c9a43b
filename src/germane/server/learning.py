"""Learnt models as the page shows them: what the clicks say, which model serves, and how candidates fared.

The history of clicks is made of the log (`events.py`) when it is asked for, and not kept: what was taken out of the log
is in none. Numbers of the clicks are kept in memory for as long as the log is the same.
"""

import contextlib
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from germane.errors import GermaneError, InputError, MissingExtraError, ParameterError
from germane.server.listing import title_of
from germane.server.problems import ProblemError
from germane.types import Document

if TYPE_CHECKING:
    from germane.clicks import ClickStats, ClickStore
    from germane.engine import Engine
    from germane.engine.learning.values import GateSet, Loss, ModelVersion
    from germane.server.library import Library

MEMORY = 512
"""Megabytes that the work on clicks may take."""
THREADS = 2
RANKS = 10
MODELS = ("wtm", "opca", "s2net", "bltm")


@dataclass(frozen=True, slots=True)
class Clicks:
    """What the log holds; `stats` is None where there is nothing to count, and `problem` says why it cannot be."""

    stats: "ClickStats | None"
    problem: str = ""

    @property
    def curve(self) -> list[tuple[int, float, float]]:
        """Position, click-through rate, and examination θ."""
        return [] if self.stats is None else [(each.position, each.rate, each.theta) for each in self.stats.curve]

    @property
    def left_out(self) -> list[tuple[str, str, int]]:
        """What was not counted: of which kind, why, how many."""
        dropped = {} if self.stats is None else self.stats.dropped
        return [(kind, reason, n) for kind, reasons in dropped.items() for reason, n in reasons.items() if n]


@dataclass(frozen=True, slots=True)
class ModelsView:
    """Clicks; for every model that serves its version and the line of its health; all versions, the latest first."""

    clicks: Clicks
    serving: "tuple[tuple[ModelVersion, str], ...]"
    versions: "tuple[ModelVersion, ...]"


@dataclass(frozen=True, slots=True)
class Place:
    """A result of one ranking, and where it stands in the other: None where it is not among the first."""

    id: str
    title: str
    rank: int
    other: int | None


@dataclass(frozen=True, slots=True)
class Opened:
    """One loss, both rankings side by side."""

    loss: "Loss"
    candidate: tuple[Place, ...]
    baseline: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class VersionView:
    """A version, the losses of the set that was chosen, and one of them opened."""

    version: "ModelVersion"
    chosen: "GateSet | None"
    opened: Opened | None
    at: int
    problem: str = ""


class Learning:
    """The learnt models of a library, and the clicks of its page."""

    def __init__(self, library: "Library") -> None:
        self._library = library
        self._lock = threading.Lock()
        self._counted: tuple[tuple[int, int], Clicks] | None = None

    def view(self, collection: str) -> ModelsView:
        """All that there is."""
        engine = self._library.engine(collection)
        versions = engine.models.versions()
        serving = [version for version in versions if version.serving]
        return ModelsView(
            self.clicks(),
            tuple((version, self._health(engine, version)) for version in serving),
            tuple(sorted(versions, key=lambda version: (version.trained_at, version.version), reverse=True)),
        )

    def version(self, collection: str, reference: str, loss: int = 1) -> VersionView:
        """A version, with the n-th of its worst losses opened."""
        from germane.engine.learning.gate import PLAIN  # loads the statistics of SciPy

        engine = self._library.engine(collection)
        found = engine.models.version(reference)
        sets = found.gate.sets if found.gate is not None else ()
        chosen = next((each for each in sets if each.worst), sets[0] if sets else None)
        if found.gate is None or chosen is None or not chosen.worst:
            return VersionView(found, chosen, None, 0)
        at = min(max(loss, 1), len(chosen.worst))
        against = None if found.gate.against == PLAIN else found.gate.against
        try:
            opened = _opened(engine, chosen.worst[at - 1], f"{found.name}@{found.version}", against)
        except GermaneError as error:  # what it was held against may be gone, or unreadable
            return VersionView(found, chosen, None, at, str(error))
        return VersionView(found, chosen, opened, at)

    def train(self, collection: str, model: str, min_users: int) -> "ModelVersion":
        """A candidate from the clicks of the page, through the gate; it serves if it passed."""
        from germane.clicks import PairRules
        from germane.engine.learning.loop import ClickRules

        if model not in MODELS:
            raise ProblemError(422, f"a model is one of {', '.join(MODELS)}, not '{model[:40]}'")
        rules = ClickRules(pairs=PairRules(min_users), memory=MEMORY, threads=THREADS)
        with self.history() as store:
            if not store.days:
                raise ProblemError(422, "there are no clicks to learn from yet: search, and open what fits")
            try:
                return self._library.engine(collection).learn(store, model=model, rules=rules).candidate
            except InputError as error:  # names a folder that is gone by now
                raise ProblemError(422, error.message) from None

    def promote(self, collection: str, reference: str) -> None:
        """Let a version serve."""
        self._library.engine(collection).models.promote(reference)

    def rollback(self, collection: str, name: str) -> None:
        """Let the version serve that did before."""
        self._library.engine(collection).models.rollback(name)

    def clicks(self) -> Clicks:
        """The numbers of the log, counted anew where it has changed."""
        path = self._library.events.path
        try:
            state = path.stat()
        except FileNotFoundError:
            return Clicks(None)
        key = state.st_size, state.st_mtime_ns
        with self._lock:
            if self._counted is None or self._counted[0] != key:
                self._counted = key, self._count()
            return self._counted[1]

    def _count(self) -> Clicks:
        try:
            from germane.clicks import click_stats, observe

            with self.history() as store:
                if not store.days:
                    return Clicks(None)
                with observe(store, memory=MEMORY, threads=THREADS) as observed:
                    return Clicks(click_stats(store, observed))
        except (MissingExtraError, InputError) as error:
            return Clicks(None, error.message if isinstance(error, InputError) else str(error))

    @contextlib.contextmanager
    def history(self) -> "Iterator[ClickStore]":
        """The log as a history, for as long as it is used."""
        from germane.clicks import ClickStore

        with tempfile.TemporaryDirectory() as folder:
            store = ClickStore.create(Path(folder) / "clicks")
            if self._library.events.path.exists():
                store.add([self._library.events.path], memory=MEMORY, threads=THREADS)
            yield store

    def _health(self, engine: "Engine", version: "ModelVersion") -> str:
        from germane.engine.learning.loop import ClickRules, health

        rules = ClickRules(memory=MEMORY, threads=THREADS)
        try:
            with self.history() as store:
                return health(engine, version.name, store if store.days else None, rules).line
        except (MissingExtraError, InputError, ParameterError):
            return health(engine, version.name, None, rules).line


def _opened(engine: "Engine", loss: "Loss", candidate: str, baseline: str | None) -> Opened:
    own = engine.search(loss.query, RANKS, syntax=False, rerank=candidate)
    other = engine.search(loss.query, RANKS, syntax=False, **({} if baseline is None else {"rerank": baseline}))
    both = [{hit.id: rank for rank, hit in enumerate(found, start=1)} for found in (own, other)]
    lists = [
        tuple(Place(hit.id, title_of(Document(hit.id, hit.fields)), rank, elsewhere.get(hit.id))
              for rank, hit in enumerate(found, start=1))
        for found, elsewhere in ((own, both[1]), (other, both[0]))
    ]  # fmt: skip
    return Opened(loss, *lists)
