"""What a refinement answers, as every door prints it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from germane.refine.reasons import Change, Reason
from germane.refine.refinement import RankedResult, Refinement, SetMeasures
from germane.schema import ABSENT, HIDDEN, Name, Response

WORDS = 10
"""Words told for each side of a result."""


@dataclass(frozen=True, slots=True)
class WordAmount(Response):
    """A word, and what it adds to the log-odds of relevance."""

    word: str
    amount: float


@dataclass(frozen=True, slots=True)
class MovingWord(Response):
    """A word that moved a result; one that is not `present` did so by its absence."""

    word: str
    amount: float
    present: bool


@dataclass(frozen=True, slots=True)
class BothSides(Response):
    """The words that speak for a result, and those against it, strongest first."""

    in_favour: Annotated[tuple[WordAmount, ...], Name("for")]
    against: tuple[WordAmount, ...]


@dataclass(frozen=True, slots=True)
class ResultResponse(Response):
    """One result: its rank now and before, P(relevant) (null without a relevant mark), and whether it is predicted.

    `mark` is true, false or null; `passed_over`: taken for not relevant, because it stands unmarked above the last
    relevant mark. `title` is left out where there is none, `words` where they were not asked for.
    """

    rank: int
    before: int
    id: str
    probability: float | None
    predicted: bool
    mark: bool | None
    passed_over: bool
    title: Annotated[str | None, ABSENT] = None
    words: Annotated[BothSides | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class ComponentResponse(Response):
    """A topic among the results that are not relevant: its words, and the ids of its results."""

    words: tuple[WordAmount, ...]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangeResponse(Response):
    """A result that moved, by how many places up (negative: down), and why."""

    id: str
    before: int
    rank: int
    moved: int
    cause: str
    words: tuple[MovingWord, ...]


@dataclass(frozen=True, slots=True)
class SetMeasuresResponse(Response):
    """Precision, recall and F1 of the predicted set, over the results neither marked nor passed over."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, found: SetMeasures) -> "SetMeasuresResponse":
        """The same as every door prints it."""
        return cls(found.precision, found.recall, found.f1)


@dataclass(frozen=True, slots=True)
class RefinementResponse(Response):
    """A list in its new order: the method that ran and why, the least probability of the predicted set, the results.

    `threshold` is null without a relevant mark; `decision` says how the predicted set was decided, `expected` what its
    probabilities lead to expect of it, `measured` what it is by the relevant ids that were given; `components` are the
    topics of the methods that look for any; `changes` are told where they were asked for.
    """

    method: str
    reason: str
    threshold: float | None
    results: tuple[ResultResponse, ...]
    components: tuple[ComponentResponse, ...]
    changes: Annotated[tuple[ChangeResponse, ...] | None, ABSENT] = None
    decision: str = "f1"
    expected: SetMeasuresResponse | None = None
    measured: Annotated[SetMeasuresResponse | None, ABSENT] = None
    n_results: Annotated[int, HIDDEN] = 0
    """How many there are, where only the first are told."""

    @classmethod
    def of(
        cls,
        refinement: Refinement,
        titles: Mapping[str, str],
        *,
        k: int | None = None,
        explain: bool = False,
        changes: bool | int = False,
        relevant: Collection[str] | None = None,
    ) -> "RefinementResponse":
        """The first k results, or all of them. `relevant`: the ids that are, to measure the predicted set by.

        `changes`: with those of all results, or of the first so many.
        """
        among = None if changes is True else {result.id for result in refinement.results[: int(changes)]}
        return cls(
            refinement.method,
            refinement.reason,
            refinement.threshold,
            tuple(_result(refinement, result, titles, explain) for result in refinement.results[:k]),
            tuple(ComponentResponse(_amounts(part.words), part.ids) for part in refinement.components),
            tuple(map(_change, refinement.changes(among=among))) if changes else None,
            refinement.decision,
            None if refinement.expected is None else SetMeasuresResponse.of(refinement.expected),
            None if relevant is None else SetMeasuresResponse.of(refinement.measured(relevant)),
            len(refinement),
        )


def _result(refinement: Refinement, result: RankedResult, titles: Mapping[str, str], explain: bool) -> ResultResponse:
    words = None
    if explain:
        told = refinement.explain(result.id, WORDS)
        words = BothSides(_amounts(told.in_favour), _amounts(told.against))
    return ResultResponse(
        result.rank,
        result.before,
        result.id,
        result.probability,
        result.predicted,
        result.mark,
        result.passed_over,
        titles.get(result.id) or None,
        words,
    )


def _change(move: Change) -> ChangeResponse:
    words = tuple(MovingWord(word.word, word.amount, word.present) for word in move.words)
    return ChangeResponse(move.id, move.before, move.rank, move.moved, move.cause, words)


def _amounts(words: Sequence[Reason]) -> tuple[WordAmount, ...]:
    return tuple(WordAmount(word.word, word.amount) for word in words)
