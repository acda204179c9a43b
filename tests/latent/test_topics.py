"""BLTM and its kin against the equations written out, planted topics, and what EM must do."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from germane.errors import ParameterError
from germane.latent import BLTM, UM, Pairs, latent_named
from germane.latent.pairs import Texts
from germane.latent.topics import TopicModel, TopicPartition
from germane.text import Analyzer
from latent.planted import Planted

EXACT = {"n_topics": 4, "n_iterations": 15, "precision": "double", "tolerance": 1e-10, "projection_steps": 2000}
KINDS = {
    "bltm": {},
    "bltm-1v": {"tie": 1.0},
    "tied": {"tie": 0.5},
    "pr": {"regularised": True},
    "pr-1v": {"regularised": True, "tie": 1.0},
    "pr-tied": {"regularised": True, "tie": 0.3},
    "plsa": {"titles_only": True, "tie": 1.0},
}


def tokens(texts: Texts, row: int) -> list[tuple[int, float]]:
    at = slice(texts.starts[row], texts.starts[row + 1])
    return list(zip(texts.words[at].tolist(), texts.counts[at].tolist(), strict=True))


def literal_projection(P_q: NDArray, P_d: NDArray, n_q: NDArray, n_d: NDArray) -> tuple[NDArray, NDArray]:
    """Clicks (10)-(13) by plain gradient ascent."""
    lam, len_q, len_d = np.zeros(P_q.shape[1]), n_q.sum(), n_d.sum()
    for _ in range(200_000):
        Q = P_q * np.exp(-lam / len_q)
        Q /= Q.sum(axis=1, keepdims=True)
        D = P_d * np.exp(lam / len_d)
        D /= D.sum(axis=1, keepdims=True)
        g = n_q @ Q / len_q - n_d @ D / len_d
        if abs(g).max() < 1e-11:
            break
        lam += 2.0 * g
    return Q, D


def literal_step(settings: BLTM, model: TopicModel, pairs: Pairs, theta: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """One EM step of two vocabularies, Clicks (4)-(8), pair by pair."""
    N = {"q": np.zeros_like(model.phi_q), "d": np.zeros_like(model.phi_d)}
    new = np.empty_like(theta)
    for row in range(len(pairs)):
        P, n, words = {}, {}, {}
        for side, texts, phi in (("q", pairs.queries, model.phi_q), ("d", pairs.titles, model.phi_d)):
            words[side] = [word for word, _ in tokens(texts, row)]
            n[side] = np.array([count for _, count in tokens(texts, row)])
            joint = phi[words[side]] * theta[row]
            P[side] = joint / joint.sum(axis=1, keepdims=True)
        if settings.regularised:
            P["q"], P["d"] = literal_projection(P["q"], P["d"], n["q"], n["d"])
        for side in ("q", "d"):
            for word, count, posterior in zip(words[side], n[side], P[side], strict=True):
                N[side][word] += pairs.weights[row] * count * posterior
        sums = settings.alpha - 1 + n["q"] @ P["q"] + n["d"] @ P["d"]
        new[row] = sums / sums.sum()
    phi = {}
    for side, support in (("q", model.query_words), ("d", model.title_words)):
        sums = (N[side] + settings.beta - 1) * support[:, None]
        phi[side] = sums / sums.sum(axis=0)
    return phi["q"], phi["d"], new


@pytest.mark.parametrize("regularised", [False, True])
def test_a_step_is_that_of_the_equations(planted: Planted, regularised: bool) -> None:
    pairs = planted.pairs.take(np.arange(40))
    settings = BLTM(**EXACT, regularised=regularised)
    part, model = TopicPartition.of(settings, pairs), settings.start(pairs)
    for _ in range(2):
        phi_q, phi_d, theta = literal_step(settings, model, pairs, part.theta.copy())
        model = settings.update(model, part.statistics(model))
        np.testing.assert_allclose(part.theta, theta, atol=1e-8)
        np.testing.assert_allclose(model.phi_q, phi_q, atol=1e-8)
        np.testing.assert_allclose(model.phi_d, phi_d, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_never_falls(planted: Planted, kind: str) -> None:
    values: list[float] = []
    model = BLTM(**EXACT, **KINDS[kind]).fit(
        planted.pairs, on_iteration=lambda _, found: values.append(found.objective)
    )
    assert len(values) == 15
    assert min(np.diff(values)) >= -1e-6 * abs(values[-1]) * 1e-3
    for table in (model.phi_q, model.phi_d):
        np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-9)


def test_fractions_agree_after_the_projection(planted: Planted) -> None:
    """What a pair's query and title have of each topic, seen through one pair's expected counts."""
    settings = BLTM(n_topics=4, precision="double", regularised=True, projection_steps=500, tolerance=1e-8)
    model = settings.start(planted.pairs)
    for row in range(30):
        one = planted.pairs.take([row])
        found = TopicPartition.of(settings, one).statistics(model)
        e_q, e_d = found.query.sum(axis=0), found.title.sum(axis=0)
        np.testing.assert_allclose(e_q / e_q.sum(), e_d / e_d.sum(), atol=1e-6)


@pytest.mark.parametrize("kind", ["bltm", "pr", "tied"])
def test_planted_topics_are_found(planted: Planted, kind: str) -> None:
    fits = [BLTM(n_topics=4, n_iterations=60, random_state=seed, **KINDS[kind]) for seed in range(5)]
    models = [(-fit_objective(settings, planted.pairs), settings.fit(planted.pairs)) for settings in fits]
    model = min(models, key=lambda each: each[0])[1]
    for phi, truth, words in (
        (model.phi_q, planted.query, model.query_words),
        (model.phi_d, planted.title, model.title_words),
    ):
        table = phi * words[:, None]  # with a tie, the words of the other side have a share in the shared part
        cosines = (truth @ table) / np.outer(np.linalg.norm(truth, axis=1), np.linalg.norm(table, axis=0))
        assert cosines.max(axis=1).min() >= 0.95
        assert sorted(cosines.argmax(axis=1).tolist()) == [0, 1, 2, 3]


def fit_objective(settings: BLTM, pairs: Pairs) -> float:
    values: list[float] = []
    settings.fit(pairs, on_iteration=lambda _, found: values.append(found.objective))
    return values[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_of_parts_add_up(planted: Planted, kind: str) -> None:
    settings = BLTM(**EXACT, **KINDS[kind])
    model = settings.start(planted.pairs)
    whole = TopicPartition.of(settings, planted.pairs).statistics(model, objective=True)
    first, *rest = (
        TopicPartition.of(settings, part).statistics(model, objective=True) for part in planted.pairs.partitions(3)
    )
    merged = first.merge(rest[0]).merge(rest[1])
    np.testing.assert_allclose(merged.query, whole.query, rtol=1e-10)
    np.testing.assert_allclose(merged.title, whole.title, rtol=1e-10)
    assert merged.objective == pytest.approx(whole.objective, rel=1e-12)
    assert merged.steps == whole.steps


def test_scores_are_those_of_the_equations(planted: Planted) -> None:
    model = BLTM(n_topics=4, precision="double", lambda1=0.2, lambda2=0.6).fit(planted.pairs)
    documents = model.fold_in(["d0x1 d0x1 d1x2 new", "", "unseen words", "d3x0"])
    ids = model.vocabulary.ids
    for row, title in enumerate(["d0x1 d0x1 d1x2", "", "", "d3x0"]):
        theta = np.full(4, 0.25)
        for _ in range(20):
            sums = np.full(4, 0.1)
            for word in title.split():
                joint = model.phi_d[ids[word]] * theta
                sums += joint / joint.sum()
            theta = sums / sums.sum()
        np.testing.assert_allclose(documents.vectors[row], theta, atol=1e-6)
        length = [4, 0, 2, 1][row]
        expected = 0.0
        for word, in_title in (("q0x1", 0), ("d0x1", 2 * (row == 0)), ("new", int(row == 0))):
            known = ids.get(word)
            latent = 0.0 if known is None else model.phi_q[known] @ theta
            mixed = 0.6 * (in_title / length if length else 0) + 0.4 * latent
            background = model.background[-1 if known is None else known]
            expected += np.log(0.2 * background + 0.8 * mixed)
        assert model.score("q0x1 d0x1 new", documents)[row] == pytest.approx(expected, rel=1e-5)


def test_mixed_with_words_alone_it_is_the_unigram_model(planted: Planted) -> None:
    titles = ["d0x1 d0x1 d1x2 new", "d3x0"]
    model = BLTM(n_topics=4, n_iterations=2).fit(planted.pairs).mixed(lambda1=0.3, lambda2=1.0)
    um = UM(lambda1=0.3).fit(planted.pairs)
    query = "d0x1 new d3x0"
    np.testing.assert_allclose(
        model.score(query, model.fold_in(titles)), um.score(query, um.fold_in(titles)), rtol=1e-12
    )


def test_the_same_seed_gives_the_same_bits(planted: Planted) -> None:
    settings = BLTM(n_topics=4, n_iterations=3, random_state=7)
    first, second = settings.fit(planted.pairs), settings.fit(planted.pairs)
    assert np.array_equal(first.phi_q, second.phi_q)
    assert not np.array_equal(first.phi_q, replace(settings, random_state=8).fit(planted.pairs).phi_q)


def test_topics_by_their_words() -> None:
    pairs = Pairs.build([("car", "vehicle auto", 1.0), ("cat", "feline pet", 1.0)] * 20, Analyzer("none", "none"))
    topics = BLTM(n_topics=2, n_iterations=50).fit(pairs).topics(1)
    assert {topic.query[0][0] for topic in topics} == {"car", "cat"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_topics", 0), ("alpha", 1.0), ("beta", 0.5), ("tie", 1.5), ("lambda1", -0.1), ("precision", "half")],
)
def test_parameters_out_of_range(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        latent_named("bltm", **{name: value})
