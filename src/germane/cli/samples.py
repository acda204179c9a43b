"""The sample collection that comes with the package, and the files that the documentation's commands read."""

import csv
import io
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.types import Document

with on_first_use(__name__):
    from germane import data
    from germane.data import atomic, writing

NAME = "curiosities.jsonl"

TOPICS = {
    "1": ("planet telescope", "astronomy"),
    "2": ("vaccines for children", "medicine"),
    "3": ("energy storage", "energy"),
    "4": ("machines that compute", "computing"),
    "5": ("climate of the earth", "earth"),
}
"""Queries, and the topic whose documents answer them."""
INCLUDED = "medicine"
"""The topic of the documents that the sample review includes."""
DECIDED = 12
"""Documents of the sample review that are decided: every sixth, so that both kinds are among them."""


def sample_path() -> Path:
    """The file of the sample: short texts on science, technology, health and history."""
    return Path(str(files("germane") / "samples" / NAME))


def write_sample_files(folder: Path) -> list[str]:
    """Write the files that the documentation's commands read, all made of the sample; their names.

    `docs.jsonl` (the sample), `more.jsonl` (documents to add), `queries.tsv`, `qrels.txt`, `train.csv` and `test.csv`
    (to classify by `topic`), `results.jsonl` (a ranking), `references.ris`, `decisions.csv` and `review.jsonl` (to
    screen), `vectors.jsonl` and `query.json` (a vector of each document, and one to look for).
    Nothing is overwritten: a file that is there already is an error, before anything is written.
    """
    contents = _contents(list(data.read_documents(sample_path())))
    for name in contents:
        if (folder / name).exists():
            raise ParameterError(f"{folder / name} is there already: choose another folder for the sample files")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        atomic.write_bytes(folder / name, content.encode())
    return list(contents)


def _contents(documents: "list[Document]") -> Mapping[str, str]:
    by_topic = [(document, str(document.fields["topic"])) for document in documents]
    ranked = [
        Document(document.id, {"rank": rank, **document.fields}) for rank, document in enumerate(documents, start=1)
    ]
    reviewed = [
        Document(document.id, {**document.fields, "included": int(topic == INCLUDED)}) for document, topic in by_topic
    ]
    references = [Document(document.id, {**document.fields, "key": document.id}) for document in documents]
    more = [
        Document("moon-landing", {**documents[5].fields, "year": 1969}),
        Document("comet-landing", {"title": "A landing on a comet", "text": "A small probe bounced on a comet, and "
                                   "sent pictures until its battery was empty.", "year": 2014, "topic": "astronomy"}),
    ]  # fmt: skip
    decided = [f"{document.id},{document.fields['included']}" for document in reviewed[: 6 * DECIDED : 6]]
    return {
        "docs.jsonl": _written(documents, "jsonl"),
        "more.jsonl": _written(more, "jsonl"),
        "queries.tsv": "".join(f"{number}\t{words}\n" for number, (words, _) in TOPICS.items()),
        "qrels.txt": "".join(
            f"{number} 0 {document.id} {int(topic == wanted)}\n"
            for number, (_, wanted) in TOPICS.items()
            for document, topic in by_topic
        ),
        "train.csv": _table(documents[::2]),
        "test.csv": _table(documents[1::2]),
        "results.jsonl": _written(ranked, "jsonl"),
        "references.ris": _written(references, "ris"),
        "decisions.csv": "\n".join(["id,included", *decided, ""]),
        "review.jsonl": _written(reviewed, "jsonl"),
        "vectors.jsonl": "".join(
            f'{{"id": "{document.id}", "vector": {_direction(topic)}}}\n' for document, topic in by_topic
        ),
        "query.json": f"{_direction(TOPICS['3'][1])}\n",
    }


def _direction(topic: str) -> list[float]:
    """A vector that points to a topic: all vectors of one topic are the same."""
    return [1.0 if topic == wanted else 0.2 for _, wanted in TOPICS.values()]


def _written(documents: "list[Document]", format: str) -> str:
    target = io.StringIO()
    writing.write_documents(target, documents, format)
    return target.getvalue()


def _table(documents: "list[Document]") -> str:
    target = io.StringIO()
    rows = csv.writer(target, lineterminator="\n")
    rows.writerow(["id", "text", "topic"])
    rows.writerows([document.id, document.fields["text"], document.fields["topic"]] for document in documents)
    return target.getvalue()
