"""What a classification experiment's file may say, beside what all kinds have (`spec.py`): title, about, tolerance,
notes, bars, comparisons, expected and reference figures.

kind = "classification"
datasets = ["20newsgroups"]         names below GERMANE_DATA: `splits` random splits into train and test
                                    "reuters21578:given" is the same data, split once, as published
measures = ["accuracy"]             or macroF1; macroBEP and microBEP rank the documents for each class
top = 10                            of a multi-label set: the classes with most training documents
unlabelled = false                  of a multi-label set: true keeps documents that have no label at all
splits = 25                         the same for all systems
test_share = 0.2                    of each class
seed = 0

[[system]]
name = "Multi-L"
model = "multinomial-laplace"       a name of `classification_models.py`
parameters = { delta = 1e-3 }       fixed
tune = { delta = [1e-4, 1e-3] }     chosen once for each data set, on a validation part of its first training set (the
                                    published one, where NAME:given is listed before NAME)
splits = 5                          only the first so many splits, for slow models

[tuning]                            method = "coordinate" (hill-climbing), measure: the first one, share = 0.2
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from germane.evaluate.experiments.spec import Experiment, System

GIVEN = ":given"
MEASURES = ("accuracy", "macroF1", "macroBEP", "microBEP")


@dataclass(frozen=True)
class ClassifierSystem(System):
    """A classifier with fixed or tuned parameters."""

    model: str = ""
    splits: int | None = None


@dataclass(frozen=True)
class ValidationTuning:
    """How free parameters are tuned: by hill-climbing on a validation part of one training set (SD §4.3)."""

    method: str = "coordinate"
    measure: str = ""
    share: float = 0.2


@dataclass(frozen=True)
class ClassificationExperiment(Experiment):
    """Classifiers on random splits, or on the published one."""

    systems: Sequence[ClassifierSystem]
    top: int | None = None
    unlabelled: bool = False
    splits: int = 25
    test_share: float = 0.2
    seed: int = 0
    tuning: ValidationTuning = field(default_factory=ValidationTuning)
    unit: ClassVar[str] = "splits"
    conventions: ClassVar[str] = "Data sets"
    tuned_by: ClassVar[str] = "Tuned ones: chosen once, on a validation part of the first training set."
    compared_by: ClassVar[str] = ""

    @property
    def inputs(self) -> list[str]:
        """The data sets, whichever their splits."""
        return [dataset.removesuffix(GIVEN) for dataset in self.datasets]
