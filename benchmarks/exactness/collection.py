"""The documents that are asked for, and the indexes that hold them: the same documents, laid out in several ways."""

from __future__ import annotations

import random
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from exactness.calls import called
from germane import Document, Engine, Topic
from germane.clicks import ClickStore, simulate_log
from germane.data import read_documents, read_qrels, read_topics
from germane.types import FieldValue, Judgement

NAMES = ("cranfield", "cisi", "cacm", "cystic_fibrosis", "scifact")
GONE, OUTDATED, ONE_BY_ONE = 70, 60, 11
"""One document of so many is deleted again, one of so many is replaced; the last of these are changed one by one."""
WHOLE, SEVERAL = (0.5, 1.0), (0.42, 0.8, 0.93, 0.98, 0.996, 1.0)
"""The shares of the documents after which a part ends; the large ones make segments of more than 4,096 documents."""
VECTORS = {"title": "24", "text": "16:float16", "coarse": "4:int8:dot"}
"""Vector fields; in `coarse` many documents are equally near."""
N_TAGS = 40
YEAR = re.compile(r"\b(19[3-9]\d|200\d)\b")


class HashEncoder:
    """Vectors of texts: the sum of a random vector for each word, the same in every process."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._known: dict[str, npt.NDArray[np.float64]] = {}

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> npt.NDArray[np.float64]:
        total = np.zeros(self._dimension)
        for word in re.findall(r"[a-z]+", text.lower()):
            if word not in self._known:
                self._known[word] = np.random.default_rng(crc32(word.encode())).standard_normal(self._dimension)
            total += self._known[word]
        return total


TITLE, TEXT = HashEncoder(24), HashEncoder(16)


@dataclass(frozen=True)
class Collection:
    """The documents that an index holds in the end, those that are deleted from it, and what people ask."""

    documents: Sequence[Document]
    gone: Sequence[Document]
    topics: Sequence[Topic]
    judgements: Sequence[Judgement]

    @classmethod
    def of(
        cls, documents: Sequence[Document], topics: Sequence[Topic] = (), judgements: Sequence[Judgement] = ()
    ) -> Collection:
        """With fields to filter on, and vectors."""
        words = Counter(word for document in documents for word in {*_long_words(document)})
        tags = [word for word, _ in sorted(words.items(), key=lambda item: (-item[1], item[0]))[:N_TAGS]]
        made = [_made(document, tags) for document in documents]
        held = {document.id for document in made if _is_held(document)}
        return cls(
            [document for document in made if document.id in held],
            [document for document in made if document.id not in held],
            topics,
            [judgement for judgement in judgements if judgement.doc_id in held],
        )

    @classmethod
    def read(cls) -> Collection:
        """Five collections as one; ids begin with the collection's name."""
        documents, topics, judgements = [], [], []
        for name in NAMES:
            documents += [Document(f"{name}-{own.id}", {**own.fields, "source": name}) for own in read_documents(name)]
            topics += [Topic(f"{name}-{topic.id}", topic.text) for topic in read_topics(name)]
            judgements += [
                Judgement(f"{name}-{own.query_id}", f"{name}-{own.doc_id}", own.grade) for own in read_qrels(name)
            ]
        return cls.of(documents, topics, judgements)

    def part(self, i: int, n: int) -> Collection:
        """The i-th of n collections that hold the documents of this one together."""
        documents, gone = (
            [document for document in own if crc32(document.id.encode()) // 7 % n == i]
            for own in (self.documents, self.gone)
        )
        return replace(self, documents=documents, gone=gone)


def _long_words(document: Document) -> list[str]:
    return re.findall(r"[a-z]{7,}", str(document.fields.get("title") or "").lower())


def _is_held(document: Document) -> bool:
    return crc32(document.id.encode()) % GONE > 0


def _made(document: Document, tags: Sequence[str]) -> Document:
    """The document with a year, a date, a number above 0 and tags, some of them missing, and with vectors."""
    rng = random.Random(document.id)
    fields: dict[str, FieldValue] = {name: document.fields.get(name) or "" for name in ("title", "text")}
    fields |= {name: value for name in ("source", "author") if (value := document.fields.get(name))}
    found = YEAR.search(" ".join(str(document.fields.get(name) or "") for name in ("date", "bib")))
    if found is not None or rng.random() < 0.9:
        fields["year"] = int(found[1]) if found is not None else rng.randint(1950, 2009)
        fields["date"] = f"{fields['year']}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    if rng.random() < 0.005:
        fields["year"] = "in press"
    if rng.random() < 0.8:
        fields["cites"] = round(rng.lognormvariate(2.0, 1.5), 2)
    own = [tag for tag in tags if tag in {*_long_words(document)}][:4]
    if own:
        fields["tags"] = [*own]
    return Document(document.id, fields, _vectors(fields, rng))


def _vectors(fields: dict[str, FieldValue], rng: random.Random) -> dict[str, list[float]]:
    made = {"coarse": [float(rng.randint(-1, 1)) for _ in range(4)]}
    title, text = str(fields["title"]), str(fields["text"])
    if title.strip():  # a little noise, so that no two are equally near
        made["title"] = [value + rng.gauss(0.0, 0.01) for value in TITLE.encode_query(title).tolist()]
    if text.strip():
        made["text"] = [value + rng.gauss(0.0, 0.01) for value in TEXT.encode_query(text[:400]).tolist()]
    return made


def build(folder: Path, collection: Collection, ends: Sequence[float], *, merged: bool, shuffled: bool = False) -> Path:
    """An index that comes by its documents in parts; some change, and some go.

    `merged`: all in one segment in the end. `shuffled`: in an order of their own.
    """
    documents = [*collection.documents]
    if shuffled:
        random.Random(len(documents)).shuffle(documents)
    changing = documents[7::OUTDATED]
    before = {document.id: _before(document) for document in changing}
    arriving = [before.get(document.id, document) for document in documents]
    with Engine.create(folder, vectors=VECTORS) as engine:
        engine.add(collection.gone, threads=1)
        start = 0
        for end in (round(share * len(arriving)) for share in ends):
            engine.add(arriving[start:end], threads=1)
            start = end
        engine.update(changing[:-ONE_BY_ONE])
        for document in changing[-ONE_BY_ONE:]:
            engine.update(document.id, {name: document.fields.get(name) for name in before[document.id].fields})
        engine.delete([document.id for document in collection.gone])
        if merged:
            engine.merge()
    return folder


def _before(document: Document) -> Document:
    """An earlier version."""
    fields = {**document.fields, "text": f"An earlier version. {document.fields['title']}", "year": 1900}
    return replace(document, fields=fields)


def clicked(folder: Path, collection: Collection) -> ClickStore:
    """A history of clicks on judged documents."""
    asked = collection.documents, collection.topics, collection.judgements
    log = simulate_log(*asked, folder / "log", searches=4000, users=80, zipf=0.5)
    store = ClickStore.create(folder / "clicks")
    called(store.add, [*log.files], memory=256, threads=1)
    return store


def taught(source: Path, folder: Path, store: ClickStore) -> Path:
    """A copy of an index that has learnt from clicks: two models with vectors of their own, the last one promoted."""
    shutil.copytree(source, folder)
    with Engine.open(folder) as engine:
        mixing = {"lambda1": 0.3, "lambda2": 0.4, "first_weight": 0.2}
        engine.learn(store, name="topics", model="bltm", force=True, depth=50, n_topics=12, n_iterations=5, **mixing)
        engine.learn(store, name="clicks", model="wtm", force=True, depth=50, **mixing)
    return folder
