"""The data sets of experiments: documents indexed once into the cache folder, topics and judgements."""

import hashlib
import math
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from germane import __version__
from germane.data import catalog, read_documents, read_topics
from germane.data.catalog import QRELS, TOPICS
from germane.engine import Engine
from germane.errors import GermaneError, IndexFormatError, InputError
from germane.evaluate.rankings import Qrels, load_qrels
from germane.experiments.datasets import locate
from germane.experiments.variants import Variant
from germane.feedback import FeedbackMethod
from germane.rank.models.base import RankingModel
from germane.text import Analyzer
from germane.types import DEFAULT_FIELDS, Document, Topic, text_of

CACHE = "GERMANE_CACHE"


def cache_folder() -> Path:
    """Return the folder of indexes and tuning trials: `GERMANE_CACHE`, else `germane` in the user's cache folder."""
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "germane"


@dataclass(frozen=True)
class DocumentsFrom:
    """Source of documents: a data set's folder, `irds:NAME`, or a file below GERMANE_DATA.

    `map`: our fields from their columns.
    """

    path: str
    map: Mapping[str, str] = field(default_factory=dict)

    def read(self) -> Iterator[Document]:
        """The documents, in order."""
        return read_documents(self.place, mapping=self.map or None)

    @property
    def place(self) -> str:
        """The path from the root, or as it is where there is no such file."""
        if self.path.startswith("irds:") or Path(self.path).is_absolute():
            return self.path
        return str(catalog.data_root() / self.path)


class DocumentReader(Protocol):
    """Something that documents are read from."""

    def read(self) -> Iterator[Document]:
        """The documents, in order."""


@dataclass(frozen=True)
class _Made:
    """The documents of a variant."""

    variant: Variant

    def read(self) -> Iterator[Document]:
        return iter(self.variant.read().documents)


@dataclass(frozen=True)
class Collection:
    """A data set ready to be searched."""

    name: str
    source: DocumentReader
    engine: Engine
    topics: tuple[Topic, ...]
    qrels: Qrels

    @classmethod
    def open(
        cls,
        name: str,
        *,
        analyzer: Analyzer | None = None,
        parts: Sequence[str] = (),
        documents: DocumentsFrom | None = None,
    ) -> "Collection":
        """The data set of that name, indexed now if it has not been before. Topics without judgements are left out.

        `parts`: further topics and judgements of the folder, such as "train" for `queries_train.tsv` and
        `qrels_train.txt`; the part's name is set before their ids. `documents`: those of another file in their place.
        """
        source = locate(name)
        qrels, topics = load_qrels(source), list(read_topics(source))
        for part in parts:
            files = (Path(source) / f"{Path(file).stem}_{part}{Path(file).suffix}" for file in (TOPICS, QRELS))
            own_topics, own_qrels = read_topics(next(files)), load_qrels(next(files))
            topics += [Topic(f"{part}_{topic.id}", topic.text) for topic in own_topics]
            qrels |= {f"{part}_{query}": grades for query, grades in own_qrels.items()}
        judged = tuple(topic for topic in topics if topic.id in qrels)
        if not judged:
            raise InputError("no topic of the data set is judged", source=name)
        read = documents or DocumentsFrom(source)
        engine = _indexed(name, read, _digest(read), cache_folder() / "indexes", analyzer or Analyzer())
        return cls(name, read, engine, judged, qrels)

    @classmethod
    def of_variant(cls, name: str, variant: Variant) -> "Collection":
        """Return the collection that the variant makes of other data sets, and index it unless it is indexed."""
        made = variant.read()
        if not made.topics:
            raise InputError("no topic of the data set is judged", source=name)
        digest = hashlib.sha256(__version__.encode() + variant.key.encode())
        for part in variant.of:
            for path in sorted(Path(locate(part)).glob("*.gz")):
                _add_bytes(digest, path)
        folder, source = cache_folder() / "indexes", _Made(variant)
        engine = _indexed(name, source, digest.hexdigest()[:16], folder, variant.analyzer)
        return cls(name, source, engine, tuple(made.topics), made.qrels)

    def documents(self) -> Iterator[Document]:
        """The documents, as they are read."""
        return self.source.read()

    @property
    def described(self) -> dict[str, str]:
        """Its numbers as SD table 5.2 has them, and more of the queries. Lengths are in terms: stopped and stemmed."""
        stats, n = self.engine.stats(), len(self.topics)
        terms = sum(len(self.engine.analyzer.terms(topic.text)) for topic in self.topics)
        relevant = sum(grade > 0 for topic in self.topics for grade in self.qrels[topic.id].values())
        return {
            "documents": f"{stats.documents:,}",
            "mean length": f"{stats.tokens / max(stats.documents, 1):.1f}",
            "vocabulary": f"{stats.terms:,}",
            "judged queries": f"{n:,}",
            "mean length of a query": f"{terms / n:.1f}",
            "relevant to a query": f"{relevant / n:.1f}",
        }

    @property
    def texts(self) -> Mapping[str, str]:
        """The queries' words by id."""
        return {topic.id: topic.text for topic in self.topics}

    def run(
        self, model: RankingModel | None, k: int, *, feedback: FeedbackMethod | None = None
    ) -> dict[str, dict[str, float]]:
        """The run of a model over all judged topics; with feedback, which ranks by itself where no model is given."""
        return {
            topic.id: dict(zip(result.ids, result.scores.tolist(), strict=True))
            for topic, result in self.engine.batch(self.topics, k, model=model, feedback=feedback, rerank=None)
        }

    @cached_property
    def literal(self) -> "LiteralBM25":
        """The independent BM25 over the same terms."""
        return LiteralBM25(self.documents(), self.engine.text_fields, self.engine.analyzer)

    @property
    def convention(self) -> str:
        """Which qrels these are, in one line."""
        grades = sorted({grade for row in self.qrels.values() for grade in row.values()})
        relevant = sum(grade > 0 for row in self.qrels.values() for grade in row.values())
        return (
            f"{len(self.engine):,} documents; {len(self.qrels):,} judged queries; {relevant:,} pairs of grade > 0 are "
            f"relevant (grades {', '.join(map(str, grades))}; nDCG's gain is the grade)"
        )


class LiteralBM25:
    """BM25 as in the books, over the same terms: an independent yardstick for the engine, made to be read.

    score = Σ_w c(w,Q) · log(1 + (N - df + ½)/(df + ½)) · c(w,D)(k1 + 1)/(c(w,D) + k1(1 - b + b|D|/avgdl)).

    Robertson & Zaragoza 2009, with the idf that cannot be negative (Lucene's). Nothing is shared with the engine but
    the analyser.
    """

    def __init__(self, documents: Iterable[Document], fields: Sequence[str], analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._postings: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._length: dict[str, int] = {}
        for document in documents:
            terms = analyzer.terms(text_of(document.fields, fields))
            self._length[document.id] = len(terms)
            for term, count in Counter(terms).items():
                self._postings[term].append((document.id, count))

    def run(self, topics: Iterable[Topic], k: int, k1: float = 1.2, b: float = 0.75) -> dict[str, dict[str, float]]:
        """The best k documents of each topic."""
        n, mean = len(self._length), sum(self._length.values()) / len(self._length)
        run: dict[str, dict[str, float]] = {}
        for topic in topics:
            scores: dict[str, float] = defaultdict(float)
            for term, weight in Counter(self._analyzer.terms(topic.text)).items():
                postings = self._postings.get(term, [])
                idf = math.log(1.0 + (n - len(postings) + 0.5) / (len(postings) + 0.5))
                for doc, c in postings:
                    scores[doc] += weight * idf * c * (k1 + 1.0) / (c + k1 * (1.0 - b + b * self._length[doc] / mean))
            best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
            run[topic.id] = dict(best)
        return run


def _indexed(name: str, source: DocumentReader, digest: str, folder: Path, analyzer: Analyzer) -> Engine:
    """The index from the cache, or built beside it and moved there whole."""
    safe = "".join(mark if mark.isalnum() else "-" for mark in name)
    target = folder / f"{safe}-{analyzer.fingerprint}-{digest}"
    if target.exists():
        try:
            return Engine.open(target)
        except (IndexFormatError, GermaneError):
            shutil.rmtree(target, ignore_errors=True)  # made by another version
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="building-") as scratch:
        with Engine.create(Path(scratch) / "index", analyzer=analyzer, fields=DEFAULT_FIELDS) as engine:
            engine.add(source.read())
        try:
            os.rename(Path(scratch) / "index", target)
        except OSError:
            if not target.exists():  # else another process was faster
                raise
    return Engine.open(target)


def _digest(source: DocumentsFrom) -> str:
    """16 hex digits of the documents' bytes and our version; of the name alone where the data is ir_datasets'."""
    digest = hashlib.sha256(__version__.encode() + repr(sorted(source.map.items())).encode() * bool(source.map))
    place = Path(source.place)
    path = None if source.place.startswith("irds:") else place if place.is_file() else catalog.documents_in(place)
    if path is None:
        digest.update(source.place.encode())
    else:
        _add_bytes(digest, path)
    return digest.hexdigest()[:16]


def _add_bytes(digest: "hashlib._Hash", path: Path) -> None:
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
