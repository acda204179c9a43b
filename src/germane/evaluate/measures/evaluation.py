"""`evaluate`: the measures of a run, query by query and on average.

trec_eval's conventions hold: documents are ordered by score (in single precision), ties by id *descending*; grades
above 0 are relevant, negative ones are not; queries of the run without judgements are left out; judged queries that the
run lacks count as empty rankings (`trec_eval -c`), and so does every mean here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from germane.arrays import Floats
from germane.errors import InputError, ParameterError
from germane.evaluate.frames import AnyQrels, AnyRun, as_qrels, as_run
from germane.evaluate.measures.judged import Case
from germane.evaluate.measures.names import measure_names, parse_measure
from germane.tables import html
from germane.wording import counted

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

    def __repr__(self) -> str:
        values = ", ".join(f"{measure} {self[measure]:.4f}" for measure in self.measures)
        return f"<Evaluation of {counted(len(self.query_ids), 'query')}: {values}>"

    def _repr_html_(self) -> str:
        """A table for notebooks: the value of each measure."""
        return html(["measure", counted(len(self.query_ids), "query")], [[each, self[each]] for each in self.measures])


def evaluate(run: AnyRun, qrels: AnyQrels, measures: str | Sequence[str] = DEFAULT_MEASURES) -> Evaluation:
    """The measures of a run, by the names of ir_measures or of trec_eval (`germane.evaluate.measures.names`).

    Measures are a list of names, or one text with commas (`"AP, P.5,10, official"`: `names.measure_names`).
    Run and judgements: `{query: {document: score}}`, or what pandas, ir_measures and ranx have (`evaluate.frames`).
    """
    run, qrels = as_run(run), as_qrels(qrels)
    names = tuple(dict.fromkeys(measure_names(measures) if isinstance(measures, str) else measures))
    if not names:
        raise ParameterError("name at least one measure, such as AP")
    if not qrels:
        raise InputError("there are no judgements")
    if not any(query in qrels for query in run):
        raise InputError("no query of the run is judged: do the two files belong together?")
    wanted = {name: parse_measure(name) for name in names}
    case = Case({query: run.get(query, {}) for query in qrels}, qrels)
    values: dict[str, Floats] = {}
    overall: dict[str, float] = {}
    for name, measure in wanted.items():
        values[name], overall[name] = measure.of(case)
    return Evaluation(names, tuple(qrels), values, overall)
