"""Simulated screening: deterministic, and its measures equal to those of `germane.evaluate`."""

import numpy as np
import pytest
from scipy import stats

from germane.errors import ParameterError
from germane.evaluate.screening import work_saved_over_sampling
from germane.refine.screening import StoppingRule, simulate
from germane.refine.screening.simulation import Mean, Run, simulated_runs, starting_points, summary
from germane.refine.screening.weighting import weigh_documents
from germane.types import Document


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(5)
    labels = [i % 12 == 0 for i in range(240)]
    documents = []
    for i, relevant in enumerate(labels):
        words = rng.integers(0, 30, 12) if relevant else rng.integers(15, 90, 12)
        documents.append(Document(str(i), {"title": " ".join(f"w{w}x" for w in words)}))
    return documents, labels


def test_deterministic_and_complete(labelled):
    one, two = simulate(*labelled, seeds=3), simulate(*labelled, seeds=[0, 1, 2])
    for a, b in zip(one.runs, two.runs, strict=True):
        assert a.order.tolist() == b.order.tolist()
        assert sorted(a.order.tolist()) == list(range(240))
        assert a.relevant[0]
        assert not a.relevant[1]
    assert one.measures == two.measures
    assert (one.n_docs, one.n_relevant) == (240, 20)
    assert one.measures["WSS@95"].value > 0.5
    assert one.runs[0].order.tolist() != one.runs[1].order.tolist()
    explored = simulate(*labelled, seeds=1, explore=0.2)
    assert sorted(explored.runs[0].order.tolist()) == list(range(240))


def test_measures_against_the_other_road(labelled):
    run = simulate(*labelled, seeds=1).runs[0]
    scores = -np.arange(240.0)
    for recall in (0.5, 0.95, 1.0):
        assert run.wss(recall) == pytest.approx(work_saved_over_sampling(scores, run.relevant, recall))
    assert run.rrf10 == run.relevant[:24].sum() / 20
    assert run.recall_at_stop == run.relevant[: run.stop].sum() / 20
    assert run.saved_at_stop == 1 - run.stop / 240


def test_measures_by_hand():
    relevant = np.array([True, False, True, False, False, False, False, False, False, False])
    run = Run(0, np.arange(10), relevant, 6)
    assert run.wss(1.0) == pytest.approx(0.7)
    assert run.wss(0.5) == pytest.approx(0.9 - 0.5)
    assert (run.rrf10, run.recall_at_stop, run.saved_at_stop) == (0.5, 1.0, pytest.approx(0.4))


def test_interval_against_scipy():
    values = [0.3, 0.5, 0.4, 0.45]
    mean = Mean.of(values)
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert mean == (pytest.approx(np.mean(values)), pytest.approx(low), pytest.approx(high))
    assert Mean.of([0.3]) == (0.3, 0.3, 0.3)


def test_the_stop_is_the_first_that_the_rule_recommends(labelled):
    rule = StoppingRule(target=0.8, omega=2.0)
    result = simulate(*labelled, seeds=2, rule=rule)
    assert result.target == 0.8
    assert result.reached == 2
    for run in result.runs:
        assert rule.recommend(240, run.relevant[: run.stop]).stop


def test_another_ranking(labelled):
    documents, labels = labelled
    rows = weigh_documents(documents).rows
    oracle = np.array(labels, float)
    (run,) = simulated_runs(rows, labels, [0], scorer=lambda: lambda _: oracle)
    assert run.hits[20] == 20
    assert starting_points(np.array(labels), 0) == tuple(run.order[:2])


def test_bad_input(labelled):
    documents, labels = labelled
    for wrong in ([True] * 240, [False] * 240, labels[:-1]):
        with pytest.raises(ParameterError):
            simulate(documents, wrong, seeds=1)
    with pytest.raises(ParameterError, match="one seed"):
        simulate(documents, labels, seeds=0)
    with pytest.raises(ParameterError):
        summary([])
    tiny = simulate(documents[:2], [True, False], seeds=2)
    assert tiny.measures["WSS@95"].value == pytest.approx(0.45)
