"""The paper's policy: nearest neighbours for few marks, MMEM(AIB) for more (Refine §VII)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Labels
from germane.refine.calibration import Calibration
from germane.refine.method import Estimate, RefineMethod
from germane.refine.multi_mixture import MultiMixtureAIB
from germane.refine.neighbours import Neighbours
from germane.refine.weighting import ResultList
from germane.types import Mark

FEW = 3
"""Naive Bayes, on which MMEM stands, needs more relevant marks than these to be at its best."""


@dataclass(frozen=True, kw_only=True)
class PaperPolicy(RefineMethod):
    """KNN where nothing is rejected, MMEM(AIB) "if there are more than three positive examples" (Refine §VII).

    Between the two the paper does not say: with rejected results and up to three relevant ones it is KNN here too.
    """

    name: ClassVar[str] = "paper"
    calibration: ClassVar[Calibration] = Neighbours.calibration
    needs_rejected: ClassVar[bool] = False
    contributions_add_up: ClassVar[bool] = False

    def applied(self, labels: npt.ArrayLike) -> RefineMethod:
        """The method that these marks ask for."""
        marks = np.asarray(labels)
        enough = (marks == Mark.RELEVANT).sum() > FEW and (marks == Mark.NOT_RELEVANT).any()
        return MultiMixtureAIB() if enough else Neighbours()

    @classmethod
    def probabilities(cls, log_odds: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
        """Those of the method that these marks ask for."""
        return cls().applied(labels).probabilities(log_odds, labels)

    def _refine(self, results: ResultList, labels: Labels) -> Estimate:
        return self.applied(labels).refine(results, labels)
