"""Did you mean ...? A noisy channel over the collection's own words.

An unknown word: argmax_w P(w|C) · P(typed|w): the language model is the collection's, the channel is
`germane.lm.noisy_channel`, within two edits.

A known word, in context ("15 minuets"): argmax_w P(w|before) · P(after|w) · P(typed|w), where the words beside it are
known too and stand beside it nowhere in the collection. P(w|v) = (c(vw) + μ·P(w|C)) / (c(v) + μ), as `lm.bigram` has
it, from the order of words that the index keeps. Only words one edit away that stand there in `RARE` documents at least
are considered, and only for a word that few documents hold: the others are too common to be suspected.

A term is written as the collection writes it most often. What is asked of the collection is in `rank.spellings`.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple, TypeAlias

from germane.deadline import look
from germane.lm.noisy_channel import Candidate, edits_allowed, log_channel, most_probable
from germane.rank.near_words import edits_between
from germane.rank.retriever import Retriever
from germane.rank.scoring.statistics import CollectionStatistics, Need
from germane.text import Analyzer

Pair: TypeAlias = tuple[str, str]
"""Two terms that stand side by side."""

RARE = 3
"""A known word is only replaced without context if fewer documents hold it, and the better one is far commoner."""
MU = 100.0
"""Pseudo-counts of the unigrams in the chain of words."""
MOST_KNOWN = 1000
"""A word that more documents hold is not suspected."""
LEAST_LETTERS = 5
"""Shorter known words are left alone: too many others are one edit away."""
MOST_LOOKED_UP = 4
"""Words of one query that may be corrected: the first ones that are suspected."""


class _Typed(NamedTuple):
    """A word of the query, its term, the edits to look for, and the pairs in which it stands beside another term."""

    token: str
    term: str
    edits: int
    beside: tuple[Pair, ...]

    def with_term(self, term: str) -> list[Pair]:
        """The pairs with another term in its place."""
        return [(term if a == self.term else a, term if b == self.term else b) for a, b in self.beside]


class _Form(NamedTuple):
    """A term, its commonest written form, and the edits from what was typed."""

    term: str
    surface: str
    edits: int


def corrections(retriever: Retriever, tokens: Sequence[str], runs: Sequence[Sequence[str]]) -> dict[str, str]:
    """The words that are likely mistyped, each with the better one. `runs`: the terms that stand side by side.

    Whether words stand side by side takes longest to find out and comes last: most words have none near them that could
    be better, wherever it stood.
    """
    schema = retriever.schema()
    typed = _typed(schema.analyzer, tokens, runs)
    if not typed:
        return {}
    needed = dict.fromkeys([*(each.term for each in typed), *chain.from_iterable(p for t in typed for p in t.beside)])
    known = retriever.statistics(Need(tuple(needed)))
    df = {term: stats.df for term, stats in known.terms.items()}
    doubtful = [
        each
        for each in typed
        if df[each.term] < RARE or (schema.keeps_order and _may_be_misplaced(each, df[each.term]))
    ]
    unknown = accumulate((df[each.term] < RARE for each in doubtful), initial=0)  # those are suspected whatever is near
    doubtful = [each for each, before in zip(doubtful, unknown, strict=False) if before < MOST_LOOKED_UP]
    if not doubtful:
        return {}
    near = retriever.near_terms([(each.token, each.edits if df[each.term] < RARE else 1) for each in doubtful], RARE)
    counted = retriever.statistics(Need(tuple({*known.terms, *chain.from_iterable(near)})))

    @cache
    def stand_together(pair: Pair) -> bool:
        return _estimates(retriever, [pair])[pair] > 0.0

    def is_suspected(typed: _Typed) -> bool:
        return df[typed.term] < RARE or not any(map(stand_together, typed.beside))

    better = {}
    for i, (each, terms) in enumerate(zip(doubtful, near, strict=True)):
        look()
        may_replace = _may_replace_unknown if df[each.term] < RARE else _may_replace_known
        candidates = tuple(term for term in terms if may_replace(counted, each, term))
        if not candidates or not is_suspected(each):
            continue
        forms = _near(retriever.statistics(Need((), surfaces=candidates)), each, candidates)
        if df[each.term] < RARE:
            word = _correct(counted, each, forms)
        else:
            word = _correct_in_context(retriever, counted, each, forms)
        if word != each.token and sum(map(is_suspected, doubtful[:i])) < MOST_LOOKED_UP:
            better[each.token] = word
    return better


def _may_be_misplaced(typed: _Typed, df: int) -> bool:
    """Whether a word is known, beside another, and neither too common nor too short to be suspected."""
    return bool(typed.beside) and RARE <= df <= MOST_KNOWN and len(typed.token) >= LEAST_LETTERS


def _typed(analyzer: Analyzer, tokens: Sequence[str], runs: Sequence[Sequence[str]]) -> list[_Typed]:
    """The words that can be corrected."""
    pairs = list(dict.fromkeys(pair for run in runs for pair in pairwise(run)))
    typed = []
    for token in dict.fromkeys(tokens):
        term, edits = analyzer.term_of(token), edits_allowed(token)
        if term is not None and edits:
            typed.append(_Typed(token, term, edits, tuple((a, b) for a, b in pairs if (a == term) != (b == term))))
    return typed


def _estimates(retriever: Retriever, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """In how many documents each pair stands side by side."""
    distinct = list(dict.fromkeys(pairs))
    samples = retriever.sample_pairs(distinct) if distinct else []
    return {pair: sample.estimate for pair, sample in zip(distinct, samples, strict=True)}


def _may_replace_unknown(counted: CollectionStatistics, typed: _Typed, term: str) -> bool:
    """Whether a term is common enough."""
    return counted.terms[term].df >= max(RARE, 10 * counted.terms[typed.term].df)


def _may_replace_known(counted: CollectionStatistics, typed: _Typed, term: str) -> bool:
    """Whether a term would be likelier if it stood beside the neighbours wherever it is, and the typed one nowhere."""
    if term == typed.term or counted.terms[term].df < RARE:
        return False
    pairs = typed.with_term(term)
    wherever = {(a, b): min(counted.terms[a].df, counted.terms[b].df) for a, b in pairs}
    as_typed = _log_chain(counted, typed.beside, dict.fromkeys(typed.beside, 0.0))
    return _log_chain(counted, pairs, wherever) + log_channel(1) >= as_typed


def _near(counted: CollectionStatistics, typed: _Typed, terms: Sequence[str]) -> list[_Form]:
    """The terms whose commonest form is near what was typed."""
    surfaces = [counted.surface(term) for term in terms]
    edits = [edits_between(typed.token.encode(), surface.encode(), typed.edits) for surface in surfaces]
    return [form for form in map(_Form, terms, surfaces, edits) if form.edits <= typed.edits]


def _correct(counted: CollectionStatistics, typed: _Typed, near: Sequence[_Form]) -> str:
    """The word that is the likeliest whatever stands beside it; the typed one if it is."""
    known = counted.terms[typed.term]
    as_typed = math.log(known.cf / counted.n_tokens) if known.cf else -math.inf
    candidates = [Candidate(typed.token, as_typed, log_channel(0))]
    for term, surface, edits in near:
        candidates.append(Candidate(surface, math.log(counted.terms[term].cf / counted.n_tokens), log_channel(edits)))
    return most_probable(candidates).word


def _correct_in_context(
    retriever: Retriever, counted: CollectionStatistics, typed: _Typed, near: Sequence[_Form]
) -> str:
    """The word that stands between its neighbours far more probably; the typed one if it does."""
    nowhere = dict.fromkeys(typed.beside, 0.0)
    scored = [Candidate(typed.token, _log_chain(counted, typed.beside, nowhere), log_channel(0))]
    words = {form.term: form.surface for form in near if form.edits == 1 and not any(map(str.isdigit, form.surface))}
    counts = _estimates(retriever, [pair for term in words for pair in typed.with_term(term)])
    for term, surface in words.items():
        there = typed.with_term(term)
        if max(map(counts.__getitem__, there)) >= RARE:
            scored.append(Candidate(surface, _log_chain(counted, there, counts), log_channel(1)))
    return most_probable(scored).word


def _log_chain(counted: CollectionStatistics, pairs: Sequence[Pair], counts: Mapping[Pair, float]) -> float:
    """Σ log P(b|a) over the pairs, (c(ab) + μ·P(b|C)) / (c(a) + μ)."""
    total = 0.0
    for a, b in pairs:
        first, second = counted.terms[a], counted.terms[b]
        total += math.log((counts[a, b] + MU * max(second.cf, 0.5) / counted.n_tokens) / (first.cf + MU))
    return total
