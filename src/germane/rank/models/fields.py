"""Models in which a word counts by the field it stands in: BM25F, and the mixture of the fields' language models.

Both take the weights of fields: a word of the title counts so many times as much as one of a field of weight 1. Fields
that are not named weigh 1.
"""

import difflib
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.index.sequences import counts_by_field, field_lengths
from germane.lm import Dirichlet, Size, Smoothing
from germane.lm.parameters import LARGEST, bounded, fraction, positive
from germane.rank.kinds import LOG_COUNT_RATIO
from germane.rank.models.bm25 import BM25
from germane.rank.models.defaults import DEFAULT_MU
from germane.rank.models.evidence import NONE_COUNTED, Countable, Counted, CountedEvidence, EvidenceModel, check_order
from germane.rank.plan import NOTHING, Plan, QueryTerm
from germane.rank.scoring.statistics import Need

DEFAULT_WEIGHTS = {"title": 3.0}
"""The weights of fields where none is given; chosen on other collections than those reported
(`experiments/reproduce/fields.toml`)."""
DEFAULT_FIELD_B = {"title": 0.25}
"""Where BM25F normalises the lengths of a field by another b: those of titles say little."""

ByField: TypeAlias = Mapping[str, float] | Sequence[tuple[str, float]] | None
"""Numbers by the names of fields; None: the defaults, for the fields that are there."""


class Fields(NamedTuple):
    """The text fields of a collection: their names, their weights, and how many tokens they have on average."""

    names: tuple[str, ...]
    weights: Floats
    means: Floats


@dataclass(frozen=True)
class _FieldModel(EvidenceModel):
    """What both models share: the weights, and the counts of words by field."""

    weights: ByField = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _by_field("weights", self.weights, 0.0, LARGEST))

    def evidence(self, searcher: Countable, weights: Mapping[str, float]) -> list[CountedEvidence]:
        terms = searcher.known_terms(weights)
        if not terms:
            return []
        check_order(searcher, self)
        fields = self._fields(searcher)
        plan = self._plan(terms, searcher, fields)
        of_means = self, fields.means.tobytes()
        shares = searcher.remembered(
            ("shares", *of_means), lambda: [*map(partial(self._shares, fields), _lengths(searcher))]
        )
        names = [term.term for term in plan.terms]
        counted = []
        for i, live in enumerate(searcher.snapshot.segments):
            lists = []
            for number in live.segment.numbers_of(names):
                if number < 0:
                    lists.append(NONE_COUNTED)
                    continue
                docs, counts = counts_by_field(live.segment, number, searcher.texts)
                made = np.zeros(len(docs))
                for f in range(len(fields.names)):
                    made += shares[i][docs, f] * counts[:, f]
                lists.append(Counted(docs, made, counts.sum(axis=1)))
            counted.append(lists)
        background = searcher.remembered(
            ("background", *of_means), lambda: [*map(partial(self._background, fields), _lengths(searcher))]
        )
        return [CountedEvidence(plan, counted, background)]

    def need(self, weights: Mapping[str, float]) -> Need:
        """The words, and the mean lengths of the fields."""
        return super().need(weights)._replace(fields=True)

    def _fields(self, searcher: Countable) -> Fields:
        """The fields as this model sees them; means are those of live documents."""
        names = searcher.texts.names
        means = np.array(searcher.statistics.field_tokens, np.float64) / max(searcher.collection.n_docs, 1)
        weights = np.array(_numbers("weights", self.weights, DEFAULT_WEIGHTS, 1.0, names))
        if not (weights * means).any():
            raise ParameterError("no field that has words has a weight above 0")
        return Fields(names, weights, means)

    @abstractmethod
    def _plan(self, terms: Sequence[QueryTerm], searcher: Countable, fields: Fields) -> Plan:
        """The plan over the pseudo-counts."""

    @abstractmethod
    def _shares(self, fields: Fields, lengths: Floats) -> Floats:
        """What a word in each field of each document counts; `lengths`: document × field, as is the result."""

    def _background(self, fields: Fields, lengths: Floats) -> Floats:
        """The background of each document; empty: none."""
        return NOTHING


@dataclass(frozen=True)
class BM25F(_FieldModel):
    """Σ_w α_w · idf(w) · c̃ (k + 1)/(c̃ + k),   c̃(w,D) = Σ_f w_f c_f(w,D) / (1 - b_f + b_f l_f/avl_f).

    Robertson & Zaragoza (2009), §3.6 (BM25F): weighted pseudo-counts, the length of each field normalised by itself,
    then one saturation. idf is that of BM25, of whole documents. k = k1 · Σ_f w_f avl_f / Σ_f avl_f, as in Robertson,
    Zaragoza & Taylor (2004), so that k1 means what it means in BM25 whatever the weights. `b` is that of all fields but
    those that `field_b` names (the title: DEFAULT_FIELD_B). A field that no document has counts as it is.
    """

    k1: float = 2.0
    b: float = 0.75
    field_b: ByField = None

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("k1", self.k1)
        fraction("b", self.b)
        object.__setattr__(self, "field_b", _by_field("field_b", self.field_b, 0.0, 1.0))

    def _plan(self, terms: Sequence[QueryTerm], searcher: Countable, fields: Fields) -> Plan:
        k = self.k1 * float((fields.weights * fields.means).sum() / fields.means.sum())
        return BM25(k, b=0.0).plan(terms, searcher.collection)

    def _shares(self, fields: Fields, lengths: Floats) -> Floats:
        b = np.array(_numbers("field_b", self.field_b, DEFAULT_FIELD_B, self.b, fields.names))
        normal = 1.0 - b + b * np.divide(lengths, fields.means, out=np.ones(lengths.shape), where=fields.means > 0)
        # where b = 1 an empty field has nothing to divide by, and no word either
        shares: Floats = np.divide(fields.weights, normal, out=np.zeros(normal.shape), where=normal > 0)
        return shares


@dataclass(frozen=True)
class FieldMixture(_FieldModel):
    """log P(α|D) = Σ_w α_w log Σ_f λ_f P(w|D_f): the language model of a document is a mixture of those of its fields.

    Ogilvie & Callan (2003), the mixture of document representations. λ_f = w_f avl_f / Σ_g w_g avl_g: with equal
    weights a field counts as much as it has words. Departures: each field is smoothed with the model of the whole
    collection, so that the mixture is again e_D(w) + a_D p_C(w); and its length is measured by its mean length, so that
    one μ suits short and long fields: P(w|D_f) = (c_f + μ_f p_C(w))/(l_f + μ_f) with μ_f = μ avl_f / Σ_g avl_g.
    """

    smoothing: Smoothing = field(default_factory=lambda: Dirichlet(DEFAULT_MU))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothing.excess_ratio().size is Size.UNIQUE:
            raise ParameterError(
                f"{type(self.smoothing).__name__} cannot smooth a field: its distinct words are not known"
            )

    def _plan(self, terms: Sequence[QueryTerm], searcher: Countable, fields: Fields) -> Plan:
        p_C = [term.cf / searcher.collection.n_tokens for term in terms]
        weight = [term.weight for term in terms]
        return Plan.ordered(
            LOG_COUNT_RATIO,
            terms,
            weight,
            strength=weight,
            scale=[1.0 / p for p in p_C],
            constant=math.fsum(own * math.log(p) for own, p in zip(weight, p_C, strict=True)),
            mass=math.fsum(weight),
        )

    def _shares(self, fields: Fields, lengths: Floats) -> Floats:
        """λ_f e_f/a_D for one occurrence."""
        excess, background = self._split(fields, lengths)
        return excess / background[:, None]

    def _background(self, fields: Fields, lengths: Floats) -> Floats:
        """log a_D."""
        return np.log(self._split(fields, lengths)[1])

    def _split(self, fields: Fields, lengths: Floats) -> tuple[Floats, Floats]:
        """λ_f e_f for one occurrence in each field, and a_D = Σ_f λ_f a_f."""
        tokens = fields.weights * fields.means
        lam, relative = tokens / tokens.sum(), fields.means / fields.means.sum()
        excess, background = np.zeros(lengths.shape), np.zeros(len(lengths))
        for f in np.flatnonzero(lam):
            one, rest = self.smoothing.split(1.0 / relative[f], lengths[:, f] / relative[f], 1)
            excess[:, f], background = lam[f] * one, background + lam[f] * rest
        return excess, background


def field_mixture(mu: float, weights: ByField = None) -> FieldMixture:
    """The mixture with Dirichlet smoothing, as its name in the registry makes it."""
    return FieldMixture(weights, Dirichlet(mu))


def _lengths(searcher: Countable) -> list[Floats]:
    """For each segment the tokens of its documents' fields (document × field)."""
    return [field_lengths(live.segment, searcher.texts).astype(np.float64) for live in searcher.snapshot.segments]


def _by_field(name: str, given: ByField, least: float, most: float) -> tuple[tuple[str, float], ...] | None:
    """Names and numbers in one order, so that equal models are equal; None stays."""
    if given is None:
        return None
    try:
        pairs = sorted(dict(given).items())
    except (TypeError, ValueError):
        raise ParameterError(
            f"{name} maps the names of fields to numbers, as in {{'title': 3}}, not {given!r}"
        ) from None
    return tuple((field_name, bounded(f"{name}[{field_name!r}]", value, least, most)) for field_name, value in pairs)


def _numbers(
    what: str, given: ByField, defaults: Mapping[str, float], rest: float, names: tuple[str, ...]
) -> list[float]:
    """A number for each text field of an index; a field that it does not have is an error, unless by default."""
    own = dict(defaults if given is None else given)
    unknown = [name for name in own if name not in names] if given is not None else []
    if unknown:
        near = difflib.get_close_matches(unknown[0].casefold(), names, 1)
        meant = f"; did you mean '{near[0]}'?" if near else ""
        raise ParameterError(
            f"there is no text field '{unknown[0]}' for {what}{meant} (text fields: {', '.join(names)})"
        )
    return [own.get(name, rest) for name in names]
