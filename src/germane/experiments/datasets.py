"""Data sets by name: where they are, what is in them, and writing them out in other formats."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from germane.data import catalog, read_documents, read_topics, write_qrels
from germane.data.atomic import open_for_writing
from germane.errors import InputError, MissingExtraError, ParameterError, StorageError
from germane.evaluate.rankings import judgements, load_qrels
from germane.lazy import optional

FORMATS = ("trec", "tsv", "json")


def locate(name: str) -> str:
    """The data set's folder below GERMANE_DATA, else `irds:NAME`; neither is one sentence on where to get it."""
    if name.startswith("irds:"):
        return name
    try:
        return str(catalog.dataset_path(name))
    except InputError:
        pass
    try:
        optional("ir_datasets", f"Reading '{name}'").load(name)
        return f"irds:{name}"
    except (MissingExtraError, KeyError):
        raise InputError(
            f"the data set '{name}' is not here: set {catalog.VARIABLE} to a folder that holds {name}/"
            f"{catalog.DOCUMENTS}.gz, {catalog.TOPICS} and {catalog.QRELS}, or give an ir_datasets name as irds:NAME"
        ) from None


def describe(name: str) -> dict[str, Any]:
    """Counts of a data set: documents, their fields, topics, judgements by grade. What it lacks is left out."""
    source = locate(name)
    fields: Counter[str] = Counter()
    n_docs = 0
    for document in read_documents(source):
        n_docs += 1
        fields.update(document.fields.keys())
    facts: dict[str, Any] = {"source": source, "documents": n_docs, "fields": ", ".join(fields)}
    try:
        facts["topics"] = sum(1 for _ in read_topics(source))
        qrels = load_qrels(source)
    except InputError:
        return facts
    grades = Counter(grade for row in qrels.values() for grade in row.values())
    facts["judged_topics"] = len(qrels)
    facts["judgements"] = sum(grades.values())
    facts["grades"] = ", ".join(f"{grade}: {count:,}" for grade, count in sorted(grades.items()))
    return facts


def export(name: str, folder: Path, format: str = "trec") -> list[Path]:
    """Write documents (JSON Lines), topics (TSV, or JSON Lines) and judgements (TREC, TSV or JSON) to a folder."""
    if format not in FORMATS:
        raise ParameterError(f"the format is one of {', '.join(FORMATS)}, not '{format}'")
    source = locate(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror or error}") from error
    written = [folder / "docs.jsonl"]
    with open_for_writing(written[0]) as file:
        for document in read_documents(source):
            file.write(orjson.dumps({"id": document.id, **document.fields}).decode() + "\n")
    try:
        topics, qrels = list(read_topics(source)), load_qrels(source)
    except InputError:
        return written
    written += [folder / ("queries.jsonl" if format == "json" else "queries.tsv"), folder / _QRELS[format]]
    with open_for_writing(written[1]) as file:
        for topic in topics:
            as_object = json.dumps(topic._asdict(), ensure_ascii=False)
            file.write(f"{as_object}\n" if format == "json" else f"{topic.id}\t{topic.text}\n")
    if format == "trec":
        write_qrels(written[2], judgements(qrels))
    else:
        with open_for_writing(written[2]) as file:
            if format == "json":
                json.dump(qrels, file, ensure_ascii=False, indent=1)
            else:
                file.write("query_id\tdoc_id\tgrade\n")
                file.writelines(f"{query}\t{doc}\t{grade}\n" for query, doc, grade in judgements(qrels))
    return written


_QRELS = {"trec": "qrels.txt", "tsv": "qrels.tsv", "json": "qrels.json"}
