"""How much each document counts: query likelihood (the Relevance Model), posterior (the Smoothed Dirichlet), marks."""

import numpy as np

from germane.arrays import Floats
from germane.feedback.evidence import Evidence
from germane.lm import LanguageModel, Smoothing
from germane.types import Mark


def log_likelihoods(evidence: Evidence, smoothing: Smoothing) -> Floats:
    """log P(Q|θ^D) = Σ_{w∈Q} f_w·log θ^D(w), SD (5.5); with Jelinek-Mercer smoothing as printed in (5.8)."""
    logs = evidence.log_probabilities(smoothing, [*evidence.query])
    weighed = logs * np.array([*evidence.query.values()], np.float64)
    return np.asarray(weighed.sum(axis=1))  # a product of matrices would sum like rows in other orders


def likelihood_weights(evidence: Evidence, smoothing: Smoothing, tempering: float, unmarked: float) -> Floats:
    """W(i) ∝ P(Q|θ^i)^K, SD (5.8); marks as in `weigh`. K < 1 flattens weights that a long query would heap on one
    document (the precision S of SD §5.2.1); K = 0: all documents count alike.
    """
    scores = tempering * log_likelihoods(evidence, smoothing) if tempering else np.zeros(len(evidence))
    return weigh(evidence, scores, unmarked)


def log_odds(
    evidence: Evidence, relevant: LanguageModel, non_relevant: LanguageModel, S: float, smoothing: Smoothing
) -> Floats:
    """Σ_{w∈D} (α^R_w - α^N_w)·log(1 + e/(a·p_C)) with α = S·θ, the exponent of SD (5.26).

    What it leaves out of log P(R|θ^D), (5.24), is the same for all documents: α^R and α^N have the same sum S, so that
    even a background share a_D that differs between documents (Dirichlet smoothing) cancels.
    """
    ratios = evidence.log_ratios(smoothing)
    difference = relevant.everywhere(evidence.p_C) - non_relevant.everywhere(evidence.p_C)
    return evidence.per_document(S * difference[evidence.ids] * ratios)


def weigh(evidence: Evidence, log_scores: Floats, unmarked: float) -> Floats:
    """Weights that sum to 1: ∝ exp(log score) for unmarked documents; marks as in `share_out`.

    No document is likely at all, of score -inf: all weights of unmarked ones are 0.
    """
    if evidence.n_marked(Mark.UNMARKED) < len(evidence):
        log_scores = np.where(evidence.marks == Mark.UNMARKED, log_scores, -np.inf)
    most = log_scores.max(initial=-np.inf)
    odds = np.exp(log_scores - most) if most != -np.inf else np.zeros(len(evidence))
    return share_out(evidence, odds, unmarked)


def share_out(evidence: Evidence, odds: Floats, unmarked: float) -> Floats:
    """Weights that sum to 1: ∝ these odds for unmarked documents, equal for those marked relevant, 0 for the rest.

    A mark is a posterior of 1 (SD §5.2). All unmarked documents together count as `unmarked` marked ones; without a
    positive mark they are all there is. No document to learn from: all weights are 0.
    """
    if evidence.n_marked(Mark.UNMARKED) == len(evidence):
        return _normalised(odds)
    weights = _normalised(np.where(evidence.marks == Mark.UNMARKED, odds, 0.0))
    known = evidence.marks == Mark.RELEVANT
    return _normalised(np.where(known, 1.0, unmarked * weights)) if known.any() else weights


def _normalised(odds: Floats) -> Floats:
    """The odds divided by their sum, if it is not 0. What is no number stays none, and is refused by the model."""
    total = float(odds.sum())
    return np.asarray(odds / total) if total != 0.0 else np.zeros(len(odds))


def weigh_negatives(evidence: Evidence) -> Floats:
    """Equal weights, summing to 1, for the documents marked not relevant."""
    n = evidence.n_marked(Mark.NOT_RELEVANT)
    return (evidence.marks == Mark.NOT_RELEVANT) / float(n) if n else np.zeros(len(evidence))
