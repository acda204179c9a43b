"""Ranking measures (AP, nDCG, P@k, ...) with the values that trec_eval gives."""

from germane.evaluate.measures.evaluation import DEFAULT_MEASURES, Evaluation, evaluate
from germane.evaluate.measures.names import measure_names, parse_measure

__all__ = ["DEFAULT_MEASURES", "Evaluation", "evaluate", "measure_names", "parse_measure"]
