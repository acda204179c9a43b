"""Model-based feedback: EM against its formulas, and what EM must do."""

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.feedback import Mixture


def estimate(world, noise: float, iterations: int) -> np.ndarray:
    method = Mixture(n_terms=None, query_weight=0.0, tempering=0.0, noise=noise, iterations=iterations)
    return world.dense(method.expand(world.evidence()).topic)


def step(theta: np.ndarray, counts: np.ndarray, p_C: np.ndarray, noise: float) -> np.ndarray:
    """One E-step and one M-step over the whole vocabulary."""
    from_topic = (1 - noise) * theta / ((1 - noise) * theta + noise * p_C)
    return counts * from_topic / (counts * from_topic).sum()


def log_likelihood(theta: np.ndarray, counts: np.ndarray, p_C: np.ndarray, noise: float) -> float:
    held = counts > 0
    return float((counts * np.log((1 - noise) * theta + noise * p_C, where=held, out=np.zeros(len(theta)))).sum())


@pytest.mark.parametrize("noise", [0.1, 0.5, 0.9])
def test_em_as_written(worlds, noise: float) -> None:
    for world in worlds:
        counts = world.counts[world.chosen].mean(axis=0)
        theta = counts / counts.sum()
        for n in (1, 2, 3):
            theta = step(theta, counts, world.p_C, noise)
            np.testing.assert_allclose(estimate(world, noise, n), theta, rtol=1e-10, atol=1e-14)


def test_the_likelihood_never_falls(worlds) -> None:
    for world in worlds[:10]:
        counts = world.counts[world.chosen].mean(axis=0)
        likelihoods = [log_likelihood(estimate(world, 0.7, n), counts, world.p_C, 0.7) for n in range(1, 25)]
        assert (np.diff(likelihoods) >= -1e-12).all()


def test_it_ends_at_a_fixed_point_that_nothing_beats(worlds) -> None:
    rng = np.random.default_rng(0)
    for world in worlds[:10]:
        counts, noise = world.counts[world.chosen].mean(axis=0), 0.5
        theta = estimate(world, noise, 20_000)
        np.testing.assert_allclose(step(theta, counts, world.p_C, noise), theta, atol=1e-8)
        best = log_likelihood(theta, counts, world.p_C, noise)
        others = [*rng.dirichlet(np.full(len(theta), 0.3), 50), *rng.dirichlet(1 + 1000 * theta, 50)]
        assert all(log_likelihood(other, counts, world.p_C, noise) < best for other in others)


def test_without_noise_it_is_the_documents_put_together(worlds) -> None:
    for world in worlds:
        counts = world.counts[world.chosen].sum(axis=0)
        np.testing.assert_allclose(estimate(world, 0.0, 50), counts / counts.sum(), rtol=1e-10)


def test_marks_weigh_the_counts(worlds) -> None:
    """One relevant, one not, the rest together as one more."""
    for world in worlds:
        n_rest = len(world.chosen) - 2
        marks = [1, 0, *[-1] * n_rest]
        method = Mixture(n_terms=None, query_weight=0.0, tempering=0.0, noise=0.4, iterations=1)
        expansion = method.expand(world.evidence(marks))
        weights = np.array([1.0, 0.0, *[1 / max(n_rest, 1)] * n_rest])
        weights /= weights.sum()
        np.testing.assert_allclose(expansion.weights, weights - [0, 1, *[0] * n_rest], rtol=1e-12)
        for model, weighed in ((expansion.topic, weights), (expansion.against, np.eye(len(marks))[1])):
            counts = weighed @ world.counts[world.chosen]
            if counts.sum() > 0:
                expected = step(counts / counts.sum(), counts, world.p_C, 0.4)
                np.testing.assert_allclose(world.dense(model), expected, rtol=1e-10)


@pytest.mark.parametrize("wrong", [{"noise": 1.0}, {"noise": -0.1}, {"noise": float("nan")}, {"iterations": 0}])
def test_parameters_that_are_refused(wrong) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Mixture(**wrong)
