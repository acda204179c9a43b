"""Projections against dense solvers, and S2Net's gradient against finite differences."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg

from germane.errors import ParameterError
from germane.latent import CLLSA, LSA, OPCA, VSM, S2Net
from germane.latent.backends.cpu.gradient import gradient
from germane.latent.backends.protocol import Triples
from germane.latent.projection import Eigenprojection, Moments, inverse_frequencies, weighted
from latent.planted import Planted

TITLES = ["d0x1 d0x2 d1x3", "d2x0 new", "", "d3x3"]


def dense(planted: Planted) -> tuple[NDArray, NDArray, NDArray]:
    """tf-idf vectors of unit length, word by word, and the weights."""
    pairs = planted.pairs
    n = len(pairs.vocabulary)
    tables = [side.table(n).toarray() for side in (pairs.queries, pairs.titles)]
    df = sum((table > 0).sum(axis=0) for table in tables)
    idf = np.log((1 + 2 * len(pairs)) / (0.5 + df))
    Q, D = (table * idf for table in tables)
    Q, D = (X / np.linalg.norm(X, axis=1, keepdims=True) for X in (Q, D))
    return Q, D, pairs.weights.astype(float)


def subspace_gap(A: NDArray, B: NDArray) -> float:
    """How far the column spaces are apart: the sine of the largest angle."""
    return float(np.sin(linalg.subspace_angles(A, B).max()))


@pytest.mark.parametrize("kind", ["lsa", "cl-lsa", "opca"])
def test_a_dense_solver_finds_the_same(planted: Planted, kind: str) -> None:
    Q, D, w = dense(planted)
    W = np.diag(w)
    S, C = Q.T @ W @ Q + D.T @ W @ D, Q.T @ W @ D
    N = (Q - D).T @ W @ (Q - D)
    N_ridge = N + 0.5 * np.diag(N).mean() * np.eye(len(N))
    settings: dict[str, tuple[Eigenprojection, NDArray, NDArray | None]] = {
        "lsa": (LSA(5), S, None),
        "cl-lsa": (CLLSA(5), S + C + C.T, None),
        "opca": (OPCA(5), S, N_ridge),
    }
    estimator, signal, noise = settings[kind]
    _, vectors = linalg.eigh(signal, noise)
    reference = vectors[:, ::-1][:, :5]
    found = estimator.fit(planted.pairs).matrix.astype(float)
    assert subspace_gap(found, reference) < 1e-5
    for column in range(5):
        assert abs(abs(found[:, column]) - abs(reference[:, column])).max() < 1e-5


def test_moments_of_parts_add_up(planted: Planted) -> None:
    idf = inverse_frequencies(planted.pairs)
    whole = Moments.of(planted.pairs, idf)
    first, second = (Moments.of(part, idf) for part in planted.pairs.partitions(2))
    merged = first.merge(second)
    for one, other in ((merged.query, whole.query), (merged.title, whole.title), (merged.cross, whole.cross)):
        np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-12)


def test_cosines_are_those_of_the_vectors(planted: Planted) -> None:
    model = LSA(5, literal_weight=0.3).fit(planted.pairs)
    documents = model.fold_in(TITLES)
    words = documents.vocabulary.words
    idf = dict(zip(model.vocabulary.words, model.idf, strict=False))

    def vector(text: str) -> NDArray:
        v = np.array([text.split().count(word) * idf.get(word, model.idf[-1]) for word in words])
        return v / (np.linalg.norm(v) or 1)

    query = "q0x1 d0x1 new"
    known = len(model.vocabulary)
    for row, title in enumerate(TITLES):
        q, d = vector(query), vector(title)
        a, b = model.matrix.T @ q[:known], model.matrix.T @ d[:known]
        latent = a @ b / ((np.linalg.norm(a) * np.linalg.norm(b)) or 1)
        assert model.score(query, documents)[row] == pytest.approx(0.3 * q @ d + 0.7 * latent, abs=1e-5)


def test_vsm_looks_at_words_alone(planted: Planted) -> None:
    model = VSM().fit(planted.pairs)
    scores = model.score("d2x0 new", model.fold_in(TITLES))
    assert scores[1] == pytest.approx(1)
    assert scores[[0, 2, 3]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("softness", [0.3, 1.0])
def test_the_gradient_is_that_of_finite_differences(planted: Planted, softness: float) -> None:
    pairs = planted.pairs.take(np.arange(12))
    n = len(pairs.vocabulary)
    idf = inverse_frequencies(pairs)
    rng = np.random.default_rng(0)
    others = [np.roll(np.arange(12), shift) for shift in (1, 5)]
    valid = [rng.random(12) < 0.8 for _ in others]
    sides = [weighted(side, idf, n) for side in (pairs.queries, pairs.titles)]
    triples = Triples(*sides, pairs.weights.astype(float), others, valid)
    A = rng.standard_normal((n, 3)) * 0.3

    def loss(matrix: NDArray) -> float:
        total = 0.0
        Q, D = (side.toarray() @ matrix for side in sides)
        for other, mask in zip(others, valid, strict=True):
            for i in np.flatnonzero(mask):
                sim = [
                    Q[i] @ d / np.sqrt((Q[i] @ Q[i] + softness**2) * (d @ d + softness**2)) for d in (D[i], D[other[i]])
                ]
                total += pairs.weights[i] * np.log1p(np.exp(-10 * (sim[0] - sim[1])))
        return total

    found = gradient(A, triples, 10.0, softness)
    assert found.loss == pytest.approx(loss(A), rel=1e-10)
    step = 1e-5
    for place in rng.choice(A.size, 40, replace=False):
        move = np.zeros(A.size)
        move[place] = step
        move = move.reshape(A.shape)
        difference = (loss(A + move) - loss(A - move)) / (2 * step)
        assert found.gradient.ravel()[place] == pytest.approx(difference, abs=1e-6)


def test_gradients_of_parts_add_up(planted: Planted) -> None:
    pairs = planted.pairs.take(np.arange(12))
    idf = inverse_frequencies(pairs)
    sides = [weighted(side, idf, len(pairs.vocabulary)) for side in (pairs.queries, pairs.titles)]
    A = np.random.default_rng(0).standard_normal((len(pairs.vocabulary), 3))
    weights, swap = pairs.weights.astype(float), np.array([1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10])

    def of(rows: slice) -> Triples:
        size = len(weights[rows])
        return Triples(sides[0][rows], sides[1][rows], weights[rows], [swap[:size]], [np.ones(size, bool)])

    whole = gradient(A, of(slice(0, 12)), 10.0, 1.0)
    merged = gradient(A, of(slice(0, 6)), 10.0, 1.0).merge(gradient(A, of(slice(6, 12)), 10.0, 1.0))
    np.testing.assert_allclose(merged.gradient, whole.gradient, atol=1e-12)
    assert (merged.loss, merged.weight) == pytest.approx((whole.loss, whole.weight))


def test_s2net_learns_what_belongs_together(planted: Planted) -> None:
    losses: list[float] = []
    model = S2Net(n_dimensions=5, batch=128, n_epochs=15).fit(planted.pairs, on_epoch=lambda _, v: losses.append(v))
    assert min(losses) < 0.8 * losses[0]
    documents = model.fold_in(["d0x0 d0x1", "d1x0 d1x1", "d2x0 d2x1", "d3x0 d3x1"])
    for topic in range(4):
        query = f"q{topic}x0 q{topic}x1"  # no word in common
        assert model.mixed(literal_weight=0.0).score(query, documents).argmax() == topic
    assert {word[1] for word, _ in model.neighbours("q0x1", 3)} == {"0"}


def test_parameters_out_of_range(planted: Planted) -> None:
    with pytest.raises(ParameterError, match="dimensions"):
        LSA(1000).fit(planted.pairs)
    with pytest.raises(ParameterError, match="ridge"):
        OPCA(ridge=0.0)
    with pytest.raises(ParameterError, match="softness"):
        S2Net(softness=0.0)
