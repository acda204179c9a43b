"""What measuring answers, as every door prints it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from germane.lazy import on_first_use
from germane.schema import ABSENT, MaybeNaN, Response

with on_first_use(__name__):
    from germane.evaluate import significance

if TYPE_CHECKING:
    from germane.evaluate.classification import Judged, LabellingsCompared
    from germane.evaluate.compare import Comparison, RunsCompared
    from germane.evaluate.measures import Evaluation
    from germane.evaluate.significance import Effect, Significance


@dataclass(frozen=True, slots=True)
class EvaluationResponse(Response):
    """The measures of a run, over all queries and, where it was asked for, of each."""

    measures: Mapping[str, MaybeNaN]
    queries: Annotated[Mapping[str, Mapping[str, MaybeNaN]] | None, ABSENT] = None

    @classmethod
    def of(cls, found: "Evaluation", *, by_query: bool) -> "EvaluationResponse":
        """The evaluation, query by query if wanted."""
        rows = None
        if by_query:
            rows = {q: {m: float(found.values[m][i]) for m in found.measures} for i, q in enumerate(found.query_ids)}
        return cls(dict(found.overall), rows)


@dataclass(frozen=True, slots=True)
class DifferenceResponse(Response):
    """The mean difference with its confidence interval, and Cohen's d_z (null where it is infinite)."""

    mean: float
    low: float
    high: float
    d_z: MaybeNaN

    @classmethod
    def of(cls, effect: "Effect") -> "DifferenceResponse":
        """The effect."""
        return cls(*effect)


@dataclass(frozen=True, slots=True)
class PairedTest(Response):
    """A paired test: its statistic (null where it is infinite), and the p-value."""

    statistic: MaybeNaN
    p_value: float


def _tests(tests: "Mapping[str, Significance]") -> dict[str, PairedTest]:
    return {name: PairedTest(*test) for name, test in tests.items()}


@dataclass(frozen=True, slots=True)
class QueryResponse(Response):
    """One query: its words, its value in a and in b, and a - b."""

    query_id: str
    text: str
    a: float
    b: float
    difference: float


@dataclass(frozen=True, slots=True)
class ComparisonResponse(Response):
    """Two runs on one measure: means, a - b, wins, losses and ties by query, the tests, and the worst losses of a.

    `p_t_holm` is the p-value of the t-test, corrected for the number of measures by Holm's method.
    """

    measure: str
    a: float
    b: float
    difference: DifferenceResponse
    wins: int
    losses: int
    ties: int
    tests: Mapping[str, PairedTest]
    worst: tuple[QueryResponse, ...]
    p_t_holm: float


def compared(found: "Sequence[Comparison]", *, worst: int) -> list[ComparisonResponse]:
    """A response for each measure, with `worst` losses each."""
    corrected = significance.holm([comparison.tests["t"].p_value for comparison in found]).tolist()
    return [
        ComparisonResponse(
            one.measure,
            one.mean_a,
            one.mean_b,
            DifferenceResponse.of(one.effect),
            one.wins,
            one.losses,
            one.ties,
            _tests(one.tests),
            tuple(QueryResponse(q.query_id, q.text, q.a, q.b, q.difference) for q in one.worst(worst)),
            p,
        )
        for one, p in zip(found, corrected, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class PairResponse(Response):
    """Two runs on one measure: a - b with its confidence interval, wins, losses and ties by query, and the p-value.

    `p_holm` is corrected for the number of pairs of the measure by Holm's method.
    """

    measure: str
    a: str
    b: str
    difference: DifferenceResponse
    wins: int
    losses: int
    ties: int
    p_value: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class RunsResponse(Response):
    """Any number of runs: the value of each on each measure, and the pairs that were compared by the test."""

    runs: Mapping[str, Mapping[str, MaybeNaN]]
    test: str
    baseline: str | None
    pairs: tuple[PairResponse, ...]

    @classmethod
    def of(cls, found: "RunsCompared") -> "RunsResponse":
        """The comparison."""
        pairs = (
            PairResponse(
                measure,
                pair.a,
                pair.b,
                DifferenceResponse.of(pair.comparison.effect),
                pair.comparison.wins,
                pair.comparison.losses,
                pair.comparison.ties,
                pair.p_value,
                pair.p_holm,
            )
            for measure, of_measure in found.pairs.items()
            for pair in of_measure
        )
        means = {name: dict(evaluation.overall) for name, evaluation in found.evaluations.items()}
        return cls(means, found.test, found.baseline, tuple(pairs))


@dataclass(frozen=True, slots=True)
class ClassMeasures(Response):
    """One class: documents that have it, documents that got it, and how well the two agree (null: not defined)."""

    label: str
    n_true: int
    n_predicted: int
    precision: MaybeNaN
    recall: MaybeNaN
    f1: MaybeNaN
    bep: MaybeNaN


@dataclass(frozen=True, slots=True)
class AgainstResponse(Response):
    """Two classifiers on the same documents: means, a - b, wins, losses, and the tests."""

    a: float
    b: float
    difference: DifferenceResponse
    wins: int
    losses: int
    tests: Mapping[str, PairedTest]

    @classmethod
    def of(cls, found: "LabellingsCompared") -> "AgainstResponse":
        """The comparison."""
        effect = DifferenceResponse.of(found.effect)
        return cls(found.a, found.b, effect, found.wins, found.losses, _tests(found.tests))


@dataclass(frozen=True, slots=True)
class LabellingResponse(Response):
    """How well documents were labelled: accuracy, F1 and break-even precision, in all and for each class."""

    documents: int
    accuracy: float
    micro_f1: float
    macro_f1: float
    micro_bep: MaybeNaN
    macro_bep: MaybeNaN
    classes: tuple[ClassMeasures, ...]
    against: Annotated[AgainstResponse | None, ABSENT] = None

    @classmethod
    def of(cls, judged: "Judged", n_docs: int, against: "LabellingsCompared | None" = None) -> "LabellingResponse":
        """The labelling judged, and compared with another if there is one."""
        return cls(
            n_docs,
            judged.accuracy,
            judged.micro_f1,
            judged.macro_f1,
            judged.micro_bep,
            judged.macro_bep,
            tuple(ClassMeasures(*row) for row in judged.classes),
            None if against is None else AgainstResponse.of(against),
        )


@dataclass(frozen=True, slots=True)
class TuningResponse(Response):
    """Cross-validation: the mean over all queries, each as a test query, and for each fold what was chosen.

    The members of a fold are `fold`, the parameters, `MEASURE train`, `MEASURE test` and `queries`.
    """

    mean: MaybeNaN
    folds: tuple[Mapping[str, str | float | int], ...]


@dataclass(frozen=True, slots=True)
class DatasetResponse(Response):
    """What a data set holds; topics and judgements are left out where it has none."""

    source: str
    documents: int
    fields: str
    topics: Annotated[int | None, ABSENT] = None
    judged_topics: Annotated[int | None, ABSENT] = None
    judgements: Annotated[int | None, ABSENT] = None
    grades: Annotated[str | None, ABSENT] = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "DatasetResponse":
        """The facts as they were counted."""
        return cls(**facts)
