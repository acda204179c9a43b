"""Reports of learning beside the versions themselves: whether clicks have drifted, and what was erased."""

from dataclasses import dataclass
from typing import Annotated

from germane.schema import ABSENT, Response


@dataclass(frozen=True, slots=True)
class Stability:
    """The population stability index of one distribution. `chance` is what it would be without any drift, on average.

    `verdict` depends on what exceeds that by two standard deviations: "stable" below 0.1, "shifting" below 0.2,
    "drifted" from there on.
    """

    psi: float
    chance: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Health(Response):
    """When and on what the serving model was trained, and whether clicks have drifted since; `line` says it in one.

    `queries` and `positions` are left out where no newer clicks tell.
    """

    name: str
    version: int
    trained_at: str
    line: str
    queries: Annotated[Stability | None, ABSENT] = None
    positions: Annotated[Stability | None, ABSENT] = None
    searches: int = 0


@dataclass(frozen=True, slots=True)
class ErasedFrom(Response):
    """A version of a model that has seen clicks which are erased now. `removed`: it is gone too. `by_days`: its record
    tells the days of its clicks, and not whose they were.
    """

    index: str
    version: str
    serving: bool
    removed: bool
    by_days: bool = False


@dataclass(frozen=True, slots=True)
class Erasure(Response):
    """What was taken out of the history: rows of one user, or of days too old; the models that have seen them, and how
    many versions have not."""

    queries: int
    events: int
    days: int
    models: tuple[ErasedFrom, ...]
    untouched: int = 0
