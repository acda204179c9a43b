"""Free parameters by hill-climbing on a validation split, SD §4.3, and the thresholds of a multi-label classifier."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import optimize
from scipy.special import log_softmax

from germane.arrays import Floats, Integers, Mask

Setting: TypeAlias = dict[str, float]
Axes: TypeAlias = Mapping[str, Sequence[float]]
OnTrial: TypeAlias = Callable[[Mapping[str, float], float], None]


class Trial(NamedTuple):
    """One setting that was tried, and its value on the validation split."""

    parameters: Setting
    value: float


def climb(
    objective: Callable[[Setting], float], axes: Axes, start: Setting, on_trial: OnTrial | None = None
) -> list[Trial]:
    """Hill-climbing: from `start`, go to the neighbour that is better by most, until none is; every trial in order.

    A neighbour is one step along one axis, whose values are in ascending order. Of equals the one already held wins, so
    that a flat objective leaves the start as it is. A trial here trains a classifier; `evaluate.tuning`, whose trials
    are cheap searches, tries whole axes instead. The two end in different settings, so neither replaces the other.
    """
    ladders = {name: sorted({*values, start[name]}) for name, values in axes.items()}
    known: dict[tuple[float, ...], float] = {}
    trials: list[Trial] = []

    def value(setting: Setting) -> float:
        key = tuple(setting[name] for name in ladders)
        if key not in known:
            known[key] = objective(setting)
            trials.append(Trial(dict(setting), known[key]))
            if on_trial is not None:
                on_trial(dict(setting), known[key])
        return known[key]

    here = dict(start)
    while True:
        value(here)
        better = max(_neighbours(here, ladders), key=value, default=here)
        if value(better) <= value(here):
            return trials
        here = better


def _neighbours(here: Setting, ladders: Mapping[str, list[float]]) -> list[Setting]:
    found = []
    for name, rungs in ladders.items():
        place = rungs.index(here[name])
        found += [{**here, name: rungs[i]} for i in (place - 1, place + 1) if 0 <= i < len(rungs)]
    return found


def best(trials: Sequence[Trial]) -> Trial:
    """The best trial; of equals the first."""
    return max(trials, key=lambda trial: trial.value)


def stratified_split(members: Mask, share: float, random_state: Any) -> tuple[Integers, Integers]:
    """Rows to learn from and rows to validate on, where `members` is rows × classes.

    Rarest class first, each class sends about `share` of its rows to validation: at least one if it has two, and never
    its last row.
    """
    rng = np.random.default_rng(random_state)
    n_rows = len(members)
    validating = np.zeros(n_rows, bool)
    settled = np.zeros(n_rows, bool)
    size = members.sum(axis=0)
    for c in np.argsort(size, kind="stable"):
        rows = np.flatnonzero(members[:, c] & ~settled)
        have = int((members[:, c] & validating).sum())
        wanted = min(max(round(share * size[c]), 1), int(size[c]) - 1) - have
        chosen = rng.permutation(rows)[: max(wanted, 0)]
        validating[chosen] = True
        settled[rows] = True
    free = np.flatnonzero(~settled)
    validating[rng.permutation(free)[: round(share * len(free))]] = True
    for c in np.flatnonzero(members.any(axis=0) & ~members[~validating].any(axis=0)):
        validating[np.flatnonzero(members[:, c])[0]] = False  # other classes took all its rows
    return np.flatnonzero(~validating), np.flatnonzero(validating)


def best_threshold(scores: Floats, relevant: Mask) -> tuple[float, float]:
    """(threshold, F1): the threshold whose decisions `score > threshold` have the best F1 = 2TP/(2TP + FP + FN).

    It lies half-way between two neighbouring scores; without a relevant document it is 0, the score of even odds.
    """
    if not relevant.any():
        return 0.0, 0.0
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(relevant[order])
    f1 = 2.0 * hits / (np.arange(1, len(hits) + 1) + hits[-1])
    cut = np.append(ranked[1:] < ranked[:-1], True)  # equal scores cannot be told apart
    place = int(np.argmax(np.where(cut, f1, -1.0)))
    below = ranked[place + 1] if place + 1 < len(ranked) else ranked[place] - 2.0
    half = (ranked[place] + below) / 2.0
    return float(half if half < ranked[place] else below), float(f1[place])


def best_sharpness(scores: Floats, truth: Mask) -> float:
    """The factor t on the scores that makes softmax(t·scores) fit the validation split best, by log loss.

    Temperature scaling, Guo et al. 2017 (ICML): a model that takes words to be independent is far too sure of itself.
    It does not change which class wins. Where t would grow without end because all documents are right, Platt's (1999)
    targets stop it: of N documents one of N+2 is taken to be wrong.
    """
    n, n_classes = scores.shape
    doubt = 1.0 / (n + 2)
    target = np.where(truth, 1.0 - doubt, doubt / max(n_classes - 1, 1))

    def log_loss(log_t: float) -> float:
        return -float(np.mean((target * log_softmax(np.exp(log_t) * scores, axis=1)).sum(axis=1)))

    found = optimize.minimize_scalar(log_loss, bounds=_LOG_SHARPNESS, method="bounded")
    return float(np.exp(found.x))


_LOG_SHARPNESS = (float(np.log(1e-4)), float(np.log(1e5)))
