"""What a figure experiment's file may say, beside what all kinds have (`spec.py`): title, about, tolerance,
expected and reference figures.

kind = "figure"
datasets = ["reuters21578"]         those that figures are drawn of, where they need one (optional)
measures = ["KL high"]              of the figures that come with numbers (optional)

[[figure]]
name = "3.3"                        its number in the source, for the file's name
draw = "smoothed-domains"           a name of `figure_runner.py`
parameters = { lam = [1.0, 0.5] }   arguments of the function in `evaluate/figures.py`
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from germane.evaluate.experiments.spec import Experiment


@dataclass(frozen=True)
class Drawing:
    """One figure: which function draws it, with which arguments."""

    name: str
    draw: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FigureExperiment(Experiment):
    """Figures of a source, drawn again."""

    drawings: Sequence[Drawing] = ()
    conventions: ClassVar[str] = "Data sets"
