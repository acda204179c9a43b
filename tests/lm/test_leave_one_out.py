from collections.abc import Iterator
from math import log

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.lm import Postings, optimal_lam, optimal_mu
from germane.lm.leave_one_out import dirichlet_statistics, jelinek_mercer_statistics

V = 2000


def sample(rng: np.random.Generator, mu: float, n_docs: int, longest: int) -> Postings:
    """Documents from a Dirichlet prior of weight mu around a Zipf collection; the first has one word."""
    zipf = 1 / np.arange(1, V + 1)
    zipf /= zipf.sum()
    words, counts, lengths = [], [], []
    for d in range(n_docs):
        length = 1 if d == 0 else int(rng.integers(1, longest))
        w, c = np.unique(rng.choice(V, length, p=rng.dirichlet(mu * zipf)), return_counts=True)
        words.append(w)
        counts.append(c)
        lengths.append(np.full(w.size, length))
    w, c = np.concatenate(words), np.concatenate(counts)
    cf = np.bincount(w, weights=c, minlength=V)
    return Postings(c, (cf / cf.sum())[w], np.concatenate(lengths))


@pytest.fixture(scope="module")
def postings() -> Postings:
    return sample(np.random.default_rng(1), mu=150, n_docs=300, longest=200)


def rows(postings: Postings) -> Iterator[tuple[float, float, float]]:
    return zip(postings.c_wd.tolist(), postings.p_C.tolist(), postings.len_d.tolist(), strict=True)


def literal_l_mu(postings: Postings, mu: float) -> float:
    return sum(c * log((c - 1 + mu * p) / (n - 1 + mu)) for c, p, n in rows(postings))


def literal_l_lam(postings: Postings, lam: float) -> float:
    return sum(c * (log(lam * (c - 1) / (n - 1) + (1 - lam) * p) if n > 1 else log(p)) for c, p, n in rows(postings))


@pytest.mark.parametrize("mu", [0.3, 40.0, 9000.0])
def test_dirichlet_statistics(postings: Postings, mu: float) -> None:
    value, slope, bend = dirichlet_statistics(postings, mu)
    assert value == pytest.approx(literal_l_mu(postings, mu), rel=1e-12)
    up, down = (dirichlet_statistics(postings, mu * (1 + s)) for s in (1e-5, -1e-5))
    assert slope == pytest.approx((up[0] - down[0]) / (2e-5 * mu), rel=1e-3)
    assert bend == pytest.approx((up[1] - down[1]) / (2e-5 * mu), rel=1e-4)


@pytest.mark.parametrize("lam", [0.0, 0.2, 0.9])
def test_jelinek_mercer_statistics(postings: Postings, lam: float) -> None:
    value, slope, bend = jelinek_mercer_statistics(postings, lam)
    assert value == pytest.approx(literal_l_lam(postings, lam), rel=1e-12)
    up, down = (jelinek_mercer_statistics(postings, lam + s) for s in (1e-7, -1e-7))
    assert slope == pytest.approx((up[0] - down[0]) / 2e-7, rel=1e-3)
    assert bend == pytest.approx((up[1] - down[1]) / 2e-7, rel=1e-3)


def test_mu_is_the_best_of_a_fine_grid(postings: Postings) -> None:
    best = optimal_mu(postings)
    grid = np.exp(np.linspace(np.log(0.1), np.log(1e5), 401))
    values = [dirichlet_statistics(postings, mu)[0] for mu in grid]
    assert best.value == pytest.approx(grid[np.argmax(values)], rel=0.035)
    assert best.log_likelihood >= max(values)
    assert best.log_likelihood == pytest.approx(literal_l_mu(postings, best.value), rel=1e-12)
    assert dirichlet_statistics(postings, best.value)[1] * best.value == pytest.approx(0, abs=0.01)
    assert not best.at_bound
    assert best.n_passes <= 8


def test_lam_is_the_best_of_a_fine_grid(postings: Postings) -> None:
    best = optimal_lam(postings)
    grid = np.linspace(0, 0.996, 250)
    values = [jelinek_mercer_statistics(postings, lam)[0] for lam in grid]
    assert best.value == pytest.approx(grid[np.argmax(values)], abs=0.004)
    assert best.log_likelihood >= max(values)
    assert not best.at_bound


@pytest.mark.parametrize("mu", [30, 500])
def test_mu_of_the_generating_prior_is_recovered(mu: float) -> None:
    found = optimal_mu(sample(np.random.default_rng(2), mu=mu, n_docs=400, longest=300)).value
    assert found == pytest.approx(mu, rel=0.1)


def test_chunks_and_whole_agree(postings: Postings) -> None:
    def chunks() -> Iterator[Postings]:
        for at in range(0, postings.c_wd.size, 997):
            part = slice(at, at + 997)
            yield Postings(postings.c_wd[part], postings.p_C[part], postings.len_d[part])

    assert optimal_mu(chunks).value == pytest.approx(optimal_mu(postings).value, rel=1e-8)
    assert optimal_lam(chunks).value == pytest.approx(optimal_lam(postings).value, rel=1e-8)


def test_range_ends_are_reported() -> None:
    only_background = Postings([1, 1], [0.5, 0.5], [2, 2])
    assert optimal_lam(only_background).value == 0
    assert optimal_lam(only_background).at_bound
    high = optimal_mu(only_background, high=1e4)
    assert (high.value, high.at_bound) == (pytest.approx(1e4), True)
    always_again = Postings([5, 5], [0.01, 0.01], [5, 5])
    assert (optimal_lam(always_again).value, optimal_lam(always_again).at_bound) == (1, True)
    low = optimal_mu(always_again, low=0.5)
    assert (low.value, low.at_bound) == (pytest.approx(0.5), True)


def test_lambda_one_is_impossible_for_words_seen_once() -> None:
    assert jelinek_mercer_statistics(Postings([1], [0.1], [9]), 1.0)[0] == -np.inf


@pytest.mark.parametrize("low", [20, 140, 150.5, 1e3])
@pytest.mark.parametrize("high", [2e3, 1e9])
def test_the_range_does_not_matter_if_it_holds_the_maximum(postings: Postings, low: float, high: float) -> None:
    best, free = optimal_mu(postings, low=low, high=high), optimal_mu(postings)
    assert best.value == pytest.approx(max(low, free.value), rel=1e-5)
    assert best.at_bound == (low > free.value)


def test_the_higher_of_two_humps_is_found() -> None:
    """Short documents of repeated words want a small μ, long ones of rare words a large one."""
    mixed = Postings(
        np.repeat([1, 2, 3], [100, 500, 10]),
        np.repeat([1e-6, 0.01, 1e-4], [100, 500, 10]),
        np.repeat([5000, 2, 4000], [100, 500, 10]),
    )
    grid = np.exp(np.linspace(np.log(0.01), np.log(1e7), 400))
    table = np.array([dirichlet_statistics(mixed, mu) for mu in grid])
    rising = table[:, 1] > 0
    assert np.count_nonzero(rising[:-1] & ~rising[1:]) == 2
    best = optimal_mu(mixed, low=0.01)
    assert best.log_likelihood >= table[:, 0].max()
    assert not best.at_bound


def test_bad_input(postings: Postings) -> None:
    once = iter([postings])
    bad_calls = [
        (lambda: Postings([0], [0.1], [3]), "at least 1"),
        (lambda: Postings([4], [0.1], [3]), "shorter"),
        (lambda: Postings([1], [0.0], [3]), "p_C"),
        (lambda: Postings([1], [1.5], [3]), "p_C"),
        (lambda: Postings([1, 2], [0.1], [3]), "2 counts, 1 p_C"),
        (lambda: Postings([float("nan")], [0.1], [3]), "found nan"),
        (lambda: optimal_mu(postings, low=0), "low and high"),
        (lambda: optimal_mu(postings, low=5, high=5), "low and high"),
        (lambda: optimal_mu(postings, high=float("nan")), "low and high"),
        (lambda: optimal_mu(Postings([], [], [])), "nothing to choose"),
        (lambda: optimal_lam(Postings([1, 1], [0.1, 0.2], [1, 1])), "nothing to choose"),
        (lambda: optimal_mu(lambda: once), "fresh pass"),
    ]
    for call, complaint in bad_calls:
        with pytest.raises(ParameterError, match=complaint):
            call()
