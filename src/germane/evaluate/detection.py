"""Detection: misses against false alarms, their cost, and the least cost over all thresholds (SD 6.2)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.evaluate.significance import Significance, paired_t, sign_test

P_TARGET = 0.02
COST_MISS = 10.0
COST_FALSE_ALARM = 1.0
"""SD 6.2: the prior of a story on topic is 0.02 and C_Miss/C_FA is 10."""

Places = npt.NDArray[np.intp]


class DetectionCurve(NamedTuple):
    """P_Miss and P_FA where everything with score >= threshold is accepted; thresholds descend from +inf."""

    thresholds: Floats
    p_miss: Floats
    p_fa: Floats


class MinCost(NamedTuple):
    """The least normalised cost, and the threshold that gives it."""

    cost: float
    threshold: float
    p_miss: float
    p_fa: float


def detection_curve(
    scores: npt.ArrayLike, target: npt.ArrayLike, topics: Sequence[str] | npt.NDArray[np.generic] | None = None
) -> DetectionCurve:
    """P_Miss(t) = share of targets with score < t; P_FA(t) = share of the others with score >= t.

    With `topics`, one name a trial, both are averaged over topics with equal weight (topic-weighted, SD 6.2); without,
    all trials are pooled (story-weighted). Topics without a target are left out of P_Miss, and likewise for P_FA.
    """
    score, hit = np.asarray(scores, np.float64), np.asarray(target, bool)
    if score.shape != hit.shape or score.ndim != 1 or np.isnan(score).any():
        raise ParameterError("scores and targets must be two lists of one length, without NaN")
    if hit.all() or not hit.any():
        raise ParameterError("a detection curve needs trials that are on topic and trials that are not")
    group = np.zeros(len(score), np.int64)
    if topics is not None:
        if len(topics) != len(score):
            raise ParameterError("each trial needs its topic")
        group = np.unique(np.asarray(topics), return_inverse=True)[1]
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)  # the end of each run of ties
    thresholds = np.append(np.inf, score[order][last])
    accepted_targets = _accepted(hit, group, order, last)
    accepted_others = _accepted(~hit, group, order, last)
    return DetectionCurve(thresholds, 1.0 - accepted_targets, accepted_others)


def _accepted(kind: npt.NDArray[np.bool_], group: npt.NDArray[np.int64], order: Places, last: Places) -> Floats:
    """The share of trials of this kind accepted at each threshold, averaged over topics that have any."""
    size = np.bincount(group[kind], minlength=int(group.max()) + 1)
    weight = np.where(kind, 1.0 / np.maximum(size, 1)[group], 0.0) / np.count_nonzero(size)
    accepted: Floats = np.clip(np.append(0.0, np.cumsum(weight[order])[last]), 0.0, 1.0)
    return accepted


def normalised_cost(
    p_miss: npt.ArrayLike,
    p_fa: npt.ArrayLike,
    *,
    p_target: float = P_TARGET,
    cost_miss: float = COST_MISS,
    cost_fa: float = COST_FALSE_ALARM,
) -> Floats:
    """C = (P_t·P_Miss·C_Miss + (1-P_t)·P_FA·C_FA)/min(P_t·C_Miss, (1-P_t)·C_FA), SD (6.1) normalised.

    1 is the cost of the better of accepting everything and accepting nothing.
    """
    if not 0.0 < p_target < 1.0 or cost_miss <= 0.0 or cost_fa <= 0.0:
        raise ParameterError("p_target must lie strictly between 0 and 1, and costs above 0")
    miss, alarm = p_target * cost_miss, (1.0 - p_target) * cost_fa
    cost: Floats = (miss * np.asarray(p_miss, np.float64) + alarm * np.asarray(p_fa, np.float64)) / min(miss, alarm)
    return cost


def min_cost(
    curve: DetectionCurve,
    *,
    p_target: float = P_TARGET,
    cost_miss: float = COST_MISS,
    cost_fa: float = COST_FALSE_ALARM,
) -> MinCost:
    """MinCost: the least normalised cost over all thresholds (SD 6.2); at equal cost the higher threshold."""
    costs = normalised_cost(curve.p_miss, curve.p_fa, p_target=p_target, cost_miss=cost_miss, cost_fa=cost_fa)
    best = int(np.argmin(costs))
    return MinCost(
        float(costs[best]), float(curve.thresholds[best]), float(curve.p_miss[best]), float(curve.p_fa[best])
    )


def topic_costs(
    scores: npt.ArrayLike,
    target: npt.ArrayLike,
    topics: Sequence[str],
    threshold: float,
    *,
    p_target: float = P_TARGET,
    cost_miss: float = COST_MISS,
    cost_fa: float = COST_FALSE_ALARM,
) -> dict[str, float]:
    """The normalised cost of each topic at one threshold, on which SD 6.2 runs its paired tests.

    A topic without a target has P_Miss 0, and one without other trials P_FA 0.
    """
    score, hit, names = np.asarray(scores, np.float64), np.asarray(target, bool), np.asarray(topics)
    costs: dict[str, float] = {}
    for name in np.unique(names).tolist():
        of_topic = names == name
        targets, others = of_topic & hit, of_topic & ~hit
        p_miss = float(np.mean(score[targets] < threshold)) if targets.any() else 0.0
        p_fa = float(np.mean(score[others] >= threshold)) if others.any() else 0.0
        costs[name] = float(normalised_cost(p_miss, p_fa, p_target=p_target, cost_miss=cost_miss, cost_fa=cost_fa))
    return costs


# -- trials kept apart by topic: for many topics and long streams, and for what varies from topic to topic -------------


class Trials(NamedTuple):
    """The scores of one topic: of documents on topic, and of the others."""

    topic: str
    targets: Floats
    others: Floats


class Band(NamedTuple):
    """P_Miss at each P_FA, and where it lies when topics are drawn anew."""

    p_fa: Floats
    p_miss: Floats
    low: Floats
    high: Floats


class CostsCompared(NamedTuple):
    """Costs of a less those of b over topics: their mean, on how many topics a is cheaper and dearer, and two tests."""

    difference: float
    cheaper: int
    dearer: int
    t: Significance
    sign: Significance


def topic_curve(trials: Sequence[Trials]) -> DetectionCurve:
    """The topic-weighted curve at +inf and at the score of every target: elsewhere no cost is less."""
    thresholds = _thresholds(trials)
    p_miss, p_fa = _by_topic(trials, thresholds)
    return DetectionCurve(thresholds, p_miss.mean(axis=0), p_fa.mean(axis=0))


def detection_band(
    trials: Sequence[Trials], *, confidence: float = 0.95, n_resamples: int = 1000, random_state: int = 0
) -> Band:
    """A DET curve with its confidence band: percentiles over topics drawn with replacement, at each of 200 P_FA."""
    p_miss, p_fa = _by_topic(trials, _some(_thresholds(trials)))
    grid = stats.norm.cdf(np.linspace(stats.norm.ppf(1e-5), stats.norm.ppf(0.99), 200))
    draws = _draws(len(trials), n_resamples, random_state)
    found = np.array([np.interp(grid, fa, miss) for miss, fa in zip(draws @ p_miss, draws @ p_fa, strict=True)])
    low, high = _percentiles(found, confidence)
    return Band(grid, np.interp(grid, p_fa.mean(axis=0), p_miss.mean(axis=0)), low, high)


def min_cost_interval(
    trials: Sequence[Trials],
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: int = 0,
    p_target: float = P_TARGET,
    cost_miss: float = COST_MISS,
    cost_fa: float = COST_FALSE_ALARM,
) -> tuple[float, float]:
    """The percentiles of MinCost over topics drawn with replacement; each draw has a threshold of its own."""
    p_miss, p_fa = _by_topic(trials, _some(_thresholds(trials)))
    draws = _draws(len(trials), n_resamples, random_state)
    costs = normalised_cost(p_miss, p_fa, p_target=p_target, cost_miss=cost_miss, cost_fa=cost_fa)
    low, high = _percentiles((draws @ costs).min(axis=1), confidence)
    return float(low), float(high)


def trial_costs(
    trials: Sequence[Trials],
    threshold: float,
    *,
    p_target: float = P_TARGET,
    cost_miss: float = COST_MISS,
    cost_fa: float = COST_FALSE_ALARM,
) -> dict[str, float]:
    """The normalised cost of each topic at one threshold, as `topic_costs` gives it."""
    p_miss, p_fa = _by_topic(trials, np.array([threshold]))
    costs = normalised_cost(p_miss[:, 0], p_fa[:, 0], p_target=p_target, cost_miss=cost_miss, cost_fa=cost_fa)
    return dict(zip([each.topic for each in trials], costs.tolist(), strict=True))


def compare_costs(a: Mapping[str, float], b: Mapping[str, float]) -> CostsCompared:
    """The paired t-test and the sign test over topics (SD 6.2), two-sided; topics are paired by name."""
    if a.keys() != b.keys():
        raise ParameterError("costs are compared over the same topics")
    x, y = np.array([*a.values()]), np.array([b[topic] for topic in a])
    cheaper, dearer = int((x < y).sum()), int((x > y).sum())
    return CostsCompared(float((x - y).mean()), cheaper, dearer, paired_t(x, y), sign_test(x, y))


def _thresholds(trials: Sequence[Trials]) -> Floats:
    if not trials or any(not len(each.targets) or not len(each.others) for each in trials):
        raise ParameterError("every topic needs trials that are on topic and trials that are not")
    found: Floats = np.append(np.inf, np.unique(np.concatenate([each.targets for each in trials]))[::-1])
    return found


def _some(thresholds: Floats, most: int = 1000) -> Floats:
    """At most so many of them, evenly."""
    places = np.unique(np.linspace(0, len(thresholds) - 1, min(most, len(thresholds))).astype(int))
    some: Floats = thresholds[places]
    return some


def _by_topic(trials: Sequence[Trials], thresholds: Floats) -> tuple[Floats, Floats]:
    """P_Miss and P_FA, topics × thresholds."""
    p_miss, p_fa = np.empty((len(trials), len(thresholds))), np.empty((len(trials), len(thresholds)))
    for row, each in enumerate(trials):
        p_miss[row] = np.searchsorted(np.sort(each.targets), thresholds) / len(each.targets)
        p_fa[row] = 1.0 - np.searchsorted(np.sort(each.others), thresholds) / len(each.others)
    return p_miss, p_fa


def _draws(n: int, n_resamples: int, random_state: int) -> Floats:
    """How often each topic is drawn, as weights that sum to 1: resamples × topics."""
    if n_resamples < 1:
        raise ParameterError("at least one resample is needed")
    rng = np.random.default_rng(random_state)
    weights: Floats = rng.multinomial(n, np.full(n, 1.0 / n), n_resamples) / n
    return weights


def _percentiles(values: Floats, confidence: float) -> Floats:
    if not 0.0 < confidence < 1.0:
        raise ParameterError("confidence must lie strictly between 0 and 1")
    found: Floats = np.quantile(values, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0], axis=0)
    return found
