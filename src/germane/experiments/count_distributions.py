"""How often does a word occur in a document? Observed counts beside those that the distributions predict (SD §3.4)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import logsumexp, xlogy

from germane.arrays import Floats
from germane.errors import InputError
from germane.lm.distributions import (
    DCM,
    DirichletDistribution,
    LogProportions,
    Multinomial,
    SmoothedDirichlet,
    fit_dcm,
    fit_dirichlet,
)

CATEGORIES = {"high": 0.01, "medium": 0.04, "low": 0.95}
"""The words by falling frequency: the first 1% of the vocabulary, the next 4%, the rest."""
Marginal = Callable[[int, Floats, Floats], Floats]
"""(word, f, |D|) -> log P(f | |D|), or the density that stands for it; f and |D| broadcast"""


@dataclass(frozen=True)
class CountDistributions:
    """Probabilities of the counts 1, 2, ... by category of words, observed and by distribution; each sums to 1."""

    counts: Floats
    observed: Mapping[str, Floats]
    predicted: Mapping[str, Mapping[str, Floats]]
    """distribution -> category -> probabilities"""

    def divergence(self, name: str, category: str) -> float:
        """KL(observed ‖ predicted) over the counts shown."""
        p, q = self.observed[category], self.predicted[name][category]
        return float((xlogy(p, p) - xlogy(p, q)).sum())


def count_distributions(
    X: Any,
    *,
    S_dcm: float = 300.0,
    S_dirichlet: float = 300.0,
    S_sd: float = 300.0,
    lam: float = 0.9,
    max_count: int = 20,
    max_words: int = 300,
) -> CountDistributions:
    """Fit multinomial, DCM, Dirichlet and SD to the documents `X`, and predict how often words occur where they occur.

    P(f) = Σ_|D| P(f | |D|)·P(|D|), without the factor |D| of (3.45) and (3.46) (erratum), averaged over the words of a
    category and normalised over f = 1 ... `max_count`: the Dirichlet's and SD's are densities at λf/|D| + (1-λ)θ^GE,
    SD (3.50), which only so can stand beside probabilities. The average is over `max_words` words of each category,
    evenly spaced by frequency; what was observed is that of all words.
    """
    rows = csr_array(X)
    rows = rows[rows.sum(axis=1) > 0][:, rows.sum(axis=0) > 0]
    if min(rows.shape) < len(CATEGORIES):
        raise InputError("there are too few words to tell high, medium and low frequencies")
    frequency = rows.sum(axis=0)
    lengths, n_docs = np.unique(rows.sum(axis=1), return_counts=True)
    p_length = n_docs / n_docs.sum()
    categories = _categories(np.argsort(-frequency, kind="stable"))
    f = np.arange(1.0, max_count + 1)
    marginals = _fitted(rows, frequency / frequency.sum(), S_dcm, S_dirichlet, S_sd, lam)
    sampled = {name: words[_spaced(len(words), max_words)] for name, words in categories.items()}
    predicted = {
        name: {
            category: _normalised(sum(_mixed(marginal, word, f, lengths, p_length) for word in words.tolist()))
            for category, words in sampled.items()
        }
        for name, marginal in marginals.items()
    }
    return CountDistributions(f, _observed(rows, categories, max_count), predicted)


def _fitted(
    rows: Any, theta_GE: Floats, S_dcm: float, S_dirichlet: float, S_sd: float, lam: float
) -> dict[str, Marginal]:
    """The marginal of each distribution, its parameters estimated from all documents."""
    smoothed = LogProportions.of(rows, theta_GE, lam)
    dcm = DCM(fit_dcm(rows, S=S_dcm).alpha)
    dirichlet = DirichletDistribution(fit_dirichlet(smoothed.mean_log, S=S_dirichlet).alpha)
    sd = SmoothedDirichlet.fit(smoothed, S=S_sd)

    def at_proportion(log_marginal: Callable[[int, Floats], Floats]) -> Marginal:
        """P(f | |D|) as the density at θ = λf/|D| + (1-λ)θ^GE, SD (3.47)."""
        return lambda word, f, length: log_marginal(word, lam * f / length + (1 - lam) * theta_GE[word])

    return {
        "multinomial": Multinomial(theta_GE).log_marginal,
        "DCM": dcm.log_marginal,
        "Dirichlet": at_proportion(dirichlet.log_marginal),
        "SD": at_proportion(sd.log_marginal),
    }


def _mixed(marginal: Marginal, word: int, f: Floats, lengths: Floats, p_length: Floats) -> Floats:
    """Σ_|D| P(f | |D|)·P(|D|) for each f; a document holds no word more often than it holds words."""
    possible = np.minimum(f, lengths[:, None])
    values = np.where(possible == f, marginal(word, possible, lengths[:, None]), -np.inf)
    return np.asarray(np.exp(logsumexp(values + np.log(p_length)[:, None], axis=0)))


def _categories(order: npt.NDArray[np.intp]) -> dict[str, npt.NDArray[np.intp]]:
    """The words of each category, most frequent first."""
    ends = np.maximum(np.round(np.cumsum([*CATEGORIES.values()]) * len(order)).astype(int), [1, 2, 3])
    return dict(zip(CATEGORIES, np.split(order, ends[:-1]), strict=True))


def _spaced(n: int, at_most: int) -> npt.NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, min(n, at_most)).round().astype(np.intp))


def _observed(rows: Any, categories: Mapping[str, npt.NDArray[np.intp]], max_count: int) -> dict[str, Floats]:
    found = {}
    for category, words in categories.items():
        values = rows[:, words].data.astype(np.int64)
        found[category] = _normalised(np.bincount(values[values <= max_count], minlength=max_count + 1)[1:])
    return found


def _normalised(values: npt.ArrayLike) -> Floats:
    weights = np.asarray(values, np.float64)
    return np.asarray(weights / weights.sum())
