"""Figures of the papers: what they show, and that they can be drawn and described in files."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from germane.errors import InputError, ParameterError
from germane.experiments import figures, read_experiment, run_experiment, write_report
from germane.experiments.count_distributions import CATEGORIES, count_distributions

EXPERIMENT = """
kind = "figure"
title = "Two figures"
[[figure]]
name = "3.3"
draw = "smoothed-domains"
parameters = { lam = [1.0, 0.5], n_docs = 20 }
[[figure]]
name = "5.1"
draw = "dirichlet-densities"
"""


@pytest.fixture(scope="module")
def bursty():
    """Documents of a DCM: a word that occurs in one is likely to occur again."""
    rng = np.random.default_rng(0)
    mean = 1.0 / np.arange(1, 401)
    theta = rng.dirichlet(60 * mean / mean.sum(), 300)
    return csr_array(rng.multinomial(rng.integers(20, 120, 300), theta).astype(float))


def test_smoothing_shrinks_the_domain():
    unsmoothed, half = (figures.smoothed_documents(lam, 500, 50, 0) for lam in (1.0, 0.5))
    assert np.allclose(np.ptp(2 * half - unsmoothed, axis=0), 0.0)  # one θ^GE for all
    assert np.allclose(half.sum(axis=1), 1.0)
    assert unsmoothed.min() == 0.0
    assert half.min() > 0.1
    with pytest.raises(ParameterError, match="lam must be above 0"):
        figures.smoothed_documents(0.0, 5, 5, 0)


def test_counts_of_the_multinomial_by_hand(bursty):
    found = count_distributions(bursty, max_count=6, max_words=1000)
    theta = np.asarray(bursty.sum(axis=0)) / bursty.sum()
    theta = np.sort(theta[theta > 0])[::-1]
    lengths = np.asarray(bursty.sum(axis=1))
    f = np.arange(1, 7)
    high = round(0.01 * len(theta))
    literal = sum(stats.binom.pmf(f, length, p) for p in theta[:high] for length in lengths)
    assert found.predicted["multinomial"]["high"] == pytest.approx(literal / literal.sum())
    values = bursty.data[bursty.data <= 6]
    pooled = sum(found.observed[c][0] * n for c, n in zip(CATEGORIES, _sizes(bursty, high), strict=True))
    assert pooled == pytest.approx((values == 1).sum())


def _sizes(counts, high):
    """How many counts up to 6 each category has."""
    order = np.argsort(-np.asarray(counts.sum(axis=0)), kind="stable")
    order = order[np.asarray(counts.sum(axis=0))[order] > 0]
    end = round(0.05 * len(order))
    parts = order[:high], order[high:end], order[end:]
    return [int(((counts[:, part].data > 0) & (counts[:, part].data <= 6)).sum()) for part in parts]


def test_burstiness_is_what_the_multinomial_misses(bursty):
    found = count_distributions(bursty, S_dcm=60, S_dirichlet=60, S_sd=60, max_count=6, max_words=50)
    for category in CATEGORIES:
        divergences = {name: found.divergence(name, category) for name in found.predicted}
        assert min(divergences, key=divergences.__getitem__) == "DCM"
        assert divergences["DCM"] >= 0
    assert found.divergence("DCM", "low") < 0.1 * found.divergence("multinomial", "low")
    for predicted in found.predicted.values():
        assert all(values.sum() == pytest.approx(1.0) for values in predicted.values())
    figures.count_curves(found, "bursty")


@pytest.mark.parametrize("length", [1, 7, 10])
def test_volumes_of_documents_of_two_words(length):
    """Against rounding itself, on a grid of a million proportions that has no halves."""
    theta = (np.arange(1_000_000) + 0.5) / 1_000_000
    shares = np.bincount(np.rint(theta * length).astype(int), minlength=length + 1) / len(theta)
    intervals = [figures.rounding_interval(count, length) for count in range(length + 1)]
    assert [high - low for low, high in intervals] == pytest.approx(shares, abs=2e-6)
    assert all(high - low <= 1 / length + 1e-12 for low, high in intervals)  # (7.10)
    assert intervals[0] == pytest.approx((0.0, 0.5 / length))  # (7.11)
    assert intervals[-1] == pytest.approx((1 - 0.5 / length, 1.0))
    drawn, volumes = figures.document_volumes(length, range(length + 1), [length]).axes
    assert sum(np.ptp(line.get_xdata()) for line in drawn.get_lines()[1::2]) == pytest.approx(1.0)  # they tile it
    assert volumes.get_lines()[0].get_ydata() == pytest.approx(shares, abs=2e-6)


def test_the_volume_of_the_texts_example():
    assert figures.rounding_interval(5, 10) == pytest.approx((0.45, 0.55))
    for count, length in ((-1, 3), (4, 3), (0, 0)):
        with pytest.raises(ParameterError, match=r"from 0 to \|D\| times"):
            figures.rounding_interval(count, length)


def test_too_few_words():
    with pytest.raises(InputError, match="too few words"):
        count_distributions(csr_array(np.ones((5, 2))))


def test_a_file_of_figures(tmp_path):
    path = tmp_path / "drawn.toml"
    path.write_text(EXPERIMENT)
    written = write_report(run_experiment(read_experiment(path)), tmp_path / "out")
    assert [path.name for path in written] == ["drawn.md", "drawn.json", "drawn-3.3.png", "drawn-5.1.png"]
    assert all(path.stat().st_size for path in written)
    assert figures.normalisers().axes[0].get_lines()[1].get_ydata().max() < 1  # bounded, unlike the Dirichlet's


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("smoothed-domains", "pie"), "figure '3.3': there is no drawing 'pie'; there are: smoothed-domains"),
        (("n_docs", "n_dogs"), "figure '3.3': got an unexpected keyword argument 'n_dogs'"),
        (('name = "5.1"', 'name = "3.3"'), "two figures have one name"),
        (("[[figure]]", "[[drawing]]"), "'figure' is missing"),
    ],
)
def test_bad_files(tmp_path: Path, change, message):
    path = tmp_path / "case.toml"
    path.write_text(EXPERIMENT.replace(*change))
    with pytest.raises(InputError, match=message):
        read_experiment(path)
