"""How many relevant documents are still unread? Calibrated probabilities, their sum, and an upper bound."""

from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats, Labels, Mask
from germane.refine.screening.hypergeometric import Silence
from germane.refine.screening.ranking import Fit, Ranker
from germane.refine.screening.stopping import StoppingRule
from germane.types import Mark

FOLDS = 5
LEAST = 2
"""Calibration needs so many relevant and so many irrelevant documents."""
FOLD_EFFORT = (10, 0.02)
"""(passes, tolerance) of a fold: it starts from the fit to all decisions."""
NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class Remaining:
    """The relevant documents that are unread: what the probabilities expect, and a one-sided interval from `low`.

    `expected` is None while too little is known to calibrate probabilities (`can_calibrate`).
    `high` holds with `confidence` if what `StoppingRule` assumes does. `low` is always 0: no assumption made here can
    show that any is left.
    """

    expected: float | None
    low: int
    high: int
    confidence: float
    found: int
    read: int
    unread: int

    @property
    def recall_low(self) -> float:
        """The recall if as many as `high` remain; 1 where nothing is and can be found."""
        total = self.found + self.high
        return self.found / total if total else 1.0

    def __str__(self) -> str:
        about = "an unknown number of" if self.expected is None else f"about {self.expected:.0f}"
        return (
            f"{about} relevant among {self.unread:,} unread documents, at most {self.high:,} with "
            f"{self.confidence:.0%} confidence"
        )


def remaining(
    n_docs: int, decisions: Mask, probabilities: Floats | None, rule: StoppingRule, past: Silence | None = None
) -> Remaining:
    """The estimate after `decisions`, in order of reading; `probabilities` are those of the unread documents, if known.

    expected = Σ p_i over the unread, but no more than `high`; high = the largest number that the silence since the last
    find, or `past`, does not reject (`StoppingRule.most_left`).
    """
    high = rule.most_left(n_docs, decisions, past)
    expected = None if probabilities is None else min(float(probabilities.sum()), float(high))
    return Remaining(expected, 0, high, rule.confidence, int(decisions.sum()), len(decisions), n_docs - len(decisions))


def calibrated(ranker: Ranker, labels: Labels, fit: Fit) -> Floats:
    """P(relevant) of every document: 1 / (1 + exp(-(a + b·score))).

    The scores know the documents they were learnt from, and both classes weigh the same in them. So a fifth of the read
    documents at a time is treated as unread and scored by what is learnt from the rest (`held_out`), and a and b
    make the most of those scores (`platt`). Until two relevant and two irrelevant documents are known (`can_calibrate`)
    a = 0 and b = 1: the probability if both were equally common.
    """
    if not can_calibrate(labels):
        return logistic(fit.scores)
    read = np.flatnonzero(labels != Mark.UNMARKED)
    a, b = platt(held_out(ranker, labels, fit)[read], labels[read] == Mark.RELEVANT)
    return logistic(a + b * fit.scores)


def can_calibrate(labels: Labels) -> bool:
    """Are there two relevant and two irrelevant documents to calibrate with?"""
    return all(int((labels == side).sum()) >= LEAST for side in (Mark.RELEVANT, Mark.NOT_RELEVANT))


def held_out(ranker: Ranker, labels: Labels, fit: Fit) -> Floats:
    """The score each read document would have were it unread still, by cross-fitting; of the unread, their own."""
    scores = fit.scores.copy()
    fold = np.zeros(len(labels), np.int64)
    for side in (Mark.RELEVANT, Mark.NOT_RELEVANT):  # each fold gets its share of both
        members = np.flatnonzero(labels == side)
        fold[members] = np.arange(len(members)) % FOLDS
    for part in range(FOLDS):
        out = (labels != Mark.UNMARKED) & (fold == part)
        if out.any():
            scores[out] = ranker.fit(
                np.where(out, Mark.UNMARKED, labels).astype(np.int8), warm=fit, effort=FOLD_EFFORT
            ).scores[out]
    return scores


def platt(scores: Floats, relevant: Mask) -> tuple[float, float]:
    """a, b that maximise Σ ln P(y_i | a + b·s_i) - (b - 1)²/2, by Newton's method.

    Platt 1999, with his softened targets left out: 1/(n₀ + 2) for each irrelevant document would promise relevant ones
    among thousands of unread. The last term takes their place: it keeps b near the 1 of a logistic model where there is
    little to learn it from, and finite where the scores tell both sides apart.
    """
    n_relevant = int(relevant.sum())
    target = relevant.astype(np.float64)
    design = np.stack([np.ones(len(scores)), scores], axis=1)
    found = np.array([np.log((n_relevant + 0.5) / (len(relevant) - n_relevant + 0.5)), 1.0])
    pull = np.array([0.0, 1.0])
    value = _penalised(design, target, found)
    for _ in range(NEWTON_STEPS):
        p = logistic(design @ found)
        gradient = design.T @ (target - p) - pull * (found - 1.0)
        curvature = (design * (p * (1.0 - p))[:, None]).T @ design + np.diag(pull + 1e-9)
        step = np.linalg.solve(curvature, gradient)
        while (better := _penalised(design, target, found + step)) < value and np.abs(step).max() > 1e-12:
            step = step / 2.0
        found, value = found + step, better
        if np.abs(step).max() < 1e-8:
            break
    return float(found[0]), float(found[1])


def logistic(x: Floats) -> Floats:
    """1/(1 + e^-x), without overflow."""
    answer: Floats = 0.5 * (1.0 + np.tanh(0.5 * np.asarray(x, np.float64)))
    return answer


def _penalised(design: Floats, target: Floats, found: Floats) -> float:
    x = design @ found
    return float((target * x - np.logaddexp(0.0, x)).sum() - (found[1] - 1.0) ** 2 / 2.0)
