"""IBM model 1 against its equations written out, and a planted table of translations."""

from collections import defaultdict

import numpy as np
import pytest

from germane.latent import WTM, Pairs
from germane.latent.statistics import TranslationStatistics
from germane.latent.translation import TranslationModel
from germane.text import Analyzer

PLAIN = Analyzer("none", "none")
ROWS = [
    ("auto cheap cheap", "cheap car", 1.0),
    ("auto", "red car car", 2.0),
    ("cat", "red feline", 1.0),
    ("auto cat", "car feline", 0.5),
]


def literal(rows: list[tuple[str, str, float]], iterations: int) -> dict[tuple[str, str], float]:
    """Brown et al. (1993) token by token: t(q|w)."""
    met: dict[str, set[str]] = defaultdict(set)
    for query, title, _ in rows:
        for word in title.split():
            met[word] |= {*query.split()}
    t = {(q, w): 1 / len(words) for w, words in met.items() for q in words}
    for _ in range(iterations):
        expected: dict[tuple[str, str], float] = defaultdict(float)
        for query, title, weight in rows:
            for q in query.split():
                total = sum(t[q, w] for w in title.split())
                for w in title.split():
                    expected[q, w] += weight * t[q, w] / total
        sums: dict[str, float] = defaultdict(float)
        for (_, w), value in expected.items():
            sums[w] += value
        t = {(q, w): value / sums[w] for (q, w), value in expected.items()}
    return t


def table(model: TranslationModel) -> dict[tuple[str, str], float]:
    words = model.vocabulary.words
    queries = np.searchsorted(model.starts, np.arange(len(model.title_words)), side="right") - 1
    return {
        (words[q], words[w]): p
        for q, w, p in zip(queries.tolist(), model.title_words.tolist(), model.probability.tolist(), strict=True)
    }


@pytest.mark.parametrize("iterations", [1, 3])
def test_probabilities_are_those_of_model_1(iterations: int) -> None:
    found = table(WTM(n_iterations=iterations, prune=0.0).fit(Pairs.build(ROWS, PLAIN)))
    expected = literal(ROWS, iterations)
    assert found == pytest.approx(expected, rel=1e-12)


def test_scores_translate_the_words_of_a_title() -> None:
    model = WTM(prune=0.0, lambda1=0.1, lambda2=0.0).fit(Pairs.build(ROWS, PLAIN))
    t = table(model)
    documents = model.fold_in(["red car", "feline unseen", ""])
    p = model.probabilities("auto", documents).latent[0]
    assert p == pytest.approx([(t["auto", "red"] + t["auto", "car"]) / 2, t["auto", "feline"], 0.0])


def test_a_planted_table_is_found() -> None:
    rng = np.random.default_rng(1)
    truth = rng.permutation(20)
    rows = []
    for _ in range(800):
        title = rng.choice(20, 4, replace=False)
        queries = truth[rng.choice(title, 2, replace=False)]
        rows.append((" ".join(f"q{q}" for q in queries), " ".join(f"d{w}" for w in title), 1.0))
    model = WTM(n_iterations=10).fit(Pairs.build(rows, PLAIN))
    for word in range(20):
        best = model.neighbours(f"d{word}", 1)[0]
        assert best.word == f"q{truth[word]}"
        assert best.probability > 0.9
    assert model.neighbours("nowhere") == []


def test_statistics_of_parts_add_up() -> None:
    pairs = Pairs.build(ROWS, PLAIN)
    model = WTM().start(pairs)
    first, second = (model.statistics(part) for part in pairs.partitions(2))
    assert isinstance(first, TranslationStatistics)
    np.testing.assert_allclose(first.merge(second).expected, model.statistics(pairs).expected, rtol=1e-12)


def test_pruning_drops_rare_translations() -> None:
    pairs = Pairs.build(ROWS, PLAIN)
    whole, pruned = table(WTM(prune=0.0).fit(pairs)), table(WTM(prune=0.4).fit(pairs))
    assert pruned.keys() == {key for key, value in whole.items() if value >= 0.4}
    for word in {w for _, w in pruned}:
        assert sum(value for (_, w), value in pruned.items() if w == word) == pytest.approx(1)
