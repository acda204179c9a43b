"""Estimate the parameters of smoothing from a collection by leave-one-out likelihood; no judgement is needed."""

import numpy as np

from germane.errors import ParameterError
from germane.lm import LeaveOneOut, Postings, optimal_lam, optimal_mu
from germane.rank.retriever import Retriever

SAMPLE = 20_000
"""Documents that are looked at, at most."""


def learn_mu(retriever: Retriever, sample: int = SAMPLE, random_state: int = 0) -> LeaveOneOut:
    """Return the μ of Dirichlet smoothing under which each word is best predicted by the rest of its document."""
    return optimal_mu(_postings(retriever, sample, random_state))


def learn_lam(retriever: Retriever, sample: int = SAMPLE, random_state: int = 0) -> LeaveOneOut:
    """Return the λ of Jelinek-Mercer smoothing, estimated likewise."""
    return optimal_lam(_postings(retriever, sample, random_state))


def _postings(retriever: Retriever, sample: int, random_state: int) -> Postings:
    """Return the postings of at most `sample` documents, chosen at random."""
    schema = retriever.schema()
    if schema.n_docs == 0:
        raise ParameterError("the index is empty: there is nothing to learn from")
    found = retriever.gather(retriever.sample(sample, random_state))
    p_C = found.cf / schema.n_tokens
    return Postings(found.counts, p_C[found.words], np.repeat(found.lengths, np.diff(found.starts)))
