"""Relevance feedback with true marks, on the residual collection: what a system does for the documents not yet marked.

A person reads the first ranking from the top and marks the first n documents that are relevant. Every system then ranks
again, those with feedback by the marks, and is judged on what is left: marked documents are taken out of the rankings
and of the judgements alike. Queries that have fewer than n relevant documents among the first `depth`, or none left, do
not count. Beside what all kinds have (`experiment.py`), the file may say:

kind = "marks"
datasets = ["cranfield:3"]          a data set below GERMANE_DATA, and how many relevant documents are marked
first = "bm25"                      the ranking that is read
depth = 100                         how far it is read
rejected = false                    true: what is not relevant and stands above the last mark is marked so, too
k = 1000                            documents ranked per query
queries = 30                        at most so many of the queries that count, at even distances; 0: all
against = "adaptive"                a system: tell the mean over data sets of every other one, and of its difference
                                    from this one with a 95 % interval, for each number of marks (optional)

[variants.homedepot]                of = ["homedepot"], queries = 80: `variants.py`; "homedepot:3" is then of this

[[system]]
model = "dirichlet"                 as in `retrieval.py`: a ranking model, a feedback method or both
feedback = "rm3"
parameters = { n_docs = 10 }        a feedback method's numbers: `feedback.py`
against = "rm3 with 5"              another system from which this one's difference is told (optional)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from germane.errors import InputError
from germane.evaluate.measures import evaluate
from germane.evaluate.rankings import Qrels
from germane.experiments.collections import Collection
from germane.experiments.experiment import Experiment, System
from germane.experiments.feedback import Ranking, ranking_of
from germane.experiments.left_out import by_family, spread_of
from germane.experiments.results import OnProgress, Result
from germane.experiments.variants import Variant, made_of
from germane.rank.registry import model_named
from germane.types import Marks


@dataclass(frozen=True)
class MarkedSystem(System):
    """A ranking model, which the marks leave as it is, or a feedback method, or both."""

    model: str = ""
    feedback: str = ""
    against: str = ""


@dataclass(frozen=True)
class MarksExperiment(Experiment):
    """Rankings after marks, judged on the documents that were not marked."""

    systems: Sequence[MarkedSystem]
    first: str = "bm25"
    depth: int = 100
    rejected: bool = False
    k: int = 1000
    queries: int = 0
    against: str = ""
    variants: Mapping[str, Variant] = field(default_factory=dict)
    pooled: ClassVar[bool] = False
    datasets_down: ClassVar[bool] = True

    @property
    def families(self) -> Mapping[str, str]:
        """Whose documents a data set has, however many are marked."""
        names = {dataset: _parts(dataset)[0] for dataset in self.datasets}
        return {
            dataset: self.variants[name].left_out_with if name in self.variants else name
            for dataset, name in names.items()
        }

    @property
    def inputs(self) -> list[str]:
        """The data sets, however many are marked."""
        return made_of([_parts(dataset)[0] for dataset in self.datasets], self.variants)


def read_marks(content: dict[str, Any], **common: Any) -> MarksExperiment:
    """The experiment; `common` is what all kinds have."""
    experiment = MarksExperiment(
        systems=[MarkedSystem(**system) for system in content.pop("system")],
        variants={name: Variant(**told) for name, told in content.pop("variants", {}).items()},
        **common,
        **content,
    )
    model_named(experiment.first)
    for name in (experiment.against, *(system.against for system in experiment.systems)):
        if name and name not in experiment.rows:
            raise ValueError(f"differences are from a system that is not run: '{name}'")
    if experiment.depth < 1:
        raise ValueError(f"depth must be 1 or more, not {experiment.depth}")
    if experiment.queries < 0:
        raise ValueError(f"queries must not be negative, not {experiment.queries}")
    for dataset in experiment.datasets:
        _parts(dataset)
    for system in experiment.systems:
        if system.tune:
            raise ValueError(f"system '{system.name}': nothing is tuned with marks")
        try:
            _ranking(system)
        except (TypeError, ValueError) as error:
            raise ValueError(f"system '{system.name}': {error}") from None
    return experiment


def _parts(dataset: str) -> tuple[str, int]:
    """The data set's name and how many documents are marked."""
    name, _, n = dataset.rpartition(":")
    if not name or not n.isdecimal() or int(n) < 1:
        raise ValueError(f"a data set is named with the number of marks, as in cranfield:3, not '{dataset}'")
    return name, int(n)


def _ranking(system: MarkedSystem) -> Ranking:
    if not system.model and not system.feedback:
        raise ValueError("a model or feedback is needed")
    return ranking_of(system.model, system.feedback, system.parameters)


def run_marks(experiment: MarksExperiment, result: Result, on_progress: OnProgress) -> None:
    """Mark, rank, and judge every system on what is left of every data set."""
    for dataset in experiment.datasets:
        name, n = _parts(dataset)
        variant = experiment.variants.get(name)
        collection = Collection.of_variant(name, variant) if variant else Collection.open(name)
        marks = marks_of(collection, n, experiment.first, experiment.depth, rejected=experiment.rejected)
        left = _sparse(residual(collection.qrels, marks), experiment.queries)
        if not left:
            what = f"no query has {n} relevant documents among the first {experiment.depth} and one more"
            raise InputError(what, source=name)
        about = f"{n} marked of the first {experiment.depth} by {experiment.first}; {len(left):,} queries count"
        result.conventions[dataset] = "; ".join(
            filter(None, [collection.convention, about, experiment.notes.get(dataset)])
        )
        for system in experiment.systems:
            on_progress(dataset, system.name)
            run = _run(collection, _ranking(system), {query: marks[query] for query in left}, experiment.k)
            result.note(dataset, system.name, evaluate(run, left, experiment.measures))
    if experiment.against:
        for measure in experiment.measures:
            values = {dataset: partial(result.value, dataset, measure=measure) for dataset in experiment.datasets}
            result.tables[f"{measure} over data sets"] = means_table(experiment, values)


def means_table(experiment: MarksExperiment, values: Mapping[str, Callable[[str], float]]) -> list[list[str]]:
    """Systems down, numbers of marks across: the mean, and that of the differences from another with its interval.

    `values`: data set -> the figure of a system. Means are over families of data sets; those of different numbers of
    marks are of different data sets and queries.
    """
    by_marks: dict[int, list[str]] = {}
    for dataset in experiment.datasets:
        by_marks.setdefault(_parts(dataset)[1], []).append(dataset)
    rows = [["", "difference from", *(f"{n} mark{'s' if n > 1 else ''}" for n in by_marks)]]
    numbers = (len(by_family(dict.fromkeys(datasets, 0.0), experiment.families)) for datasets in by_marks.values())
    rows.append(["families of data sets", "", *map(str, numbers)])
    for system in experiment.systems:
        against = system.against or experiment.against
        cells = []
        for datasets in by_marks.values():
            own, other = ({d: values[d](row) for d in datasets} for row in (system.name, against))
            gain = spread_of({d: own[d] - other[d] for d in datasets}, experiment.families)
            mean = f"{spread_of(own, experiment.families).mean:.4f}"
            told = f" ({gain.mean:+.4f}; {gain.low:+.4f} to {gain.high:+.4f})"
            cells.append(mean if system.name == against else mean + told)
        rows.append([system.name, "" if system.name == against else against, *cells])
    return rows


def marks_of(collection: Collection, n: int, first: str, depth: int, *, rejected: bool) -> dict[str, Marks]:
    """What is marked for each query of which n relevant documents are among the first `depth`."""
    marks = {}
    for topic, found in collection.engine.batch(collection.topics, depth, model=first, rerank=None):
        grades = collection.qrels[topic.id]
        relevant = [doc_id for doc_id in found.ids if grades.get(doc_id, 0) > 0][:n]
        if len(relevant) == n:
            read = found.ids[: found.ids.index(relevant[-1])]
            marks[topic.id] = Marks(relevant, [doc_id for doc_id in read if doc_id not in relevant] if rejected else ())
    return marks


def residual(qrels: Qrels, marks: Mapping[str, Marks]) -> dict[str, dict[str, int]]:
    """The judgements of documents that were not marked, for the queries that have a relevant one among them."""
    left = {
        query: {doc_id: grade for doc_id, grade in qrels[query].items() if doc_id not in _marked(own)}
        for query, own in marks.items()
    }
    return {query: grades for query, grades in left.items() if any(grade > 0 for grade in grades.values())}


def _sparse(left: Mapping[str, dict[str, int]], most: int) -> dict[str, dict[str, int]]:
    """At most so many queries, at even distances; 0: all."""
    names = [*left]
    kept = names if not most or len(names) <= most else [names[i * len(names) // most] for i in range(most)]
    return {query: left[query] for query in kept}


def _marked(marks: Marks) -> set[str]:
    return {*marks.relevant, *marks.not_relevant}


def _run(collection: Collection, ranking: Ranking, marks: Mapping[str, Marks], k: int) -> dict[str, dict[str, float]]:
    """The best k documents of each query that were not marked."""
    run = {}
    for topic in collection.topics:
        if topic.id in marks:
            own = marks[topic.id]
            found = collection.engine.search(
                topic.text,
                k + len(_marked(own)),
                syntax=False,
                model=ranking.model,
                feedback=ranking.feedback,
                marks=own if ranking.feedback is not None else None,
                rerank=None,
            )
            rows = zip(found.ids, found.scores.tolist(), strict=True)
            run[topic.id] = dict([row for row in rows if row[0] not in _marked(own)][:k])
    return run
