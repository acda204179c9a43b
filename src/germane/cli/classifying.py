"""A saved classifier and the documents it is asked about, as `classify predict` and `classify evaluate` share them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.cli.progress import watched

if TYPE_CHECKING:
    from germane.classify import TextClassifier
    from germane.classify.text_classifier import Answers

ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A classifier that classify train saved.", show_default=False),
]
BATCH = 2000
"""Documents classified between two moves of the progress bar."""


def separator_of(classifier: "TextClassifier") -> str:
    """What stands between labels in the data the classifier was trained on."""
    return str(classifier.notes_.get("separator") or ";")


def columns_of(classifier: "TextClassifier", named: Sequence[str] | None) -> list[str]:
    """The columns of words: those named, else those of the training data."""
    noted = classifier.notes_.get("text")
    return list(named or ([str(name) for name in noted] if isinstance(noted, list) else ()))


def answers(classifier: "TextClassifier", texts: Sequence[str], *, progress: bool) -> Iterator["Answers"]:
    """What the classifier says of the texts, batch by batch, watched."""
    starts = range(0, len(texts), BATCH)
    for start in watched(starts, "classifying", total=len(starts), always=progress):
        yield classifier.answer(texts[start : start + BATCH])


def label_lists(labels: Any) -> list[list[str]]:
    """`Answers.labels` as the command line has labels: a list of strings for each document."""
    rows = labels if isinstance(labels, list) else [[label] for label in labels.tolist()]
    return [[str(label) for label in row] for row in rows]
