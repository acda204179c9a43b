"""Reproducible experiments: TOML files that rerun a paper's tables and figures beside the printed values."""

from germane.experiments.experiment import Experiment, System
from germane.experiments.kinds import experiment_files, published_experiments, read_experiment, run_experiment
from germane.experiments.report import as_json, as_markdown, as_text, expected_toml, write_report
from germane.experiments.results import Figure, Result

__all__ = [
    "Experiment",
    "Figure",
    "Result",
    "System",
    "as_json",
    "as_markdown",
    "as_text",
    "expected_toml",
    "experiment_files",
    "published_experiments",
    "read_experiment",
    "run_experiment",
    "write_report",
]
