import itertools

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.evaluate import evaluate
from germane.evaluate.compare import compare, compare_evaluations, compare_runs, run_letters
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
    found = compare_runs(runs, qrels, "RR", baseline="0", alternative="greater").pairs["RR"]
    assert [(pair.a, pair.b) for pair in found] == [("1", "0"), ("2", "0"), ("3", "0")]
    assert [pair.p_holm for pair in found] == pytest.approx(holm([pair.p_value for pair in found]))
    with pytest.raises(ParameterError, match="no test 'z'"):
        compare_runs(runs, qrels, test="z")


def test_each_against_each():
    """The matrices and the letters, from comparisons of two made by themselves."""
    rng = np.random.default_rng(3)
    qrels = {f"q{i}": {"d1": 1, "d2": 1} for i in range(40)}
    runs = {
        name: {f"q{i}": {f"d{k}": float(rng.random() + (0 < k < 3) * gain) for k in range(9)} for i in range(40)}
        for name, gain in {"weak": 0.0, "good": 0.35, "same": 0.35, "best": 3.0}.items()
    }
    found = compare_runs(runs, qrels, ["AP", "P@2"])
    for measure in ("AP", "P@2"):
        differences, p_values = found.differences(measure), found.p_values(measure)
        pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
        alone = [compare([*runs.values()][i], [*runs.values()][j], qrels, [measure])[0] for i, j in pairs]
        corrected = holm([one.tests["t"].p_value for one in alone])
        for (i, j), one, p in zip(pairs, alone, corrected, strict=True):
            assert differences[i, j] == -differences[j, i] == pytest.approx(one.mean_a - one.mean_b)
            assert p_values[i, j] == p_values[j, i] == pytest.approx(p)
        assert np.isnan(np.diag(p_values)).all()
        assert found.better_than("best", measure) == ("weak", "good", "same")
        assert found.better_than("weak", measure) == ()
    assert found.mean("best", "AP") == 1.0
    lines = str(found).splitlines()
    assert lines[0].split() == ["run", "AP", "P@2"]
    assert lines[4].split()[:4] == ["d", "best", "1.0000*", "abc"]
    assert "| **1.0000**<sup>abc</sup> |" in found.to_markdown()
    assert r"d & best & \textbf{1.0000}$^{abc}$ & " in found.to_latex()


def test_letters():
    letters = list(itertools.islice(run_letters(), 54))
    assert (letters[0], letters[25], letters[26], letters[53]) == ("a", "z", "a1", "b2")


def test_different_judgements_are_refused():
    with pytest.raises(ParameterError, match="different judgements"):
        compare_evaluations(evaluate(A, QRELS, ["AP"]), evaluate(B, {"q0": {"d1": 1}}, ["AP"]), "AP")
    with pytest.raises(ParameterError, match="two judged queries"):
        compare(A, B, {"q0": {"d1": 1}}, ["AP"])
