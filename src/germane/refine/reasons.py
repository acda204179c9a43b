"""Why a result stands where it does, and why it moved: the words that speak for it and against it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from germane.refine.method import Contributions
from germane.refine.prepared import PreparedResults


@dataclass(frozen=True, slots=True)
class Reason:
    """A word as people write it, its term, how much it adds to the log-odds, and whether the result itself holds it."""

    word: str
    term: str
    amount: float
    present: bool = True


@dataclass(frozen=True, slots=True)
class Explanation:
    """The words of one result, strongest first: `in_favour` raise its log-odds, `against` lower them.

    `log_odds` is the sum of all words' amounts (`of_words`) and of what is not a matter of words (the prior, the place
    in the list). `adds_up` says whether that is exact; otherwise the amounts are an approximation that the method
    documents.
    """

    id: str
    log_odds: float | None
    of_words: float
    in_favour: tuple[Reason, ...]
    against: tuple[Reason, ...]
    adds_up: bool


def reasons(prepared: PreparedResults, found: Contributions, top: int) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """The `top` words for, and the `top` words against, strongest first; of equals, by the term."""
    named = [
        Reason(prepared.words[word], prepared.terms[word], amount)
        for word, amount in zip(found.words.tolist(), found.amounts.tolist(), strict=True)
    ]
    return strongest(named, 1.0, top), strongest(named, -1.0, top)


def strongest(named: list[Reason], sign: float, top: int) -> tuple[Reason, ...]:
    """The `top` reasons whose amounts have this sign."""
    chosen = [reason for reason in named if sign * reason.amount > 0.0]
    return tuple(sorted(chosen, key=lambda reason: (-abs(reason.amount), reason.term))[:top])


REASONS = 5
"""Words given as reasons for a move."""


@dataclass(frozen=True, slots=True)
class Change:
    """A result that moved from rank `before` to `rank`: `moved` places up, down if negative.

    `cause` is "marked relevant", "marked not relevant" or "passed over" where that is new, "no longer ..." where it has
    gone, else "words". `words` are then those that set its log-odds apart from the mean unmarked result's and drew it
    that way; a word that is not `present` drew it by its absence. Where no word did, it is "others moved": marks and
    words that moved other results past it.
    """

    id: str
    before: int
    rank: int
    cause: str
    words: tuple[Reason, ...]

    @property
    def moved(self) -> int:
        """Places up; negative: down."""
        return self.before - self.rank


class WordAmounts:
    """The contributions of every result, and the `mean` amount of each word over some rows."""

    def __init__(self, n_words: int, of: Callable[[int], Contributions], rows: Sequence[int]) -> None:
        self.of = of
        self.mean = np.zeros(n_words)
        for row in rows:
            found = of(row)
            self.mean[found.words] += found.amounts / len(rows)


class MovingWords:
    """The words that move results between two refinements; None stands for the original order, where no word counts."""

    def __init__(self, prepared: PreparedResults, now: WordAmounts | None, then: WordAmounts | None) -> None:
        self._prepared = prepared
        self._sides = [(side, sign) for side, sign in ((now, 1.0), (then, -1.0)) if side is not None]
        self._mean = np.zeros(len(prepared.terms))
        for side, sign in self._sides:
            self._mean += sign * side.mean
        # A result without the word misses its mean amount, so these orders serve the absent words of every result.
        self._absent = {sign: np.argsort(sign * self._mean, kind="stable").tolist() for sign in (1.0, -1.0)}

    def of(self, i: int, upwards: bool) -> tuple[Reason, ...]:
        """The words whose amounts, less their means, changed most in the direction that result `i` moved."""
        counts = self._prepared.list.counts
        held = counts.indices[counts.indptr[i] : counts.indptr[i + 1]]
        amounts = -self._mean[held]
        for side, sign in self._sides:
            found = side.of(i)
            amounts[np.searchsorted(held, found.words)] += sign * found.amounts  # its words, ascending as held
        sign = 1.0 if upwards else -1.0
        first = np.argsort(-sign * amounts, kind="stable")[:REASONS].tolist()
        words = set(held.tolist())
        absent = islice((word for word in self._absent[sign] if word not in words), REASONS)
        named = [self._reason(int(held[at]), float(amounts[at]), True) for at in first]
        named += [self._reason(word, -float(self._mean[word]), False) for word in absent]
        return strongest(named, sign, REASONS)

    def _reason(self, word: int, amount: float, present: bool) -> Reason:
        return Reason(self._prepared.words[word], self._prepared.terms[word], amount, present)
