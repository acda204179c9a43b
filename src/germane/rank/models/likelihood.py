"""Query likelihood: the probability of a query under the smoothed language model of a document."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm import Dirichlet, ExcessRatio, Size, Smoothing
from germane.rank.kinds import LOG_COUNT_RATIO, LOG_SIZE_RATIO
from germane.rank.models.base import Documents, TermwiseModel
from germane.rank.models.defaults import DEFAULT_MU
from germane.rank.models.term_formulas import RATIO, TermFormula
from germane.rank.plan import NOTHING, Collection, Plan


@dataclass(frozen=True)
class QueryLikelihood(TermwiseModel):
    """Query likelihood, and T-cross-entropy for any weights α: log P(α|D) = Σ_w α_w log(e_D(w) + a_D p_C(w)).

    Lecture ("Putting this all together"), SD (2.3), (5.9). Written as Σ_{w∈D} α_w log(1 + e_D/(a_D p_C)) + Σα · log a_D
    + Σ_w α_w log p_C(w): a sum over the document's query words, one number a document, one constant.
    Words that the collection does not hold have p_C = 0; they are left out of the query.
    """

    smoothing: Smoothing = field(default_factory=lambda: Dirichlet(DEFAULT_MU))

    def __post_init__(self) -> None:
        if not isinstance(self.smoothing, Smoothing):
            raise ParameterError(f"{type(self.smoothing).__name__} cannot smooth a document for ranking")
        _ = self._ratio  # refuses what cannot rank

    @cached_property
    def _ratio(self) -> ExcessRatio:
        return self.smoothing.excess_ratio()

    def formula(self, collection: Collection) -> TermFormula:
        """The factor of e_D(w)/(a_D p_C(w)) that is the term's own; a document of the usual size is an average one."""
        ratio, usual = self._ratio, 1.0
        if ratio.size is not Size.NONE:
            usual = ratio.x0 + ratio.x1 * (collection.n_tokens / max(collection.n_docs, 1))
        return TermFormula(RATIO, float(collection.n_tokens), ratio.numerator, ratio.denominator, usual)

    def frame(self, collection: Collection) -> Plan:
        ratio = self._ratio
        return Plan(
            LOG_COUNT_RATIO if ratio.size is Size.NONE else LOG_SIZE_RATIO,
            constant=0.0 if ratio.log_background is None else ratio.log_background,
            mass=1.0,
            delta=ratio.delta,
            x0=ratio.x0,
            x1=ratio.x1,
            sized_by_unique=ratio.size is Size.UNIQUE,
        )

    def document_background(self, documents: Documents) -> Floats:
        """log a_D; where it is the same for all documents it is part of the constant."""
        if self._ratio.log_background is not None:
            return NOTHING
        _, background = self.smoothing.split(0.0, documents.length, documents.unique)
        return np.log(np.broadcast_to(background, documents.length.shape))
