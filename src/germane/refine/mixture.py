"""The one E step and the one M step of all mixtures of unigrams here, Refine §III, in log space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.arrays import Floats, Integers, Labels, Mask
from germane.types import Mark


@dataclass(frozen=True, eq=False)
class Mixture:
    """Parameters θ of J components over V words, and how much each document belongs to each component.

    `log_theta` V × J, `log_prior` J, `classes` J (1 relevant, 0 not), `responsibilities` n × J of the last E step (of
    the start, without iterations), `log_joint` n × J = log p(c_j)·p(d_i|c_j) under θ, and `log_posterior`: log p(θ|D)
    up to a constant, (6), of the first parameters and after each iteration.
    """

    log_theta: Floats
    log_prior: Floats
    classes: Integers
    responsibilities: Floats
    log_joint: Floats
    log_posterior: tuple[float, ...]

    @property
    def log_odds(self) -> Floats:
        """log p(G_1|d) - log p(G_0|d) of the documents, Refine (10): rank by these, for posteriors saturate."""
        return self.class_log_odds(self.log_joint)

    def log_odds_of(self, weights: Any) -> Floats:
        """Return the log-odds of other documents."""
        return self.class_log_odds(weights @ self.log_theta + self.log_prior)

    def class_log_odds(self, log_joint: Floats) -> Floats:
        """log Σ_{c∈G_1} - log Σ_{c∈G_0} of documents' p(c)·p(d|c)."""
        relevant = self.classes == Mark.RELEVANT
        return log_sum_exp(log_joint[:, relevant]) - log_sum_exp(log_joint[:, ~relevant])

    def word_log_odds(self, i: int) -> Floats:
        """log p(w|relevant) - log p(w|not) for document i.

        With several components in a class, their mean weighted by p(c_j|d_i, G): the slope of (10) at d_i.
        """
        return np.asarray(self.log_theta @ self.leaning(i))

    def leaning(self, i: int) -> Floats:
        """p(c_j|d_i, G_1) of the relevant components and -p(c_j|d_i, G_0) of the others."""
        return self._within(i, Mark.RELEVANT) - self._within(i, Mark.NOT_RELEVANT)

    def _within(self, i: int, label: int) -> Floats:
        """p(c_j|d_i, G) of the components of one class; 0 for the others."""
        joint = np.where(self.classes == label, self.log_joint[i], -np.inf)
        return np.asarray(normalised(joint[None])[0])


def m_step(transposed: Any, responsibilities: Floats) -> tuple[Floats, Floats]:
    """θ_{w|c} = (1 + Σ_i N(w,d_i) p(c|d_i)) / (|V| + Σ_s Σ_i N(s,d_i) p(c|d_i)), Refine (7), and θ_c, (8); their logs.

    Laplace smoothing over the whole list's vocabulary: the Dirichlet prior with α = 2. `transposed`: words × documents.
    """
    mass = transposed @ responsibilities + 1.0
    # Products with ones: NumPy's sum over the first axis of a thin array is several times slower.
    members = np.ones(len(responsibilities)) @ responsibilities
    log_theta = np.log(mass) - np.log(np.ones(len(mass)) @ mass)
    return log_theta, np.log((1.0 + members) / (len(members) + members.sum()))


def e_step(log_likelihood: Floats, log_prior: Floats, allowed: Mask, temperature: float = 1.0) -> Floats:
    """p(c_j|d_i) ∝ p(c_j)·exp(log p(d_i|c_j) / T), Refine (15); T = 1 is (9). Components not `allowed` get 0."""
    return normalised(np.where(allowed, log_likelihood / temperature + log_prior, -np.inf))


def penalised_log_likelihood(log_theta: Floats, log_prior: Floats, joint: Floats, document_weight: Floats) -> float:
    """log p(θ|D) = Σ_j log θ_cj + Σ_j Σ_w log θ_{w|cj} + Σ_i λ_i log Σ_j p(c_j)·p(d_i|c_j), Refine (6) with α = 2.

    The inner sum runs over the components allowed to d_i (`joint` is -∞ elsewhere): all for an unmarked document, those
    of its class for a marked one. λ_i is 1 for a marked document and λ for another (Nigam et al. 2000, EM-λ).
    """
    return float(log_prior.sum() + log_theta.sum() + document_weight @ log_sum_exp(joint))


def fit_mixture(
    weights: Any,
    labels: Labels,
    start: Integers,
    classes: Integers,
    *,
    temperatures: Sequence[float] = (),
    unlabelled_weight: float = 1.0,
) -> Mixture:
    """A priming M step from the documents with a `start` component (-1: none), then an E and an M step a temperature.

    Marked documents keep their class; among its components they move freely. `unlabelled_weight` is Nigam's λ: how much
    an unmarked document counts in the M step.
    """
    unmarked = labels == Mark.UNMARKED
    allowed = unmarked[:, None] | (labels[:, None] == classes[None])
    document_weight = np.where(unmarked, unlabelled_weight, 1.0)
    responsibilities = np.zeros((len(labels), len(classes)))
    started = np.flatnonzero(start >= 0)
    responsibilities[started, start[started]] = 1.0
    transposed = weights.T

    log_theta, log_prior = m_step(transposed, responsibilities)
    log_likelihood = weights @ log_theta

    def log_posterior() -> float:
        joint = np.where(allowed, log_likelihood + log_prior, -np.inf)
        return penalised_log_likelihood(log_theta, log_prior, joint, document_weight)

    trace = [log_posterior()]
    for temperature in temperatures:
        responsibilities = e_step(log_likelihood, log_prior, allowed, temperature)
        log_theta, log_prior = m_step(transposed, responsibilities * document_weight[:, None])
        log_likelihood = weights @ log_theta
        trace.append(log_posterior())
    return Mixture(log_theta, log_prior, classes, responsibilities, log_likelihood + log_prior, tuple(trace))


def log_sum_exp(rows: Floats) -> Floats:
    """log Σ_j exp of each row; SciPy's checks cost more than the sum here."""
    top = rows.max(axis=1)
    return np.asarray(top + np.log(np.exp(rows - top[:, None]).sum(axis=1)))


def normalised(log_rows: Floats) -> Floats:
    """exp of each row, divided by its sum."""
    shares = np.exp(log_rows - log_rows.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
