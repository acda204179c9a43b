"""The measures of a ranking, as trec_eval computes them."""

from germane.evaluate.measures.evaluation import DEFAULT_MEASURES, Evaluation, evaluate
from germane.evaluate.measures.names import parse_measure

__all__ = ["DEFAULT_MEASURES", "Evaluation", "evaluate", "parse_measure"]
