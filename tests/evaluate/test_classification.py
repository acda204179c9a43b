"""Labellings judged: against the definitions, scikit-learn and SciPy's binomial test."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from germane.errors import ParameterError
from germane.evaluate.classification import agreement, compare_labellings, correct, judge

TRUTH = [["a"], ["a", "b"], ["b"], [], ["c"]]
FOUND = [["a"], ["b"], ["b", "a"], [], ["a"]]


def test_judge_against_scikit_learn():
    rng = np.random.default_rng(0)
    names = ["a", "b", "c", "d"]
    truth, found = rng.random((60, 4)) < 0.4, rng.random((60, 4)) < 0.5
    scores = rng.normal(size=(60, 4))
    sets = [[[n for n, there in zip(names, row, strict=True) if there] for row in table] for table in (truth, found)]
    judged = judge(sets[0], sets[1], scores, names)
    assert judged.accuracy == pytest.approx(metrics.accuracy_score(truth, found))
    assert judged.micro_f1 == pytest.approx(metrics.f1_score(truth, found, average="micro"))
    assert judged.macro_f1 == pytest.approx(metrics.f1_score(truth, found, average="macro"))
    assert [row.precision for row in judged.classes] == pytest.approx(
        metrics.precision_score(truth, found, average=None)
    )
    assert [row.recall for row in judged.classes] == pytest.approx(metrics.recall_score(truth, found, average=None))
    for c, row in enumerate(judged.classes):
        best = np.argsort(-scores[:, c])[: row.n_true]
        assert row.bep == pytest.approx(truth[best, c].mean())
    weights = [row.n_true for row in judged.classes]
    assert judged.macro_bep == pytest.approx(np.mean([row.bep for row in judged.classes]))
    assert judged.micro_bep == pytest.approx(np.average([row.bep for row in judged.classes], weights=weights))


def test_classes_that_are_unknown_or_absent():
    judged = judge([["a"], ["new"]], [["a"], ["b"]], [[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    rows = {row.label: row for row in judged.classes}
    assert (rows["new"].bep, rows["new"].f1, rows["new"].n_predicted) == (0.0, 0.0, 0)
    assert math.isnan(rows["new"].precision)
    assert math.isnan(rows["b"].bep)
    assert (judged.macro_bep, judged.macro_f1) == (0.5, 0.5)  # over a and new: no document has b
    with pytest.raises(ParameterError, match="table of that size"):
        judge([["a"]], [["a"]], [[1.0, 2.0]], ["a"])
    with pytest.raises(ParameterError, match="no document has a label"):
        judge([[]], [["a"]], [[1.0]], ["a"])


def test_how_right_a_document_is():
    assert correct(TRUTH, FOUND).tolist() == [1, 0, 0, 1, 0]
    assert agreement(TRUTH, FOUND) == pytest.approx([1, 2 / 3, 2 / 3, 1, 0])


def test_mcnemar():
    truth = [["x"]] * 20
    a = [["x"]] * 15 + [["y"]] * 5
    b = [["x"]] * 5 + [["y"]] * 13 + [["x"]] * 2
    compared = compare_labellings(truth, a, b)
    assert (compared.a, compared.b, compared.wins, compared.losses) == (0.75, 0.35, 10, 2)
    assert compared.effect.mean == pytest.approx(0.4)
    assert compared.tests["sign"].p_value == pytest.approx(stats.binomtest(10, 12, 0.5).pvalue)
    one_sided = compare_labellings(truth, a, b, "greater").tests["sign"].p_value
    assert one_sided == pytest.approx(stats.binomtest(10, 12, 0.5, alternative="greater").pvalue)
