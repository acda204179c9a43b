"""Pairs (query, title, weight) for learning: the query click field [gao2011clickthrough, §5.1], debiased.

Score(d, q) = E[γ | C, Σ_k n_k θ_k]

for C clicks on d for q and n_k impressions at position k: the attraction γ of the position-based model that is to be
expected of so many clicks in so many examinations, given how γ is distributed over the pairs of the log
(`attraction.py`), so that one click of one impression is not certainty. With a prior weight m it is
(C + m·μ) / (Σ_k n_k θ_k + m) instead: smoothed by m examinations at the mean rate μ = ΣC / Σ_k n_k θ_k of the log.
Without debiasing all θ_k are 1, and it is the click-through rate. The paper retains pairs whose score exceeds a
threshold and learns from them; the score is kept as the pair's weight.

Far down a list few results are examined, and one click by chance makes a score above μ. So a pair is kept if γ > μ is
likely enough: P(γ > μ | C, Σ_k n_k θ_k), or, with a prior weight, by the standard error
√(C + m·μ) / (Σ_k n_k θ_k + m) of a count which is about Poisson.
"""

import math
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from tempfile import gettempdir
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.clicks.attraction import AttractionPrior, attraction_prior
from germane.clicks.database import working_database
from germane.clicks.observations import Observations
from germane.clicks.position_bias import PositionCurve, em_curve
from germane.clicks.rules import PairRules
from germane.clicks.store import literal
from germane.data.jsonl import json_object
from germane.data.lines import decode, read_lines
from germane.errors import InputError, ParameterError, StorageError
from germane.schema import MaybeNaN, Response
from germane.types import Document

COLUMNS = ("query", "title", "weight", "clicks", "shown", "object")
_COPY = {
    ".parquet": "FORMAT parquet, COMPRESSION zstd",
    ".jsonl": "FORMAT json",
    ".tsv": "FORMAT csv, DELIMITER '\t', QUOTE '', ESCAPE '', HEADER",
}
_FINE, _STEPS = 50, 16
"""Clicks below this are counted one by one; steps to a factor of e."""
_INSERTED = 10_000
"""Titles handed over at a time."""


class Pair(NamedTuple):
    """A query, the title of a document clicked for it, and Score(d, q)."""

    query: str
    title: str
    weight: float


@dataclass(frozen=True, slots=True)
class PairsReport(Response):
    """The pairs written, the queries and titles in them, the position curve, the mean click rate of an examined result
    (μ) and the threshold used; and what was left out, pairs by reason."""

    pairs: int
    queries: int
    titles: int
    clicks: int
    curve: tuple[MaybeNaN, ...]
    mean_rate: MaybeNaN
    threshold: MaybeNaN
    dropped: Mapping[str, int]


def write_pairs(
    observations: Observations,
    target: str | Path,
    rules: PairRules | None = None,
    *,
    curve: PositionCurve | None = None,
    titles: Iterable[Document] | None = None,
) -> PairsReport:
    """Write the pairs to a file (.parquet, .jsonl or .tsv), whole or not at all, in the order of queries and weights.

    `titles` are documents with the titles of the objects; without them, the names that the log's own events bring
    serve. `curve` is learnt by EM unless it is given.
    """
    rules = rules or PairRules()
    path = Path(target)
    if path.suffix.lower() not in _COPY:
        raise ParameterError(f"{path}: pairs are written to files that end in {', '.join(_COPY)}")
    positions = observations.rules.max_position
    if curve is None:
        curve = em_curve(observations.cells(), positions=positions)
    theta = curve.filled(positions) if rules.debias else np.ones(positions)
    if titles is not None:
        _take_titles(observations, titles)
    mean, threshold = _score(observations, theta, rules)
    dropped = _judge(observations, rules, threshold)
    _write(observations, path)
    pairs, queries, different, clicks = observations.one(
        "SELECT count(*), count(DISTINCT query), count(DISTINCT title), coalesce(sum(clicks), 0) FROM judged_pairs "
        "WHERE reason IS NULL"
    )
    return PairsReport(
        pairs, queries, different, int(clicks), tuple(float(value) for value in curve.theta), mean, threshold, dropped
    )


def _take_titles(observations: Observations, documents: Iterable[Document]) -> None:
    """Put the documents' titles in the place of those in the log."""
    connection = observations.connection
    connection.execute("CREATE OR REPLACE TEMP TABLE titles (object VARCHAR, title VARCHAR)")
    waiting: dict[str, str] = {}

    def insert() -> None:
        told = {"object": np.array(list(waiting), object), "title": np.array(list(waiting.values()), object)}
        connection.register("told", told)
        connection.execute("INSERT INTO titles SELECT object, title FROM told ANTI JOIN titles USING (object)")
        connection.unregister("told")
        waiting.clear()

    for document in documents:
        waiting.setdefault(document.id, " ".join(str(document.fields.get("title") or "").split()))
        if len(waiting) >= _INSERTED:
            insert()
    if waiting:
        insert()


def _score(observations: Observations, theta: Floats, rules: PairRules) -> tuple[float, float]:
    """Make the table `scored`; the mean rate μ, and the threshold."""
    connection = observations.connection
    connection.execute("CREATE OR REPLACE TEMP TABLE theta (position INTEGER, theta DOUBLE)")
    for position, value in enumerate(theta, start=1):
        connection.execute("INSERT INTO theta VALUES (?, ?)", [position, float(value)])
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE summed AS SELECT query, object, CAST(sum(clicked) AS BIGINT) AS clicks, "
        "CAST(sum(shown) AS BIGINT) AS shown, sum(shown * theta) AS examined "
        "FROM coded_cells JOIN theta USING (position) GROUP BY query, object"
    )
    clicks, examined = observations.one("SELECT sum(clicks), sum(examined) FROM summed")
    mean = float(clicks) / float(examined) if examined else float("nan")
    if not clicks:
        scored = "SELECT *, 0.0 AS weight, false AS certain FROM summed"
    elif rules.prior_weight is None:
        scored = _by_learnt_prior(_prior(observations), mean, rules.certainty)
    else:
        scored = _by_prior_weight(rules.prior_weight, mean, rules.certainty)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE scored AS SELECT * FROM ({scored}) WHERE clicks > 0")
    return mean, mean if rules.threshold is None else float(rules.threshold)


def _prior(observations: Observations) -> AttractionPrior:
    """How γ is distributed. Pairs are counted by clicks and examinations; the many of them by steps of 6 %, and by
    whole numbers alone, so that the order in which threads count does not matter."""
    fine = f"ln({_FINE}.0)"
    found = observations.connection.execute(
        f"""
        SELECT CAST(CASE WHEN clicks < {_FINE} THEN clicks
                         ELSE {_FINE} + floor({_STEPS} * (ln(clicks) - {fine})) END AS INTEGER) AS c,
               CAST(floor({_STEPS} * ln(examined)) AS INTEGER) AS e, count(*) AS pairs
        FROM summed WHERE examined > 0 GROUP BY ALL ORDER BY ALL
        """
    ).fetchnumpy()
    many = np.asarray(found["c"], np.float64)
    clicks = np.where(many < _FINE, many, _FINE * np.exp((many - _FINE + 0.5) / _STEPS))
    return attraction_prior(clicks, np.exp((np.asarray(found["e"], np.float64) + 0.5) / _STEPS), found["pairs"])


def _by_learnt_prior(prior: AttractionPrior, mean: float, certainty: float) -> str:
    """The statement of scores by Bayes' rule; so many clicks that nothing is left of the prior speak for themselves."""
    log_peak = "(clicks * ln(clicks / examined) - clicks)"  # of the likelihood over all γ, so that no part exceeds 1
    parts = ", ".join(
        f"{share!r} * exp(clicks * {math.log(level)!r} - examined * {level!r} - {log_peak})"
        for level, share in zip(prior.levels.tolist(), prior.shares.tolist(), strict=True)
    )
    levels, above = prior.levels.tolist(), (prior.levels > mean).astype(np.float64).tolist()
    return f"""
        SELECT query, object, clicks, shown,
               coalesce(list_dot_product(parts, {levels}::DOUBLE[]) / total, clicks / examined) AS weight,
               coalesce(list_dot_product(parts, {above}::DOUBLE[]) / total > {certainty!r},
                        clicks / examined > {mean!r}) AS certain
        FROM (SELECT *, nullif(list_sum(parts), 0) AS total FROM (SELECT *, [{parts}] AS parts FROM summed
              WHERE clicks > 0))
    """


def _by_prior_weight(weight: float, mean: float, certainty: float) -> str:
    """The statement of scores smoothed by so many examinations at the mean rate."""
    errors = NormalDist().inv_cdf(certainty) if certainty > 0 else -math.inf
    smoothed, size = f"(clicks + {weight * mean!r})", f"(examined + {float(weight)!r})"
    certain = f"{smoothed} / {size} - {errors!r} * sqrt{smoothed} / {size} > {mean!r}" if certainty > 0 else "true"
    return f"SELECT *, {smoothed} / {size} AS weight, {certain} AS certain FROM summed"


def _judge(observations: Observations, rules: PairRules, threshold: float) -> dict[str, int]:
    """Make the table `judged_pairs`, with the reason of each pair that is left out; how many for each."""
    enough = "certain" if rules.threshold is None else f"weight > {threshold!r}"
    observations.connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE judged_pairs AS
        SELECT q.text AS query, o.text AS object, clicks, shown, weight, t.title, CASE
            WHEN u.users < {rules.min_users} THEN 'a query of fewer than {rules.min_users} users'
            WHEN clicks < {rules.min_clicks} THEN 'fewer than {rules.min_clicks} clicks'
            WHEN NOT {enough} THEN 'a score not above the threshold'
            WHEN t.object IS NULL THEN 'no title is known'
            WHEN trim(t.title) = '' THEN 'an empty title' END AS reason
        FROM scored s JOIN coded_users u USING (query) JOIN queries q ON s.query = q.code
        JOIN objects o ON s.object = o.code LEFT JOIN titles t ON o.text = t.object
        """
    )
    found = observations.connection.execute(
        "SELECT reason, count(*) FROM judged_pairs WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason"
    ).fetchall()
    return dict(found)


def _write(observations: Observations, path: Path) -> None:
    """The file takes its place once it is on the disk."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    plain = ("query", "title", "object")
    # A tab or a line's end within a cell would be a new one.
    chosen = [f"regexp_replace({name}, '\\s+', ' ', 'g') AS {name}" if name in plain else name for name in COLUMNS]
    try:
        observations.connection.execute(
            f"COPY (SELECT {', '.join(chosen)} FROM judged_pairs WHERE reason IS NULL "
            f"ORDER BY query, weight DESC, object) TO {literal(str(temporary))} ({_COPY[path.suffix.lower()]})"
        )
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def people_of_pairs(observations: Observations) -> frozenset[int]:
    """The codes of all who typed a query of a pair that was written, by `write_pairs` before."""
    found = observations.connection.execute(
        "SELECT DISTINCT who FROM daily_users u JOIN queries q ON u.query = q.code "
        "WHERE q.text IN (SELECT query FROM judged_pairs WHERE reason IS NULL)"
    ).fetchall()
    return frozenset(code for (code,) in found)


def read_pairs(source: str | Path) -> Iterator[Pair]:
    """The pairs of a file (.parquet, .jsonl or .tsv, the latter two compressed or not), one at a time."""
    path = Path(source)
    endings = {ending.lower() for ending in path.suffixes}
    if ".parquet" in endings:
        return _read_parquet(path)
    if ".jsonl" in endings:
        return _read_jsonl(path)
    if ".tsv" in endings:
        return _read_tsv(path)
    raise InputError(f"pairs are read from files that end in {', '.join(_COPY)}", source=str(path))


def _read_parquet(path: Path) -> Iterator[Pair]:
    if not path.is_file():
        raise InputError("no such file", source=str(path))
    with working_database(Path(gettempdir()), memory_mb=512, threads=1) as connection:
        connection.execute("SET preserve_insertion_order = true")
        found = connection.execute(f"SELECT query, title, weight FROM read_parquet({literal(str(path))})")
        while rows := found.fetchmany(_INSERTED):
            yield from (Pair(*row) for row in rows)


def _read_jsonl(path: Path) -> Iterator[Pair]:
    for number, line in read_lines(path):
        if not line.isspace():
            record = json_object(line, str(path), number)
            yield _pair([record.get(name) for name in COLUMNS[:3]], str(path), number)


def _read_tsv(path: Path) -> Iterator[Pair]:
    places: list[int] = []
    for number, line in read_lines(path):
        cells: list[str | None] = [*decode(line, str(path), number).rstrip("\r\n").split("\t")]
        if not places:
            missing = [name for name in COLUMNS[:3] if name not in cells]
            if missing:
                raise InputError(f"the header has no column '{missing[0]}'", source=str(path), line=number)
            places = [cells.index(name) for name in COLUMNS[:3]]
            continue
        padded = [*cells, *[None] * (max(places) + 1 - len(cells))]
        yield _pair([padded[place] for place in places], str(path), number)


def _pair(values: "list[object]", source: str, line: int) -> Pair:
    query, title, weight = values
    try:
        number = float(weight)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"a weight must be a number, not '{weight}'", source=source, line=line) from None
    if not isinstance(query, str) or not isinstance(title, str) or not query or not title:
        raise InputError("a pair needs a query and a title", source=source, line=line)
    if not 0.0 <= number < float("inf"):
        raise InputError(f"a weight must be finite and not negative, not {number}", source=source, line=line)
    return Pair(query, title, number)
