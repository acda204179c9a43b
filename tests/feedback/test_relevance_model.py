"""The Relevance Model against its formulas over the whole vocabulary."""

import numpy as np
import pytest

from germane.feedback import RM1, RM3
from germane.lm import MLE, Dirichlet, JelinekMercer

SMOOTHINGS = [JelinekMercer(0.3), JelinekMercer(0.95), Dirichlet(7.0), Dirichlet(2000.0)]


def definition(world, smoothing, tempering=1.0) -> np.ndarray:
    """P(Q|θ^i)^K / Σ_k P(Q|θ^k)^K, (5.4)."""
    likelihood = np.prod(world.theta(smoothing) ** world.query, axis=1) ** tempering
    return likelihood / likelihood.sum()


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_weights_are_query_likelihoods(worlds, smoothing) -> None:
    for world in worlds:
        for tempering in (1.0, 0.5):
            found = RM3(weighting=smoothing, tempering=tempering).document_weights(world.evidence())
            np.testing.assert_allclose(found, definition(world, smoothing, tempering), rtol=1e-10)


def test_weights_as_printed(filled_worlds) -> None:
    """(5.8): with Jelinek-Mercer smoothing what is left of (5.7) does not depend on the document."""
    lam = 0.4
    for world in filled_worlds:
        mle = world.counts[world.chosen] / world.counts[world.chosen].sum(axis=1, keepdims=True)
        printed = np.exp((world.query * np.log(lam * mle / ((1 - lam) * world.p_C) + 1)).sum(axis=1))
        found = RM1(weighting=JelinekMercer(lam), tempering=1.0).document_weights(world.evidence())
        np.testing.assert_allclose(found, printed / printed.sum(), rtol=1e-10)


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_the_estimate_is_the_weighted_mean(worlds, smoothing) -> None:
    for world in worlds:
        method = RM1(n_terms=None, weighting=Dirichlet(50.0), smoothing=smoothing, tempering=1.0, keep_background=True)
        expected = definition(world, Dirichlet(50.0)) @ world.theta(smoothing)
        topic = method.expand(world.evidence()).topic
        np.testing.assert_allclose(world.dense(topic), expected, rtol=1e-10)
        assert topic.background > 0


def test_rm3_interpolates_the_excess_with_the_query(worlds) -> None:
    """As is usual: documents unsmoothed, the estimate a distribution over their words, λ of it the query."""
    for world in worlds:
        counts = world.counts[world.chosen]
        mle = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        mean = definition(world, Dirichlet(100.0), 0.5) @ mle
        expected = 0.3 * world.query / world.query.sum() + 0.7 * mean / mean.sum()
        method = RM3(n_terms=None, weighting=Dirichlet(100.0), smoothing=MLE(), query_weight=0.3, tempering=0.5)
        expansion = method.expand(world.evidence())
        np.testing.assert_allclose(world.dense(expansion.topic), expected, rtol=1e-10, atol=1e-15)
        assert (expansion.topic.background, expansion.against, expansion.dropped) == (0.0, None, 0.0)


def test_a_long_query_does_not_overflow(filled_worlds) -> None:
    """10,000 words heap everything on one document at K = 1, and still give numbers."""
    world = filled_worlds[0]
    world = type(world)(world.counts, 10_000 * (world.query > 0), world.chosen)
    weights = RM1(tempering=1.0).document_weights(world.evidence())
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()
    flat = RM1(tempering=1e-6).document_weights(world.evidence())
    assert flat.max() < weights.max()
