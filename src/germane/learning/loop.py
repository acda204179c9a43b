"""From clicks to a candidate, through the gate, to what serves.

1. The history becomes pairs with the titles of the index (`sample.py`).
2. Some queries, or the last days, are held out; queries by their hash, so that no later model learns from them either.
3. The model is fitted on three quarters of the other queries; its weights are tuned on the last quarter; then it is
   fitted on all of them.
4. Candidate and serving model (or the plain ranking) rank the held-out queries (`gate.py`).
5. The candidate is kept as a version in any case (`engine/models/model_store.py`); it serves if it passed.
"""

import datetime
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from germane.clicks.rules import ClickRules
from germane.clicks.store import ClickStore
from germane.engine.models.model_store import DEFAULT_NAME, check_name
from germane.engine.models.source import FieldSource
from germane.engine.models.stage import LatentStage
from germane.engine.models.values import CLICKED, JUDGED, GateReport, LearnReport, ModelVersion, TrainingData
from germane.errors import InputError, ParameterError
from germane.evaluate.frames import AnyQrels, AnyTopics, as_qrels, as_topics
from germane.latent.ensemble import EnsembleModel
from germane.latent.pairs import Pairs
from germane.latent.registry import Estimator, latent_named
from germane.latent.saving import LatentModel
from germane.lazy import on_first_use
from germane.learning.combining import tuned_weights, with_weights
from germane.learning.drift import distribution_of, positions_stability, queries_stability
from germane.learning.gate import GateQuery, judged_at_gate
from germane.learning.sample import ClickedPair, ClickSample, held_out, sampled
from germane.learning.tuning import GRIDS, mixed, tuned_mixing
from germane.learning.values import Health
from germane.wording import counted

with on_first_use(__name__):
    from germane import clicks as click_logs

if TYPE_CHECKING:
    from germane.engine.engine import Engine

HoldOut: TypeAlias = Literal["query", "time"]
GATE, TUNING = "gate", "tuning"
TUNING_SHARE = 0.25
LEAST_HELD_OUT = 2
"""Queries without which there is nothing to test."""
MOST_HELD_OUT = 1000
MIXING = frozenset(name for grid in GRIDS.values() for name in grid)
OnProgress: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class LearnSettings:
    """Settings of learning and judging a candidate.

    `model`: a name of `latent.LATENT_NAMES`; `parameters`: its own, weights of the mixture among them, which are then
    not tuned. `hold_out`: "query" (a share of the queries) or "time" (that share of the days, the last ones).
    """

    model: str = "wtm"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    hold_out: HoldOut = "query"
    share: float = 0.2
    depth: int = 1000
    alpha: float = 0.05
    allow_equal: bool = False

    def __post_init__(self) -> None:
        if self.hold_out not in ("query", "time"):
            raise ParameterError(f"hold_out is 'query' or 'time', not '{self.hold_out}'")
        if not 0 < self.share < 1:
            raise ParameterError(f"share must lie between 0 and 1, not {self.share}")
        if self.depth < 1:
            raise ParameterError(f"depth must be at least 1, not {self.depth}")
        if not 0 < self.alpha < 1:
            raise ParameterError(f"alpha must lie between 0 and 1, not {self.alpha}")
        _ = self.estimator  # complains before the work begins

    @property
    def estimator(self) -> Estimator:
        """The model before it has learnt."""
        return latent_named(
            self.model, **{name: value for name, value in self.parameters.items() if name != "first_weight"}
        )

    @property
    def fixed(self) -> dict[str, float]:
        """The weights of the mixture that were given."""
        return {name: float(value) for name, value in self.parameters.items() if name in MIXING}


def learn(
    engine: "Engine",
    clicks: str | os.PathLike[str] | ClickStore,
    *,
    name: str = DEFAULT_NAME,
    settings: LearnSettings,
    rules: ClickRules | None = None,
    topics: AnyTopics | None = None,
    qrels: AnyQrels | None = None,
    force: bool = False,
    on_progress: OnProgress | None = None,
) -> LearnReport:
    """Train a candidate, judge it against what searches use, keep it, and promote it if it passed or by `force`."""
    check_name(name)
    store = clicks if isinstance(clicks, ClickStore) else ClickStore.open(os.fspath(clicks))
    rules = rules or ClickRules()
    told = on_progress or (lambda step: None)
    judged = judged_queries(topics, qrels)
    told("reading clicks")
    training, test, all_days = split(engine, store, settings, rules)
    told("training")
    candidate, mixing = fitted(engine, training.pairs, settings, told)
    told("comparing")
    serving = engine.models.promoted()
    baseline = None if serving is None else engine.models.stage(serving)
    stage = LatentStage(candidate, mixing["first_weight"], name="the candidate")
    sets = {CLICKED: test, **({JUDGED: judged} if judged else {})}
    gate = judged_at_gate(
        engine, sets, stage, baseline, depth=settings.depth, alpha=settings.alpha, allow_equal=settings.allow_equal
    )
    version = engine.models.add(
        name,
        candidate,
        ModelVersion(
            name, 0, settings.model, dict(settings.parameters), mixing,
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            _data(training, all_days, test, settings, store.days[-1]), gate, "", False,
            distribution_of(all_days.searches, all_days.clicks_by_position),
        ),
        people=all_days.people,
    )  # fmt: skip
    promoted = gate.passed or force
    if promoted:
        version = engine.promote(f"{name}@{version.version}")
    return LearnReport(version, gate, promoted, force and not gate.passed)


def compare(
    engine: "Engine",
    store: ClickStore | None,
    candidate: str,
    baseline: str | None,
    *,
    settings: LearnSettings,
    rules: ClickRules,
    topics: AnyTopics | None = None,
    qrels: AnyQrels | None = None,
) -> GateReport:
    """One version against another, or against the plain ranking, as the gate does it; nothing is promoted."""
    stages = [None if each is None else engine.models.stage(each) for each in (candidate, baseline)]
    sets: dict[str, Sequence[GateQuery]] = {}
    if store is not None:
        sets[CLICKED] = split(engine, store, settings, rules)[1]
    judged = judged_queries(topics, qrels)
    if judged:
        sets[JUDGED] = judged
    if not sets:
        raise ParameterError("a comparison needs clicks, or topics with judgements")
    return judged_at_gate(
        engine, sets, *stages, depth=settings.depth, alpha=settings.alpha, allow_equal=settings.allow_equal
    )


def split(
    engine: "Engine", store: ClickStore, settings: LearnSettings, rules: ClickRules
) -> tuple[ClickSample, list[GateQuery], ClickSample]:
    """Return the training pairs, the held-out queries, and all of the days learnt from."""

    def sample(days: Sequence[str] | None) -> ClickSample:
        return sampled(
            store, engine.documents(), engine.text_fields, days=days, search_rules=rules.search,
            pair_rules=rules.pairs, memory_mb=rules.memory_mb, threads=rules.threads,
        )  # fmt: skip

    days = store.days
    if not days:
        raise InputError(
            "the history is empty: there are no clicks to learn from yet; import a log of them, or let a server log "
            "searches and clicks, and try again"
        )
    if settings.hold_out == "time":
        n = max(1, round(settings.share * len(days)))
        if n >= len(days):
            raise ParameterError(
                f"a history of {len(days)} day cannot be divided by time: hold out queries, or import more days"
            )
        training, later = sample(days[:-n]), sample(days[-n:])
        whole, test = replace(training, people=training.people | later.people), later.pairs
    else:
        whole = sample(None)
        out = [pair for pair in whole.pairs if held_out(pair.query, settings.share, GATE)]
        kept = [pair for pair in whole.pairs if not held_out(pair.query, settings.share, GATE)]
        training, test = ClickSample(whole.days, kept, whole.report, whole.searches, whole.clicks_by_position), out
    queries = gate_queries(test)
    if not training.pairs or len(queries) < LEAST_HELD_OUT:
        left = "; ".join(f"{counted(n, 'pair')}: {reason}" for reason, n in whole.report.dropped.items())
        raise InputError(
            f"too few clicks to learn from and to test: {counted(len(training.pairs), 'pair')}, and "
            f"{counted(len(queries), 'query')} "
            'held out; hold out more, as share=0.4, or the last days, hold_out="time"'
            + (f" (left out: {left})" if left else "")
        )
    return training, queries[:MOST_HELD_OUT], whole


def gate_queries(pairs: Sequence[ClickedPair]) -> list[GateQuery]:
    """The queries of pairs with the gains of their documents."""
    gains: dict[str, dict[str, float]] = {}
    for pair in pairs:
        gains.setdefault(pair.query, {})[pair.doc_id] = pair.weight
    users = {pair.query: pair.users for pair in pairs}
    return [GateQuery(query, gains_of_query, users[query]) for query, gains_of_query in gains.items()]


def judged_queries(topics: AnyTopics | None, qrels: AnyQrels | None) -> list[GateQuery]:
    """Topics with a relevant document."""
    if (topics is None) != (qrels is None):
        raise ParameterError("judged queries need both topics and judgements")
    if topics is None or qrels is None:
        return []
    grades = as_qrels(qrels)
    found = [
        GateQuery(topic.text, {doc: float(grade) for doc, grade in grades[topic.id].items() if grade > 0})
        for topic in as_topics(topics)
        if topic.id in grades
    ]
    queries = [query for query in found if query.gains]
    if not queries:
        raise InputError("no topic has a document judged relevant: do the topics and the judgements belong together?")
    return queries


def fitted(
    engine: "Engine", pairs: Sequence[ClickedPair], settings: LearnSettings, told: OnProgress
) -> tuple[LatentModel, dict[str, float]]:
    """The model of all pairs, its weights tuned on queries that a model of the others has not seen."""
    fixed = settings.fixed
    tuning = [pair for pair in pairs if held_out(pair.query, TUNING_SHARE, TUNING)]
    others = [pair for pair in pairs if not held_out(pair.query, TUNING_SHARE, TUNING)]
    first = _fit(engine, others if others else pairs, settings)
    told("tuning")
    queries = gate_queries(tuning) if others else []
    if isinstance(first, EnsembleModel):
        mixing = tuned_weights(engine, first, queries, settings.depth, fixed)
    else:
        mixing = tuned_mixing(engine, first, queries, settings.depth, fixed)
    whole = _fit(engine, pairs, settings)
    return with_weights(whole, mixing) if isinstance(whole, EnsembleModel) else mixed(whole, mixing), mixing


def _fit(engine: "Engine", pairs: Sequence[ClickedPair], settings: LearnSettings) -> LatentModel:
    return settings.estimator.fit(Pairs.build([(p.query, p.title, p.weight) for p in pairs], engine.analyzer))


def _data(
    training: ClickSample, whole: ClickSample, test: Sequence[GateQuery], settings: LearnSettings, last_day: str
) -> TrainingData:
    return TrainingData(
        training.fingerprint,
        whole.days[0],
        whole.days[-1],
        sum(whole.searches.values()),
        whole.report.clicks,
        len(training.pairs),
        len({pair.query for pair in training.pairs}),
        settings.hold_out,
        len(test),
        dict(whole.report.dropped),
        last_day,
    )


def health(engine: "Engine", name: str, store: ClickStore | None, rules: ClickRules) -> Health:
    """When and on what the serving model was trained and, with a history, whether clicks have drifted since."""
    serving = engine.models.serving(name)
    if serving is None:
        raise ParameterError(f"no version of '{name}' serves: there is nothing to tell the health of")
    data = serving.data
    line = (
        f"{name}@{serving.version} ({serving.model}), trained {serving.minute} on {counted(data.pairs, 'pair')} of "
        f"{data.first_day} to {data.last_day}"
    )
    source = FieldSource.read(engine.vector_fields.get(name))
    if source is not None and source != FieldSource.of(serving):
        line += f"; the index has vectors of {source.reference}, which the next change or 'germane vectors fold' renews"
    newer = [day for day in store.days if day > data.last_day] if store is not None else []
    if store is None or not newer:
        more = "" if store is None else "; no newer clicks"
        return Health(name, serving.version, serving.trained_at, line + more)

    with click_logs.observe(
        store, rules.search, memory_mb=rules.memory_mb, threads=rules.threads, days=newer
    ) as observed:
        searches, clicks = observed.searches_by_query(), observed.raw_curve()[1]
    queries = queries_stability(serving.distribution, searches)
    positions = positions_stability(serving.distribution, clicks)
    since = (
        f"; since then {counted(sum(searches.values()), 'search')}: queries {queries.verdict} (PSI {queries.psi:.2f}), "
        f"positions {positions.verdict} (PSI {positions.psi:.2f})"
    )
    return Health(name, serving.version, serving.trained_at, line + since, queries, positions, sum(searches.values()))
