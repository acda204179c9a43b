"""Query likelihoods beyond a product of unigrams: the whole integral over a document's model, and a Markov chain."""

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from germane.arrays import Floats
from germane.deadline import look
from germane.index.sequences import PairCounts
from germane.lm import Dirichlet
from germane.lm.distributions.dcm import log_rising
from germane.lm.parameters import EDGE, bounded, open_fraction, positive
from germane.rank.kinds import COUNT
from germane.rank.models.defaults import DEFAULT_MU
from germane.rank.models.dependence import WINDOW, Runs, backgrounds, neighbours, postings_of
from germane.rank.models.evidence import Countable, Counted, CountedEvidence, EvidenceModel, Item, check_order
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.plan import NOTHING, Plan, QueryTerm
from germane.rank.scoring.statistics import Need, Pair


class WholeIntegral(EvidenceModel):
    """P(Q|D) = ∫ P(Q|θ) P(θ|α) dθ = Z(α+f)/Z(α), α = c + μ·p_C, where Z is that of a prior of θ (`_log_factor`)."""

    looks, places = 0.5, False  # counts alone
    mu: float

    def __post_init__(self) -> None:
        positive("mu", self.mu)

    @staticmethod
    @abstractmethod
    def _log_factor(a: Floats, f: Floats) -> Floats:
        """What a word of α_w = `a` that is asked for `f` times adds to log Z(α+f)/Z(α); Σα and Σf take off the same."""

    def evidence(self, searcher: Countable, weights: Mapping[str, float]) -> list[CountedEvidence]:
        terms = searcher.known_terms(weights)
        if not terms:
            return []
        alone = [np.array([self.mu * term.cf / searcher.collection.n_tokens]) for term in terms]
        f = [np.array([term.weight]) for term in terms]
        constant = math.fsum(float(self._log_factor(a, own)[0]) for a, own in zip(alone, f, strict=True))
        length = np.array([math.fsum(term.weight for term in terms)])
        plan = Plan.ordered(COUNT, terms, [1.0] * len(terms), [1.0] * len(terms), constant=constant, mass=1.0)
        place = {term.term: i for i, term in enumerate(terms)}
        counted, background = [], []
        for i, live in enumerate(searcher.snapshot.segments):
            own = postings_of(searcher, i, [term.term for term in plan.terms])
            counted.append(
                [self._gain(found, alone[place[t.term]], t) for found, t in zip(own, plan.terms, strict=True)]
            )
            sizes = live.segment.doc_len.astype(np.float64) + self.mu
            background.append(-self._log_factor(sizes, np.broadcast_to(length, sizes.shape)))
        return [CountedEvidence(plan, counted, background)]

    def _gain(self, found: Counted, alone: Floats, term: QueryTerm) -> Counted:
        """The factor of the documents that hold the word, above that of those that do not."""
        f = np.full(len(found.counts), term.weight)
        base = self._log_factor(alone, np.array([term.weight]))
        return found._replace(counts=self._log_factor(found.counts + alone, f) - base)


@dataclass(frozen=True)
class SmoothedDirichletIntegral(WholeIntegral):
    """P(Q|D) = Z_a(α+f)/Z_a(α), Z_a = Π_w α_w^α_w / S^S, α = c + μ·p_C: the integral under SD with SD (3.24) for Z.

    log P = Σ_w g(α_w+f_w) - g(α_w) - g(A+|Q|) + g(A), g(x) = x·log x. As the approximate normaliser has no pole at 0, a
    word that the document lacks costs little, and rare words count more through the documents that hold them. What the
    exact normaliser gives is in `benchmarks/integrals.py`: more on one of four collections (cisi), less on the others.
    """

    mu: float = 1000.0

    @staticmethod
    def _log_factor(a: Floats, f: Floats) -> Floats:
        return np.asarray((a + f) * np.log(a + f) - a * np.log(a))


@dataclass(frozen=True)
class DirichletMultinomial(WholeIntegral):
    """P(Q|D) = ∫ P(Q|θ) Dir(θ | c + μ·p_C) dθ = Γ(A)/Γ(A+|Q|) · Π_w Γ(α_w+f_w)/Γ(α_w), α = c + μ·p_C, A = |D| + μ.

    The whole integral over a document's model, a DCM as in SD (3.2), where Dirichlet smoothing takes the mean of θ:
    what SD §3.1 asks for; Zaragoza, Hiemstra & Tipping (2003). A word that the query repeats adds less each time. f
    need not be whole. Without repeated words the difference is Γ(A)/Γ(A+|Q|), by which long documents gain a little.
    """

    mu: float = DEFAULT_MU

    @staticmethod
    def _log_factor(a: Floats, f: Floats) -> Floats:
        return log_rising(a, f)


@dataclass(frozen=True)
class BigramLikelihood(EvidenceModel):
    """log P(Q|D) of a Markov chain: P(q_i|q_{i-1}, D) = λ·c(q_{i-1}q_i)/c(q_{i-1}) + (1-λ)·θ_D(q_i).

    The Lecture's bigram model, smoothed by the document's own unigrams (Song & Croft 1999), these by Dirichlet's `mu`.
    Written as query likelihood + Σ_i log(1 + λ/(1-λ) · c(q_{i-1}q_i)/(c(q_{i-1})·θ_D(q_i))) + n·log(1-λ) over the n
    neighbouring words of the query: a sum over the documents that hold them side by side. Stop words are left out of
    query and document alike. Departure: the first word of a run is a unigram, there being no beginning of a text.
    `runs`: the words of one query in their order; the engine fills them in.
    """

    mu: float = DEFAULT_MU
    lam: float = 0.1
    runs: Runs = ()

    def __post_init__(self) -> None:
        Dirichlet(self.mu)
        bounded("lam", open_fraction("lam", self.lam), EDGE, 1.0 - EDGE)

    def of_query(self, runs: Runs) -> "BigramLikelihood":
        return replace(self, runs=runs)

    def evidence(self, searcher: Countable, weights: Mapping[str, float]) -> list[CountedEvidence]:
        words = searcher.known_terms(weights)
        if not words:
            return []
        check_order(searcher, self)
        unigrams = QueryLikelihood(Dirichlet(self.mu))
        plan = unigrams.plan(words, searcher.collection)
        pairs = neighbours(self.runs, weights)
        plan = plan._replace(constant=plan.constant + pairs.total() * math.log1p(-self.lam))
        terms = [term.term for term in plan.terms]
        counted = [postings_of(searcher, i, terms) for i in range(len(searcher.snapshot.segments))]
        found = [CountedEvidence(plan, counted, backgrounds(searcher, unigrams))]
        chain = self._chain(searcher, pairs, {term.term: term for term in words})
        return found if chain is None else [*found, chain]

    def need(self, weights: Mapping[str, float]) -> Need:
        """The words and their neighbours."""
        pairs = neighbours(self.runs, weights)
        return super().need(weights)._replace(pairs=tuple(Pair(*pair, WINDOW) for pair in pairs))

    def _chain(
        self, searcher: Countable, pairs: Counter[tuple[str, str]], words: Mapping[str, QueryTerm]
    ) -> CountedEvidence | None:
        """What neighbouring words of the query add where they are neighbours in a document."""
        terms: list[QueryTerm] = []
        lists: dict[str, tuple[Item, list[Counted]]] = {}
        for pair, n in pairs.items():
            if not words.keys() >= {*pair}:
                continue
            look()
            asked, item = Pair(*pair, WINDOW), Item("#1", pair)
            df, cf = searcher.statistics.pair_stats(asked).ordered
            if df > 0:
                terms.append(QueryTerm(item.name, float(n), df, cf))
                counts = enumerate(searcher.pair_counts(asked))
                lists[item.name] = item, [self._gain(searcher, i, own, pair, words[pair[1]]) for i, own in counts]
        if not terms:
            return None
        weight = [term.weight for term in terms]
        plan = Plan.ordered(COUNT, terms, weight, weight)
        items, by_item = zip(*(lists[term.term] for term in plan.terms), strict=True)
        nowhere = [NOTHING for _ in searcher.snapshot.segments]
        return CountedEvidence(plan, [*zip(*by_item, strict=True)], nowhere, items, finds=False)

    def _gain(self, searcher: Countable, i: int, both: PairCounts, pair: tuple[str, str], second: QueryTerm) -> Counted:
        """log(1 + λ/(1-λ)·c(ab)/(c(a)·θ_D(b))) of the documents of a segment that hold the pair."""
        segment = searcher.snapshot.segments[i].segment
        found = Counted.of(both.docs, both.ordered)
        first, other = postings_of(searcher, i, pair)
        c_a, c_b = (list_.counts[np.searchsorted(list_.docs, found.docs)] for list_ in (first, other))
        p_C = second.cf / searcher.collection.n_tokens
        theta = (c_b + self.mu * p_C) / (segment.doc_len[found.docs].astype(np.float64) + self.mu)
        gain = np.log1p(self.lam / (1.0 - self.lam) * found.counts / (c_a * theta))
        return found._replace(counts=gain)
