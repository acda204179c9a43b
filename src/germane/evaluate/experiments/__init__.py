"""Experiments as files: `reproduce/*.toml` in, a table beside the published figures out."""

from germane.evaluate.experiments.reading import experiment_files, read_experiment
from germane.evaluate.experiments.report import as_json, as_markdown, as_text, expected_toml, write_report
from germane.evaluate.experiments.results import Figure, Result
from germane.evaluate.experiments.runner import run_experiment
from germane.evaluate.experiments.spec import Experiment, System

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
    "read_experiment",
    "run_experiment",
    "write_report",
]
