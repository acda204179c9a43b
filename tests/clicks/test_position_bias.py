"""The planted curve is recovered, by both estimators, whatever the ranker does; EM climbs to the maximum."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from germane.clicks import em_curve, ratio_curve
from germane.clicks.observations import Cells
from germane.errors import ParameterError


@cache
def lists(depth, queries, searches, seed, ranker):
    """Attraction of each query's candidates, and how often each was shown at each position."""
    rng = np.random.default_rng(seed)
    candidates = 2 * depth
    attraction, shown = [], []
    for _ in range(queries):
        gamma = np.where(rng.random(candidates) < 0.4, rng.choice([0.5, 0.75, 1.0], candidates), 0.1)
        score = ranker * gamma + rng.normal(size=candidates)
        top = np.argsort(-(score + 0.7 * rng.gumbel(size=(searches, candidates))), axis=1)[:, :depth]
        cells = np.bincount((top * depth + np.arange(depth)).ravel(), minlength=candidates * depth)
        attraction.append(gamma)
        shown.append(cells.reshape(candidates, depth))
    return np.concatenate(attraction), np.concatenate(shown)


def planted(theta, *, queries, searches, seed, ranker=1.0, exact=False):
    """Cells of lists whose order prefers attractive results; with `exact`, clicks are their expectation."""
    attraction, n = lists(len(theta), queries, searches, seed, ranker)
    chance = attraction[:, None] * theta
    c = n * chance if exact else np.random.default_rng(seed).binomial(n, chance).astype(np.float64)
    several = ((n > 0).sum(axis=1) > 1) & (c.sum(axis=1) > 0)
    pair, place = np.nonzero((n > 0) & several[:, None])
    return Cells(pair, place + 1, n[pair, place].astype(np.float64), c[pair, place])


CURVES = {
    "steep": 1 / np.arange(1.0, 11),
    "gentle": np.arange(1.0, 11) ** -0.4,
    "not monotone": np.array([1.0, 0.55, 0.6, 0.3, 0.45, 0.2, 0.25, 0.3, 0.15, 0.2]),
}


@pytest.mark.parametrize("ranker", [0.0, 3.0])
@pytest.mark.parametrize("name", CURVES)
def test_a_planted_curve_within_five_percent(name, ranker):
    theta = CURVES[name]
    cells = planted(theta, queries=60, searches=8000, seed=1, ranker=ranker)
    for found in (em_curve(cells, positions=10), ratio_curve(cells, positions=10)):
        assert np.abs(found.theta / theta - 1).max() < 0.05


def test_raw_rates_would_be_wrong():
    """A ranker that is right makes the first positions look better than they are: that is what is undone."""
    theta = CURVES["gentle"]
    cells = planted(theta, queries=60, searches=3000, seed=2, ranker=6.0)
    n, c = (np.bincount(cells.position - 1, values) for values in (cells.shown, cells.clicked))
    raw = (c / n) / (c / n)[0]
    assert np.abs(raw / theta - 1).max() > 0.2
    assert np.abs(em_curve(cells, positions=10).theta / theta - 1).max() < 0.05


def test_without_chance_the_curve_is_exact():
    theta = CURVES["not monotone"]
    cells = planted(theta, queries=10, searches=500, seed=3, exact=True)
    assert ratio_curve(cells, positions=10).theta == pytest.approx(theta, rel=1e-9)
    found = em_curve(cells, positions=10, iterations=3000, tolerance=1e-12)
    assert found.theta == pytest.approx(theta, rel=2e-3)


def test_em_climbs_to_the_maximum_of_the_likelihood():
    """The likelihood never falls, and no other optimiser finds a higher one."""
    theta = np.array([0.9, 0.5, 0.3])
    cells = planted(theta, queries=3, searches=300, seed=4)
    found = em_curve(cells, positions=3, iterations=3000, tolerance=1e-12)
    values = np.array(found.likelihoods)
    assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()
    names, pair = np.unique(cells.pair, return_inverse=True)

    def minus(z):
        x = 1 / (1 + np.exp(-z))
        chance = x[:3][cells.position - 1] * x[3:][pair]
        return -(cells.clicked @ np.log(chance) + (cells.shown - cells.clicked) @ np.log1p(-chance))

    best = minimize(minus, np.zeros(3 + len(names)), method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-14})
    assert values[-1] == pytest.approx(-best.fun, rel=1e-5)
    assert values[-1] >= -best.fun - 1e-2


def test_what_a_log_cannot_tell():
    nothing = Cells(*(np.zeros(0, kind) for kind in (np.int64, np.int64, np.float64, np.float64)))
    for curve in (em_curve(nothing, positions=3), ratio_curve(nothing, positions=3)):
        assert curve.theta[0] == 1.0
        assert np.isnan(curve.theta[1:]).all()
        assert curve.filled(4).tolist() == [1.0, 1.0, 1.0, 1.0]
    # Positions 1 and 2 are tied by a pair, 3 and 4 by another, and nothing ties the two.
    apart = Cells(np.array([0, 0, 1, 1]), np.array([1, 2, 3, 4]), np.full(4, 100.0), np.array([80.0, 40, 60, 30]))
    assert ratio_curve(apart, positions=5).theta[:2] == pytest.approx([1.0, 0.5])
    assert np.isnan(ratio_curve(apart, positions=5).theta[2:]).all()
    filled = ratio_curve(apart, positions=5).filled(5)
    assert filled == pytest.approx([1.0, 0.5, 0.5, 0.5, 0.5])
    with pytest.raises(ParameterError):
        em_curve(apart, positions=0)
