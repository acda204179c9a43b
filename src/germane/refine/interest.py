"""What a person wants, as words: what the wanted results have in common, and what a person adds to it or drops.

A refinement's log-odds are sums over the words of a result (`Estimate.contributions`). So the interest is a list of
words with their mean amounts, and editing it changes the sums: a dropped word's amounts are taken out, an added word
lifts every result that holds it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from germane.arrays import Floats
from germane.refine.carried import FIRST_RANKS
from germane.refine.method import Contributions, Estimate
from germane.refine.prepared import PreparedResults
from germane.refine.reasons import Reason, strongest

LIFT = 2.0
"""Standard deviations of the list's log-odds by which an added word lifts a result."""


MOST_WEIGHT = 10.0
"""The greatest factor by which a word may be weighed."""


class WordEdits(NamedTuple):
    """Words that shall not count, words that shall, and words that shall count by a factor more or less, as a person
    writes them."""

    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    weighed: tuple[tuple[str, float], ...] = ()


class Interest(NamedTuple):
    """The words of what is wanted, and of what is not, strongest first."""

    wanted: tuple[Reason, ...]
    unwanted: tuple[Reason, ...]


def interest(
    prepared: PreparedResults, estimate: Estimate, wanted: Sequence[int], unwanted: Sequence[int], top: int
) -> Interest:
    """Mean amounts of words: the positive ones over the `wanted` results, the negative ones over the `unwanted`."""
    sides = []
    for rows, sign in ((wanted, 1.0), (unwanted, -1.0)):
        mean = np.zeros(len(prepared.terms))
        for row in rows:
            found = estimate.contributions(row)
            mean[found.words] += found.amounts / len(rows)
        words = np.flatnonzero(sign * mean > 0.0).tolist()
        named = [Reason(prepared.words[word], prepared.terms[word], float(mean[word])) for word in words]
        sides.append(strongest(named, sign, top))
    return Interest(*sides)


def edited(prepared: PreparedResults, estimate: Estimate | None, edits: WordEdits) -> Estimate | None:
    """The estimate under the edits: Σ f_w·amount_w over words, with f_w = 0 of a dropped one, the factor of a weighed
    one, else 1; and LIFT·σ for each added word that a result holds.

    σ is the standard deviation of the log-odds. Where there is no estimate (nothing is marked), the retrieval order
    stands for one, -ln(10 + rank) standardised: added words lift from there.
    """
    if not any(edits) or (estimate is None and not edits.added):
        return estimate
    base = _by_rank(len(prepared)) if estimate is None else estimate
    added = _columns(prepared, edits.added)
    factors = _factors(prepared, edits)
    counts = prepared.list.counts.tocsc()
    lift = LIFT * (float(base.log_odds.std()) or 1.0)
    log_odds = base.log_odds.copy()
    for word in added:
        log_odds[counts.indices[counts.indptr[word] : counts.indptr[word + 1]]] += lift
    changes = np.array([factors.get(word, 1.0) - 1.0 for word in range(len(prepared.terms))])
    for row in _rows_with(counts, factors):
        found = base.contributions(row)
        log_odds[row] += float(found.amounts @ changes[found.words])
    return Estimate(
        log_odds,
        base.components,
        contributions=_edited_contributions(prepared, base.contributions, changes, added, lift),
        decide=base.decide,
    )


def _edited_contributions(
    prepared: PreparedResults,
    before: Callable[[int], Contributions],
    changes: Floats,
    added: set[int],
    lift: float,
) -> Callable[[int], Contributions]:
    counts = prepared.list.counts

    def contributions(row: int) -> Contributions:
        held = counts.indices[counts.indptr[row] : counts.indptr[row + 1]].astype(np.int64)
        words = np.unique(held)
        amounts = np.zeros(len(words))
        found = before(row)
        amounts[np.searchsorted(words, found.words)] += found.amounts
        amounts *= 1.0 + changes[words]
        amounts[np.isin(words, list(added))] += lift
        return Contributions(words, amounts)

    return contributions


def _by_rank(n: int) -> Estimate:
    prior = -np.log(FIRST_RANKS + np.arange(n))
    deviation = float(prior.std()) or 1.0
    none = Contributions(np.zeros(0, np.int64), np.zeros(0))
    return Estimate((prior - prior.mean()) / deviation, contributions=lambda _: none)


def _columns(prepared: PreparedResults, words: Iterable[str]) -> set[int]:
    terms = {term for word in words for term in prepared.analyzer.terms(word)}
    return {number for number, term in enumerate(prepared.terms) if term in terms}


def _factors(prepared: PreparedResults, edits: WordEdits) -> dict[int, float]:
    """By what each word that was weighed or dropped is multiplied; the later word of a person counts."""
    found = {column: factor for word, factor in edits.weighed for column in _columns(prepared, [word])}
    return found | dict.fromkeys(_columns(prepared, edits.dropped), 0.0)


def _rows_with(counts: Any, words: Iterable[int]) -> list[int]:
    """The rows that hold any of the words, by the columns of a CSC matrix."""
    rows = {int(row) for word in words for row in counts.indices[counts.indptr[word] : counts.indptr[word + 1]]}
    return sorted(rows)
