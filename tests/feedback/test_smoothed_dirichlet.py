"""The Smoothed Dirichlet classifier against its densities and means over the whole vocabulary."""

import numpy as np
import pytest

from germane.feedback import RM1, SD
from germane.lm import Dirichlet, JelinekMercer

SMOOTHINGS = [JelinekMercer(0.2), JelinekMercer(0.9), Dirichlet(5.0), Dirichlet(1000.0)]


def log_density(theta: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """log of the Smoothed Dirichlet density as it stands in (5.17), one number a row of θ."""
    S = alpha.sum()
    return S * np.log(S) - (alpha * np.log(alpha)).sum() + ((alpha - 1) * np.log(theta)).sum(axis=1)


def log_posterior(theta: np.ndarray, relevant: np.ndarray, other: np.ndarray, log_prior: float) -> np.ndarray:
    """log P(R|θ^D), (5.16): x/(x + 1) with x the ratio of the likelihoods times that of the priors."""
    log_ratio = log_density(theta, relevant) - log_density(theta, other) + log_prior
    return -np.logaddexp(0.0, -log_ratio)


def weights_of(log_scores: np.ndarray) -> np.ndarray:
    weights = np.exp(log_scores - log_scores.max())
    return weights / weights.sum()


def geometric_mean(theta: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(5.13) / S, (5.14)."""
    product = np.prod(theta ** weights[:, None], axis=0)
    return product / product.sum()


def first_alphas(world, method: SD) -> tuple[np.ndarray, np.ndarray]:
    """α^R (5.11) and α^N (5.10), S = K·|Q|."""
    S = method.precision * world.query.sum()
    own = method.lam_query * world.query / world.query.sum() + (1 - method.lam_query) * world.p_C
    return S * own, S * world.p_C


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_weights_are_posteriors(worlds, smoothing) -> None:
    """With a small prior (5.16) gives what (5.26) and (5.27) approximate it by; Dirichlet's a_D cancels too."""
    method = SD(weighting=smoothing, lam_query=0.6, precision=1.7)
    for world in worlds:
        relevant, other = first_alphas(world, method)
        expected = weights_of(log_posterior(world.theta(smoothing), relevant, other, log_prior=-200.0))
        np.testing.assert_allclose(method.document_weights(world.evidence()), expected, rtol=1e-10)


def test_weights_as_printed(filled_worlds) -> None:
    """(5.27), the outer λ being λ_M1 and the inner one λ_E1."""
    outer, inner, K = 0.8, 0.3, 1.5
    for world in filled_worlds:
        mle = world.counts[world.chosen] / world.counts[world.chosen].sum(axis=1, keepdims=True)
        ratio = np.log(inner * mle / ((1 - inner) * world.p_C) + 1)
        S = K * world.query.sum()
        printed = weights_of((S * outer * (world.query / world.query.sum() - world.p_C) * ratio).sum(axis=1))
        found = SD(lam_query=outer, weighting=JelinekMercer(inner), precision=K).document_weights(world.evidence())
        np.testing.assert_allclose(found, printed, rtol=1e-10)


def test_only_the_product_of_precision_and_lam_matters(worlds) -> None:
    for world in worlds[:5]:
        one = SD(lam_query=0.9, precision=0.5).document_weights(world.evidence())
        other = SD(lam_query=0.3, precision=1.5).document_weights(world.evidence())
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("smoothing", SMOOTHINGS, ids=str)
def test_the_estimate_is_the_geometric_mean(worlds, smoothing) -> None:
    """Also of the words that no document holds, which share in the background."""
    for world in worlds:
        method = SD(n_terms=None, query_weight=0.0, smoothing=smoothing, keep_background=True)
        weights = method.document_weights(world.evidence())
        topic = world.dense(method.expand(world.evidence()).topic)
        np.testing.assert_allclose(topic, geometric_mean(world.theta(smoothing), weights), rtol=1e-10)
        assert topic.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("iterations", [2, 4])
def test_more_iterations_of_em(worlds, iterations: int) -> None:
    """Each further E-step takes the α^R just found, and documents smoothed as for the final ranking."""
    method = SD(
        n_terms=None, query_weight=0.0, lam_query=0.7, weighting=JelinekMercer(0.3), smoothing=JelinekMercer(0.2),
        final=Dirichlet(30.0), precision=2.0, iterations=iterations, keep_background=True,
    )  # fmt: skip
    for world in worlds:
        relevant, other = first_alphas(world, method)
        S = other.sum()
        weights = weights_of(log_density(world.theta(method.weighting), relevant)
                             - log_density(world.theta(method.weighting), other))  # fmt: skip
        for _ in range(iterations - 1):
            relevant = S * geometric_mean(world.theta(method.smoothing), weights)
            theta = world.theta(method.final)
            weights = weights_of(log_density(theta, relevant) - log_density(theta, other))
        expansion = method.expand(world.evidence())
        np.testing.assert_allclose(expansion.weights, weights, rtol=1e-10)
        expected = geometric_mean(world.theta(method.smoothing), weights)
        np.testing.assert_allclose(world.dense(expansion.topic), expected, rtol=1e-10)


def test_a_final_ranking_without_smoothing_iterates_with_the_weighting(worlds) -> None:
    for world in worlds[:5]:
        found = SD(iterations=3, final="bm25").document_weights(world.evidence())
        smoothed = SD(iterations=3, final=SD().weighting).document_weights(world.evidence())
        assert found.tolist() == smoothed.tolist()


@pytest.mark.parametrize("unmarked", [0.0, 1.0, 2.5])
def test_a_mark_is_a_posterior_of_one(worlds, unmarked: float) -> None:
    """Marked documents count alike; all others together as `unmarked` of them, in proportion to their posteriors."""
    for world in worlds:
        marks = np.array([1, *[-1] * (len(world.chosen) - 1)])
        guessed = SD().document_weights(world.evidence())[1:]
        expected = np.array([1.0, *(unmarked * guessed / guessed.sum())])
        found = SD(unmarked=unmarked).document_weights(world.evidence(marks))
        np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-10)


def test_negative_marks_replace_general_english(filled_worlds) -> None:
    """α^N is the geometric mean of the documents marked so, which have no part in α^R."""
    method = SD(n_terms=None, precision=1.2, smoothing=JelinekMercer(0.3), weighting=Dirichlet(20.0),
                negative_weight=0.6, keep_background=True, query_weight=0.0)  # fmt: skip
    for world in filled_worlds:
        marks = np.full(len(world.chosen), -1)
        marks[: max(1, len(marks) // 2)] = 0
        negative = marks == 0
        equal = np.full(negative.sum(), 1 / negative.sum())
        against = geometric_mean(world.theta(method.smoothing)[negative], equal)
        relevant, other = first_alphas(world, method)
        theta = world.theta(method.weighting)[~negative]
        weights = weights_of(log_density(theta, relevant) - log_density(theta, other.sum() * against))
        expansion = method.expand(world.evidence(marks))
        np.testing.assert_allclose(expansion.weights[~negative], weights, rtol=1e-10)
        np.testing.assert_allclose(expansion.weights[negative], -equal, rtol=1e-10)
        np.testing.assert_allclose(world.dense(expansion.against), against, rtol=1e-10)
        expected = geometric_mean(world.theta(method.smoothing)[~negative], weights)
        np.testing.assert_allclose(world.dense(expansion.topic), expected, rtol=1e-10)
        assert expansion.against_weight == 0.6


def test_general_english_counts_only_with_background(worlds) -> None:
    """(5.12): with background shares kept, H(α^N, θ_D) of (5.10) is part of the ranking."""
    evidence = worlds[1].evidence()
    assert SD().expand(evidence).against is None
    against = SD(keep_background=True).expand(evidence).against
    assert (against.background, against.ids.size) == (1.0, 0)
    assert SD(keep_background=True, negative_weight=0.25).expand(evidence).against_weight == 1.0, "it is for marks"


@pytest.mark.parametrize("lam", [0.2, 0.7])
def test_how_the_weights_differ_from_those_of_the_relevance_model(filled_worlds, lam: float) -> None:
    """At S·λ = |Q|, (5.28), what is left is the non-relevant class: -|Q|·Σ_{w∈D} p_C·log(1 + λθ̂/((1-λ)p_C))."""
    for world in filled_worlds:
        evidence = world.evidence()
        sd = SD(lam_query=0.8, precision=1 / 0.8, weighting=JelinekMercer(lam)).document_weights(evidence)
        rm = RM1(weighting=JelinekMercer(lam), tempering=1.0).document_weights(evidence)
        mle = world.counts[world.chosen] / world.counts[world.chosen].sum(axis=1, keepdims=True)
        non_relevant = -world.query.sum() * (world.p_C * np.log1p(lam * mle / ((1 - lam) * world.p_C))).sum(axis=1)
        left = np.log(sd) - np.log(rm) - non_relevant
        np.testing.assert_allclose(left, left.mean(), rtol=1e-10, atol=1e-10)
