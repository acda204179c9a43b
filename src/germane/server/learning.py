"""Learnt models as the page shows them: what the clicks say, which model serves, and how candidates fared.

The history of clicks is made of the log when it is asked for, and not kept (`histories.py`): what was taken out of the
log is in none. Its numbers are held in memory for as long as the log, and what serves, are the same.
"""

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from germane.errors import GermaneError, InputError, MissingExtraError
from germane.lazy import on_first_use
from germane.server.listing import title_of
from germane.server.problems import ProblemError, told, without_folders
from germane.server.roles import Role
from germane.server.withholding import shown_version
from germane.types import Document
from germane.wording import counted

with on_first_use(__name__):
    from germane import clicks as click_logs
    from germane.learning import gate, loop
    from germane.server import histories, work, work_api

if TYPE_CHECKING:
    from germane.clicks import ClickStats
    from germane.engine import Engine
    from germane.engine.models.values import GateSet, Loss, ModelVersion
    from germane.learning.values import Health
    from germane.server.library import Library
    from germane.server.responses import JobResponse

TRAINING = "train"
"""The kind of job that learns."""
RANKS = 10
QUICK, REST = 0.5, 100.0
"""Seconds for which a log is counted again whenever it has grown; a slower count serves for `REST` times as long as it
took. Else a person who searches and looks here in turn would keep the server counting."""
LEAST_SEARCHES = 100
"""Searches since a model was trained that say whether queries have drifted."""
MODELS = {
    "wtm": "word translation (WTM)",
    "opca": "oriented PCA (OPCA)",
    "s2net": "linear projection (S2Net)",
    "bltm": "bilingual topics (BLTM)",
    "combination": "several models combined",
}
"""Models that are learnt from clicks, with their titles for people; the first is the default."""


@dataclass(frozen=True, slots=True)
class Clicks:
    """Content of the log; `stats` is None where there is nothing to count, and `problem` says why it cannot be.
    `health` has a line for each model that serves."""

    stats: "ClickStats | None"
    health: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def curve(self) -> list[tuple[int, float, float]]:
        """Position, click-through rate, and examination θ."""
        return [] if self.stats is None else [(each.position, each.rate, each.theta) for each in self.stats.curve]

    @property
    def has_theta(self) -> bool:
        """Whether examination is known beyond the first position."""
        return sum(not math.isnan(theta) for _, _, theta in self.curve) > 1

    @property
    def left_out(self) -> list[tuple[str, str, int]]:
        """Rows that were not counted: kind, reason, number."""
        dropped = {} if self.stats is None else self.stats.dropped
        return [(kind, reason, n) for kind, reasons in dropped.items() for reason, n in reasons.items() if n]


@dataclass(frozen=True, slots=True)
class ModelsView:
    """Clicks; for every model that serves its version and the line of its health; all versions, the latest first."""

    clicks: Clicks
    serving: "tuple[tuple[ModelVersion, str], ...]"
    versions: "tuple[ModelVersion, ...]"
    training: "JobResponse | None"
    min_users: int
    promoted: str | None
    """The model that ranks searches."""


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


@dataclass(frozen=True, slots=True)
class _Count:
    """The numbers of a log of that size and age, and what served; where the log grows they hold until then."""

    clicks: Clicks
    serving: tuple[str, ...]
    size: int
    changed: int
    until: float


class Learning:
    """The learnt models of a library, and the clicks of its page."""

    def __init__(self, library: "Library") -> None:
        self._library = library
        self._lock = threading.Lock()
        self._counted: dict[str, _Count] = {}

    def view(self, collection: str) -> ModelsView:
        """All that there is."""
        models = self._library.engine(collection).models
        versions = models.versions()
        clicks = self.clicks(collection)
        return ModelsView(
            clicks,
            tuple((version, clicks.health[version.name]) for version in versions if version.serving),
            tuple(sorted(versions, key=lambda version: (version.trained_at, version.version), reverse=True)),
            self.training(collection),
            self._library.settings.min_users,
            models.promoted(),
        )

    def version(self, collection: str, reference: str, role: Role, loss: int = 1) -> VersionView:
        """A version as somebody of that role may see it, with the n-th of its worst losses opened."""
        engine = self._library.engine(collection)
        found = shown_version(engine.models.version(reference), role, self._library.settings.min_users)
        sets = found.gate.sets if found.gate is not None else ()
        chosen = next((each for each in sets if each.worst), sets[0] if sets else None)
        if found.gate is None or chosen is None or not chosen.worst:
            return VersionView(found, chosen, None, 0)
        at = min(max(loss, 1), len(chosen.worst))
        against = None if found.gate.against == gate.PLAIN else found.gate.against
        try:
            opened = _opened(engine, chosen.worst[at - 1], f"{found.name}@{found.version}", against)
        except GermaneError as error:  # what it was held against may be gone, or unreadable
            return VersionView(found, chosen, None, at, told(error).detail)
        return VersionView(found, chosen, opened, at)

    def train(self, collection: str, model: str, min_users: int) -> None:
        """Have a candidate learnt from the clicks of the page, in the background; it serves if it passes the gate."""
        if model not in MODELS:
            raise ProblemError(422, f"a model is one of {', '.join(MODELS)}, not '{model[:40]}'")
        if self.clicks(collection).stats is None:
            raise ProblemError(422, "there are no clicks to learn from yet: search, and open what fits")
        self._library.jobs.add(TRAINING, {"collection": collection, "model": model, "min_users": min_users})

    def training(self, collection: str) -> "JobResponse | None":
        """The latest training for a collection: waiting, under way, or how it ended."""
        jobs = [job for job in self._library.workspace.jobs.all() if job.kind == TRAINING]
        mine = [job for job in jobs if (job.settings.get("collection") or self._library.first) == collection]
        return work_api.described(mine[-1]) if mine else None

    def promote(self, collection: str, reference: str) -> None:
        """Let a version serve."""
        self._library.engine(collection).models.promote(reference)

    def rollback(self, collection: str, name: str) -> None:
        """Let the version serve that did before."""
        self._library.engine(collection).models.rollback(name)

    def clicks(self, collection: str) -> Clicks:
        """The numbers of the log, counted anew where it, or what serves, has changed; a long log that has grown only
        after a rest, one that somebody was taken out of at once."""
        engine = self._library.engine(collection)
        serving = tuple(f"{each.name}@{each.version}" for each in engine.models.versions() if each.serving)
        path = self._library.events.path
        size, changed = (path.stat().st_size, path.stat().st_mtime_ns) if path.exists() else (0, 0)
        with self._lock:
            known = self._counted.get(collection)
            if known is not None and known.serving == serving:
                grown = size > known.size
                if (size, changed) == (known.size, known.changed) or (grown and time.monotonic() < known.until):
                    return known.clicks
            began = time.monotonic()
            clicks = self._count(collection)
            took = time.monotonic() - began
            rest = 0.0 if took <= QUICK else REST * took
            self._counted[collection] = _Count(clicks, serving, size, changed, time.monotonic() + rest)
            return clicks

    def _count(self, collection: str) -> Clicks:
        min_users = self._library.settings.min_users
        engine, rules = self._library.engine(collection), work.click_rules(min_users)
        names = [name for name in engine.models.names() if engine.models.serving(name) is not None]
        plain = {name: loop.health(engine, name, None, rules).line for name in names}
        if not self._library.events.path.exists():
            return Clicks(None, plain)
        try:
            with histories.history(self._library.home, self._library.events, collection, empty=True) as store:
                if not store.days:
                    return Clicks(None, plain)
                with click_logs.observe(store, memory_mb=rules.memory_mb, threads=rules.threads) as observed:
                    stats = click_logs.click_stats(store, observed, min_users=min_users)
                lines = {name: health_line(loop.health(engine, name, store, rules), plain[name]) for name in names}
                return Clicks(stats, lines)
        except MissingExtraError as error:
            return Clicks(None, plain, str(error))
        except InputError as error:  # names a folder that is gone by now
            return Clicks(None, plain, without_folders(error.message))


def health_line(found: "Health", plain: str) -> str:
    """The line of a model's health; what few searches say of drift is left out of it, as they say next to nothing."""
    if found.queries is None or found.searches >= LEAST_SEARCHES:
        return found.line
    many = counted(found.searches, "search")
    return f"{plain}; since then {many}, too few to say whether people ask for other things (from {LEAST_SEARCHES} on)"


def _opened(engine: "Engine", loss: "Loss", candidate: str, baseline: str | None) -> Opened:
    own = engine.search(loss.query, RANKS, syntax=False, rerank=candidate)
    other = engine.search(loss.query, RANKS, syntax=False, rerank=baseline)
    both = [{hit.id: rank for rank, hit in enumerate(found, start=1)} for found in (own, other)]
    lists = [
        tuple(Place(hit.id, title_of(Document(hit.id, hit.fields)), rank, elsewhere.get(hit.id))
              for rank, hit in enumerate(found, start=1))
        for found, elsewhere in ((own, both[1]), (other, both[0]))
    ]  # fmt: skip
    return Opened(loss, *lists)
