"""Query drift: do the feedback documents agree with one another, and with the query?"""

from dataclasses import dataclass

import numpy as np

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.types import Mark

MOST_DISAGREEMENT = 0.75
LEAST_COVERAGE = 1.0 / 3.0
"""Chosen on seven collections; how many queries they save and cost is in docs/feedback.md."""
ONE_DOCUMENT = 1e-6
"""Entropy of weights below which one document has all of it, and there is nobody to disagree with."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the documents disagree (0: all alike, 1: no word in common), and how much of the query they hold."""

    disagreement: float
    coverage: float
    fell_back: bool


def drift_of(evidence: Evidence, weights: Floats) -> Drift:
    """What speaks for drift, and whether it is enough to fall back to the query.

    disagreement = [H(Σ_D W(D)·θ̂^D) - Σ_D W(D)·H(θ̂^D)] / H(W), the weighted Jensen-Shannon divergence of the documents
    over the most it can be. coverage = mean over the query's words of Σ_{D∋w} W(D). A document marked relevant is no
    guess, so with one there is no falling back.
    """
    if not weights.any() or not evidence.query:
        return Drift(0.0, 1.0, False)
    theta = evidence.counts / evidence.lengths[evidence.document_of]
    own = evidence.per_document(-theta * np.log(theta))
    mean = evidence.per_word(weights[evidence.document_of] * theta)
    of_weights = _entropy(weights)
    apart = (_entropy(mean) - float(weights @ own)) / of_weights if of_weights > ONE_DOCUMENT else 0.0
    held = evidence.per_word(weights[evidence.document_of])
    coverage = float(np.mean(held[list(evidence.query)]))
    marked = bool((evidence.marks == Mark.RELEVANT).any())
    return Drift(apart, coverage, not marked and apart > MOST_DISAGREEMENT and coverage < LEAST_COVERAGE)


def _entropy(distribution: Floats) -> float:
    seen = distribution[distribution > 0]
    return float(-(seen * np.log(seen)).sum())
