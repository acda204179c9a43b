"""germane classify train: learn a classifier from labelled texts."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.classify.text_models import AUTO, TEXT_MODEL_NAMES
from germane.cli import label_files, options
from germane.cli.analysis import analyzer_named
from germane.cli.label_files import Reading, labels_wanted
from germane.cli.requests import settings_typed
from germane.cli.streams import put_json, tell
from germane.cli.tables import show_rows
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import classify
    from germane import text as germane_text
    from germane.classify import responses
    from germane.engine import methods

if TYPE_CHECKING:
    from germane.classify.responses import TrainingResponse
    from germane.text import AnyAnalyzer

LARGEST_SEED = 2**32 - 1
"""scikit-learn takes no larger one."""


def train(
    data: label_files.Data,
    label: label_files.LabelColumn = None,
    text: label_files.TextColumns = None,
    into: Annotated[
        Path | None,
        typer.Option(
            "--into", metavar="FILE", help="Save the classifier; nothing is kept otherwise.", show_default=False
        ),
    ] = None,
    model: Annotated[str, typer.Option(help=f"One of {', '.join(TEXT_MODEL_NAMES)}.")] = TEXT_MODEL_NAMES[0],
    multi_label: Annotated[
        bool, typer.Option("--multi-label", help="A document may have several labels, or none.")
    ] = False,
    separator: Annotated[str, typer.Option(help="What stands between the labels of a document.")] = ";",
    folder_labels: label_files.FolderLabels = False,
    prior: Annotated[
        str, typer.Option(help="uniform, or empirical: by how common the classes are; svm and --multi-label use none.")
    ] = "uniform",
    settings: options.Settings = None,
    no_tune: Annotated[bool, typer.Option("--no-tune", help="Tune nothing: defaults, and what --set says.")] = False,
    seed: Annotated[int, typer.Option(help="Draws the validation split.", min=0, max=LARGEST_SEED)] = 0,
    stemmer: options.Stemmer = "english",
    stopwords: options.Stopwords = "english",
    ngrams: Annotated[
        str | None,
        typer.Option(
            metavar="LOW-HIGH",
            help="Learn from runs of LOW to HIGH characters, such as 1-3, instead of words.",
            show_default=False,
        ),
    ] = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    progress: options.Progress = False,
    json: options.Json = False,
) -> None:
    """Learn a classifier from labelled texts, tune it on a fifth of them, and save it whole or not at all.

    Example: germane classify train mails.csv --label folder --into mails.germane

    Example: germane classify train papers.jsonl --label topics --multi-label --text abstract --into papers.germane

    Example: germane classify train reviews --folder-labels --model svm --into reviews.germane

    Example: germane classify train sentences.tsv --label language --ngrams 1-3 --into languages.germane

    Example: germane classify train mails.csv --label folder --set lam=1e-4 --set beta=0.01 --into mails.germane
    """
    labels_wanted(label, folder_labels)
    if not separator:
        raise ParameterError("--separator must not be empty")
    if into is not None and (into.is_dir() or not into.resolve().parent.is_dir()):
        what = "is a folder" if into.is_dir() else "is in a folder that does not exist"
        raise InputError(f"the classifier cannot be saved there: it {what}", source=str(into))

    given = methods.text_model_settings(model, settings_typed(settings))
    classifier = classify.TextClassifier(
        model, analyzer=_analyzer(stemmer, stopwords, ngrams, model), tune=not no_tune, random_state=seed, prior=prior,
        parameters=given or None,
    )  # fmt: skip
    reading = Reading(
        data, label, text or (), folder_labels, separator if multi_label else None, format, encoding, on_error.value
    )
    documents = reading.read(progress=progress)
    labels: list[Any] = documents.labels if multi_label else [found[0] for found in documents.labels]
    try:
        classifier.fit(documents.texts, labels, on_trial=_tell)
    except InputError as error:
        raise InputError(str(error), source=data) from None
    classifier.notes_ = {"text": list(text or ()), "separator": separator}
    if classifier.n_empty_:
        tell(f"{counted(classifier.n_empty_, 'document')} without a word: not learnt from")
    if into is not None:
        classifier.save(into)
        tell(f"written: {into}")
    else:
        tell("nothing was kept: --into FILE saves the classifier")
    found = responses.TrainingResponse.of(classifier, documents.labels)
    if json:
        put_json(found)
        return
    kind = "mean best F1" if multi_label else "accuracy"
    facts = {name: getattr(found, name) for name in ("model", "documents", "classes", "words")}
    parameters = {} if found.model == AUTO else found.parameters
    rows = {**facts, **parameters, f"validation {kind}": found.validation}
    show_rows(
        ["", "chosen"], [[key, f"{value:g}" if isinstance(value, float) else value] for key, value in rows.items()]
    )
    if found.model == AUTO:
        _show_pool(found)
    show_rows(["class", "documents"], [[name, n] for name, n in found.sizes.items()], title="\nClasses")


def _analyzer(stemmer: str, stopwords: str, ngrams: str | None, model: str) -> "AnyAnalyzer | None":
    """Words, stemmed and stopped; or with `ngrams` the runs of characters within them, as they are.

    None lets the model "auto" choose, unless another stemmer or stop list was asked for.
    """
    if ngrams is None:
        chosen = model == AUTO and (stemmer, stopwords) == ("english", "english")
        return None if chosen else analyzer_named(stemmer, stopwords)

    if not {stemmer, stopwords} <= {"english", "none"}:  # the defaults cannot be told from what was typed
        raise ParameterError("--ngrams takes the characters as they are: leave --stemmer and --stopwords out")
    matched = re.fullmatch(r"([0-9]{1,3})-([0-9]{1,3})", ngrams.strip())
    if matched is None:
        raise ParameterError(f"--ngrams is the shortest and the longest run, such as 1-3, not '{ngrams}'")
    try:
        return germane_text.CharacterNGrams((int(matched[1]), int(matched[2])))
    except ParameterError as error:
        raise ParameterError(f"--ngrams {ngrams}: {error}") from None


def _show_pool(found: "TrainingResponse") -> None:
    """Every member that was tried, alone, and how much of the pool it is."""
    alone = [(name, trial.value) for trial in found.trials[:-1] for name in trial.parameters]
    show_rows(
        ["member", "accuracy alone", "share of the weight"],
        [[name, f"{value:.4f}", f"{found.parameters.get(name, 0.0):.2f}"] for name, value in alone],
        title="\nThe pool",
    )


def _tell(parameters: Mapping[str, float], value: float) -> None:
    tell(f"{' '.join(f'{name}={setting:g}' for name, setting in parameters.items())}: {value:.4f}")
