"""Tracking experiments: topics followed from one story through a stream, and what is missed and falsely delivered.

Its data sets are the numbers N of unjudged documents learnt from (SD table 6.2), "N=0", "N=5"; then, of systems with
`live = true`, "online" and "judged". Costs are better the lower they are. Topics are divided by lot into two halves;
each half is followed with the parameters that gave the least MinCost on the other, and has the threshold of its own
MinCost (SD 6.2). Beside what all kinds have (`experiment.py`), the file may say:

kind = "tracking"
measures = ["MinCost", "Cost"]      Cost: that at the decision threshold of the normalised scores, of live systems
feedback = [0, 2, 5, 25, 50, 100]   N: the best documents of the vector space, which learns nothing itself
curves_at = 5                       the N of the DET plot (SD figure 6.1)

[stream]                            `StreamSource` of `tracked_streams.py`

[[system]]
name = "SD"
method = "sd"                       a method of `germane.track`
parameters = { seed_weight = 2 }
tune = { lam_e = [0.001, 0.01] }    each N has its own setting, as in the paper
live = false                        true: scores are normalised, and the system is also run as people run it:
                                    "online" learns from what is above its adaptation threshold, 25 at most,
                                    "judged" is told the truth about everything it delivers, and of nothing else
[[outperforms]]                     SD table 6.3: on how many topics a costs less than b
a = "SD"
b = "RM"

[[at_most]]                         a bar, like `[[at_least]]`
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from germane.arrays import Floats, Integers
from germane.evaluate import plots
from germane.evaluate.detection import (
    MinCost,
    Trials,
    compare_costs,
    detection_band,
    min_cost,
    topic_curve,
    trial_costs,
)
from germane.experiments.experiment import AtLeast, Experiment, System, written
from germane.experiments.results import OnProgress, Result, averaged
from germane.experiments.tracked_streams import (
    StreamSource,
    TrackedStream,
    TrackedTopic,
    best_places,
    follow,
    follow_live,
    load_stream,
)
from germane.track import Costs, Following, TrackMethod, method_named
from germane.track.thresholds import thresholds

MIN_COST, COST = "MinCost", "Cost"
ONLINE, JUDGED = "online", "judged"


@dataclass(frozen=True)
class TrackSystem(System):
    """A method of tracking."""

    method: str = ""
    live: bool = False

    def methods(self) -> dict[str, TrackMethod]:
        """Every setting that is tried."""
        grid = itertools.product(*self.tune.values())
        settings = [{**self.parameters, **dict(zip(self.tune, values, strict=True))} for values in grid]
        return {written(setting): method_named(self.method, **setting) for setting in settings}


@dataclass(frozen=True)
class Outperforms:
    """Two systems whose topics are counted."""

    a: str
    b: str


@dataclass(frozen=True, kw_only=True)
class TrackingExperiment(Experiment):
    """Methods of tracking on the same topics of one stream, with the same documents to learn from."""

    systems: Sequence[TrackSystem]
    stream: StreamSource
    feedback: Sequence[int]
    curves_at: int
    counted: Sequence[Outperforms] = field(default_factory=tuple)
    unit: ClassVar[str] = "topics"
    conventions: ClassVar[str] = "Stream"
    tuned_by: ClassVar[str] = "One setting a half of the topics, chosen on the other half."
    compared_by: ClassVar[str] = "Costs: below 0 the first is better."
    pooled: ClassVar[bool] = False
    datasets_down: ClassVar[bool] = True
    lower_is_better: ClassVar[bool] = True

    @property
    def inputs(self) -> list[str]:
        """The file of documents."""
        return [self.stream.documents]


def read_tracking(content: dict[str, Any], **common: Any) -> TrackingExperiment:
    """The experiment; `common` is what all kinds have."""
    feedback = content.pop("feedback")
    systems = [TrackSystem(**system) for system in content.pop("system")]
    live = any(system.live for system in systems)
    common["bars"] = [*common["bars"], *(AtLeast(**bar) for bar in content.pop("at_most", []))]
    experiment = TrackingExperiment(
        datasets=[*map(_row, feedback), *((ONLINE, JUDGED) if live else ())],
        systems=systems,
        stream=StreamSource(**content.pop("stream")),
        feedback=feedback,
        curves_at=content.pop("curves_at", feedback[0] if feedback else 0),
        counted=[Outperforms(**pair) for pair in content.pop("outperforms", [])],
        **common,
        **content,
    )
    unknown = [name for name in experiment.measures if name not in (MIN_COST, COST)]
    if unknown or not experiment.measures:
        raise ValueError(f"measures of tracking are {MIN_COST} and {COST}, not {unknown or 'none'}")
    if not feedback or min(feedback) < 0 or experiment.curves_at not in feedback:
        raise ValueError("feedback must be numbers of 0 or more, and curves_at one of them")
    for system in systems:
        try:
            system.methods()
        except ValueError as error:
            raise ValueError(f"system '{system.name}': {error}") from None
    strange = [name for pair in experiment.counted for name in (pair.a, pair.b) if name not in experiment.rows]
    if strange:
        raise ValueError(f"topics are counted of a system that is not run: '{strange[0]}'")
    return experiment


class Outcome(NamedTuple):
    """A system at one N: the trials of every topic, their costs at the threshold of their half, and the settings."""

    trials: list[Trials]
    costs: dict[str, float]
    halves: tuple[MinCost, MinCost]
    settings: tuple[str, str]

    @property
    def cost(self) -> float:
        """MinCost: each topic at the threshold of its half."""
        return float(np.mean([*self.costs.values()]))


def run_tracking(experiment: TrackingExperiment, result: Result, on_progress: OnProgress) -> None:
    """Follow every topic with every system at every N, then live; note the costs, tables and the DET plot."""
    on_progress(experiment.stream.name, "reading")
    stream = load_stream(experiment.stream)
    half = _halves(len(stream.topics))
    _describe(experiment, result, stream)
    vector_space = method_named("vsm")
    ranked = [follow(stream, vector_space, topic, ()) for topic in stream.topics]
    outcomes: dict[str, dict[str, Outcome]] = {row: {} for row in experiment.datasets}
    told: dict[str, list[int]] = {}
    for system in experiment.systems:
        for n in experiment.feedback:
            on_progress(_row(n), system.name)
            documents = [best_places(s, t, n).tolist() for s, t in zip(ranked, stream.topics, strict=True)]
            tried = {
                name: [
                    _trials(topic, follow(stream, method, topic, places, normalised=system.live))
                    for topic, places in zip(stream.topics, documents, strict=True)
                ]
                for name, method in system.methods().items()
            }
            outcomes[_row(n)][system.name] = _chosen(tried, half)
        if system.live:
            for row in (ONLINE, JUDGED):
                on_progress(row, system.name)
                outcomes[row][system.name], told[f"{system.name}, {row}"] = _live(system, stream, half, row == JUDGED)
        stream.forget()
    _note(experiment, result, outcomes)
    _tell(experiment, result, outcomes, told)


def _row(n: int) -> str:
    return f"N={n}"


def _halves(n: int) -> Integers:
    """0 or 1 for each topic, by lot, as many of each."""
    half: Integers = np.random.default_rng(0).permutation(n) % 2
    return half


def _trials(topic: TrackedTopic, scores: Floats) -> Trials:
    return Trials(topic.name, scores[topic.target], scores[topic.counted & ~topic.target])


def _chosen(tried: Mapping[str, Sequence[Trials]], half: Integers) -> Outcome:
    """Each half with the setting that is best on the other."""
    found: dict[str, list[MinCost]] = {
        name: [min_cost(topic_curve(_of(trials, half, side))) for side in (0, 1)] for name, trials in tried.items()
    }
    best = [_best(found, 1 - side) for side in (0, 1)]
    trials = [tried[best[int(side)]][place] for place, side in enumerate(half)]
    costs: dict[str, float] = {}
    for side in (0, 1):
        costs |= trial_costs(_of(trials, half, side), found[best[side]][side].threshold)
    ordered = {each.topic: costs[each.topic] for each in trials}
    return Outcome(trials, ordered, (found[best[0]][0], found[best[1]][1]), (best[0], best[1]))


def _best(found: Mapping[str, Sequence[MinCost]], side: int) -> str:
    return min(found, key=lambda name: found[name][side].cost)


def _of(trials: Sequence[Trials], half: Integers, side: int) -> list[Trials]:
    return [each for each, own in zip(trials, half, strict=True) if own == side]


def _live(system: TrackSystem, stream: TrackedStream, half: Integers, judged: bool) -> tuple[Outcome, list[int]]:
    """As people run it; a live system that is tuned takes its first setting."""
    method = next(iter(system.methods().values()))
    found = [follow_live(stream, Following(method), topic, judged=judged) for topic in stream.topics]
    trials = [_trials(topic, scores) for topic, (scores, _) in zip(stream.topics, found, strict=True)]
    return _chosen({"": trials}, half), [n for _, n in found]


def _describe(experiment: TrackingExperiment, result: Result, stream: TrackedStream) -> None:
    source = experiment.stream
    sizes = [int(topic.target.sum()) for topic in stream.topics]
    result.conventions[source.name] = (
        f"{len(stream.bags):,} documents, the first {stream.starts[0]:,} are the background, which then grows in "
        f"{len(stream.starts) - 1} steps; {len(sizes)} topics with {min(sizes)} to {max(sizes):,} stories behind the "
        f"seed, {np.median(sizes):g} at the median"
    )


def _note(experiment: TrackingExperiment, result: Result, outcomes: Mapping[str, Mapping[str, Outcome]]) -> None:
    decision = thresholds(Costs()).decision
    live = {system.name for system in experiment.systems if system.live}
    for row, found in outcomes.items():
        for name, outcome in found.items():
            values = {MIN_COST: np.array([*outcome.costs.values()])}
            if name in live:
                values[COST] = np.array([*trial_costs(outcome.trials, decision).values()])
            shown = {measure: values[measure] for measure in experiment.measures if measure in values}
            result.note(row, name, averaged([*outcome.costs], shown))
            if name not in live and any(outcome.settings):
                result.parameters.setdefault(row, {})[name] = " | ".join(outcome.settings)


def _tell(
    experiment: TrackingExperiment,
    result: Result,
    outcomes: Mapping[str, Mapping[str, Outcome]],
    told: Mapping[str, Sequence[int]],
) -> None:
    """The spread over topics, the tests between neighbours, SD table 6.3 and figure 6.1."""
    rows = [["", *experiment.rows]]
    for row, found in outcomes.items():
        cells = [_interval(found[name]) if name in found else "" for name in experiment.rows]
        rows.append([row, *cells])
    result.tables["95% interval of MinCost over topics drawn anew, thresholds as they are"] = rows
    for pair in experiment.counted:
        rows = [["", "topics", f"{pair.a} cheaper", "dearer", "mean difference", "t-test p", "sign test p"]]
        for row, found in outcomes.items():
            if pair.a in found and pair.b in found:
                c = compare_costs(found[pair.a].costs, found[pair.b].costs)
                numbers = [len(found[pair.a].costs), c.cheaper, c.dearer]
                tests = [f"{c.difference:+.4f}", f"{c.t.p_value:.4f}", f"{c.sign.p_value:.4f}"]
                rows.append([row, *map(str, numbers), *tests])
        result.tables[f"{pair.a} against {pair.b}, topic by topic"] = rows
    if told:
        rows = [["", "median", "mean", "most"]]
        rows += [[name, f"{np.median(n):g}", f"{np.mean(n):.0f}", str(max(n))] for name, n in told.items()]
        result.tables["Documents that a topic learnt from, or was told about"] = rows
    for name in (system.name for system in experiment.systems if system.live):
        result.tables[f"{name}: judged against unjudged"] = _judged_table(outcomes, name)
    half = _halves(len(next(iter(outcomes[_row(experiment.curves_at)].values())).trials))
    shown = {name: _of(outcome.trials, half, 0) for name, outcome in outcomes[_row(experiment.curves_at)].items()}
    result.drawings["det"] = partial(_draw, shown, experiment)


def _judged_table(outcomes: Mapping[str, Mapping[str, Outcome]], name: str) -> list[list[str]]:
    """The costs of a system that is told the truth about what it delivers, less those of the same system at each N."""
    rows = [["", "cheaper", "dearer", "mean difference", "t-test p", "sign test p"]]
    for row, found in outcomes.items():
        if row != JUDGED:
            c = compare_costs(outcomes[JUDGED][name].costs, found[name].costs)
            tests = [f"{c.difference:+.4f}", f"{c.t.p_value:.2g}", f"{c.sign.p_value:.2g}"]
            rows.append([row, str(c.cheaper), str(c.dearer), *tests])
    return rows


def _interval(outcome: Outcome) -> str:
    """Halves may have settings, and so scales, of their own: costs are drawn, not trials."""
    costs = np.array([*outcome.costs.values()])
    drawn = np.random.default_rng(0).choice(costs, (1000, len(costs))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{low:.3f}-{high:.3f}"


def _draw(shown: Mapping[str, Sequence[Trials]], experiment: TrackingExperiment) -> Any:
    curves = {name: topic_curve(trials) for name, trials in shown.items()}
    bands = {name: detection_band(trials) for name, trials in shown.items()}
    where = f"{experiment.stream.name}, N = {experiment.curves_at}, half of the topics"
    return plots.detection_error_tradeoff(curves, bands=bands, collection=where)
