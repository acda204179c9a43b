"""Smoothing: from the counts of a text to a language model.

Every method but Laplace takes from the counts a sparse excess e and gives the collection model a share a, so that
θ(w) = e(w) + a·p_C(w). `split` is that formula and nothing more: it takes numbers or whole arrays of postings, and
trusts them. `model` counts, checks and builds. Limit case of all: a document without words is pure background, a = 1.

c = c(w;d) is `c_wd`, the count of w in d; |d| is `len_d`; |d|_u is `n_unique_d`, the number of different words in d.
λ is the weight of the *document*, as in the Lecture and in SD; Zhai & Lafferty give theirs to the collection.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.model import LanguageModel, add_up
from germane.lm.parameters import EDGE, fraction, positive, whole


class Size(StrEnum):
    """The size of a document that a smoothing divides by."""

    NONE = "none"
    LENGTH = "length"
    UNIQUE = "unique"


@dataclass(frozen=True, slots=True)
class ExcessRatio:
    """e/(a·p_C) = n·(c - δ) / (m·p_C·(x0 + x1·size)): a smoothing's coefficients in a ranking, all a scorer needs.

    The ratio of what a document says of a word to what the collection says of it; a score sums its logarithm plus 1
    over the words a document holds. `size` NONE: there is no last factor. `log_background`: log a where it is the
    same for all documents; None where `split` must tell it of each.
    """

    numerator: float = 1.0
    denominator: float = 1.0
    delta: float = 0.0
    x0: float = 0.0
    x1: float = 0.0
    size: Size = Size.NONE
    log_background: float | None = None


class Smoothing(ABC):
    """A method of the family θ(w) = e(w) + a·p_C(w)."""

    @abstractmethod
    def split(self, c_wd: npt.ArrayLike, len_d: npt.ArrayLike, n_unique_d: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The excess e of each posting and the background share a of each document; arguments broadcast."""

    def excess_ratio(self) -> ExcessRatio:
        """The coefficients of e/(a·p_C); refused where it would be infinite or has another form."""
        raise ParameterError(f"{type(self).__name__} cannot smooth a document for ranking")

    def model(self, ids: npt.ArrayLike, counts: npt.ArrayLike) -> LanguageModel:
        """The model of one text: word ids, in any order and possibly repeated, and their counts."""
        unique, c_wd = add_up(ids, counts)
        unique, c_wd = unique[c_wd > 0], c_wd[c_wd > 0]
        excess, background = self.split(c_wd, c_wd.sum(), c_wd.size)
        return LanguageModel(unique, excess, float(background))


@dataclass(frozen=True)
class MLE(Smoothing):
    """No smoothing: θ(w) = c/|d|, so e = c/|d|, a = 0. Source: Lecture (maximum likelihood estimates); SD (1.7)."""

    def split(self, c_wd: npt.ArrayLike, len_d: npt.ArrayLike, n_unique_d: npt.ArrayLike) -> tuple[Floats, Floats]:
        return _per_token(c_wd, len_d), _or_pure(0.0, len_d)


@dataclass(frozen=True)
class JelinekMercer(Smoothing):
    """Linear smoothing: θ(w) = λ·c/|d| + (1-λ)·p_C(w), so e = λ·c/|d|, a = 1-λ.

    Source: Lecture ("Linear Smoothing"); SD (2.1). Zhai & Lafferty (2004) call our 1-λ their λ.
    Limit cases: λ = 1 is `MLE`, λ = 0 is the collection model.
    """

    lam: float

    def __post_init__(self) -> None:
        fraction("lam", self.lam)

    def split(self, c_wd: npt.ArrayLike, len_d: npt.ArrayLike, n_unique_d: npt.ArrayLike) -> tuple[Floats, Floats]:
        return self.lam * _per_token(c_wd, len_d), _or_pure(1 - self.lam, len_d)

    def excess_ratio(self) -> ExcessRatio:
        """λ/(1-λ) · c/(p_C·|d|)."""
        lam = _for_ranking("lam", self.lam)
        return ExcessRatio(lam / (1.0 - lam), x1=1.0, size=Size.LENGTH, log_background=math.log(1.0 - lam))


@dataclass(frozen=True)
class Dirichlet(Smoothing):
    """Bayesian smoothing: θ(w) = (c + μ·p_C(w)) / (|d| + μ), so e = c/(|d|+μ), a = μ/(|d|+μ), μ > 0.

    Source: Lecture ("Dirichlet Smoothing", where μ is written α); SD (5.33).
    """

    mu: float

    def __post_init__(self) -> None:
        positive("mu", self.mu)

    def split(self, c_wd: npt.ArrayLike, len_d: npt.ArrayLike, n_unique_d: npt.ArrayLike) -> tuple[Floats, Floats]:
        total = np.asarray(len_d, dtype=np.float64) + self.mu
        return np.asarray(c_wd, dtype=np.float64) / total, self.mu / total

    def excess_ratio(self) -> ExcessRatio:
        """c/(μ·p_C)."""
        return ExcessRatio(denominator=self.mu)


@dataclass(frozen=True)
class AbsoluteDiscounting(Smoothing):
    """θ(w) = max(c-δ, 0)/|d| + δ·|d|_u/|d|·p_C(w), so e = max(c-δ, 0)/|d|, a = δ·|d|_u/|d|, 0 ≤ δ ≤ 1.

    Source: Zhai & Lafferty (2004), table I. The maximum only covers words with c = 0: counts that are above 0 but
    below δ cannot be discounted, and `model` refuses them. Limit cases: δ = 0 is `MLE`; δ = 1 drops words seen once.
    """

    delta: float

    def __post_init__(self) -> None:
        fraction("delta", self.delta)

    def split(self, c_wd: npt.ArrayLike, len_d: npt.ArrayLike, n_unique_d: npt.ArrayLike) -> tuple[Floats, Floats]:
        discounted = np.maximum(np.asarray(c_wd, dtype=np.float64) - self.delta, 0.0)
        return _per_token(discounted, len_d), _or_pure(self.delta * _per_token(n_unique_d, len_d), len_d)

    def excess_ratio(self) -> ExcessRatio:
        """(c-δ)/(p_C·δ·|d|_u)."""
        delta = _for_ranking("delta", self.delta)
        return ExcessRatio(delta=delta, x1=delta, size=Size.UNIQUE)

    def model(self, ids: npt.ArrayLike, counts: npt.ArrayLike) -> LanguageModel:
        """As for every method; refuses a count between 0 and δ."""
        _, c_wd = add_up(ids, counts)
        if ((c_wd > 0) & (c_wd < self.delta)).any():
            raise ParameterError(f"absolute discounting takes delta = {self.delta} from every count; some are smaller")
        return super().model(ids, counts)


@dataclass(frozen=True)
class TwoStage(Smoothing):
    """θ(w) = λ·(c + μ·p_C(w))/(|d|+μ) + (1-λ)·p_C(w), so e = λ·c/(|d|+μ), a = λ·μ/(|d|+μ) + 1-λ.

    Source: Zhai & Lafferty (2002), two-stage smoothing, with the collection as the query background p(w|U).
    Departure: λ weighs the document here; it is one minus theirs. Limit cases: λ = 1 is `Dirichlet`, λ = 0 is p_C.
    """

    lam: float
    mu: float

    def __post_init__(self) -> None:
        fraction("lam", self.lam)
        positive("mu", self.mu)

    def split(self, c_wd: npt.ArrayLike, len_d: npt.ArrayLike, n_unique_d: npt.ArrayLike) -> tuple[Floats, Floats]:
        excess, background = Dirichlet(self.mu).split(c_wd, len_d, n_unique_d)
        return self.lam * excess, self.lam * background + (1 - self.lam)

    def excess_ratio(self) -> ExcessRatio:
        """λ·c/(p_C·(μ + (1-λ)·|d|))."""
        lam = _for_ranking("lam", self.lam)
        return ExcessRatio(lam, x0=self.mu, x1=1.0 - lam, size=Size.LENGTH)


@dataclass(frozen=True)
class Laplace:
    """Additive smoothing: θ(w) = (c + δ) / (|d| + δ·V), δ > 0; δ = 1 is "add one".

    Source: Lecture ("Add-one smoothing", δ = 1). It smooths with the uniform distribution over V words and not with
    p_C, so it is outside the family of `Smoothing`. Limit case: a document without words is uniform.
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        positive("delta", self.delta)

    def probability(self, c_wd: npt.ArrayLike, len_d: npt.ArrayLike, V: int) -> Floats:
        """θ(w) for words counted c_wd times in documents of length len_d, over a vocabulary of V ≥ 1 words."""
        vocabulary = whole("V", V, least=1)
        top = np.asarray(c_wd, dtype=np.float64) + self.delta
        return np.asarray(top / (np.asarray(len_d, dtype=np.float64) + self.delta * vocabulary))


def _for_ranking(name: str, value: float) -> float:
    """`value` if 0 < value < 1, and not next to the ends."""
    if not EDGE <= value <= 1.0 - EDGE:
        raise ParameterError(
            f"ranking needs 0 < {name} < 1, by {EDGE:g} at least, not {value}: at the ends the logarithm is of zero"
        )
    return value


def _per_token(amount: npt.ArrayLike, len_d: npt.ArrayLike) -> Floats:
    """amount / |d|, and 0 where |d| = 0 (an empty document has no amounts)."""
    length, amount = np.asarray(len_d, dtype=np.float64), np.asarray(amount, dtype=np.float64)
    if length.all():
        return np.asarray(amount / length)
    return np.where(length > 0, amount / np.where(length > 0, length, 1.0), 0.0)


def _or_pure(background: npt.ArrayLike, len_d: npt.ArrayLike) -> Floats:
    """The background share, and 1 where |d| = 0."""
    return np.where(np.asarray(len_d) > 0, background, 1.0)
