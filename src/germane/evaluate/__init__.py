"""Evaluation of rankings, classifiers and trackers: measures, significance tests and parameter tuning."""

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
    Band,
    CostsCompared,
    DetectionCurve,
    MinCost,
    Trials,
    compare_costs,
    detection_band,
    detection_curve,
    min_cost,
    min_cost_interval,
    normalised_cost,
    topic_costs,
    topic_curve,
    trial_costs,
)
from germane.evaluate.frames import RunTable, as_qrels, as_run, as_topics
from germane.evaluate.measures import DEFAULT_MEASURES, Evaluation, evaluate
from germane.evaluate.rankings import Qrels, Run, load_qrels, load_run
from germane.evaluate.screening import work_saved_over_sampling

__all__ = [
    "DEFAULT_MEASURES",
    "F1",
    "Band",
    "CostsCompared",
    "DetectionCurve",
    "Evaluation",
    "MinCost",
    "Qrels",
    "Reliability",
    "Run",
    "RunTable",
    "Trials",
    "accuracy",
    "as_qrels",
    "as_run",
    "as_topics",
    "break_even_precision",
    "compare_costs",
    "confusion_matrix",
    "detection_band",
    "detection_curve",
    "evaluate",
    "f1",
    "f1_multilabel",
    "load_qrels",
    "load_run",
    "macro_bep",
    "micro_bep",
    "min_cost",
    "min_cost_interval",
    "normalised_cost",
    "reliability",
    "topic_costs",
    "topic_curve",
    "trial_costs",
    "work_saved_over_sampling",
]
