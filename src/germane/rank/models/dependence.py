"""Sequential dependence: two words that stand together in the query count more where they stand together in a text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from germane.arrays import Floats
from germane.deadline import look
from germane.errors import ParameterError
from germane.lm import Dirichlet
from germane.lm.parameters import fraction, whole
from germane.rank.models.base import RankingModel
from germane.rank.models.bm25 import BM25
from germane.rank.models.evidence import (
    NONE_COUNTED,
    Countable,
    Counted,
    CountedEvidence,
    EvidenceModel,
    Item,
    check_order,
)
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.plan import QueryTerm
from germane.rank.registry import SDM
from germane.rank.scoring.statistics import Need, Pair

WINDOW = 8
"""That of Metzler & Croft (2005)."""
PAIRS = BM25(k1=1.0, b=0.0)
"""How BM25 counts pairs where nothing is said: that there is one says nearly all, in however long a text."""
MAX_PAIRS = 256
"""Pairs of a query that are looked for, the first ones of a longer query."""

Runs = tuple[tuple[str, ...], ...]
"""The terms of a query that stand one after the other, in order."""


@dataclass(frozen=True)
class SequentialDependence(EvidenceModel):
    """λ_T Σ_w f(w) + λ_O Σ_i f(#1(q_i q_i+1)) + λ_U Σ_i f(#uw8(q_i q_i+1)), f the score of one thing by a model.

    Metzler & Croft (2005), the sequential dependence model: #1 are the words side by side in this order, #uw8
    both within 8 words of each other in any order. Words are scored by `base`, pairs by `pairs` (PAIRS for BM25, else
    `base`), each pair with its own df and cf over the collection. Pairs count within one value of one field, stop words
    left out as everywhere.

    Departures: #uw8 counts every two places that are less than 8 apart, not windows. A document must hold a word, not a
    pair. A pair weighs as much as the words of the runs do on average, 1 for a plain query, so that words that have
    other weights, such as those that feedback has learnt, keep the balance.
    `runs`: the words of one query in their order; the engine fills them in. Without them `base` alone ranks.
    """

    base: RankingModel = field(default_factory=BM25)
    ordered: float = SDM["ordered"]
    unordered: float = SDM["unordered"]
    window: int = WINDOW
    pairs: RankingModel | None = None
    runs: Runs = ()

    def __post_init__(self) -> None:
        for model in (self.base, self.pairs):
            if not isinstance(model, BM25 | QueryLikelihood | None):
                raise ParameterError(f"sequential dependence is for BM25 and query likelihood, not {model!r}")
        fraction("ordered", self.ordered)
        fraction("unordered", self.unordered)
        if self.ordered + self.unordered > 1.0:
            raise ParameterError(
                f"ordered and unordered are shares of the score: {self.ordered} + {self.unordered} is above 1"
            )
        whole("window", self.window, least=2)

    def of_query(self, runs: Runs) -> "SequentialDependence":
        return replace(self, runs=runs)

    def evidence(self, searcher: Countable, weights: Mapping[str, float]) -> list[CountedEvidence]:
        share = 1.0 - self.ordered - self.unordered
        words = [term._replace(weight=share * term.weight) for term in searcher.known_terms(weights)]
        if not words:
            return []
        check_order(searcher, self)
        found = [self._words(searcher, words)]
        of_pairs = self._pairs(searcher, weights)
        return found if of_pairs is None else [*found, of_pairs]

    def need(self, weights: Mapping[str, float]) -> Need:
        """The words and their neighbours."""
        pairs = neighbours(self.runs, weights)
        return super().need(weights)._replace(pairs=tuple(Pair(*pair, self.window) for pair in pairs))

    def _words(self, searcher: Countable, words: Sequence[QueryTerm]) -> CountedEvidence:
        plan = self.base.plan(words, searcher.collection)
        terms = [term.term for term in plan.terms]
        counted = [postings_of(searcher, i, terms) for i in range(len(searcher.snapshot.segments))]
        return CountedEvidence(plan, counted, backgrounds(searcher, self.base))

    def _pairs(self, searcher: Countable, weights: Mapping[str, float]) -> CountedEvidence | None:
        """What is said of neighbouring words; None where no document holds two of them together."""
        # in the order of the query: a set has another one in each process, and sums differ in their last bit
        in_runs = dict.fromkeys(term for run in self.runs for term in run)
        unit = sum(weights.get(term, 0.0) for term in in_runs) / max(sum(map(len, self.runs)), 1)
        terms: list[QueryTerm] = []
        lists: dict[str, tuple[Item, list[Counted]]] = {}
        for pair, n in neighbours(self.runs, weights).items():
            look()
            asked = Pair(*pair, self.window)
            found, stats = searcher.pair_counts(asked), searcher.statistics.pair_stats(asked)
            ordered = [Counted.of(own.docs, own.ordered) for own in found]
            unordered = [Counted.of(own.docs, own.unordered) for own in found]
            for share, operator, (df, cf), counted in (
                (self.ordered, "#1", stats.ordered, ordered),
                (self.unordered, f"#uw{self.window}", stats.unordered, unordered),
            ):
                item = Item(operator, pair)
                if df > 0 and share > 0.0:
                    terms.append(QueryTerm(item.name, share * n * unit, df, cf))
                    lists[item.name] = item, counted
        if not terms:
            return None
        model = self.pairs or (PAIRS if isinstance(self.base, BM25) else self.base)
        plan = model.plan(terms, searcher.collection)
        items, by_item = zip(*(lists[term.term] for term in plan.terms), strict=True)
        return CountedEvidence(plan, [*zip(*by_item, strict=True)], backgrounds(searcher, model), items, finds=False)


def over_bm25(
    k1: float, b: float, ordered: float, unordered: float, pair_k1: float, pair_b: float
) -> SequentialDependence:
    """Sequential dependence over BM25, as its name in the registry makes it."""
    own = BM25(pair_k1, pair_b)
    return SequentialDependence(BM25(k1, b), ordered, unordered, pairs=None if own == PAIRS else own)


def over_dirichlet(mu: float, ordered: float, unordered: float) -> SequentialDependence:
    """Sequential dependence over query likelihood, as its name in the registry makes it."""
    return SequentialDependence(QueryLikelihood(Dirichlet(mu)), ordered, unordered)


def postings_of(searcher: Countable, i: int, terms: Sequence[str]) -> list[Counted]:
    """The documents of a segment that hold each term, as often as they do."""
    segment = searcher.snapshot.segments[i].segment
    numbers = segment.numbers_of(terms)
    segment.verify_lists(numbers)
    lists = []
    for number in numbers:
        if number < 0:
            lists.append(NONE_COUNTED)
        else:
            docs, counts = segment.postings(number)
            lists.append(Counted.of(docs.astype(np.int64), counts.astype(np.int64)))
    return lists


def neighbours(runs: Runs, weights: Mapping[str, float]) -> Counter[tuple[str, str]]:
    """The neighbouring words of a query that both have a weight, with how often they are neighbours."""
    counts = Counter(pair for run in runs for pair in pairwise(run))
    wanted = [pair for pair in counts if all(weights.get(term, 0.0) > 0.0 for term in pair)][:MAX_PAIRS]
    return Counter({pair: counts[pair] for pair in wanted})


def backgrounds(searcher: Countable, model: RankingModel) -> list[Floats]:
    """The background of each document of each segment."""
    return [searcher.parts_of(i, model).background.values for i in range(len(searcher.snapshot.segments))]
