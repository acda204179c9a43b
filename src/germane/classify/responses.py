"""What a classifier answers, as every door prints it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from germane.classify.explanation import ClassResponse
from germane.classify.text_models import AUTO
from germane.classify.tuning import Trial
from germane.schema import ABSENT, Response

if TYPE_CHECKING:
    from germane.classify.text_classifier import TextClassifier


@dataclass(frozen=True, slots=True)
class TrainingResponse(Response):
    """What was learnt: the model, how much it saw, the parameters chosen, and every setting that was tried.

    `validation` is the best value on the validation split, null where nothing was tried; `sizes` the documents of each
    class. Of the model "auto" the parameters are its members with their shares of the weight, and the trials what each
    does alone, and last all together.
    """

    model: str
    documents: int
    classes: int
    words: int
    validation: float | None
    parameters: Mapping[str, float]
    sizes: Mapping[str, int]
    trials: tuple[Trial, ...]

    @classmethod
    def of(cls, classifier: "TextClassifier", labels: list[list[str]]) -> "TrainingResponse":
        """What a fitted classifier learnt from documents with these labels."""
        sizes = {str(name): sum(name in found for found in labels) for name in classifier.classes_.tolist()}
        values = [trial.value for trial in classifier.tuning_]
        validation = (values[-1] if classifier.model_ == AUTO else max(values)) if values else None
        trials = tuple(classifier.tuning_)
        return cls(
            classifier.model_,
            len(labels),
            len(sizes),
            len(classifier.terms_),
            validation,
            classifier.chosen_,
            sizes,
            trials,
        )


@dataclass(frozen=True, slots=True)
class PredictionResponse(Response):
    """The label of a document; its `labels` where a classifier gives several. More where it was asked for."""

    id: str
    labels: Annotated[tuple[str, ...] | None, ABSENT] = None
    label: Annotated[str | None, ABSENT] = None
    probabilities: Annotated[Mapping[str, float] | None, ABSENT] = None
    explanation: Annotated[tuple[ClassResponse, ...] | None, ABSENT] = None
