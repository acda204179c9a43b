"""Why a result stands where it does: the words that speak for it and against it."""

from dataclasses import dataclass

from germane.refine.prepared import PreparedResults
from germane.refine.refined import Contributions


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
