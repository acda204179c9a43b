"""Carried evidence against its definition, with the graph of all pairs formed."""

import numpy as np
from numpy.testing import assert_allclose

from germane.refine.carried import CarriedEvidence


def z(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    rest = values[labels < 0]
    return (values - rest.mean()) / rest.std()


def test_the_score_is_label_propagation(example) -> None:
    results, labels = example
    N = results.counts.toarray()
    df = np.maximum((N > 0).sum(axis=0), 1)
    A = np.log(1 + N) * np.log(len(N) / df) ** 0.7
    length = np.linalg.norm(A, axis=1)
    A = A / np.where(length > 0, length, 1)[:, None]
    cosine = A @ A.T
    np.fill_diagonal(cosine, 0)
    direct = np.zeros(len(N))
    for i in range(len(N)):
        direct[i] = (
            sum(cosine[i, labels == 1]) / (labels == 1).sum() - 0.2 * sum(cosine[i, labels == 0]) / (labels == 0).sum()
        )
    s = z(direct, labels) + 0.3 * z(-np.log(10 + np.arange(len(N))), labels)
    v = np.where(labels == 1, 2.0, np.where(labels == 0, -1.0, s))
    carried = np.array([row @ v / row.sum() if row.sum() else 0.0 for row in cosine])
    assert_allclose(CarriedEvidence().score(results, labels), s + z(carried, labels), atol=1e-9)


def test_the_log_odds_are_a_line_in_the_score(example) -> None:
    results, labels = example
    score, log_odds = CarriedEvidence().score(results, labels), CarriedEvidence().refine(results, labels).log_odds
    slope, intercept = np.polyfit(score, log_odds, 1)
    n_relevant, n_rejected = (labels == 1).sum(), (labels == 0).sum()
    assert_allclose(slope, 0.32 + 0.078 * np.log(n_relevant))
    rest = score[labels < 0]
    skew = ((rest - rest.mean()) ** 3).mean() / rest.std() ** 3
    rate = np.log((n_relevant + 0.5) / (n_rejected + 0.5))
    A = results.carried_unit.toarray()[labels < 0]
    cosines = A @ A.T
    mean_cosine = cosines[~np.eye(len(A), dtype=bool)].mean()
    h = np.clip(np.log(mean_cosine), -3.5, -2.4)
    assert_allclose(intercept, 3.456 + 0.282 * rate - 0.201 * np.clip(skew, -1, 4) + 1.661 * h, atol=1e-9)


def test_a_word_of_the_relevant_speaks_for(example) -> None:
    """Directly: a word that only relevant marks hold moves the unmarked results that hold it up."""
    results, labels = example
    N = results.counts.toarray() > 0
    only = N[labels == 1].any(axis=0) & ~N[labels == 0].any(axis=0)
    refined = CarriedEvidence(carried_weight=0.0).refine(results, labels)
    for i in np.flatnonzero(labels < 0):
        words, amounts = refined.contributions(i)
        assert (amounts[only[words]] >= 0).all()
