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
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

from germane.deadline import look
from germane.lm.noisy_channel import Candidate, edits_allowed, log_channel, most_probable
from germane.rank.retriever import Retriever
from germane.rank.scoring.statistics import CollectionStatistics, Need
from germane.rank.spellings import distances
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
"""Words of one query for which all terms of the collection are looked at."""


class _Typed(NamedTuple):
    """A word of the query, its term, the edits to look for, and the pairs in which it stands beside another term."""

    token: str
    term: str
    edits: int
    beside: tuple[Pair, ...]

    def with_term(self, term: str) -> list[Pair]:
        """The pairs with another term in its place."""
        return [(term if a == self.term else a, term if b == self.term else b) for a, b in self.beside]


def corrections(retriever: Retriever, tokens: Sequence[str], runs: Sequence[Sequence[str]]) -> dict[str, str]:
    """The words that are likely mistyped, each with the better one. `runs`: the terms that stand side by side."""
    schema = retriever.schema()
    typed = _typed(schema.analyzer, tokens, runs)
    if not typed:
        return {}
    needed = dict.fromkeys([*(each.term for each in typed), *chain.from_iterable(p for t in typed for p in t.beside)])
    known = retriever.statistics(Need(tuple(needed)))
    df = {term: stats.df for term, stats in known.terms.items()}
    misplaced = [each for each in typed if RARE <= df[each.term] <= MOST_KNOWN and len(each.token) >= LEAST_LETTERS]
    together = _estimates(retriever, [pair for each in misplaced for pair in each.beside]) if schema.keeps_order else {}
    suspected = [
        each
        for each in typed
        if df[each.term] < RARE
        or (each in misplaced and together and each.beside and not any(map(together.__getitem__, each.beside)))
    ][:MOST_LOOKED_UP]
    if not suspected:
        return {}
    near = retriever.near_terms([(each.token, each.edits if df[each.term] < RARE else 1) for each in suspected])
    candidates = tuple(dict.fromkeys(chain.from_iterable(near)))
    told = retriever.statistics(Need((*known.terms, *candidates), surfaces=candidates))
    found = {}
    for each, terms in zip(suspected, near, strict=True):
        look()
        if df[each.term] < RARE:
            better = _correct(told, each, terms)
        else:
            better = _correct_in_context(retriever, told, each, terms)
        if better != each.token:
            found[each.token] = better
    return found


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


def _near(told: CollectionStatistics, typed: _Typed, terms: Sequence[str], most: int) -> list[tuple[str, str, int]]:
    """The terms whose commonest form is near what was typed, with this form and the edits between."""
    surfaces = [told.surface(term) for term in terms]
    edits = distances(typed.token.encode(), [surface.encode() for surface in surfaces], most).tolist()
    return [each for each in zip(terms, surfaces, edits, strict=True) if each[2] <= most]


def _correct(told: CollectionStatistics, typed: _Typed, terms: Sequence[str]) -> str:
    """The word that is the likeliest whatever stands beside it; the typed one if it is."""
    known = told.terms[typed.term]
    as_typed = math.log(known.cf / told.n_tokens) if known.cf else -math.inf
    candidates = [Candidate(typed.token, as_typed, log_channel(0))]
    common = [term for term in terms if told.terms[term].cf > 0 and told.terms[term].df >= max(RARE, 10 * known.df)]
    for term, surface, edits in _near(told, typed, common, typed.edits):
        candidates.append(Candidate(surface, math.log(told.terms[term].cf / told.n_tokens), log_channel(edits)))
    return most_probable(candidates).word


def _correct_in_context(retriever: Retriever, told: CollectionStatistics, typed: _Typed, terms: Sequence[str]) -> str:
    """The word that stands between its neighbours far more probably; the typed one if it does."""
    nowhere = dict.fromkeys(typed.beside, 0.0)
    scored = [Candidate(typed.token, _log_chain(told, typed.beside, nowhere), log_channel(0))]
    common = [term for term in terms if term != typed.term and told.terms[term].df >= RARE]  # so often beside another
    near = [
        (term, surface)
        for term, surface, edits in _near(told, typed, common, 1)
        if edits == 1 and not any(map(str.isdigit, surface))
    ]
    counts = _estimates(retriever, [pair for term, _ in near for pair in typed.with_term(term)])
    for term, surface in near:
        there = typed.with_term(term)
        if max(map(counts.__getitem__, there)) >= RARE:
            scored.append(Candidate(surface, _log_chain(told, there, counts), log_channel(1)))
    return most_probable(scored).word


def _log_chain(told: CollectionStatistics, pairs: Sequence[Pair], counts: Mapping[Pair, float]) -> float:
    """Σ log P(b|a) over the pairs, (c(ab) + μ·P(b|C)) / (c(a) + μ)."""
    total = 0.0
    for a, b in pairs:
        first, second = told.terms[a], told.terms[b]
        total += math.log((counts[a, b] + MU * max(second.cf, 0.5) / told.n_tokens) / (first.cf + MU))
    return total
