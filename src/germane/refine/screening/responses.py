"""What screening answers, as every door prints it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from germane.refine.screening.session import Screening, Suggestion, Word
from germane.refine.screening.simulation import Mean, Run, Simulation
from germane.refine.screening.weighting import ABSTRACT_FIELDS, TITLE_FIELDS, words_of
from germane.schema import ABSENT, HIDDEN, Response


@dataclass(frozen=True, slots=True)
class SuggestionResponse(Response):
    """A document to read: P(relevant), `why` in words, and its abstract where that was asked for."""

    id: str
    probability: float
    why: str
    title: str
    abstract: Annotated[str | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class RemainingResponse(Response):
    """The relevant documents that are unread: what is expected (null while too little is known), and the interval."""

    expected: float | None
    low: int
    high: int
    confidence: float


@dataclass(frozen=True, slots=True)
class RecommendationResponse(Response):
    """Stop or go on, why, and the p-value of the silence since the last find (null where nothing is tested)."""

    stop: bool
    reason: str
    p_value: float | None


@dataclass(frozen=True, slots=True)
class ScreeningResponse(Response):
    """Where a screening stands: what to read next, how much was read and found, what remains, and whether to stop."""

    next: tuple[SuggestionResponse, ...]
    read: int
    found: int
    remaining: RemainingResponse
    recommendation: RecommendationResponse
    unread: Annotated[int, HIDDEN]
    calibrated: Annotated[bool, HIDDEN]

    @classmethod
    def of(cls, screening: Screening, n: int, *, abstracts: bool = False) -> "ScreeningResponse":
        """The state after all decisions, with the next n documents to read, if need be with their abstracts."""
        suggestions = screening.next(n)
        left, advice = screening.estimate(), screening.recommendation()
        return cls(
            tuple(_suggestion(screening, suggestion, abstracts) for suggestion in suggestions),
            left.read,
            left.found,
            RemainingResponse(left.expected, left.low, left.high, left.confidence),
            RecommendationResponse(advice.stop, advice.reason, advice.p_value),
            left.unread,
            screening.calibrated,
        )


@dataclass(frozen=True, slots=True)
class ScreeningExplanation(Response):
    """Why a document has its score: score = bias + Σ amounts of its words; `decision` is null for an unread one."""

    id: str
    probability: float
    score: float
    bias: float
    words: tuple[Word, ...]
    decision: bool | None
    title: Annotated[str, HIDDEN]

    @classmethod
    def of(cls, screening: Screening, doc_id: str) -> "ScreeningExplanation":
        """The words for and against a document."""
        told = screening.explain(doc_id)
        title = title_of(screening, doc_id)
        return cls(told.id, told.probability, told.score, told.bias, told.words, told.decision, title)


@dataclass(frozen=True, slots=True)
class RunResponse(Response):
    """One simulated reading: work saved at two recalls, found in the first tenth, the stop and the recall there."""

    seed: int
    wss95: float
    wss100: float
    rrf10: float
    stop: int
    recall: float

    @classmethod
    def of(cls, run: Run) -> "RunResponse":
        """The numbers of a run."""
        return cls(run.seed, run.wss(0.95), run.wss(1.0), run.rrf10, run.stop, run.recall_at_stop)


@dataclass(frozen=True, slots=True)
class SimulationResponse(Response):
    """What screening would have saved: each measure with its interval over seeds, each run, and how many runs `reached`
    the recall wanted at the recommended stop."""

    documents: int
    relevant: int
    measures: Mapping[str, Mean]
    runs: tuple[RunResponse, ...]
    reached: int

    @classmethod
    def of(cls, found: Simulation) -> "SimulationResponse":
        """The simulation, run by run."""
        runs = tuple(map(RunResponse.of, found.runs))
        return cls(found.n_docs, found.n_relevant, found.measures, runs, found.reached)


def _suggestion(screening: Screening, suggestion: Suggestion, abstracts: bool) -> SuggestionResponse:
    why = ", ".join(word.word for word in suggestion.words)
    if suggestion.explores or suggestion.sampled:
        why = f"{'drawn at random' if suggestion.sampled else 'unlike what was read'}: {why}"
    abstract = abstract_of(screening, suggestion.id) if abstracts else None
    return SuggestionResponse(suggestion.id, suggestion.probability, why, title_of(screening, suggestion.id), abstract)


def title_of(screening: Screening, doc_id: str) -> str:
    """The title of a document in one line."""
    return _in_one_line(screening, doc_id, TITLE_FIELDS)


def abstract_of(screening: Screening, doc_id: str) -> str:
    """The abstract of a document in one line; empty where it has none."""
    return _in_one_line(screening, doc_id, ABSTRACT_FIELDS)


def _in_one_line(screening: Screening, doc_id: str, fields: Sequence[str]) -> str:
    return " ".join(words_of(screening.documents[doc_id], fields).split())
