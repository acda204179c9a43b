"""Collections made of others: cut short, merged, otherwise analysed, sampled. Defaults have to hold on these too.

In an experiment file of rankings or marks:

[variants."cranfield, 12 words"]    the name under which it is a data set
of = ["cranfield"]                  data sets below GERMANE_DATA or lists of `judged_lists.py`; several are merged
part = "topics"                     of queries_topics.tsv and qrels_topics.txt (optional)
fields = ["title"]                  the text fields that are kept; all by default
words = 12                          the first words of the text; 0: all
stopwords = "none"                  the list of the analyser; "english" by default
stemmer = "none"
documents = 15000                   at most so many: the judged ones, and others at random; 0: all
queries = 120                       at most so many judged ones, at random; 0: all

family = "nfcorpus"                 with whom it is left out; by default its data set, of merged ones all their names
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from germane.data import read_documents, read_topics
from germane.data.catalog import QRELS, TOPICS
from germane.evaluate.rankings import Qrels, load_qrels
from germane.experiments.datasets import locate
from germane.experiments.judged_lists import LISTS, Judged, read_list
from germane.text import Analyzer
from germane.types import DEFAULT_FIELDS, Document, Topic, text_of

SEED = 0


@dataclass(frozen=True)
class Variant:
    """What is made of which data sets."""

    of: Sequence[str]
    part: str = ""
    fields: Sequence[str] = DEFAULT_FIELDS
    words: int = 0
    stopwords: str = "english"
    stemmer: str = "english"
    documents: int = 0
    queries: int = 0
    family: str = ""

    def __post_init__(self) -> None:
        if not self.of:
            raise ValueError("a variant is made 'of' one data set or more")
        for name in ("words", "documents", "queries"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} of a variant must not be negative, not {getattr(self, name)}")

    @property
    def left_out_with(self) -> str:
        """The family: whose documents these are."""
        return self.family or " + ".join(self.of)

    @property
    def analyzer(self) -> Analyzer:
        """How its texts become terms."""
        return Analyzer(self.stemmer, self.stopwords)

    @property
    def key(self) -> str:
        """All that it says, as one text."""
        return json.dumps({**asdict(self), "family": ""}, sort_keys=True)

    def read(self) -> Judged:
        """The collection."""
        parts = [_prefixed(_part(name, self.part), f"{name}/" if len(self.of) > 1 else "") for name in self.of]
        qrels: dict[str, dict[str, int]] = {}
        for part in parts:
            qrels |= {query: dict(grades) for query, grades in part.qrels.items()}
        judged = sorted(query for query, grades in qrels.items() if max(grades.values(), default=0) > 0)
        kept = {*_sample(judged, self.queries)}
        topics = [topic for part in parts for topic in part.topics if topic.id in kept]
        qrels = {topic.id: qrels[topic.id] for topic in topics}
        documents = (document for part in parts for document in part.documents)
        return Judged(list(_cut(_sampled(documents, qrels, self.documents), self.fields, self.words)), topics, qrels)


def made_of(names: Sequence[str], variants: Mapping[str, Variant]) -> list[str]:
    """The data sets below GERMANE_DATA that these are, or are made of."""
    made = (part for name in names if name in variants for part in variants[name].of)
    return [*dict.fromkeys([*(name for name in names if name not in variants), *made])]


def _part(name: str, part: str) -> Judged:
    if name in LISTS:
        return read_list(name)
    source = locate(name)
    if not part:
        return Judged(read_documents(source), list(read_topics(source)), load_qrels(source))
    topics, qrels = (Path(source) / f"{Path(file).stem}_{part}{Path(file).suffix}" for file in (TOPICS, QRELS))
    return Judged(read_documents(source), list(read_topics(topics)), load_qrels(qrels))


def _prefixed(judged: Judged, prefix: str) -> Judged:
    if not prefix:
        return judged
    return Judged(
        (Document(prefix + document.id, document.fields) for document in judged.documents),
        [Topic(prefix + topic.id, topic.text) for topic in judged.topics],
        {prefix + query: {prefix + doc: g for doc, g in grades.items()} for query, grades in judged.qrels.items()},
    )


def _sample(names: Sequence[str], most: int) -> Sequence[str]:
    if not most or len(names) <= most:
        return names
    return [names[i] for i in np.sort(np.random.default_rng(SEED).choice(len(names), most, replace=False))]


def _sampled(documents: Iterable[Document], qrels: Qrels, most: int) -> Iterator[Document]:
    """The judged documents, and others at random up to `most`."""
    if not most:
        yield from documents
        return
    found = list(documents)
    judged = {doc for grades in qrels.values() for doc in grades}
    others = [document.id for document in found if document.id not in judged]
    kept = judged | {*_sample(others, max(most - (len(found) - len(others)), 1))}
    yield from (document for document in found if document.id in kept)


def _cut(documents: Iterable[Document], fields: Sequence[str], words: int) -> Iterator[Document]:
    for document in documents:
        text = text_of(document.fields, fields)
        yield Document(document.id, {"text": " ".join(text.split()[:words]) if words else text})
