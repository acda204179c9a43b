"""Did you mean ...? A noisy channel over the collection's own words.

An unknown word: argmax_w P(w|C) · P(typed|w): the language model is the collection's, the channel is
`germane.lm.noisy_channel`, within two edits.

A known word, in context ("15 minuets"): argmax_w P(w|before) · P(after|w) · P(typed|w), where the words beside it are
known too and stand beside it nowhere in the collection. P(w|v) = (c(vw) + μ·P(w|C)) / (c(v) + μ), as `lm.bigram` has
it, from the order of words that the index keeps. Only words one edit away that stand there in `RARE` documents at least
are considered, and only for a word that few documents hold: the others are too common to be suspected.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from germane.deadline import look
from germane.index.recent import TermStats
from germane.index.segment import Segment
from germane.index.sequences import TextFields, documents_with_all, phrase_among
from germane.index.snapshot import Snapshot
from germane.index.strings import unpack_strings
from germane.lazy import LazyModule, is_few
from germane.lm.noisy_channel import Candidate, Lexicon, edits_allowed, log_channel, most_probable
from germane.text import Analyzer, tokenize

if TYPE_CHECKING:
    from germane.rank import suggest_kernels
else:
    suggest_kernels = LazyModule("germane.rank.suggest_kernels")

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
LOOKED_AT = 32
"""Of the documents of a segment that hold two words, so many, evenly spread, are looked at for them side by side."""


def suggest(snapshot: Snapshot, analyzer: Analyzer, query: str) -> str | None:
    """The query with each word that is likely mistyped replaced by its best correction; None if none is."""
    tokens = tokenize(query)
    found = corrections(snapshot, analyzer, tokens, [analyzer.terms(query)])
    return " ".join(found.get(token, token) for token in tokens) if found else None


def corrections(
    snapshot: Snapshot, analyzer: Analyzer, tokens: Sequence[str], runs: Sequence[Sequence[str]]
) -> dict[str, str]:
    """The words that are likely mistyped, each with the better one. `runs`: the terms that stand side by side."""
    pairs = list(dict.fromkeys(pair for run in runs for pair in pairwise(run)))
    found: dict[str, str] = {}
    looked_up = 0
    for token in dict.fromkeys(tokens):
        look()
        term, most = analyzer.term_of(token), edits_allowed(token)
        if term is None or most == 0:
            continue
        known = snapshot.term_stats([term])[0]
        beside = [(a, b) for a, b in pairs if (a == term) != (b == term)]
        suspected = known.df < RARE or _is_suspected(snapshot, analyzer, token, known, beside)
        if not suspected or looked_up == MOST_LOOKED_UP:
            continue
        looked_up += 1
        if known.df < RARE:
            better = _correct(snapshot, token, known, most)
        else:
            better = _correct_in_context(snapshot, analyzer, token, term, beside)
        if better != token:
            found[token] = better
    return found


def _is_suspected(snapshot: Snapshot, analyzer: Analyzer, token: str, known: TermStats, beside: Sequence[Pair]) -> bool:
    """Whether a known word stands beside its neighbours nowhere; not where the index keeps no order."""
    if not beside or len(token) < LEAST_LETTERS or known.df > MOST_KNOWN:
        return False
    if not all(live.segment.keeps_order for live in snapshot.segments):
        return False
    return not any(_count(snapshot, analyzer, pair) for pair in beside)


def _correct_in_context(snapshot: Snapshot, analyzer: Analyzer, token: str, term: str, beside: Sequence[Pair]) -> str:
    """The word that stands between its neighbours far more probably; the typed one if it does."""
    scored = [Candidate(token, _log_chain(snapshot, beside, [0] * len(beside)), log_channel(0))]
    near = {live.segment.term(number): live.segment.surface(number)
            for live in snapshot.segments
            for number in np.flatnonzero(edit_distances(live.segment, token, 1) == 1).tolist()}  # fmt: skip
    for other, surface in near.items():
        there = [(other if a == term else a, other if b == term else b) for a, b in beside]
        counts = [_count(snapshot, analyzer, pair) for pair in there]
        if other != term and max(counts) >= RARE and not any(map(str.isdigit, surface)):
            scored.append(Candidate(surface, _log_chain(snapshot, there, counts), log_channel(1)))
    return most_probable(scored).word


def _log_chain(snapshot: Snapshot, pairs: Sequence[Pair], counts: Sequence[float]) -> float:
    """Σ log P(b|a) over the pairs, (c(ab) + μ·P(b|C)) / (c(a) + μ)."""
    total = 0.0
    for (a, b), count in zip(pairs, counts, strict=True):
        first, second = snapshot.term_stats([a, b])
        total += math.log((count + MU * max(second.cf, 0.5) / snapshot.n_tokens) / (first.cf + MU))
    return total


def _count(snapshot: Snapshot, analyzer: Analyzer, pair: Pair) -> float:
    """In how many documents the two terms stand side by side, in this order: an estimate where many hold both."""
    texts, total = TextFields(analyzer, snapshot.manifest.text_fields), 0.0
    for live in snapshot.segments:
        segment = live.segment
        a, b = segment.numbers_of(pair)
        if a < 0 or b < 0:
            continue
        both = documents_with_all(segment, [a, b])
        if len(both):
            some = both[np.unique(np.linspace(0, len(both) - 1, LOOKED_AT).astype(np.int64))]
            found = phrase_among(segment, some, [a, b], 0, texts)
            total += len(found) * len(both) / len(some)
    return total


def _correct(snapshot: Snapshot, token: str, known: TermStats, most: int) -> str:
    as_typed = math.log(known.cf / snapshot.n_tokens) if known.cf else -math.inf
    candidates = [Candidate(token, as_typed, log_channel(0))]
    for live in snapshot.segments:
        distance = edit_distances(live.segment, token, most)
        for number in np.flatnonzero(distance <= most).tolist():
            stats = snapshot.term_stats([live.segment.term(number)])[0]
            if stats.cf > 0 and stats.df >= max(RARE, 10 * known.df):
                log_prior = math.log(stats.cf / snapshot.n_tokens)
                candidates.append(
                    Candidate(live.segment.surface(number), log_prior, log_channel(int(distance[number])))
                )
    return most_probable(candidates).word


def edit_distances(segment: Segment, token: str, most: int) -> npt.NDArray[np.uint8]:
    """Edits between the token and each term's written form, counted in bytes, at most `most` + 1."""
    typed, terms, surfaces = token.encode(), segment.packed("term"), segment.packed("surface")
    if is_few(len(terms[0])):
        pairs = zip(unpack_strings(*surfaces), unpack_strings(*terms), strict=True)
        bytewise = [(form or term).decode("latin-1") for form, term in pairs]  # a character for each byte
        near = dict(Lexicon(bytewise).within(typed.decode("latin-1"), most))
        return np.array([near.get(form, most + 1) for form in bytewise], np.uint8)
    found = np.empty(segment.n_terms, np.uint8)
    suggest_kernels.edit_distances(*terms, *surfaces, np.frombuffer(typed, np.uint8), most, found)
    return found
