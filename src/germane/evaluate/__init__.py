"""Measure, compare and tune: how good a ranking or a classification is, and whether the difference is real."""

from germane.evaluate.calibration import Reliability, reliability
from germane.evaluate.classification import (
    F1,
    accuracy,
    break_even_precision,
    confusion_matrix,
    f1,
    f1_multilabel,
    macro_bep,
    micro_bep,
)
from germane.evaluate.detection import (
    DetectionCurve,
    MinCost,
    detection_curve,
    min_cost,
    normalised_cost,
    topic_costs,
)
from germane.evaluate.frames import RunTable, as_qrels, as_run, as_topics
from germane.evaluate.measures import DEFAULT_MEASURES, Evaluation, evaluate
from germane.evaluate.rankings import Qrels, Run, load_qrels, load_run
from germane.evaluate.screening import work_saved_over_sampling

__all__ = [
    "DEFAULT_MEASURES",
    "F1",
    "DetectionCurve",
    "Evaluation",
    "MinCost",
    "Qrels",
    "Reliability",
    "Run",
    "RunTable",
    "accuracy",
    "as_qrels",
    "as_run",
    "as_topics",
    "break_even_precision",
    "confusion_matrix",
    "detection_curve",
    "evaluate",
    "f1",
    "f1_multilabel",
    "load_qrels",
    "load_run",
    "macro_bep",
    "micro_bep",
    "min_cost",
    "normalised_cost",
    "reliability",
    "topic_costs",
    "work_saved_over_sampling",
]
