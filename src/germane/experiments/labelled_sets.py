"""Labelled data sets for classification: word counts, labels and the published split of a data set by name."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from germane.data import read_documents
from germane.errors import InputError, ParameterError
from germane.text import Analyzer
from germane.text.counting import count_all
from germane.types import DEFAULT_FIELDS, Document, text_of

ANALYZER = Analyzer(stemmer="porter", stopwords="english")
"""Porter's stemmer as SD §4.1, and stop words dropped: our 130 function words, where SD has a list of about 400."""


@dataclass(frozen=True)
class LabelledData:
    """Documents with their labels, in the order of the file.

    `X`: counts, a CSR array of float64, documents × `terms`, the vocabulary of all documents (SD §4.1 indexes the
    whole collection). `y`: the number of each document's label in `labels`; of a multi-label set a Boolean indicator
    matrix, documents × labels. `split`: "train" or "test", as published. `ids`, `texts`: of each document. `n_labels`:
    how many labels each document has, those among them that `labels` leaves out.
    """

    name: str
    X: Any
    y: NDArray[Any]
    labels: tuple[str, ...]
    split: NDArray[np.str_]
    terms: tuple[str, ...]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    n_labels: NDArray[np.int64]

    @property
    def train(self) -> NDArray[np.bool_]:
        """Which documents the published split trains on."""
        return np.asarray(self.split == "train")

    @property
    def test(self) -> NDArray[np.bool_]:
        """Which documents the published split tests on."""
        return np.asarray(self.split == "test")

    @property
    def multi_label(self) -> bool:
        """Whether a document may have several labels, or none."""
        return self.y.ndim == 2


def load_labelled(
    name: str, analyzer: Analyzer = ANALYZER, *, top: int | None = None, unlabelled: bool = False
) -> LabelledData:
    """The data set `name` below `GERMANE_DATA`: its title and text analysed and counted, and its labels.

    A set with a field `label` has one label a document. One with the field `topics` (Reuters) is multi-label: of it
    the documents of the ModApte split that have a topic are kept (7,775 and 3,019 of Reuters-21578), since N of
    SD (4.6) are the documents of all other classes; `unlabelled` keeps those without a topic as well (12,902, SD §4.1).
    Its labels are ordered by their number of training documents, most first; `top=10` keeps the first ten.
    """
    documents = list(read_documents(name))
    multi = bool(documents) and "topics" in documents[0].fields
    if top is not None and (not multi or top < 1):
        raise ParameterError(f"top is the number of labels to keep of a multi-label set, not {top!r} of {name}")
    if multi:
        documents = [
            document
            for document in documents
            if document.fields["split"] in ("train", "test") and (unlabelled or document.fields["topics"])
        ]
    texts = tuple(text_of(document.fields, DEFAULT_FIELDS) for document in documents)
    counted = count_all(texts, analyzer)
    y, labels = _indicator(documents, top) if multi else _numbers(documents, name)
    split = np.array([str(document.fields.get("split", "train")) for document in documents])
    ids = tuple(document.id for document in documents)
    n_labels = np.array([len(_topics(document)) if multi else 1 for document in documents], np.int64)
    return LabelledData(name, counted.counts, y, labels, split, tuple(counted.terms), ids, texts, n_labels)


def _numbers(documents: list[Document], name: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Each document's label as a number, and the labels in alphabetical order."""
    unlabelled = next((document.id for document in documents if not document.fields.get("label")), None)
    if unlabelled is not None or not documents:
        where = f"document '{unlabelled}' has none" if documents else "it holds no documents"
        raise InputError(f"a labelled data set needs the field 'label': {where}", source=name)
    labels, y = np.unique([str(document.fields["label"]) for document in documents], return_inverse=True)
    return y, tuple(labels.tolist())


def _indicator(documents: list[Document], top: int | None) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Which documents have which topic, and the topics by their number of training documents."""
    topics = [_topics(document) for document in documents]
    sizes = Counter(
        topic
        for document, own in zip(documents, topics, strict=True)
        if document.fields["split"] == "train"
        for topic in own
    )
    every = sorted({topic for own in topics for topic in own}, key=lambda topic: (-sizes[topic], topic))
    labels = tuple(every[:top])
    y = np.array([[label in own for label in labels] for own in topics], dtype=bool)
    return y.reshape(len(documents), len(labels)), labels


def _topics(document: Document) -> frozenset[str]:
    topics = document.fields["topics"]
    return frozenset(map(str, topics if isinstance(topics, list) else [topics]))
