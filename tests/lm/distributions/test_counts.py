import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from germane.errors import InputError
from germane.lm.distributions import (
    DCM,
    CountStatistics,
    DCMStatistics,
    DirichletDistribution,
    LogProportions,
    Multinomial,
    MultipleBernoulli,
    SmoothedDirichlet,
    SmoothedDocuments,
    TwoPoisson,
    document_perplexity,
)
from germane.lm.distributions.counts import checked_counts

THIRDS = np.full(3, 1 / 3)
OVER_COUNTS = [
    Multinomial(THIRDS),
    MultipleBernoulli([0.2, 0.5, 0.9]),
    TwoPoisson([0.1, 0.5, 0.3], [3.0, 2.0, 1.0], [0.1, 0.2, 0.3]),
    DCM([0.5, 1.0, 2.0]),
    SmoothedDirichlet([0.5, 1.0, 2.0], THIRDS, 0.5),
]
MAKERS = [
    CountStatistics.of,
    DCMStatistics.of,
    lambda counts, weights=None: LogProportions.of(counts, THIRDS, 0.5, weights),
]


@pytest.mark.parametrize("model", OVER_COUNTS, ids=lambda m: type(m).__name__)
def test_every_form_of_the_same_documents(model) -> None:
    dense = np.array([[2, 0, 1], [0, 0, 0], [1, 1, 5]])
    expected = model.log_density(dense)
    assert expected.shape == (3,)
    for form in (csr_array, csr_matrix, csc_array, coo_array):
        np.testing.assert_array_equal(model.log_density(form(dense)), expected)
    np.testing.assert_allclose(model.log_density(([2, 0, 0], [1, 1, 1])), expected[:1], rtol=1e-14)
    np.testing.assert_allclose(model.log_density(([], [])), expected[1:2], rtol=1e-14)
    stored_zero = csr_array((np.array([2.0, 0.0, 1.0]), [0, 1, 2], [0, 3]), shape=(1, 3))
    np.testing.assert_array_equal(model.log_density(stored_zero), expected[:1])
    assert stored_zero.nnz == 3, "the caller's array was changed"
    twice = csr_array((np.array([1.0, 1.0, 1.0]), [0, 2, 0], [0, 3]), shape=(1, 3))
    np.testing.assert_array_equal(model.log_density(twice), expected[:1])
    assert twice.nnz == 3
    assert model.log_density(csr_array((0, 3))).shape == (0,)


@pytest.mark.parametrize("model", OVER_COUNTS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, -1, 0]], "negative"),
        ([[1, np.nan, 0]], "NaN"),
        ([[1, np.inf, 0]], "infinite"),
        ([[1, 2]], "2 words"),
        ([1, 2, 3], "two dimensions"),
        ([["a", "b", "c"]], "numbers"),
        (([0, 3], [1, 1]), "outside the vocabulary"),
        (([0, 1], [1, -1]), "not negative"),
        (([0, 1], [1, np.nan]), "finite"),
        (csr_array(np.array([[1j, 0, 0]])), "complex"),
    ],
)
def test_bad_counts(model, counts, message) -> None:
    with pytest.raises(InputError, match=message):
        model.log_density(counts)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("weights", "message"), [([1.0], "shape"), ([1.0, -1.0], "not negative"), ([1.0, np.nan], "finite")]
)
def test_bad_weights(make, weights, message) -> None:
    with pytest.raises(InputError, match=message):
        make([[1, 0, 2], [0, 1, 0]], weights)


@pytest.mark.parametrize("make", [CountStatistics.of, DCMStatistics.of])
def test_merging_over_other_vocabularies(make) -> None:
    with pytest.raises(InputError, match="cannot be merged"):
        make([[1, 2]]) + make([[1, 2, 3]])


def test_merging_documents_smoothed_differently() -> None:
    one = LogProportions.of([[1, 0, 2]], THIRDS, 0.5)
    for other in (LogProportions.of([[1, 0, 2]], THIRDS, 0.4), LogProportions.of([[1, 0, 2]], [0.2, 0.3, 0.5], 0.5)):
        with pytest.raises(InputError, match="smoothed differently"):
            one + other


def test_one_document_without_a_vocabulary() -> None:
    with pytest.raises(InputError, match="size of the vocabulary"):
        CountStatistics.of(([0], [1]))


def test_good_counts_are_not_copied() -> None:
    rows = csr_array(np.array([[1.0, 0.0, 2.0]]))
    assert checked_counts(rows).data is rows.data or np.shares_memory(checked_counts(rows).data, rows.data)


def test_no_dense_array_is_made() -> None:
    """20,000 documents over 1,000,000 words would be 160 GB."""
    n, V = 20_000, 1_000_000
    rng = np.random.default_rng(0)
    ids = np.sort(rng.choice(V, size=(n, 2)), axis=1)
    ids[:, 1] = np.where(ids[:, 1] == ids[:, 0], (ids[:, 0] + 1) % V, ids[:, 1])
    rows = csr_array((np.ones(2 * n), ids.ravel(), np.arange(0, 2 * n + 1, 2)), shape=(n, V))
    p_C = np.full(V, 1 / V)
    statistics = LogProportions.of(rows, p_C, 0.5)
    models = [Multinomial(p_C), MultipleBernoulli(p_C), DCM(p_C), SmoothedDirichlet.fit(statistics)]
    for model in [*models, TwoPoisson(p_C, p_C, p_C)]:
        assert np.isfinite(model.log_density(rows)).all()
    assert np.isfinite(DirichletDistribution(p_C).log_density(SmoothedDocuments.of(rows, p_C, 0.5))).all()
    assert CountStatistics.of(rows).n_docs == n
    assert DCMStatistics.of(rows).V == V


@pytest.mark.parametrize("make", MAKERS)
def test_large_input_is_taken_in_blocks(make, monkeypatch) -> None:
    rng = np.random.default_rng(1)
    counts, weights = rng.poisson(0.7, size=(60, 3)), rng.random(60)
    whole = make(counts, weights)
    monkeypatch.setattr("germane.lm.distributions.counts.BLOCK", 7)
    for name, value in vars(make(counts, weights)).items():
        np.testing.assert_allclose(value, getattr(whole, name), rtol=1e-12, err_msg=name)


def test_perplexity() -> None:
    """SD (3.42) as printed, and the uniform multinomial, which hesitates between V words."""
    counts = np.array([[2.0, 0, 1], [0, 4, 1]])
    logs = Multinomial(THIRDS).log_density(counts, coefficient=False)
    assert document_perplexity(logs, counts.sum(axis=1)) == pytest.approx(3.0)
    logs = DCM([0.5, 1, 2]).log_density(counts)
    assert document_perplexity(logs, [3, 5]) == pytest.approx(np.exp(-(logs[0] + logs[1]) / 8))
    assert document_perplexity([-np.inf, -1.0], [1, 1]) == np.inf
    with pytest.raises(InputError, match="at least one word"):
        document_perplexity([0.0], [0.0])
    with pytest.raises(InputError, match="do not match"):
        document_perplexity([0.0], [1.0, 2.0])
