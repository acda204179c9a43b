"""The pool: weights as a plain solver finds them, probabilities that hold, and what it does where others fail."""

import warnings

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import log_softmax
from sklearn.utils.estimator_checks import check_estimator

from germane import TextClassifier
from germane.classify import pooling
from germane.classify.pooling import BIAS_PULL, CONTENT, PAIR, PULL, STOPPED, PooledClassifier, _folds, _Part, _pool

RNG = np.random.default_rng(5)
OF_WEIGHTS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "a document twice may be learnt from once and set apart once",
)


def planted(n: int, n_classes: int, signal: float) -> np.ndarray:
    """Scores that favour the true class by as much."""
    truth = np.arange(n) % n_classes
    return RNG.normal(size=(n, n_classes)) + signal * (truth[:, None] == np.arange(n_classes))


def test_weights_are_those_of_a_plain_solver() -> None:
    truth = np.arange(60) % 3
    scores = [planted(60, 3, signal).astype(np.float32) for signal in (2.0, 1.0, 0.0)]
    weights, bias = _pool([_Part("", None, None, 1.0, each) for each in scores], truth, 3)  # type: ignore[arg-type]

    def loss(x: np.ndarray) -> float:
        logs = log_softmax(sum(w * s.astype(float) for w, s in zip(x[:3], scores, strict=True)) + x[3:], axis=1)
        return -logs[np.arange(60), truth].sum() + PULL * ((x[:3] - 1 / 3) ** 2).sum() + BIAS_PULL * x[3:] @ x[3:] / 2

    found = optimize.minimize(loss, np.zeros(6), method="SLSQP", bounds=[(0, None)] * 3 + [(None, None)] * 3)
    np.testing.assert_allclose([*weights, *bias], found.x, atol=5e-3)
    assert weights[0] > weights[1] > weights[2] >= 0


@pytest.mark.parametrize("n", [40, 3 * pooling.FEW])
def test_every_class_is_learnt_from_in_every_part(n: int) -> None:
    number = np.append(RNG.integers(0, 4, n), [4, 5, 5])  # a class of one, a class of two
    folds = _folds(number, np.random.default_rng(0))
    assert folds[number == 4].tolist() == [-1]
    for fold in np.unique(folds[folds >= 0]):
        assert set(number[folds != fold]) == set(number)
    assert (folds >= 0).mean() == pytest.approx(1 if n < pooling.FEW else 0.2, abs=0.1)


def test_members_look_at_their_own_columns() -> None:
    X = sparse.csr_array(RNG.poisson(1.0, (40, 9)).astype(float))
    kinds = [CONTENT] * 3 + [STOPPED] * 3 + [PAIR] * 3
    pool = PooledClassifier(kinds).fit(X, np.arange(40) % 2)
    for name, columns in zip(pool.names_, pool.columns_, strict=True):
        expected = {"content words": 3, "all words": 6, "words and pairs": 9}[name.split(", ")[1]]
        assert columns.tolist() == list(range(expected))
    alike = PooledClassifier().fit(X, np.arange(40) % 2)
    assert len(alike.alone_) < len(pool.alone_)  # the same model on the same columns is one member
    assert np.allclose(alike.predict_proba(X).sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_contract() -> None:
    check_estimator(PooledClassifier(), expected_failed_checks=OF_WEIGHTS)


def test_many_classes_of_different_sizes() -> None:
    """Where SD-CE alone gives small classes too much, the pool does not."""
    vocabulary = [f"w{i}" for i in range(60)]
    sizes, texts, labels = [200, 60, 20, 10, 5, 5], [], []
    for label, size in enumerate(sizes):
        own = np.ones(60)
        own[label * 8 : label * 8 + 12] = 4.0
        for _ in range(size):
            texts.append(" ".join(RNG.choice(vocabulary, 12, p=own / own.sum())))
            labels.append(label)
    order = RNG.permutation(len(texts))
    train, test = order[::2], order[1::2]
    right = {}
    for model in ("auto", "sd-ce"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            fitted = TextClassifier(model, tune=False).fit([texts[i] for i in train], [labels[i] for i in train])
        assert any("largest class" in str(each.message) for each in told) == (model == "sd-ce")
        right[model] = fitted.score([texts[i] for i in test], [labels[i] for i in test])
    assert right["auto"] >= right["sd-ce"]
    assert right["auto"] > 200 / 300


def test_a_prior_in_numbers_moves_the_pool() -> None:
    texts, labels = ["goal match", "match team", "law vote", "vote tax"] * 5, ["s", "s", "p", "p"] * 5
    asked = ["goal law"]
    plain, moved = (
        TextClassifier(prior=prior).fit(texts, labels).class_scores(asked)[0]
        for prior in ("uniform", {"s": 0.9, "p": 0.1})
    )
    assert np.diff(moved) - np.diff(plain) == pytest.approx(np.log(9.0))
