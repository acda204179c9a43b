"""Measures that only `ir_measures` has, where it is installed (the extra `measures`)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.arrays import Floats
from germane.errors import MissingExtraError, ParameterError
from germane.evaluate.measures.judged import Case
from germane.lazy import on_first_use, optional

with on_first_use(__name__):
    import ir_measures


@dataclass(frozen=True)
class FurtherMeasure:
    """A measure of `ir_measures`, computed by whichever of its providers can."""

    name: str
    measure: Any

    def of(self, case: Case) -> tuple[Floats, float]:
        """The value of each query, and of all together."""
        found = dict.fromkeys(case.qrels, float(self.measure.DEFAULT))
        ranked = {query: scores for query, scores in case.run.items() if scores}  # it does not expect empty rankings
        try:
            for metric in ir_measures.iter_calc([self.measure], case.qrels, ranked):
                found[metric.query_id] = metric.value
        except (ValueError, RuntimeError) as error:
            raise ParameterError(f"ir_measures cannot compute '{self.name}' here: {error}") from None
        values = np.array([found[query] for query in case.qrels], np.float64)
        adds = isinstance(self.measure.aggregator(), ir_measures.SumAgg)
        return values, float(np.sum(values) if adds else np.mean(values))


def measure_named(name: str, examples: str) -> FurtherMeasure:
    """The measure of that name, of which we know that it is none of ours."""
    try:
        optional("ir_measures", f"The measure '{name}'")
    except MissingExtraError:
        raise ParameterError(
            f"there is no measure '{name}'; for example {examples}. If it is one of ir_measures: "
            "pip install 'germane[measures]'"
        ) from None
    try:
        measure: Any = ir_measures.parse_measure(name)
        measure.validate_params()
    except NameError:
        raise ParameterError(f"there is no measure '{name}'; for example {examples}") from None
    except (ValueError, AssertionError, TypeError, SyntaxError):
        raise ParameterError(f"'{name}' is not a measure as ir_measures writes it, such as P(rel=2)@10") from None
    return FurtherMeasure(name, measure)
