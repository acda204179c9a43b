"""The paper's policy (Refine §VII): which method runs for which marks, and that nothing but that method is at work."""

import numpy as np
import pytest

from germane.refine import Refiner
from germane.refine.registry import method_named

TEXTS = [
    "copper and the liver", "copper in wilson disease", "wilson disease of the liver", "zinc for wilson disease",
    "liver copper zinc", "the copper mines of chile", "chile exports copper ore", "ore prices rise in chile",
    "mines and miners", "prices of ore and metal", "zinc ore in chile", "metal mines rise",
]  # fmt: skip


@pytest.mark.parametrize(
    ("relevant", "rejected", "method"),
    [
        ([1], [], "knn"),
        ([1, 2, 3, 4, 5], [], "knn"),  # nothing rejected
        ([1, 2, 3], [6, 7, 8, 9], "knn"),  # not more than three positive examples
        ([1, 2, 3, 4], [6], "mmem-aib"),
        ([1, 2, 3, 4], [6, 7, 8, 9], "mmem-aib"),
    ],
)
def test_the_policy_is_the_method_it_names(relevant, rejected, method):
    marks = dict.fromkeys(relevant, True) | dict.fromkeys(rejected, False)
    paper = Refiner("paper", implicit_negatives=False).fit(TEXTS, marks).rank()
    named = Refiner(method, implicit_negatives=False).fit(TEXTS, marks).rank()
    assert paper.method == method
    assert paper.reason.startswith(f"paper takes {method} for these marks")
    assert [(r.id, r.log_odds, r.probability) for r in paper] == [(r.id, r.log_odds, r.probability) for r in named]
    assert paper.threshold == named.threshold
    assert paper.explain("5") == named.explain("5")


def test_results_passed_over_count_as_rejected():
    assert Refiner("paper").fit(TEXTS, {2: True, 3: True, 4: True, 5: True}).rank().method == "mmem-aib"
    assert Refiner("paper").fit(TEXTS, {1: True, 2: True, 3: True, 4: True}).rank().method == "knn"


def test_probabilities_without_a_list():
    labels = np.array([1, 1, 1, 1, 0, -1, -1])
    scores = np.linspace(3, -3, 7)
    assert method_named("paper").probabilities(scores, labels).tolist() == (
        method_named("mmem-aib").probabilities(scores, labels).tolist()
    )
