"""Probability distributions over documents: densities, maximum-likelihood fits and sampling.

Documents are rows of a sparse count matrix, or one pair (ids, counts). `log_density` returns one number for each
document, and `sample` draws documents. `fit` takes sufficient statistics: `.of(counts)` computes them and `+` merges
them, so that an incremental update is a merge. Needs SciPy, so `germane.lm` does not import it.
"""

from germane.lm.distributions.dcm import DCM, DCMFit, DCMStatistics, fit_dcm
from germane.lm.distributions.dirichlet import DirichletDistribution, DirichletFit, fit_dirichlet
from germane.lm.distributions.multinomial import CountStatistics, Multinomial
from germane.lm.distributions.multiple_bernoulli import MultipleBernoulli
from germane.lm.distributions.smoothed_dirichlet import (
    SmoothedDirichlet,
    approximate_log_normaliser,
    exact_log_normaliser,
)
from germane.lm.distributions.smoothed_documents import LogProportions, SmoothedDocuments
from germane.lm.distributions.two_poisson import TwoPoisson
from germane.lm.divergences import document_perplexity

__all__ = [
    "DCM",
    "CountStatistics",
    "DCMFit",
    "DCMStatistics",
    "DirichletDistribution",
    "DirichletFit",
    "LogProportions",
    "Multinomial",
    "MultipleBernoulli",
    "SmoothedDirichlet",
    "SmoothedDocuments",
    "TwoPoisson",
    "approximate_log_normaliser",
    "document_perplexity",
    "exact_log_normaliser",
    "fit_dcm",
    "fit_dirichlet",
]
