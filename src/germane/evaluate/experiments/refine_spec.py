"""What a refinement experiment's file may say, beside what all kinds have (`spec.py`): title, about, tolerance, bars,
comparisons, expected and reference figures. Its data sets are the collections, then "all lists" (every list counts
alike) and "collection means" (every collection does); systems are compared on these two, by Wilcoxon's test too.

kind = "refine"
measures = ["F1", "AP"]             of the unmarked results: the set predicted, and the new order

[[collection]]                      queries with known relevant documents: `evaluate/refine_sources.py`
[lists]                             which result lists are used: `ListRules` of `evaluate/refine_lists.py`

[[system]]
name = "MMEM(AIB)"
method = "mmem-aib"                 a method of `germane.refine`; "original" is the order of the search (AP only)
parameters = { iterations = 10 }    of the method
decision = "log-odds"               predicted relevant: log-odds above 0, as in the paper;
                                    "expected-f1": the set of the largest expected F1 by the calibrated probabilities

[timing]                            against = "TSVM": the system whose time the others' are compared with

[initialisations]                   Refine figure 1: MMEM from random components of the non-relevant class
components = [2, 3, 4]              2 to 10
runs = 30                           for each number of components
lists = 4                           drawn: those where F1 varies most
seed = 0                            (also: each MMEM beside as many random components as it found clusters)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from germane.evaluate.experiments.spec import Experiment, System
from germane.evaluate.refine_lists import ListRules
from germane.evaluate.refine_sources import ListSource

MEASURES = ("F1", "AP")
ORIGINAL = "original"
CLUSTERING = ("mmem-kl", "mmem-aib")
ALL, MEANS = "all lists", "collection means"


@dataclass(frozen=True)
class RefineSystem(System):
    """A method of refinement, and how it decides which results are relevant."""

    method: str = ""
    decision: Literal["log-odds", "expected-f1"] = "log-odds"

    @property
    def measures(self) -> tuple[str, ...]:
        """What can be measured: the search itself predicts no set."""
        return ("AP",) if self.method == ORIGINAL else MEASURES

    @property
    def clusters(self) -> bool:
        """Whether the method starts from clusters of the rejected and decides as the paper does."""
        return self.method in CLUSTERING and self.decision == "log-odds"


@dataclass(frozen=True)
class Timing:
    """Times are given as multiples of one system's."""

    against: str


@dataclass(frozen=True)
class Initialisations:
    """Random beginnings of MMEM, Refine figure 1."""

    components: Sequence[int] = tuple(range(2, 11))
    runs: int = 30
    lists: int = 4
    seed: int = 0


@dataclass(frozen=True)
class RefineExperiment(Experiment):
    """Methods of refinement on the same result lists, with the same marks."""

    systems: Sequence[RefineSystem]
    collections: Sequence[ListSource] = ()
    rules: ListRules = field(default_factory=ListRules)
    timing: Timing | None = None
    initialisations: Initialisations | None = None
    unit: ClassVar[str] = "lists"
    conventions: ClassVar[str] = "Collections"
    compared_by: ClassVar[str] = ""
    significant_by: ClassVar[tuple[str, ...]] = ("wilcoxon",)
    pooled: ClassVar[bool] = False
    datasets_down: ClassVar[bool] = True

    @property
    def compared_on(self) -> Sequence[str]:
        """All lists, and the means of collections; one collection has too few lists."""
        return (ALL, MEANS)

    @property
    def inputs(self) -> list[str]:
        """The files of documents."""
        return [source.documents for source in self.collections]
