"""germane classify evaluate: how well a saved classifier labels texts whose labels are known."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from germane.cli import classifying, label_files, measuring, options
from germane.cli.classifying import answers, columns_of, label_lists, separator_of
from germane.cli.label_files import Reading, labels_wanted, read_predictions, tell_empty, write_predictions
from germane.cli.streams import put_json, tell
from germane.cli.tables import put_rows, show_rows
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    import numpy as np

    from germane import classify
    from germane import evaluate as evaluation
    from germane.classify import saving
    from germane.evaluate import classification, plots, responses

if TYPE_CHECKING:
    from germane.classify import TextClassifier
    from germane.cli.label_files import Labelled
    from germane.evaluate.responses import LabellingResponse
    from germane.evaluate.significance import Alternative

SHOWN, LONGEST = 5, 40
MEASURES = ("accuracy", "micro_f1", "macro_f1", "micro_bep", "macro_bep")


def evaluate(
    model: classifying.ModelFile,
    data: label_files.Data,
    label: label_files.LabelColumn = None,
    text: label_files.TextColumnsAsTrained = None,
    folder_labels: label_files.FolderLabels = False,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="MODEL|PREDICTIONS",
            help="Another classifier, or saved predictions, to compare with.",
            show_default=False,
        ),
    ] = None,
    alternative: measuring.Alternative = "two-sided",
    confusion: Annotated[
        Path | None,
        typer.Option(
            "--confusion", metavar="FILE", help="Draw the confusion matrix (.png, .svg, .pdf).", show_default=False
        ),
    ] = None,
    save_predictions: Annotated[
        Path | None,
        typer.Option(
            "--save-predictions", metavar="FILE", help="Write id and label, as TSV or .jsonl.", show_default=False
        ),
    ] = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    progress: options.Progress = False,
    json: options.Json = False,
    tsv: Annotated[
        bool, typer.Option("--tsv", help="Print the table of classes with tabs.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Measure a saved classifier: accuracy, F1 and break-even precision, in all and for each class.

    With --against, two classifiers are compared by paired tests over documents; of the sign test, which is McNemar's
    exact test where a document has one label, p below 0.05 is usually called significant.

    Example: germane classify evaluate mails.germane test.csv --label folder --confusion mails.png

    Example: germane classify evaluate a.germane test.csv --label folder --against b.germane
    """
    wanted = options.one_of(json=json, tsv=tsv)
    labels_wanted(label, folder_labels)

    classifier = classify.TextClassifier.load(model)
    several = classifier.multi_label_
    if confusion is not None and several:
        raise ParameterError("there is no confusion matrix where a document may have several labels")
    other = _other(against, classifier)
    separator = separator_of(classifier) if several else None
    columns = columns_of(classifier, text)
    reading = Reading(data, label, columns, folder_labels, separator, format, encoding, on_error.value)
    documents = reading.read(progress=progress)
    names = [str(name) for name in classifier.classes_.tolist()]
    _check_labels(documents, names, data)
    if against is not None or save_predictions is not None:
        documents.check_ids(data)
    found = list(answers(classifier, documents.texts, progress=progress))
    predicted = [row for part in found for row in label_lists(part.labels)]
    tell_empty(sum(int(part.wordless.sum()) for part in found))
    judged = classification.judge(documents.labels, predicted, np.vstack([part.ranking for part in found]), names)
    compared = None
    if against is not None:
        theirs = _their_labels(other, against, documents, separator, progress)
        compared = classification.compare_labellings(
            documents.labels, predicted, theirs, cast("Alternative", alternative)
        )
    if save_predictions is not None:
        write_predictions(save_predictions, documents.ids, predicted, separator_of(classifier))
        tell(f"written: {save_predictions}")
    if confusion is not None:
        counted = evaluation.confusion_matrix([t for (t,) in documents.labels], [p for (p,) in predicted])
        plots.save(plots.confusion(*counted, collection=Path(data).name), confusion)
        tell(f"written: {confusion}")
    answer = responses.LabellingResponse.of(judged, len(documents.ids), compared)
    if wanted == "json":
        put_json(answer)
    elif wanted == "tsv":
        put_rows(["class", "documents", "predicted", "precision", "recall", "f1", "bep"], judged.classes)
    else:
        _show(answer, several)


def _other(against: str | None, classifier: "TextClassifier") -> "TextClassifier | None":
    """The classifier to compare with, if that is what the file holds."""
    if against is None:
        return None

    if not saving.is_model(against):
        return None
    other = classify.TextClassifier.load(against)
    if other.multi_label_ is not classifier.multi_label_:
        raise InputError("one of the two classifiers gives several labels, and the other one", source=against)
    return other


def _their_labels(
    other: "TextClassifier | None", against: str, documents: "Labelled", separator: str | None, progress: bool
) -> list[list[str]]:
    if other is None:
        return read_predictions(against, documents.ids, separator)
    parts = answers(other, documents.texts, progress=progress)
    return [row for part in parts for row in label_lists(part.labels)]


def _check_labels(documents: "Labelled", names: list[str], source: str) -> None:
    """Say which labels the classifier has never seen; raise if it has seen none of them."""
    given = {label for row in documents.labels for label in row}
    unseen = sorted(given - set(names))
    if not given:
        raise InputError("no document has a label to judge by", source=source)
    if len(unseen) == len(given):
        raise InputError(
            f"none of its labels is known to the classifier ({_some(unseen)}); it knows {_some(names)}", source=source
        )
    if unseen:
        n = sum(bool(set(row) & set(unseen)) for row in documents.labels)
        tell(f"{counted(n, 'document')} with labels unseen in training, which count as missed: {_some(unseen)}")


def _some(names: list[str]) -> str:
    return ", ".join(f"'{name[:LONGEST]}'" for name in names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")


def _show(judged: "LabellingResponse", several: bool) -> None:
    titles = (
        "accuracy (all labels right)" if several else "accuracy",
        "micro F1",
        "macro F1",
        "micro BEP",
        "macro BEP",
    )
    show_rows(["measure", ""], [[name, getattr(judged, key)] for name, key in zip(titles, MEASURES, strict=True)])
    header = ["class", "documents", "predicted", "precision", "recall", "F1", "BEP"]
    show_rows(header, [dataclasses.astuple(row) for row in judged.classes], title="\nClasses")
    compared = judged.against
    if compared is None:
        return
    what = "mean F1 of a document" if several else "accuracy"
    names = _TESTS if several else {**_TESTS, "sign": "sign (McNemar, exact)"}
    rows: list[list[Any]] = [
        [what, compared.a],
        ["the other's", compared.b],
        ["difference", compared.difference.mean],
        ["95% interval", f"{compared.difference.low:.4f} to {compared.difference.high:.4f}"],
        ["better / worse documents", f"{compared.wins:,} / {compared.losses:,}"],
        *([f"p, {names.get(name, name)}", f"{test.p_value:.2g}"] for name, test in compared.tests.items()),
    ]
    show_rows(["compared", ""], rows, title="\nAgainst the other")


_TESTS = {"t": "t-test", "wilcoxon": "Wilcoxon", "sign": "sign"}
