"""Runs fused, and weights learnt: never from the queries they are measured on."""

import itertools

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.evaluate import evaluate
from germane.evaluate.fusion import STEPS, fuse_runs, learn_weights
from germane.evaluate.tuning import folds_by_query
from germane.rank.fusion import comb_sum, reciprocal_rank

A = {"q1": {"d1": 9.0, "d2": 8.0}, "q2": {"d1": 1.0}}
B = {"q1": {"d2": 0.7, "d3": 0.1}, "q3": {"d5": 1.0}}


def test_query_by_query() -> None:
    fused = fuse_runs([A, B], k=1)
    assert [*fused] == ["q1", "q2", "q3"]
    assert list(fused["q1"].items()) == reciprocal_rank([[*A["q1"].items()], [*B["q1"].items()]], k=1)
    assert fused["q3"] == {"d5": 0.5}
    assert list(fuse_runs([A, B], depth=1)["q1"]) == ["d2"]
    shuffled = {"q1": dict(reversed(A["q1"].items()))}
    assert fuse_runs([shuffled, B])["q1"] == fuse_runs([A, B])["q1"], "the scores make the order"


def noisy(seed: int, qrels: dict, signal: float) -> dict:
    rng = np.random.default_rng(seed)
    return {
        query: {f"d{i}": float(rng.random() + signal * (grades.get(f"d{i}", 0) > 0)) for i in range(20)}
        for query, grades in qrels.items()
    }


QRELS = {f"q{i}": {f"d{(i * 7 + j) % 20}": 1 for j in range(4)} for i in range(30)}
RUNS = [noisy(1, QRELS, 0.5), noisy(2, QRELS, 0.0), noisy(3, QRELS, 0.4)]


@pytest.mark.parametrize(
    ("method", "normalise"), [("combsum", "min-max"), ("combmnz", "z-score"), ("rrf", None), ("isr", None)]
)
def test_learnt(method: str, normalise: str | None) -> None:
    found = learn_weights(RUNS, QRELS, "AP", method=method, normalise=normalise, folds=3, random_state=5)
    whole = fuse_runs(RUNS, method, normalise=normalise, weights=found.weights)
    assert evaluate(whole, QRELS, ["AP"])["AP"] == pytest.approx(found.value)
    equal = evaluate(fuse_runs(RUNS, method, normalise=normalise), QRELS, ["AP"])["AP"]
    assert found.value >= equal - 1e-12
    assert set(found.weights) <= set(STEPS)
    assert [fold.test for fold in found.validation.folds] == folds_by_query([*QRELS], 3, random_state=5)
    for fold in found.validation.folds:
        weights = [*fold.tuned.parameters.values()]
        fused = fuse_runs(RUNS, method, normalise=normalise, weights=weights)
        for query in fold.test:
            assert found.run[query] == fused[query]
    held_out = evaluate(found.run, QRELS, ["AP"])
    assert held_out["AP"] == pytest.approx(found.validation.mean)


def test_no_query_has_a_say_in_its_own_weights() -> None:
    """Judgements of one fold turned upside down change nothing of how that fold is fused."""
    found = learn_weights(RUNS, QRELS, random_state=1)
    first = found.validation.folds[0]
    turned = {
        q: ({f"d{i}": 1 for i in range(20) if f"d{i}" not in g} if q in first.test else g) for q, g in QRELS.items()
    }
    again = learn_weights(RUNS, turned, random_state=1)
    assert all(again.run[query] == found.run[query] for query in first.test)


def test_a_run_of_noise_gets_the_least_weight() -> None:
    """And the best of the grid is found where hill-climbing finds it: by going through all of it."""
    found = learn_weights(RUNS[:2], QRELS)
    assert found.weights[0] > found.weights[1]
    values = {
        weights: evaluate(fuse_runs(RUNS[:2], "combsum", weights=weights), QRELS, ["AP"])["AP"]
        for weights in itertools.product(STEPS[::2], repeat=2)
        if any(weights)
    }
    assert found.value >= max(values.values()) - 0.02


def test_queries_without_judgements_are_fused_too() -> None:
    runs = [{**run, "unjudged": {"d1": 1.0, "d2": 0.5}} for run in RUNS]
    found = learn_weights(runs, QRELS)
    lists = [[*run["unjudged"].items()] for run in runs]
    assert list(found.run["unjudged"].items()) == comb_sum(lists, weights=found.weights)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fuse_runs([]), "no run to fuse"),
        (lambda: fuse_runs([A], depth=0), "depth must be at least 1"),
        (lambda: fuse_runs([A, B], "max"), "no fusion 'max'"),
        (lambda: fuse_runs([A, B], weights=[1.0]), "2 rankings need 2 weights"),
        (lambda: learn_weights([A], QRELS), "two runs at least"),
        (lambda: learn_weights(RUNS, QRELS, "Fancy"), "no measure 'Fancy'"),
        (lambda: learn_weights(RUNS, QRELS, folds=1), "cannot be split in 1 parts"),
        (lambda: learn_weights(RUNS, QRELS, method="rrf", normalise="sum"), "nothing to normalise"),
    ],
)
def test_bad_input(call, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()
