"""A click log whose truth is known: searches of simulated people over a collection with judgements, as UBI writes them.

**Queries** are the topics, with frequencies by Zipf's law: the r-th most frequent is typed in proportion to r^-zipf.
**Lists**: each query has candidates, its judged documents and others drawn at random. A candidate's score is
`ranker` times its gain, plus a normal number drawn once (what the engine gets wrong), plus Gumbel noise of every search
(as lists change with time and person), so that the same result is seen at several positions.
**Clicks** come by one of two users:

- `position`: P(click at k) = θ_k · γ, with θ_k = k^-eta unless a curve is given [craswell2008experimental];
- `cascade`: from the top; an examined result is clicked with probability γ; then the user is satisfied with
  probability γ·satisfaction and leaves, else goes on with probability `persistence` [chapelle2009dynamic].

γ = ε + (1 - ε)(2^grade - 1)/(2^max - 1), with noise ε: what is not relevant is clicked too. **Robots** click on every
result of their searches. A share of the clicks comes twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import orjson

from germane.arrays import Floats, Integers, Mask
from germane.clicks.database import working_database
from germane.clicks.rules import MEMORY
from germane.clicks.store import TRUTH, literal
from germane.data.atomic import open_for_writing, write_bytes
from germane.errors import InputError, ParameterError, StorageError
from germane.schema import HIDDEN, Response
from germane.types import Document, Judgement, Topic, title_of

FIRST_DAY = date(2026, 1, 1)
ROBOT_SEARCHES = 20


@dataclass(frozen=True, slots=True)
class ClickModel:
    """The user: `kind` is "position" or "cascade"; see the module for the rest."""

    kind: Literal["position", "cascade"] = "position"
    eta: float = 1.0
    curve: tuple[float, ...] = ()
    noise: float = 0.1
    satisfaction: float = 0.9
    persistence: float = 0.9

    def __post_init__(self) -> None:
        if self.kind not in ("position", "cascade"):
            raise ParameterError(f"a user is of kind 'position' or 'cascade', not '{self.kind}'")
        for name in ("noise", "satisfaction", "persistence"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ParameterError(f"{name} must be between 0 and 1, not {getattr(self, name)}")
        if not 0.0 <= self.eta <= 10.0:
            raise ParameterError(f"eta must be between 0 and 10, not {self.eta}")
        if not all(0.0 < value <= 1.0 for value in self.curve):
            raise ParameterError("a curve holds probabilities above 0")

    def theta(self, depth: int) -> Floats:
        """P(examined) by position, of the position-based user."""
        if not self.curve:
            theta: Floats = np.arange(1, depth + 1, dtype=np.float64) ** -self.eta
            return theta
        if len(self.curve) < depth:
            raise ParameterError(f"the curve has {len(self.curve)} positions, and lists are {depth} long")
        return np.array(self.curve[:depth])

    def attraction(self, grades: Integers, highest: int) -> Floats:
        """γ of results of these grades."""
        gain = (2.0 ** np.maximum(grades, 0) - 1.0) / (2.0 ** max(highest, 1) - 1.0)
        return self.noise + (1.0 - self.noise) * gain

    def clicks(self, attraction: Floats, rng: np.random.Generator) -> tuple[Mask, Mask]:
        """Which results of lists (a row each) were clicked, and which were examined."""
        lists, depth = attraction.shape
        if self.kind == "position":
            examined = rng.random((lists, depth)) < self.theta(depth)
            return examined & (rng.random((lists, depth)) < attraction), examined
        clicked = np.zeros((lists, depth), np.bool_)
        examined = np.zeros((lists, depth), np.bool_)
        there = np.ones(lists, np.bool_)
        for k in range(depth):
            examined[:, k] = there
            clicked[:, k] = there & (rng.random(lists) < attraction[:, k])
            satisfied = clicked[:, k] & (rng.random(lists) < self.satisfaction * attraction[:, k])
            there = there & ~satisfied & (rng.random(lists) < self.persistence)
        return clicked, examined


@dataclass(frozen=True, slots=True)
class LogSimulation(Response):
    """What was simulated: the files, how much they hold, and the truth. `curve` is θ with θ_1 = 1: the user's own, or
    of a cascade the share of lists examined so far down; `attraction` is γ of every query and document shown."""

    files: tuple[str, ...]
    searches: int
    queries: int
    clicks: int
    repeated_clicks: int
    users: int
    robots: int
    robot_searches: int
    curve: tuple[float, ...]
    random_state: int
    attraction: Annotated[Mapping[tuple[str, str], float], HIDDEN] = field(default_factory=dict)
    robot_names: Annotated[tuple[str, ...], HIDDEN] = ()


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What a query can show: documents by number, their scores without noise, and γ."""

    documents: Integers
    score: Floats
    attraction: Floats


def simulate_log(
    documents: Iterable[Document],
    topics: Iterable[Topic],
    judgements: Iterable[Judgement],
    into: str | Path,
    *,
    model: ClickModel | None = None,
    searches: int = 10_000,
    users: int = 500,
    days: int = 7,
    depth: int = 10,
    zipf: float = 1.0,
    ranker: float = 1.0,
    jitter: float = 0.7,
    robots: float = 0.01,
    repeats: float = 0.02,
    format: Literal["jsonl", "parquet"] = "jsonl",
    random_state: int = 0,
    first_day: date = FIRST_DAY,
) -> LogSimulation:
    """Write `ubi_queries`, `ubi_events` and `truth.json` into a folder. The same arguments make the same bytes of JSON.

    `robots` is a share of the users, `repeats` of the clicks. Searches of robots come on top of `searches`.
    The log begins on `first_day` (UTC).
    """
    model = model or ClickModel()
    for name, value, least in (("searches", searches, 1), ("users", users, 1), ("days", days, 1), ("depth", depth, 1)):
        if value < least:
            raise ParameterError(f"{name} must be at least {least}, not {value}")
    for name, share in (("robots", robots), ("repeats", repeats)):
        if not 0.0 <= share <= 1.0:
            raise ParameterError(f"{name} must be between 0 and 1, not {share}")
    if min(zipf, ranker, jitter) < 0.0 or format not in ("jsonl", "parquet"):
        raise ParameterError("zipf, ranker and jitter must not be negative; the format is 'jsonl' or 'parquet'")
    rng = np.random.default_rng(random_state)
    names, titles = _titles(documents)
    known = _Collection.of(names, topics, judgements)
    candidates = [known.candidates(i, model, depth, ranker, rng) for i in range(len(known.topics))]
    n_robots = round(robots * users)
    robot_searches = n_robots * ROBOT_SEARCHES
    total = searches + robot_searches
    query = _zipf_choice(len(known.topics), zipf, total, rng)
    who = np.concatenate(
        [np.sort(rng.integers(users, size=searches)), users + np.arange(robot_searches) // ROBOT_SEARCHES]
    )
    session, seconds = _times(who, who >= users, days, rng)
    shown, clicked, examined = _lists(query, candidates, model, depth, jitter, rng)
    human = who < users
    clicked[~human] = shown[~human] >= 0
    twice = clicked & human[:, None] & (rng.random(clicked.shape) < repeats)
    curve = model.theta(depth) if model.kind == "position" else examined[human].mean(axis=0)
    log = _Log(
        names,
        titles,
        known.topics,
        query,
        who,
        users,
        session,
        seconds,
        shown,
        clicked,
        twice,
        random_state,
        first_day,
    )
    folder = Path(into)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror}") from error
    made = [folder / "ubi_queries.jsonl", folder / "ubi_events.jsonl"]
    log.write(made[0], made[1], rng)
    if format == "parquet":
        made = [_as_parquet(path) for path in made]
    simulation = LogSimulation(
        files=tuple(map(str, made)),
        searches=total,
        queries=len(np.unique(query)),
        clicks=int(clicked.sum() + twice.sum()),
        repeated_clicks=int(twice.sum()),
        users=len(np.unique(who[human])),
        robots=n_robots,
        robot_searches=robot_searches,
        curve=tuple(float(value) for value in curve / curve[0]),
        random_state=random_state,
        attraction={
            (known.topics[i].text, names[d]): float(g)
            for i, each in enumerate(candidates)
            for d, g in zip(each.documents, each.attraction, strict=True)
        },
        robot_names=tuple(_user(users + i, users) for i in range(n_robots)),
    )
    truth = {**simulation.to_dict(), "robot_names": simulation.robot_names}
    write_bytes(folder / TRUTH, orjson.dumps(truth, option=orjson.OPT_INDENT_2) + b"\n")
    return simulation


def _titles(documents: Iterable[Document]) -> tuple[list[str], list[str]]:
    """Ids and titles; without a title, the first words of the text."""
    names, titles = [], []
    for document in documents:
        names.append(document.id)
        titles.append(title_of(document.fields))
    if not names:
        raise InputError("there are no documents to show")
    return names, titles


@dataclass(frozen=True, slots=True)
class _Collection:
    """Topics that have a relevant document, and the judged documents of each by number."""

    topics: list[Topic]
    judged: list[dict[int, int]]
    highest: int
    size: int

    @classmethod
    def of(cls, names: Sequence[str], topics: Iterable[Topic], judgements: Iterable[Judgement]) -> "_Collection":
        number = {name: i for i, name in enumerate(names)}
        grades: dict[str, dict[int, int]] = {}
        highest = 1
        for query_id, doc_id, grade in judgements:
            if doc_id in number:
                grades.setdefault(query_id, {})[number[doc_id]] = grade
                highest = max(highest, grade)
        kept = [topic for topic in topics if max(grades.get(topic.id, {}).values(), default=0) > 0]
        if not kept:
            raise InputError("no topic has a relevant document among the documents")
        return cls(kept, [grades[topic.id] for topic in kept], highest, len(names))

    def candidates(self, i: int, model: ClickModel, depth: int, ranker: float, rng: np.random.Generator) -> _Candidates:
        """The judged documents of a topic, and others until there are twice as many as a list is long."""
        judged = self.judged[i]
        others = rng.integers(self.size, size=2 * depth).tolist()
        wanted = max(2 * depth, len(judged))
        chosen = list(dict.fromkeys([*judged, *others]))[:wanted]
        grades = np.array([judged.get(one, 0) for one in chosen], np.int64)
        attraction = model.attraction(grades, self.highest)
        gain = (2.0 ** np.maximum(grades, 0) - 1.0) / (2.0**self.highest - 1.0)
        return _Candidates(np.array(chosen, np.int64), ranker * gain + rng.normal(size=len(chosen)), attraction)


def _zipf_choice(n: int, zipf: float, size: int, rng: np.random.Generator) -> Integers:
    weights = np.arange(1, n + 1, dtype=np.float64) ** -zipf
    chosen: Integers = rng.permutation(n)[rng.choice(n, size=size, p=weights / weights.sum())]
    return chosen


def _times(who: Integers, robot: Mask, days: int, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """Sessions of one or more searches each, somewhere in the days; robots have one, and no rest in it."""
    changed = np.concatenate([[True], who[1:] != who[:-1]])
    begins = changed | (~robot & (rng.random(len(who)) < 0.5))
    session: Integers = np.cumsum(begins) - 1
    gaps = np.where(begins, 0.0, np.where(robot, 2.0, 20.0 + rng.exponential(90.0, len(who))))
    passed = np.cumsum(gaps)
    start = rng.random(int(session[-1]) + 1) * max(days * 86400.0 - 7200.0, 1.0)
    return session, start[session] + passed - passed[begins][session]


def _lists(
    query: Integers,
    candidates: Sequence[_Candidates],
    model: ClickModel,
    depth: int,
    jitter: float,
    rng: np.random.Generator,
) -> tuple[Integers, Mask, Mask]:
    """What each search showed (documents by number, -1 for none), what was clicked, and what was examined."""
    shown = np.full((len(query), depth), -1, np.int64)
    clicked = np.zeros((len(query), depth), np.bool_)
    examined = np.zeros((len(query), depth), np.bool_)
    order = np.argsort(query, kind="stable")
    ends = np.searchsorted(query[order], np.arange(len(candidates) + 1))
    for i, each in enumerate(candidates):
        for first in range(ends[i], ends[i + 1], 20_000):
            rows = order[first : min(first + 20_000, ends[i + 1])]
            scores = each.score + jitter * rng.gumbel(size=(len(rows), len(each.score)))
            top = np.argsort(-scores, axis=1)[:, :depth]
            width = top.shape[1]
            shown[rows, :width] = each.documents[top]
            clicked[rows, :width], examined[rows, :width] = model.clicks(each.attraction[top], rng)
    return shown, clicked, examined


def _user(number: int, users: int) -> str:
    return f"client-{number:06d}" if number < users else f"robot-{number - users:06d}"


@dataclass(frozen=True, slots=True)
class _Log:
    """The simulated searches, and how they are written."""

    names: Sequence[str]
    titles: Sequence[str]
    topics: Sequence[Topic]
    query: Integers
    who: Integers
    users: int
    session: Integers
    seconds: Floats
    shown: Integers
    clicked: Mask
    twice: Mask
    random_state: int
    first_day: date

    def write(self, queries: Path, events: Path, rng: np.random.Generator) -> None:
        """The rows of both files, each in the order of the searches' times."""
        with open_for_writing(queries) as query_file, open_for_writing(events) as event_file:
            for i in np.argsort(self.seconds, kind="stable").tolist():
                query_file.write(_line(self._query_row(i)))
                for row in self._event_rows(i, rng):
                    event_file.write(_line(row))

    def _shared(self, i: int) -> dict[str, Any]:
        return {
            "application": "germane-simulation",
            "query_id": f"{self.random_state}-{i:08d}",
            "client_id": _user(int(self.who[i]), self.users),
        }

    def _query_row(self, i: int) -> dict[str, Any]:
        hits = [self.names[d] for d in self.shown[i].tolist() if d >= 0]
        return {
            **self._shared(i),
            "timestamp": _timestamp(self.first_day, self.seconds[i]),
            "user_query": self.topics[self.query[i]].text,
            "query_response_hit_ids": hits,
        }

    def _event_rows(self, i: int, rng: np.random.Generator) -> list[dict[str, Any]]:
        rows = []
        at = float(self.seconds[i])
        for k in np.flatnonzero(self.clicked[i]).tolist():
            at += 1.0 if self.who[i] >= self.users else 2.0 + float(rng.exponential(15.0))
            for again in range(2 if self.twice[i, k] else 1):
                document = int(self.shown[i, k])
                rows.append(
                    {
                        **self._shared(i),
                        "action_name": "click",
                        "session_id": f"session-{self.random_state}-{int(self.session[i])}",
                        "timestamp": _timestamp(self.first_day, at + again),
                        "event_attributes": {
                            "position": {"ordinal": k + 1},
                            "object": {"object_id": self.names[document], "name": self.titles[document]},
                        },
                    }
                )
        return rows


def _line(row: Mapping[str, Any]) -> str:
    return orjson.dumps(row).decode() + "\n"


def _timestamp(first_day: date, seconds: float) -> str:
    midnight = datetime(first_day.year, first_day.month, first_day.day, tzinfo=UTC)
    time = midnight + timedelta(milliseconds=round(1000 * float(seconds)))
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _as_parquet(path: Path) -> Path:
    made = path.with_suffix(".parquet")
    with working_database(path.parent, memory_mb=MEMORY, threads=None) as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(
            f"COPY (SELECT * FROM read_json({literal(str(path))}, format = 'newline_delimited', sample_size = -1)) "
            f"TO {literal(str(made))} (FORMAT parquet, COMPRESSION zstd)"
        )
    path.unlink()
    return made
