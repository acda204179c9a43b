"""Transductive SVM by label switching (Joachims 1999), Refine §II, on scikit-learn's linear SVM."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Labels
from germane.lazy import optional
from germane.lm.parameters import fraction, positive, whole
from germane.refine.calibration import Calibration
from germane.refine.linear import fit_quietly, unit_vector_estimate
from germane.refine.method import Estimate, RefineMethod
from germane.refine.weighting import ResultList, Weighting, checked_weighting
from germane.types import Mark

FIRST_SHARE, GROWTH = 1e-2, 4.0
"""C* starts at a hundredth of its value and grows fourfold; Joachims: 1e-5, twofold. The answers differ little."""

ROUNDS = 3
"""Fits at each C*; Joachims switches one pair a fit until none is left, here all good pairs at once."""


@dataclass(frozen=True, kw_only=True)
class TransductiveSVM(RefineMethod):
    """min ½‖w‖² + C Σ_i ξ_i + C* Σ_i ξ*_i over w, b and the labels y* of the unmarked, Refine (2).

    `relevant_share` is the class-ratio constraint: that share of the unmarked gets y* = 1 throughout. None takes half
    the marks' own share, for the top of a list is richer than its rest (Refine errata). C* (`C_unmarked`) is divided
    between the classes in inverse ratio to their size. A pair of opposite labels is switched where ξ*_m + ξ*_l > 2, so
    that each switch lowers (2).
    """

    name: ClassVar[str] = "tsvm"
    calibration: ClassVar[Calibration] = Calibration(-1.368, 0.456, 0.232)
    C: float = 1.0
    C_unmarked: float = 1.0
    relevant_share: float | None = None
    weights: Weighting = "tfidf"
    random_state: int = 0

    def __post_init__(self) -> None:
        positive("C", self.C), positive("C_unmarked", self.C_unmarked)
        if self.relevant_share is not None:
            fraction("relevant_share", self.relevant_share)
        whole("random_state", self.random_state, least=0)
        checked_weighting(self.weights)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        unit = results.unit_weighted(self.weights)
        marked, unmarked = np.flatnonzero(labels != Mark.UNMARKED), np.flatnonzero(labels == Mark.UNMARKED)
        y_marked = labels[marked]
        of_marked = np.full(len(marked), self.C)
        model = self._svm(unit[marked], y_marked, of_marked)
        if len(unmarked) < 2:  # no room for both classes
            return unit_vector_estimate(model.coef_[0], model.intercept_[0], results, self.weights)
        share = 0.5 * float(np.mean(y_marked == Mark.RELEVANT)) if self.relevant_share is None else self.relevant_share
        n_relevant = int(np.clip(round(share * len(unmarked)), 1, len(unmarked) - 1))
        rest, rows = unit[unmarked], unit[np.concatenate([marked, unmarked])]
        y = np.zeros(len(unmarked), np.int8)
        y[np.argsort(-model.decision_function(rest), kind="stable")[:n_relevant]] = 1
        balance = 2.0 * np.array([n_relevant, len(unmarked) - n_relevant]) / len(unmarked)
        for C_star in self._growing():
            for _ in range(ROUNDS):
                weight = np.concatenate([of_marked, C_star * balance[y]])
                model = self._svm(rows, np.concatenate([y_marked, y]), weight)
                pairs = _pairs_to_switch(model.decision_function(rest), y)
                if not pairs.size:
                    break
                y[pairs] = 1 - y[pairs]
        return unit_vector_estimate(model.coef_[0], model.intercept_[0], results, self.weights)

    def _growing(self) -> list[float]:
        """C* from its first share to its full value."""
        shares = FIRST_SHARE * GROWTH ** np.arange(np.ceil(np.log(1 / FIRST_SHARE) / np.log(GROWTH)))
        return [*(self.C_unmarked * shares).tolist(), self.C_unmarked]

    def _svm(self, rows: Any, y: Labels, weight: Floats) -> Any:
        machines = optional("sklearn.svm", "Refining by a transductive SVM")
        # A rough solution is enough to order results, and what keeps a refinement within the blink of an eye.
        svm = machines.LinearSVC(C=1.0, loss="hinge", max_iter=300, tol=1e-2, random_state=self.random_state % 2**32)
        return fit_quietly(svm, rows, y, weight)


def _pairs_to_switch(decision: Floats, y: Labels) -> npt.NDArray[np.intp]:
    """Rows to switch: the worst of either class with the worst of the other, while their slacks sum to more than 2."""
    slack = np.maximum(0.0, 1.0 - np.where(y == 1, decision, -decision))
    by_slack = np.argsort(-slack, kind="stable")
    worst = by_slack[slack[by_slack] > 0]
    relevant, other = worst[y[worst] == 1], worst[y[worst] == 0]
    n = min(len(relevant), len(other))
    # Both fall, so the good pairs come first.
    good = slack[relevant[:n]] + slack[other[:n]] > 2.0
    return np.concatenate([relevant[:n][good], other[:n][good]])
