"""What the tools of an assistant answer: plain values; the protocol's package derives the schemas from them."""

from dataclasses import dataclass, field

from germane.tables import figure
from germane.types import FieldValue


@dataclass
class Result:
    """One document of a list. `before`: its place before marks moved it, from 1. `sources`: who found it.

    An assistant reads the score: it has five digits.
    """

    id: str
    title: str
    url: str
    score: float | None = None
    snippet: str = ""
    before: int | None = None
    sources: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.score is not None:
            self.score = float(figure(self.score))


@dataclass
class Results:
    """A list, best first. `total`: how many were found. `notes`: what may surprise, and what went wrong.

    `search`: the number under which the list is kept; null where nothing is kept.
    """

    results: list[Result]
    total: int
    notes: list[str] = field(default_factory=list)
    search: int | None = None


@dataclass
class Text:
    """A document, whole. `metadata`: its other fields."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, FieldValue]


@dataclass
class Part:
    """What a word of the query adds to a score, and how often the document holds it."""

    word: str
    count: int
    adds: float


@dataclass
class Why:
    """The parts of a score: `score` is the sum of what the words add, and `rest`."""

    id: str
    model: str
    score: float
    words: list[Part]
    rest: float


@dataclass
class Marked:
    """The marks that hold on a saved search."""

    search: int
    relevant: list[str]
    not_relevant: list[str]


@dataclass
class Saved:
    """A topic that is followed from now on, and how many documents it began with."""

    topic: str
    seeds: int


@dataclass
class Delivery:
    """A document that a topic delivered, and when it came."""

    topic: str
    id: str
    title: str
    url: str
    score: float
    seen: str


@dataclass
class News:
    """What topics delivered, the latest first; `topics`: all that are followed."""

    topics: list[str]
    hits: list[Delivery]
