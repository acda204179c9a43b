"""`evaluate`: the measures of a run, query by query and on average, as trec_eval computes them.

trec_eval's conventions hold: documents are ordered by score (in single precision), ties by id *descending*; grades
above 0 are relevant, negative ones are not; queries of the run without judgements are left out; judged queries that the
run lacks count as empty rankings (`trec_eval -c`), and so does every mean here.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.arrays import Floats
from germane.errors import InputError, ParameterError
from germane.evaluate.classification import micro_bep
from germane.evaluate.rankings import Qrels, Run
from germane.evaluate.screening import wss_of_ranking
from germane.evaluate.trec_eval import MAX_GRADE, Invocation, libraries, parse_measure, trec_name

DEFAULT_MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")


@dataclass(frozen=True)
class Evaluation:
    """The values of some measures for each judged query, and their means (sums, where the measure is a count)."""

    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Mapping[str, Floats]
    overall: Mapping[str, float]

    def __getitem__(self, measure: str) -> float:
        return self.overall[measure]

    def per_query(self, measure: str) -> dict[str, float]:
        """The value of each query."""
        return dict(zip(self.query_ids, self.values[measure].tolist(), strict=True))


def evaluate(run: Run, qrels: Qrels, measures: Sequence[str] = DEFAULT_MEASURES) -> Evaluation:
    """The measures of a run. Names are those of ir_measures, and `BEP`, `microBEP` (SD 4.3, 4.4) and `WSS@95`."""
    names = tuple(dict.fromkeys(measures))
    if not names:
        raise ParameterError("name at least one measure, such as AP")
    query_ids = tuple(qrels)
    if not query_ids:
        raise InputError("there are no judgements")
    for grades in qrels.values():
        if grades and not -MAX_GRADE <= min(grades.values()) <= max(grades.values()) <= MAX_GRADE:
            raise InputError(f"a grade must lie between -{MAX_GRADE} and {MAX_GRADE}")
    if not any(query in qrels for query in run):
        raise InputError("no query of the run is judged: do the two files belong together?")
    covered = {query: run.get(query, {}) for query in query_ids}
    values: dict[str, Floats] = {}
    overall: dict[str, float] = {}
    by_library: dict[str, Any] = {}
    for name in names:
        own = _own_measure(name)
        if own is None:
            by_library[name] = parse_measure(name)
            continue
        values[name], overall[name] = own(covered, qrels)
    values |= _by_library(by_library, covered, qrels)
    for name, measure in by_library.items():
        overall[name] = _overall(measure, values[name])
    return Evaluation(names, query_ids, {name: values[name] for name in names}, overall)


def _overall(measure: Any, values: Floats) -> float:
    ir_measures, _ = libraries()
    adds = isinstance(measure.aggregator(), ir_measures.SumAgg)
    return float(np.sum(values) if adds else np.mean(values))


def _by_library(measures: Mapping[str, Any], run: Run, qrels: Qrels) -> dict[str, Floats]:
    invocations: dict[Invocation, list[tuple[str, str, str]]] = defaultdict(list)
    others: dict[str, Any] = {}
    for name, measure in measures.items():
        found = trec_name(measure)
        if found is None:
            others[name] = measure
        else:
            invocations[found[0]].append((name, found[1], found[2]))
    values: dict[str, Floats] = {}
    for invocation, asked in invocations.items():
        values |= _by_trec_eval(invocation, asked, run, qrels)
    for name, measure in others.items():
        values[name] = _by_ir_measures(name, measure, run, qrels)
    for name, measure in measures.items():
        if measure.NAME == "RR" and "cutoff" in measure.params:  # trec_eval's ties, which no other provider keeps
            values[name] = np.where(values[name] * measure.params["cutoff"] >= 1.0 - 1e-9, values[name], 0.0)
    return values


def _by_trec_eval(
    invocation: Invocation, asked: Sequence[tuple[str, str, str]], run: Run, qrels: Qrels
) -> dict[str, Floats]:
    _, pytrec_eval = libraries()
    evaluator = pytrec_eval.RelevanceEvaluator(
        _safe(qrels),
        {name for _, name, _ in asked},
        relevance_level=invocation.rel,
        judged_docs_only_flag=invocation.judged_only,
    )
    found = evaluator.evaluate(_ranked(run))
    empty: dict[str, dict[str, float]] = {
        query: {"num_q": 1.0, "num_rel": float(sum(grade > 0 for grade in qrels[query].values()))}
        for query in qrels.keys() - found.keys()
    }
    rows = [found[query] if query in found else empty[query] for query in qrels]
    return {name: np.array([row.get(answer, 0.0) for row in rows]) for name, _, answer in asked}


def _safe(qrels: Qrels) -> Qrels:
    """Where all grades are negative trec_eval's nDCG never ends: a judged document that nobody ranks helps it out."""
    return {
        query: grades if max(grades.values(), default=-1) >= 0 else {**grades, "\0": 0}
        for query, grades in qrels.items()
    }


def _ranked(run: Run) -> Run:
    """The run without empty rankings, which the libraries do not expect."""
    return {query: scores for query, scores in run.items() if scores}


def _by_ir_measures(name: str, measure: Any, run: Run, qrels: Qrels) -> Floats:
    ir_measures, _ = libraries()
    found = dict.fromkeys(qrels, float(measure.DEFAULT))
    try:
        for metric in ir_measures.iter_calc([measure], qrels, _ranked(run)):
            found[metric.query_id] = metric.value
    except (ValueError, RuntimeError) as error:
        raise ParameterError(f"ir_measures cannot compute '{name}' here: {error}") from None
    return np.array([found[query] for query in qrels], np.float64)


_Own = Callable[[Run, Qrels], tuple[Floats, float]]


def _own_measure(name: str) -> _Own | None:
    if name in ("BEP", "macroBEP", "microBEP"):
        return lambda run, qrels: _break_even(name, run, qrels)
    if name.startswith("WSS@"):
        try:
            recall = float(name[4:]) / 100.0
        except ValueError:
            raise ParameterError(f"'{name}' is not a measure: WSS@95 is") from None
        return lambda run, qrels: _work_saved(recall, run, qrels)
    return None


def _break_even(name: str, run: Run, qrels: Qrels) -> tuple[Floats, float]:
    """The R-precision of each query, averaged over queries or, for microBEP, over relevant documents."""
    values = _by_library({name: parse_measure("Rprec")}, run, qrels)[name]
    if name != "microBEP":
        return values, float(np.mean(values))
    relevant = np.array([sum(grade > 0 for grade in grades.values()) for grades in qrels.values()])
    return values, micro_bep(values, relevant)


def _work_saved(recall: float, run: Run, qrels: Qrels) -> tuple[Floats, float]:
    values = np.array([wss_of_ranking(run[query], grades, recall) for query, grades in qrels.items()])
    return values, float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")
