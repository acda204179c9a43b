import numpy as np
import pytest

from germane.errors import ParameterError
from germane.evaluate import evaluate
from germane.evaluate.compare import compare, compare_evaluations, compare_many
from germane.evaluate.significance import holm, paired_t

QRELS = {f"q{i}": {"d1": 1, "d2": 1} for i in range(4)}
A = {"q0": {"d1": 2.0, "d2": 1.0}, "q1": {"x": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}, "q3": {"x": 1.0}}
B = {"q0": {"d1": 1.0}, "q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 1.0}, "q3": {"d1": 1.0}}
# AP of a: 1, .25, .5, 0; of b: .5, 1, .5, .5


def test_by_hand():
    (found,) = compare(A, B, QRELS, ["AP"], texts={"q1": "wing flutter"})
    assert (found.mean_a, found.mean_b) == pytest.approx((1.75 / 4, 2.5 / 4))
    assert (found.wins, found.losses, found.ties) == (1, 2, 1)
    assert [query.query_id for query in found.differences] == ["q0", "q2", "q3", "q1"]
    assert [(query.query_id, query.text, query.difference) for query in found.worst(1)] == [
        ("q1", "wing flutter", -0.75)
    ]
    assert [query.query_id for query in found.worst()] == ["q1", "q3"]
    assert [query.query_id for query in found.best()] == ["q0"]
    assert found.tests["t"] == pytest.approx(paired_t([1, 0.25, 0.5, 0], [0.5, 1, 0.5, 0.5]))
    assert found.effect.mean == pytest.approx(-0.75 / 4)


def test_many_runs_are_corrected():
    rng = np.random.default_rng(0)
    qrels = {f"q{i}": {"d1": 1} for i in range(30)}
    runs = {
        str(j): {f"q{i}": {f"d{k}": float(rng.random() + (k == 1) * j / 4) for k in range(5)} for i in range(30)}
        for j in range(4)
    }
    found = compare_many(runs["0"], runs, qrels, "RR", alternative="greater")
    assert [row.name for row in found] == ["0", "1", "2", "3"]
    assert [row.p_holm for row in found] == pytest.approx(holm([row.p_value for row in found]))
    assert found[0].p_value == 1.0
    with pytest.raises(ParameterError, match="no test 'z'"):
        compare_many(runs["0"], runs, qrels, test="z")


def test_different_judgements_are_refused():
    with pytest.raises(ParameterError, match="different judgements"):
        compare_evaluations(evaluate(A, QRELS, ["AP"]), evaluate(B, {"q0": {"d1": 1}}, ["AP"]), "AP")
    with pytest.raises(ParameterError, match="two judged queries"):
        compare(A, B, {"q0": {"d1": 1}}, ["AP"])
