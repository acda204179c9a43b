"""The ranking: its weights, its solver against scikit-learn, and the order it proposes."""

import math

import numpy as np
import pytest
from scipy import sparse

from germane.errors import ParameterError
from germane.refine.screening.order import most_different, next_to_read, typicality
from germane.refine.screening.ranking import QUICK, Ranker, best_bias
from germane.refine.screening.ranking_kernels import descend, primal
from germane.refine.screening.weighting import tf_idf, weigh_documents
from germane.types import Document

EXACT = (5000, 1e-12)


def documents():
    texts = ["copper liver copper", "liver wires", "", "copper wires wires"]
    return [Document(str(i), {"Title": text, "abstract": "zinc", "keywords": ["zinc", "gold"]}) if text else
            Document(str(i), {}) for i, text in enumerate(texts)]  # fmt: skip


def random_rows(n_docs=60, n_words=25, seed=0):
    rng = np.random.default_rng(seed)
    return tf_idf(sparse.csr_array(rng.poisson(0.3, (n_docs, n_words)).astype(float))), rng


def test_weights_by_hand():
    weighted = weigh_documents(documents())
    dense, words = weighted.rows.toarray(), weighted.words
    n, df = 4, {"copper": 2, "liver": 2, "wires": 2, "zinc": 3, "gold": 3}
    counts = {"copper": 6, "liver": 3, "zinc": 2, "gold": 1}
    expected = np.array([
        (1 + math.log(counts[w])) * (math.log((1 + n) / (1 + df[w])) + 1) if w in counts else 0.0 for w in words
    ])  # fmt: skip
    assert dense[0] == pytest.approx(expected / np.linalg.norm(expected))
    assert not dense[2].any()
    with pytest.raises(ParameterError):
        weigh_documents(documents(), title_weight=-1.0)


def test_no_words_at_all():
    weighted = weigh_documents([Document("a", {}), Document("b", {"title": "the of"})])
    assert weighted.rows.shape == (2, 0)
    assert np.isfinite(Ranker(weighted.rows).fit(np.array([1, -1], np.int8)).scores).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_solver_against_scikit_learn(seed):
    from sklearn.linear_model import LogisticRegression

    rows, rng = random_rows(seed=seed)
    labels = rng.choice(np.array([1, 0, -1], np.int8), 60)
    ranker = Ranker(rows, unread_weight=0.2)
    costs = ranker.costs(labels)
    assert costs[labels == 1].sum() == pytest.approx(costs[labels != 1].sum())
    weak = 0.2 * (labels != -1).sum() / (labels == -1).sum()
    assert weak < 1.0
    assert costs[labels == -1].mean() / costs[labels == 0].mean() == pytest.approx(weak)
    with_bias = sparse.hstack([rows, np.ones((60, 1))]).tocsr()
    model = LogisticRegression(fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(with_bias, labels == 1, sample_weight=costs)
    found = ranker.fit(labels, effort=EXACT)
    assert np.append(found.coefficients, found.bias) == pytest.approx(model.coef_[0], abs=1e-4)
    assert found.scores == pytest.approx(rows @ found.coefficients + found.bias)
    warm = ranker.fit(labels, ranker.fit(np.where(labels == 0, -1, labels).astype(np.int8)), EXACT)
    assert warm.scores == pytest.approx(found.scores, abs=1e-4)


def test_kernels_against_numpy():
    rows, rng = random_rows()
    signs, alpha = rng.choice([-1.0, 1.0], 60), rng.random(60)
    w = np.zeros(26)
    primal(rows.indptr, rows.indices, rows.data, signs, alpha, w)
    assert w == pytest.approx(np.append(rows.T @ (signs * alpha), signs @ alpha))
    costs = np.full(60, 2.0)
    square = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()

    def dual(a):
        full = np.append(rows.T @ (signs * a), signs @ a)
        entropy = (a * np.log(a / costs) + (costs - a) * np.log(1 - a / costs)).sum()
        return 0.5 * full @ full + entropy

    values = [dual(alpha)]
    for _ in range(20):
        descend(rows.indptr, rows.indices, rows.data, square, np.arange(60), signs, costs, alpha, w, 1, 0.0)
        values.append(dual(alpha))
    assert (np.diff(values) <= 1e-9).all()
    assert w == pytest.approx(np.append(rows.T @ (signs * alpha), signs @ alpha))
    assert descend(rows.indptr, rows.indices, rows.data, square, np.arange(60), signs, costs, alpha, w, 99, 0.1) < 99


def test_the_bias_is_where_the_slope_is_zero():
    rng = np.random.default_rng(1)
    margins, signs, costs = rng.normal(size=30), rng.choice([-1.0, 1.0], 30), rng.random(30) * 5
    b = best_bias(margins, signs, costs)
    assert b - (costs * signs / (1 + np.exp(signs * (margins + b)))).sum() == pytest.approx(0.0, abs=1e-6)


def test_one_side_only():
    rows, _ = random_rows(5)
    ranker = Ranker(rows)
    for label in (-1, 0, 1):
        found = ranker.fit(np.full(5, label, np.int8))
        assert not found.scores.any()
    assert ranker.fit(np.array([1, -1, -1, -1, -1], np.int8), effort=QUICK).scores.argmax() == 0
    for bad in ({"C": 0.0}, {"C": float("nan")}, {"unread_weight": 0.0}):
        with pytest.raises(ParameterError):
            Ranker(rows, **bad)


def test_the_order():
    rows, _ = random_rows(8)
    labels = np.array([1, 0, -1, -1, -1, -1, -1, -1], np.int8)
    scores = np.array([9.0, 9.0, 1.0, 3.0, 3.0, -2.0, 0.0, 0.5])
    assert next_to_read(scores, labels, rows, 4) == [(3, False), (4, False), (2, False), (7, False)]
    assert len(next_to_read(scores, labels, rows, 99)) == 6
    assert next_to_read(scores, labels, rows, 0) == []
    mixed = next_to_read(scores, labels, rows, 6, explore=0.5)
    assert [explores for _, explores in mixed] == [False, True] * 3
    assert sorted(i for i, _ in mixed) == [2, 3, 4, 5, 6, 7]
    assert all(explores for _, explores in next_to_read(scores, labels, rows, 3, explore=1.0))
    for bad in (-0.1, 1.1, float("nan")):
        with pytest.raises(ParameterError):
            next_to_read(scores, labels, rows, 3, explore=bad)
    with pytest.raises(ParameterError):
        next_to_read(scores, labels, rows, -1)


def test_exploring_takes_the_farthest():
    rows = sparse.csr_array(np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 1.0, 0], [0, 0, 1.0]]))
    labels = np.array([1, -1, -1, -1], np.int8)
    assert most_different(np.zeros(4), labels, rows, 2) == [2, 3]
    assert most_different(np.zeros(4), np.full(4, -1, np.int8), rows, 2)[0] == 0


def test_before_anything_relevant_is_known():
    rows = sparse.csr_array(np.array([[1.0, 0], [0.9, 0.1], [0.8, 0.2], [0, 1.0]]))
    nothing = np.full(4, -1, np.int8)
    assert next_to_read(np.zeros(4), nothing, rows, 1) == [(0, False)]
    away = np.array([0, -1, -1, -1], np.int8)
    assert typicality(rows, away).argmax() == 3
