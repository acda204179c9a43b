"""The one representation of a distribution over words.

    θ(w) = e(w) + a · p_C(w)        Σ_w e(w) + a = 1,  e ≥ 0,  a ≥ 0

a sparse *excess* e over a share a of the collection model p_C, the *background*. Documents, queries, classes and
tracked topics are all of this type. Wherever p_C is an argument it is an array indexed by word id.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats, Integers
from germane.errors import ParameterError
from germane.lm.parameters import SUM_TOLERANCE, fraction, number, reals, whole, wholes


class Truncation(NamedTuple):
    """A model cut to its strongest words, and the share of the probability 1 that the words cut away had as excess."""

    model: "LanguageModel"
    dropped: float


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """θ(w) = e(w) + a·p_C(w): `ids` (sorted, unique), their `excess` e, and the `background` share a.

    Source: SD (2.1) with e = λ·θ̂ and a = 1-λ. Departure: any e and a that sum to 1 are allowed, which closes the
    family under `mixture` and `geometric_mean` and takes in every smoothing of `germane.lm.smoothing` but Laplace.

    >>> LanguageModel([3, 7], [0.5, 0.25], 0.25).probability([7, 8], p_C=[0.1] * 10).tolist()
    [0.275, 0.025]
    """

    ids: Integers
    excess: Floats
    background: float

    def __init__(self, ids: npt.ArrayLike, excess: npt.ArrayLike, background: float) -> None:
        object.__setattr__(self, "ids", wholes("ids", ids))
        object.__setattr__(self, "excess", reals("excess", excess))
        object.__setattr__(self, "background", number("background", background))
        if self.ids.shape != self.excess.shape:
            raise ParameterError(f"{self.ids.size} ids but {self.excess.size} values of excess")
        if (np.diff(self.ids) <= 0).any():
            raise ParameterError("ids must be sorted and unique")
        if self.background < 0:
            raise ParameterError(f"background must not be negative, found {self.background}")
        total = float(self.excess.sum()) + self.background
        if abs(total - 1) > SUM_TOLERANCE:
            raise ParameterError(f"excess and background must sum to 1, not {total!r}")
        self.ids.setflags(write=False)
        self.excess.setflags(write=False)

    @classmethod
    def _trusted(cls, ids: Integers, excess: Floats, background: float) -> "LanguageModel":
        """The same without the checks: of arrays made here from models that passed them, and held by no one else."""
        made = object.__new__(cls)
        ids.setflags(write=False)
        excess.setflags(write=False)
        vars(made).update(ids=ids, excess=excess, background=background)
        return made

    @classmethod
    def sparse(cls, excess: Floats, background: float) -> "LanguageModel":
        """The model with this excess, which is not negative, of every word from 0 on."""
        ids = np.flatnonzero(excess > 0)
        found = excess[ids]
        total = float(found.sum()) + background
        if background < 0.0 or not abs(total - 1) <= SUM_TOLERANCE:
            raise ParameterError(f"excess and background must sum to 1, not {total!r}")
        return cls._trusted(ids, found, background)

    @classmethod
    def from_counts(cls, ids: npt.ArrayLike, counts: npt.ArrayLike) -> "LanguageModel":
        """The maximum likelihood estimate of a text: e(w) = c(w) / Σc, a = 0. Source: Lecture (MLE); SD (1.7).

        Ids may come in any order and more than once (their counts add up); counts may be fractional query weights.
        Limit case: a text without words is all background (a = 1).
        """
        ids, counts = add_up(ids, counts)
        total = counts.sum()
        return cls._trusted(ids, counts / total, 0.0) if total > 0 else cls([], [], 1.0)

    @classmethod
    def of_weights(cls, weights: Mapping[int, float]) -> "LanguageModel":
        """Return the maximum likelihood estimate of a mapping from words to their counts, none below 0."""
        ids = sorted(weights)
        counts = np.array([weights[word] for word in ids], np.float64)
        total = counts.sum()
        return cls._trusted(np.array(ids, np.int64), counts / total, 0.0) if total > 0 else cls([], [], 1.0)

    def excess_at(self, ids: npt.ArrayLike) -> Floats:
        """e(w) for each of `ids`, which may come in any order; 0 for words outside the support."""
        wanted = wholes("ids", ids)
        if not self.ids.size:
            return np.zeros(wanted.size)
        place = np.minimum(np.searchsorted(self.ids, wanted), self.ids.size - 1)
        return np.where(self.ids[place] == wanted, self.excess[place], 0.0)

    def probability(self, ids: npt.ArrayLike, p_C: npt.ArrayLike | None = None) -> Floats:
        """θ(w) = e(w) + a·p_C(w) for each of `ids`. Without background, p_C is not needed."""
        excess = self.excess_at(ids)
        return excess if self.background == 0 else excess + self.background * background_at(ids, p_C)

    def everywhere(self, p_C: Floats) -> Floats:
        """θ(w) for all words of the collection model."""
        shares = self.background * p_C
        shares[self.ids] += self.excess
        return shares

    def interpolate(self, other: "LanguageModel", *, own_weight: float) -> "LanguageModel":
        """θ = own_weight·θ_self + (1 - own_weight)·θ_other, with 0 ≤ own_weight ≤ 1."""
        weight = fraction("own_weight", own_weight)
        if not 0.0 < weight < 1.0:
            return self if weight else other
        own, others = (share / (weight + (1 - weight)) for share in (weight, 1 - weight))  # as `mixture` has them
        background = own * self.background + others * other.background
        if not (self.ids.size and other.ids.size):
            ids, excess = (self.ids, own * self.excess) if self.ids.size else (other.ids, others * other.excess)
            return self._trusted(ids, excess, background)
        places = np.searchsorted(other.ids, self.ids)
        if self.ids[-1] <= other.ids[-1] and (other.ids[places] == self.ids).all():
            ids, excess = other.ids, others * other.excess
            excess[places] += own * self.excess
        else:
            both = np.concatenate((own * self.excess, others * other.excess))
            ids, excess = _add_up(np.concatenate((self.ids, other.ids)), both)
        return self._trusted(ids, excess, background)

    @classmethod
    def mixture(cls, parts: Iterable[tuple[float, "LanguageModel"]]) -> "LanguageModel":
        """The weighted arithmetic mean: θ(w) = Σ_i π_i θ_i(w), the weights π_i being divided by their sum.

        Source: SD (5.2), the Relevance Model. The support is the union: e = Σ π_i e_i, a = Σ π_i a_i.
        """
        models, pi = _weighted(parts)
        ids, excess = _add_up(
            np.concatenate([m.ids for m in models]),
            np.concatenate([w * m.excess for w, m in zip(pi, models, strict=True)]),
        )
        return cls._trusted(ids, excess, float(sum(w * m.background for w, m in zip(pi, models, strict=True))))

    @classmethod
    def geometric_mean(
        cls, models: Sequence["LanguageModel"], weights: npt.ArrayLike, p_C: npt.ArrayLike
    ) -> "LanguageModel":
        """The normalised weighted geometric mean: θ(w) = (1/Z) Π_i θ_i(w)^π_i, the weights being divided by their sum.

        Source: SD (3.28), (3.33), and (5.13) with weights. Because Σπ_i = 1, each factor
        θ_i = a_i·p_C·(1 + e_i/(a_i·p_C)) gives Π θ_i^π_i = A·p_C·R with A = Π a_i^π_i and
        R(w) = exp Σ_i π_i log(1 + e_i(w)/(a_i·p_C(w))), which is 1 for words in no support. Writing R = 1 + (R-1) and
        normalising, A cancels: e(w) = p_C(w)·(R(w)-1)/Z and a = 1/Z with Z = 1 + Σ_w p_C(w)·(R(w)-1).
        So the mean is in the family, on the union of the supports. Every part needs a background a_i > 0, and
        p_C > 0 on the supports, for otherwise the logarithm of an unseen word is infinite.
        """
        given = reals("weights", weights)
        if given.size != len(models):
            raise ParameterError(f"{len(models)} models but {given.size} weights")
        parts, pi = _weighted(zip(given.tolist(), models, strict=True))
        if any(m.background == 0 for m in parts):
            raise ParameterError("a geometric mean needs models with background > 0: smooth them first")
        logs = []
        for weight, m in zip(pi, parts, strict=True):
            share = background_at(m.ids, p_C)
            if (share == 0).any():
                raise ParameterError("p_C must be greater than 0 on every word of the models")
            logs.append(weight * np.log1p(m.excess / (m.background * share)))
        ids, log_R = add_up(np.concatenate([m.ids for m in parts]), np.concatenate(logs))
        raised = background_at(ids, p_C) * np.expm1(log_R)
        Z = 1.0 + float(raised.sum())
        return cls(ids, raised / Z, 1.0 / Z)

    def top(self, n: int) -> tuple[Integers, Floats]:
        """The n words of largest excess and those excesses, strongest first, ties by the smaller id.

        By excess, not by θ: these are the words the model says more often than the collection does.
        """
        among = self._strongest(whole("n", n, least=0))
        order = among[np.argsort(-self.excess[among], kind="stable")]
        return self.ids[order], self.excess[order]

    def truncate(self, n_terms: int) -> Truncation:
        """Keep the n_terms ≥ 1 words that `top` names: e'(w) = e(w)·Σe/Σ_kept e; the background share stays.

        The dropped excess goes to the kept words in proportion, and is reported. For the usual clipped feedback query,
        which is proportional to the kept words alone, follow with `without_background`.
        """
        keep = self._strongest(whole("n_terms", n_terms, least=1))
        excess = self.excess[keep]
        total, kept = float(self.excess.sum()), float(excess.sum())
        scale = total / kept if kept > 0 else 1.0
        model = self._trusted(self.ids[keep], excess * scale, self.background)
        return Truncation(model, max(total - kept, 0.0) if len(keep) < len(self.ids) else 0.0)

    def _strongest(self, n: int) -> Integers:
        """Positions, ascending, of the n words of largest excess, of equal ones those with the smaller ids."""
        behind = len(self.ids) - n
        if behind <= 0 or n == 0:
            return np.arange(min(n, len(self.ids)))
        least = np.partition(self.excess, behind)[behind]
        among = np.flatnonzero(self.excess >= least)
        if len(among) == n:
            return among
        ties = self.excess[among] == least
        kept: Integers = among[~ties | (np.cumsum(ties) <= n - (len(among) - ties.sum()))]
        return kept

    def without_background(self) -> "LanguageModel":
        """e'(w) = e(w)/Σe, a = 0: the excess alone, as a distribution. A pure background has none and is refused."""
        if self.background == 0.0:
            return self
        total = float(self.excess.sum())
        if total == 0:
            raise ParameterError("a model that is all background has no excess to keep")
        return self._trusted(self.ids, self.excess / total, 0.0)


def add_up(ids: npt.ArrayLike, values: npt.ArrayLike) -> tuple[Integers, Floats]:
    """Sorted unique ids, and for each the sum of its values."""
    ids, values = wholes("ids", ids), reals("values", values)
    if ids.shape != values.shape:
        raise ParameterError(f"{ids.size} ids but {values.size} values")
    return _add_up(ids, values)


def _add_up(ids: Integers, values: Floats) -> tuple[Integers, Floats]:
    order = np.argsort(ids, kind="stable")  # what `np.unique` does, in a third of its time where there are few
    ids, values = ids[order], values[order]
    first = np.ones(len(ids), np.bool_)
    np.not_equal(ids[1:], ids[:-1], out=first[1:])
    return ids[first], np.asarray(np.bincount(np.cumsum(first) - 1, weights=values), np.float64)


def background_at(ids: npt.ArrayLike, p_C: npt.ArrayLike | None) -> Floats:
    """p_C(w) for each of `ids`, refusing ids that p_C does not cover."""
    if p_C is None:
        raise ParameterError("a model with background needs the collection model p_C")
    ids, shares = wholes("ids", ids), np.asarray(p_C, dtype=np.float64)
    if ids.size and ids.max() >= shares.size:
        raise ParameterError(f"p_C covers {shares.size} words, but id {ids.max()} was asked for")
    return shares[ids]


def _weighted(parts: Iterable[tuple[float, LanguageModel]]) -> tuple[list[LanguageModel], list[float]]:
    """The parts of non-zero weight, and their weights divided by the sum."""
    pairs = [(number("weights", weight), model) for weight, model in parts]
    for weight, _ in pairs:
        if weight < 0.0:
            raise ParameterError(f"weights must be finite and not negative, found {weight}")
    kept = [pair for pair in pairs if pair[0] > 0]
    if not kept:
        raise ParameterError("a mean needs at least one model with a weight greater than 0")
    total = float(np.array([weight for weight, _ in pairs], np.float64).sum())
    return [m for _, m in kept], [weight / total for weight, _ in kept]
