"""germane classify predict: the labels of new texts."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.cli import classifying, label_files, options
from germane.cli.classifying import answers, columns_of, label_lists, separator_of
from germane.cli.label_files import Reading, joined, tell_empty
from germane.cli.streams import put_json, put_row, terminal
from germane.cli.tables import show_rows
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import classify
    from germane.classify import responses

if TYPE_CHECKING:
    from germane.classify.text_classifier import Answers


def predict(
    model: classifying.ModelFile,
    data: label_files.Data,
    text: label_files.TextColumnsAsTrained = None,
    proba: Annotated[bool, typer.Option("--proba", help="The probability of each class too.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="The words that argued for and against the classes too.")
    ] = False,
    top: Annotated[int, typer.Option(metavar="N", help="Words shown with --explain, for each side.", min=1)] = 10,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    progress: options.Progress = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a document.", rich_help_panel="Output")
    ] = False,
    tsv: Annotated[
        bool, typer.Option("--tsv", help="Print id, label and probabilities.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Label texts with a saved classifier.

    The words are taken from the columns that were used in training, unless --text names others.

    Example: germane classify predict mails.germane new.csv --tsv

    Example: germane classify predict mails.germane new.csv --proba --explain
    """
    wanted = options.one_of(json=json, tsv=tsv)

    classifier = classify.TextClassifier.load(model)
    reading = Reading(data, None, columns_of(classifier, text), False, None, format, encoding, on_error.value)
    documents = reading.read(progress=progress)
    names = [str(name) for name in classifier.classes_.tolist()]
    if wanted == "tsv":
        put_row(["id", "label", *(joined([name], "") for name in names if proba)])
    wordless = done = 0
    shown: list[list[Any]] = []
    for found in answers(classifier, documents.texts, progress=progress):
        labels = label_lists(found.labels)
        wordless += int(found.wordless.sum())
        for i, own in enumerate(labels):
            doc_id, body = documents.ids[done + i], documents.texts[done + i]
            cell = joined(own, separator_of(classifier)) if wanted == "tsv" else ", ".join(own)
            if wanted == "json":
                shares = dict(zip(names, found.probabilities[i].tolist(), strict=True)) if proba else None
                told = classifier.explain(body, top).responses() if explain else None
                several = classifier.multi_label_
                put_json(
                    responses.PredictionResponse(
                        doc_id, tuple(own) if several else None, None if several else own[0], shares, told
                    )
                )
            elif wanted == "tsv":
                put_row([doc_id, cell, *(found.probabilities[i].tolist() if proba else [])])
            elif explain:
                terminal().print(f"{doc_id}: {cell or '(none)'}{_best(found, i, names) if proba else ''}")
                terminal().print(f"{classifier.explain(body, top)}\n", soft_wrap=True)
            else:
                shown.append([doc_id, cell, *([_best(found, i, names).strip()] if proba else [])])
        done += len(labels)
    if shown:
        show_rows(["id", "label", *(["probabilities"] if proba else [])], shown)
    tell_empty(wordless)


def _best(found: "Answers", i: int, names: list[str], n: int = 3) -> str:
    """The most probable classes, for people."""
    row = found.probabilities[i]
    order = sorted(range(len(names)), key=lambda c: -row[c])[:n]
    return " " + ", ".join(f"{names[c]} {row[c]:.0%}" for c in order)
