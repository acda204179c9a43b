"""The engine: one object that opens, fills and searches an index. The doors (CLI, HTTP) translate to these calls."""

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from numbers import Integral
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
import numpy.typing as npt

from germane.engine.answers import answer_explain, answer_search
from germane.engine.candidates import Candidates
from germane.engine.compiling import announce_compiling
from germane.engine.documents import OnKnown, as_documents
from germane.engine.feedback import Passes, model_of, search_with_feedback, topic_of
from germane.engine.feedback_report import FeedbackReport
from germane.engine.filtering import AnyFilter, condition_of, narrowed
from germane.engine.idling import let_go_when_idle
from germane.engine.merging import change_of, merged_with
from germane.engine.models.promotion import PROMOTED, Promotions, unused
from germane.engine.paging import Paging
from germane.engine.registry import RERANKERS, is_reranker, reranker_named
from germane.engine.requests import DEFAULT_FEEDBACK, ExplainRequest, SearchRequest
from germane.engine.rerank import AnyReranker, ByModel, Reranker, SecondStage, Widening, reranker_of
from germane.engine.reranked import explain_reranked
from germane.engine.responses import ExplainResponse, IndexStats, SearchResponse, VectorFieldStats
from germane.engine.results import SearchResult, match_of
from germane.errors import (
    EngineClosedError,
    GermaneError,
    IndexFormatError,
    IndexLockedError,
    ParameterError,
    QueryError,
    UnknownDocumentError,
)
from germane.feedback import FeedbackMethod, feedback_named
from germane.index.durable import touch_lock
from germane.index.ingest import DEFAULT_MEMORY
from germane.index.manifest import NAME as MANIFEST
from germane.index.snapshot import Snapshot
from germane.index.vector_fields import VectorField, check_name, fields_of
from germane.index.writer import AddReport, IndexWriter
from germane.lazy import load
from germane.lm import LeaveOneOut, Postings, optimal_lam, optimal_mu
from germane.lm.parameters import number, whole
from germane.rank.explain import Explanation
from germane.rank.facets import Facet
from germane.rank.local import SnapshotRetriever
from germane.rank.model_parameters import ModelParameters
from germane.rank.models import RankingModel
from germane.rank.plan import Collection
from germane.rank.priors import Prior
from germane.rank.query import MAX_EXPANSIONS, ParsedQuery, parse, plain, searchable_in, strongest
from germane.rank.registry import DEFAULT_MODEL, MODELS, model_defaults, model_named
from germane.rank.retriever import Hits, Retriever, Scoring, SignedTopic, TopRequest
from germane.rank.work import looks
from germane.tables import html
from germane.text import Analyzer, tokenize
from germane.types import DEFAULT_FIELDS, DocId, Document, Marks, Topic, id_text
from germane.wording import counted

if TYPE_CHECKING:
    from germane.clicks import ClickRules, ClickStore
    from germane.engine.following import Text, TopicFollower
    from germane.engine.models.model_store import ModelStore
    from germane.engine.models.values import LearnReport, ModelVersion
    from germane.engine.pipelines import Pipeline
    from germane.engine.vectors import Encoder
    from germane.evaluate.frames import AnyQrels, AnyTopics
    from germane.track import Costs, TrackMethod

MAX_QUERY_TERMS = 1024
"""A longer query keeps its strongest terms; the bound is far above what any ranking needs."""

MEMORY = ":memory:"
"""The path of an index that is not kept."""
MOST_STAGES = 4
"""Latent models whose folded-in titles are kept, beside those of the index."""
NO_MARKS = Marks()
NOTHING_NAMED = (None,) * 5
"""A search that names no ranking of its own."""
PLAIN = (None,) * 7
"""A search without feedback, marks, a second stage, or another order: most of them."""
Query = str | Mapping[str, float]


class Engine:
    """An index opened for searching and, from the first change on, for writing.

    >>> with Engine.create("my-index") as engine:
    ...     added = engine.add([Document("1", {"text": "heart attack"})])
    ...     engine.search("heart").ids
    ['1']

    Searching is safe from many threads. A snapshot stays as it was opened; `refresh` looks for commits of others. A
    closed engine can still be searched, and changes nothing any more.
    """

    def __init__(self, folder: Path, snapshot: Snapshot, writer: IndexWriter | None = None) -> None:
        announce_compiling()
        self.folder = folder
        self._closed = False
        self._vanishing: weakref.finalize[Any, Engine] | None = None
        self._looked = time.monotonic()
        self._retriever = SnapshotRetriever(snapshot)
        self._writer = writer
        self._changing = threading.Lock()
        self._changed = time.monotonic()
        self._watched = False
        """Whether a thread looks when nothing is changed any more (`idling`)."""
        self._merge_error: Exception | None = None
        """Why a merge in the background failed of a writer that is gone."""
        self._showing = threading.Lock()
        self._staging = threading.Lock()
        self._stages: dict[Hashable, tuple[object, Reranker]] = {}
        self._promotions = Promotions(folder)
        self.max_expansions = MAX_EXPANSIONS
        """Different prefixes, fuzzy words and phrases with moves that a query may have; a server allows fewer."""
        self.max_looks: int | None = None
        """Documents that a query's phrases, fields and models may look into (`rank.work`); a server sets a bound."""
        if writer is not None:
            self._watched = True
            let_go_when_idle(self)

    # -- opening ---------------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        analyzer: Analyzer | None = None,
        fields: Sequence[str] = DEFAULT_FIELDS,
        positions: bool = True,
        vectors: Mapping[str, VectorField | int | str] | None = None,
    ) -> "Engine":
        """Make an empty index. `fields` are searched as text; all others are stored and can be filtered on.

        `positions`: keep the order of words and the lengths of fields, for phrases and for words in one field. Without
        it the index is smaller, and such queries read the stored text of every document that holds the words.

        `vectors`: the vector fields that documents may bring, by name: a dimension (128), with the type of the numbers
        and the similarity if need be ("128:int8", "128:float32:dot"), or a `VectorField`.

        The path ":memory:" makes one that is not kept: it lies in a folder of the system's for temporary files, and is
        removed when the engine is closed or forgotten, or Python ends.
        """
        if path == MEMORY:
            folder = Path(tempfile.mkdtemp(prefix="germane-"))
            vanish = partial(shutil.rmtree, folder, ignore_errors=True)
            try:
                engine = cls._created(folder, analyzer, fields, positions, vectors)
            except BaseException:
                vanish()
                raise
            engine._vanishing = weakref.finalize(engine, vanish)
            return engine
        return cls._created(Path(path), analyzer, fields, positions, vectors)

    @classmethod
    def _created(
        cls,
        folder: Path,
        analyzer: Analyzer | None,
        fields: Sequence[str],
        positions: bool,
        vectors: Mapping[str, VectorField | int | str] | None,
    ) -> "Engine":
        writer = IndexWriter.create(
            folder, analyzer or Analyzer(), fields, positions=positions, vector_fields=fields_of(vectors)
        )
        return cls(folder, writer.snapshot, writer)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Engine":
        """Open an index. The writer's lock is taken by the first call that changes something, and given back soon
        after the last one (`idling.IDLE_SECONDS`), so that others can write while this engine is open."""
        if path == MEMORY:
            raise ParameterError("an index in memory is never there to be opened: Engine.create(':memory:') makes one")
        return cls(Path(path), Snapshot.open(Path(path)))

    @classmethod
    def open_or_create(
        cls, path: str | os.PathLike[str], *, analyzer: Analyzer | None = None, fields: Sequence[str] | None = None
    ) -> "Engine":
        """Open the index, or make an empty one where there is none.

        An `analyzer` or `fields` (in any order) that the index there does not have is a ParameterError.
        """
        if path == MEMORY or not (Path(path) / MANIFEST).exists():
            try:
                return cls.create(path, analyzer=analyzer, fields=fields or DEFAULT_FIELDS)
            except IndexFormatError:
                if not (Path(path) / MANIFEST).exists():  # else another process was faster
                    raise
        engine = cls.open(path)
        if analyzer is not None and analyzer.fingerprint != engine.analyzer.fingerprint:
            raise ParameterError(f"the index in {path} was made with another analyzer: {engine.analyzer}")
        if fields is not None and set(fields) != set(engine.text_fields):
            raise ParameterError(f"the index in {path} has other text fields: {', '.join(engine.text_fields)}")
        return engine

    @classmethod
    def upgrade(cls, old: str | os.PathLike[str], new: str | os.PathLike[str]) -> "Engine":
        """Make a new index of the documents of one that an older version of Germane made, which stays as it is.

        So is one of this version that does not keep the order of words: the new one does.
        """
        from germane.index.upgrade import old_documents, old_manifest, old_vectors

        manifest = old_manifest(Path(old))
        vectors = {name: field for name, field in manifest.vector_fields.items() if not field.source}
        engine = cls.create(new, analyzer=manifest.analyzer, fields=manifest.text_fields, vectors=vectors)
        try:
            engine.add(old_documents(Path(old), manifest))
            for name, ids, matrix in old_vectors(Path(old), manifest):
                engine.set_vectors(name, ids, matrix)
        except BaseException:
            engine.close()
            raise
        return engine

    def refresh(self, *, within: float = 0.0) -> None:
        """See what other processes have committed since; never less than was seen before.

        `within`: seconds that what is seen may be old: if it was looked for so shortly ago, nothing is done. Every
        commit costs a reader about a millisecond; one that asks before each search, beside a writer that commits all
        the time, pays for as many of them as it needs: `refresh(within=0.1)` for ten a second at most. The writer rests
        a little between commits while somebody asks.
        """
        now = time.monotonic()
        if now - self._looked < number("within", within):
            return
        while True:
            shown = self._retriever
            snapshot = Snapshot.open(self.folder, shown.snapshot)
            if snapshot is shown.snapshot:
                self._looked = now
                return
            with self._showing:
                if self._retriever is shown:  # else something came between, and may be newer: look again
                    self._show(snapshot)
                    self._looked = now
                    if self._writer is None:
                        touch_lock(self.folder)
                    return

    def close(self) -> None:
        """Finish background merging and let other writers in. Nothing can be changed through this engine any more."""
        with self._changing:
            self._closed = True
            self._let_others_write()
            if self._vanishing is not None:
                self._vanishing()

    def release(self) -> None:
        """Finish background merging and let other writers in; the next change takes the lock again."""
        with self._changing:
            self._let_others_write()

    def _let_others_write(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            self._merge_error = None
            writer.close()
            self._show_written(writer)
        error, self._merge_error = self._merge_error, None
        if error is not None:
            raise error

    def _gave_back(self, idle: float) -> bool:
        """Let others write if nothing was changed for so many seconds; whether this engine has no writer now."""
        if not self._changing.acquire(blocking=False):
            return False
        try:
            writer = self._writer
            if writer is not None and (writer.is_merging or time.monotonic() - self._changed < idle):
                return False
            self._watched = False
            try:
                if writer is not None:
                    self._let_others_write()
            except Exception as error:  # told by `release` or `close`
                self._merge_error = error
            return True
        finally:
            self._changing.release()

    def __repr__(self) -> str:
        held = counted(len(self), "document")
        return f"<Engine {str(self.folder)!r}: {held}, searched in {', '.join(self.text_fields)}>"

    def _repr_html_(self) -> str:
        """A table for notebooks: where the index lies, and what is in it."""
        told = [("index", str(self.folder)), ("documents", len(self)), ("searched", ", ".join(self.text_fields))]
        told += [("filtered on", ", ".join(sorted(self.filterable()))), ("vectors", ", ".join(self.vector_fields))]
        return html(["Engine", ""], [list(row) for row in told if row[1] != ""])

    def __reduce__(self) -> tuple[Any, ...]:
        """An engine is carried to another process as its path, and opens the index there as it is then."""
        if self._vanishing is not None:
            raise ParameterError(
                "an index in memory cannot be carried to another process, which would not find it: make one in a "
                "folder, Engine.create(path)"
            )
        return _opened, (type(self), str(self.folder.absolute()), self.max_expansions)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- changing --------------------------------------------------------------------------------------------------

    def add(
        self,
        documents: Iterable[Document | Mapping[str, Any]],
        *,
        on_duplicate: OnKnown = "error",
        threads: int | None = None,
        memory_mb: int = DEFAULT_MEMORY >> 20,
    ) -> AddReport:
        """Add documents in one atomic commit: durable and searchable on return, or nothing happened.

        A document is a `Document`, or a mapping with its `id` among its fields: `{"id": "1", "title": "Copper"}`. Its
        vectors, if it has any, are a mapping too: `"vectors": {"title": [0.1, 0.7]}`. Those of a learnt model that the
        index keeps (`promote`) are made as documents are added. Ids are texts: a whole number is kept as its digits.

        `on_duplicate`: what becomes of an id that is there: an "error", "replace" the old document, "skip" the new one,
        or "merge": the old document keeps its vectors and the fields that the new one lacks (`update`).
        """
        return self._added(as_documents(documents), on_duplicate, threads, memory_mb)

    def _added(
        self,
        read: Iterator[Document],
        on_duplicate: OnKnown,
        threads: int | None = None,
        memory_mb: int = DEFAULT_MEMORY >> 20,
        *,
        known: bool = False,
    ) -> AddReport:
        """Add documents; `known`: merging, refuse an id that is not there."""
        with self._changing:
            writer = self._writing()
            if on_duplicate == "merge":
                read, on_duplicate = merged_with(writer.snapshot, read, known=known), "replace"
            if any(field.source for field in writer.snapshot.manifest.vector_fields.values()):
                from germane.engine.models.fold_in import folding_in

                read = folding_in(self.models, writer, read)
            report = writer.add(read, on_duplicate=on_duplicate, threads=threads, memory=memory_mb << 20)
            self._show_written(writer)
            return report

    @overload
    def update(self, doc_id: DocId, fields: Mapping[str, Any], /) -> AddReport: ...

    @overload
    def update(self, documents: Iterable[Document | Mapping[str, Any]]) -> AddReport: ...

    def update(
        self, documents: DocId | Iterable[Document | Mapping[str, Any]], fields: Mapping[str, Any] | None = None
    ) -> AddReport:
        """Change some fields of a document, and keep its others and its vectors; or replace whole documents.

        `update("7", {"year": 2020, "draft": None})` sets a field and removes one (None); `"vectors": {...}` likewise.
        An id that is not there is an error. `update([...])` adds documents, replacing those of the same id as a whole;
        `add([...], on_duplicate="merge")` changes many documents in one commit.

        >>> with Engine.create(":memory:") as engine:
        ...     added = engine.add([{"id": 7, "title": "Copper", "year": 1912, "draft": True}])
        ...     changed = engine.update(7, {"year": 1913, "draft": None})
        ...     engine.document(7).fields
        {'title': 'Copper', 'year': 1913}
        """
        if isinstance(documents, str | int | Integral):
            return self._added(as_documents([change_of(documents, fields)]), "merge", known=True)
        if fields is not None:
            raise ParameterError("update takes an id and the fields to change, or a list of whole documents")
        return self.add(documents, on_duplicate="replace")

    def delete(self, ids: Sequence[DocId], *, missing: Literal["error", "ignore"] = "error") -> int:
        """Delete documents by id; returns how many."""
        with self._changing:
            writer = self._writing()
            deleted = writer.delete(ids, missing=missing)
            self._show_written(writer)
            return deleted

    def set_vectors(
        self,
        field: str,
        ids: Sequence[DocId],
        matrix: npt.ArrayLike,
        *,
        dtype: str | None = None,
        similarity: str | None = None,
        replace: bool = False,
    ) -> int:
        """Give documents vectors in a field, one row of `matrix` for each id, in one atomic commit; how many.

        A new field is made as `dtype` (float32, float16, int8) and `similarity` (cosine, dot) say. Documents not named
        keep their vectors, unless `replace`: then the field begins anew, as for the vectors of a new model.
        """
        from germane.engine.vectors import field_for

        rows = np.asarray(matrix)
        with self._changing:
            writer = self._writing()
            known = writer.snapshot.manifest.vector_fields.get(check_name(field))
            if known is not None and known.source and not replace:
                raise ParameterError(
                    f"the vectors '{field}' are made by the model {known.source.split()[0]}: name another field, or "
                    "take this one over with replace=True"
                )
            kind = field_for(known, rows, dtype, similarity, replace)
            n = writer.set_vectors(field, kind, [*map(id_text, ids)], rows, replace=replace)
            self._show_written(writer)
            return n

    def build_graphs(self, field: str | None = None, *, threads: int = 1) -> int:
        """Make the graphs by which `vector_search(..., approximate=True)` goes; how many vectors they hold now.

        A segment of LEAST vectors or more has one, beside its vectors, if it has none yet. Documents that are added
        later are searched exactly until this is asked for again. By more threads a graph is made faster, and is not
        the same each time.
        """
        from germane.index.graphs import built_graph, files_for_graphs, graph_of

        held = 0
        for file in files_for_graphs(self._retriever.snapshot, field):
            if graph_of(file) is None:
                content = built_graph(file, threads=whole("threads", threads, least=1))
                with self._changing:
                    if not self._writing().add_graph(file, content):
                        continue
                file.graph = None  # what was found wanting before
            held += len(file)
        return held

    def drop_vectors(self, field: str) -> None:
        """Remove a vector field with all its vectors."""
        with self._changing:
            writer = self._writing()
            writer.drop_vectors(field)
            self._show_written(writer)

    def merge(self) -> None:
        """Merge all segments into one and drop deleted documents for good."""
        with self._changing:
            writer = self._writing()
            writer.merge()
            self._show_written(writer)

    def _writing(self) -> IndexWriter:
        if self._closed:
            gone = "its index in memory is gone: Engine.create(':memory:') makes a new one"
            there = f"changes nothing any more: Engine.open('{self.folder}') opens its index again"
            raise EngineClosedError(f"this engine was closed, and {there if self._vanishing is None else gone}")
        if self._writer is None:
            self._writer = IndexWriter(self.folder, seen=self._retriever.snapshot)
            with self._showing:
                self._show(self._writer.snapshot)
        self._changed = time.monotonic()
        if not self._watched:
            self._watched = True
            let_go_when_idle(self)
        return self._writer

    def _show_written(self, writer: IndexWriter) -> None:
        """What the writer committed; a refresh may have seen more of it already, from a merge in the background."""
        self._changed = time.monotonic()
        with self._showing:
            if writer.snapshot.manifest.generation > self._retriever.snapshot.manifest.generation:
                self._show(writer.snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        """Search this snapshot from now on; `_showing` is held."""
        if snapshot is not self._retriever.snapshot:
            self._retriever = SnapshotRetriever(snapshot, self._retriever)

    @property
    def retriever(self) -> Retriever:
        """The collection as it is shown now, which stays as it is whatever is added."""
        return self._retriever

    # -- searching -------------------------------------------------------------------------------------------------

    def search(
        self,
        query: Query,
        k: int = 10,
        *,
        model: str | RankingModel | None = None,
        priors: Sequence[Prior] = (),
        syntax: bool = True,
        feedback: str | FeedbackMethod | None = None,
        marks: Marks | Mapping[str, bool] | Mapping[int, bool] | None = None,
        rerank: AnyReranker | None = PROMOTED,
        depth: int | None = None,
        filter: AnyFilter | None = None,
        offset: int = 0,
        sort: str | None = None,
        group_by: str | None = None,
        min_score: float | None = None,
        weights: Mapping[str, float] | None = None,
        **parameters: Unpack[ModelParameters],
    ) -> SearchResult:
        """The best k documents for a query.

        `query`: words in the query language (`rank.query`), plain text with `syntax=False`, or a topic model as a
        mapping from index terms to weights, ranked by T-cross-entropy. `model`: a name with its parameters
        (`mu=400`), or a RankingModel; `DEFAULT_MODEL` by default. `weights`: those of text fields (`{"title": 3}`), for
        the models "bm25f" and "lmf". `priors`: log-priors added to the score.

        `feedback`: learn from the first ranking and rank again; a name ("rm3", "sd", ...) or a FeedbackMethod. `marks`:
        documents that are relevant (True) or not (False); without `feedback` they imply DEFAULT_FEEDBACK. With
        feedback and no `model`, the method's own rankings are used; a `model` given is used for both passes.

        `rerank`: score the first `depth` results (DEFAULT_DEPTH) again and order them by that; the rest follow in their
        own order. The name of a ranking model, of a learnt model of this index ("clicks", "clicks@3"), the file of a
        saved latent model, such a model, or any object with `rerank(query, candidates)` (`engine.rerank`). A latent
        model brings up to `depth` documents of its own, which need share no word with the query. The learnt model that
        was promoted last does it where nothing is said (`SearchResult.reranked_by`), unless the search names a ranking:
        `model` or parameters, `feedback`, `marks`, `sort`. None leaves it out.

        `filter`: only documents that pass, as a value: `{"tenant": "a", "year": {">=": 2020}}`, or as an expression:
        `(Field("tenant") == "a") & (Field("year") >= 2020)` (`rank.filter_values`); a text is read as a query. Feedback
        learns from documents that pass, and from those that are marked. A blank query finds all that pass.

        `offset`: leave so many results out and give the next k. `sort`: order by a field instead ("year", or "-year"
        for the largest first). `group_by`: of documents with the same value of a field, the best alone. `min_score`: no
        result below.
        """
        retriever = self._retriever
        parsed = self.read(retriever, query, syntax, filter)
        if self.max_looks is not None:
            self._check_looks(retriever, parsed, self._model(model, weights, parameters), self.max_looks)
        promotion = None
        if isinstance(rerank, str) and rerank == PROMOTED:
            if (model, weights, feedback, marks or None, sort) == NOTHING_NAMED and not parameters:
                promotion = self._promotions.of(self) if isinstance(query, str) and parsed.weights else None
            rerank = None if promotion is None else promotion.stage
        if offset == 0 and promotion is None and (feedback, marks, rerank, depth, sort, group_by, min_score) == PLAIN:
            ranking = self._model(model, weights, parameters) or model_named(DEFAULT_MODEL)
            hits = self._ranked(retriever, parsed, ranking, k, tuple(priors))
            return SearchResult(parsed, hits, retriever)
        paging = Paging(offset, sort, group_by, min_score)
        second = SecondStage.of(None if rerank is None else self._reranker(rerank), depth)
        if (parameters or weights is not None) and model is None and (feedback is not None or marks):
            named = ", ".join(parameters) or "weights"
            raise ParameterError(
                f"{named}: with feedback, name the model that has it (model=...), or give the method its parameters: "
                "feedback=RM3(n_docs=20)"
            )
        if sort is not None and (feedback is not None or marks or rerank is not None):
            raise ParameterError("'sort' orders by a field: feedback, marks and re-ranking have nothing to say there")
        chosen = self._model(model, weights, parameters)
        if chosen is not None:
            chosen = chosen.of_query(parsed.runs)
        own = tuple(priors)
        marked = NO_MARKS if marks is None else Marks.of(marks)
        learning = None
        if feedback is not None or marked:
            learning = (
                feedback if isinstance(feedback, FeedbackMethod) else feedback_named(feedback or DEFAULT_FEEDBACK)
            )
        report: FeedbackReport | None = None

        def ranked(n: int) -> Hits:
            nonlocal report, promotion
            n_first = n if second is None or n < 1 else max(n, second.depth)
            if learning is None:
                hits = self._ranked(retriever, parsed, chosen or model_named(DEFAULT_MODEL), n_first, own)
            else:
                firsts = tuple(chosen or model_of(ranking) for ranking in learning.first_rankings)
                passes = Passes(firsts, chosen or model_of(learning.final), parsed.conditions, own, parsed.wordless)
                hits, learnt = search_with_feedback(retriever, parsed.weights, n_first, learning, marked, passes)
            if second is not None:
                topic = SignedTopic(parsed.weights) if learning is None else topic_of(learnt.expansion, learnt.terms)
                try:
                    hits = second.apply(hits, n, parsed, lambda first: Candidates(topic, first, retriever, own))
                except GermaneError as error:
                    if promotion is None:
                        raise
                    promotion, hits = unused(promotion.reference, error), hits.part(0, n)
            if learning is not None:
                report = FeedbackReport(learning, learnt, passes, retriever, parsed, hits)
            return hits

        hits = paging.page(ranked, k, parsed, retriever)
        widened = second is not None and isinstance(second.reranker, Widening)
        if promotion is None:
            return SearchResult(parsed, hits, retriever, report, offset, widened)
        by = None if promotion.stage is None else promotion.reference
        return SearchResult(parsed, hits, retriever, report, offset, by is not None, by, promotion.problem)

    @staticmethod
    def _check_looks(retriever: Retriever, parsed: ParsedQuery, model: RankingModel | None, most: int) -> None:
        wanted = looks(parsed, retriever, model)
        if wanted > most:
            raise QueryError(
                f"the query would look into documents {wanted:,} times, where {most:,} are allowed: use rarer words in "
                "phrases and fields, or fewer of them, or another model"
            )

    def _reranker(self, rerank: AnyReranker) -> Reranker:
        """What a search named; of a model or a file the stage that was made of it first, with its folded-in titles."""
        if isinstance(rerank, Reranker):
            return rerank
        if isinstance(rerank, str):
            if is_reranker(rerank):
                return reranker_named(rerank)
            if rerank in self.models:
                return self.models.stage(rerank)
            path = Path(rerank)
            if not path.is_file():
                known = ", ".join((*RERANKERS, *MODELS, *self.models.names()))
                raise ParameterError(
                    f"there is no re-ranker '{rerank}'; choose one of {known}, or the file of a saved latent model"
                )
            found = path.stat()
            key: Hashable = (str(path.resolve()), found.st_mtime_ns, found.st_size)
        else:
            key = id(rerank)
        with self._staging:
            if key not in self._stages:
                if len(self._stages) >= MOST_STAGES:
                    self._stages.pop(next(iter(self._stages)))
                self._stages[key] = (rerank, reranker_of(rerank))  # the model is kept, so that its id stays its own
            return self._stages[key][1]

    @staticmethod
    def _ranked(
        retriever: Retriever, parsed: ParsedQuery, ranking: RankingModel, k: int, priors: tuple[Prior, ...]
    ) -> Hits:
        """The best k documents of one ranking."""
        scoring = Scoring(SignedTopic(parsed.weights), ranking.of_query(parsed.runs), priors)
        return retriever.top(TopRequest(scoring, k, parsed.conditions, parsed.wordless))

    @staticmethod
    def _model(
        model: str | RankingModel | None, weights: Mapping[str, float] | None, parameters: ModelParameters
    ) -> RankingModel | None:
        """The model asked for; None if none was."""
        if isinstance(model, RankingModel):
            if parameters or weights is not None:
                raise ParameterError("a RankingModel carries its own parameters")
            return model
        if not model and not parameters and weights is None:
            return None
        return model_named(model or DEFAULT_MODEL, weights, **parameters)

    def batch(
        self,
        topics: Iterable[Topic],
        k: int = 1000,
        *,
        model: str | RankingModel | None = None,
        priors: Sequence[Prior] = (),
        syntax: bool = False,
        feedback: str | FeedbackMethod | None = None,
        rerank: AnyReranker | None = PROMOTED,
        depth: int | None = None,
        filter: AnyFilter | None = None,
        threads: int | None = None,
        weights: Mapping[str, float] | None = None,
        **parameters: Unpack[ModelParameters],
    ) -> Iterator[tuple[Topic, SearchResult]]:
        """Search many topics on all cores; results come in the topics' order. Topics are plain text by default."""
        workers = whole("threads", threads, least=1) if threads is not None else os.cpu_count() or 1
        chosen = self._model(model, weights, parameters)

        def one(topic: Topic) -> tuple[Topic, SearchResult]:
            result = self.search(
                topic.text,
                k,
                model=chosen,
                priors=priors,
                syntax=syntax,
                feedback=feedback,
                rerank=rerank,
                depth=depth,
                filter=filter,
            )
            return topic, result

        if workers == 1:
            yield from map(one, topics)
            return
        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(one, topics)

    def pipeline(
        self,
        model: str | RankingModel | None = None,
        *,
        priors: Sequence[Prior] = (),
        weights: Mapping[str, float] | None = None,
        **parameters: Unpack[ModelParameters],
    ) -> "Pipeline":
        """A ranking to be composed: `engine.pipeline("bm25") >> RM3() >> rerank("dirichlet") % 100`.

        `model`: as in `search`; without one, feedback that follows ranks in its own way. See `engine.pipelines`.
        """
        from germane.engine.pipelines import Retrieval

        return Retrieval(self, self._model(model, weights, parameters), tuple(priors))

    def vector_search(
        self,
        query: "str | npt.ArrayLike",
        k: int = 10,
        *,
        field: str | None = None,
        filter: AnyFilter | None = None,
        encoder: "Encoder | None" = None,
        threads: int | None = None,
        approximate: bool = False,
    ) -> SearchResult:
        """The k documents whose vectors are nearest to the query's: exactly, by cosine or inner product.

        `query`: a vector, or a text that `encoder` makes one of; where a learnt model made the field's, it makes the
        query's too. `field`: its name, if there are several. `filter`: as in `search`; documents that do not pass are
        left out. `approximate`: by the graphs that `build_graphs` made, where they are: much faster on large
        collections, and some of the best may be missed.
        """
        from germane.engine.vectors import result_by_vector

        return result_by_vector(self, query, field, k, filter, encoder, threads, approximate)

    def vector_batch(
        self,
        queries: npt.ArrayLike,
        k: int = 10,
        *,
        field: str | None = None,
        filter: AnyFilter | None = None,
        threads: int | None = None,
        approximate: bool = False,
    ) -> list[SearchResult]:
        """The same for many vectors, one a row: many at once take less time than one by one."""
        from germane.engine.vectors import results_by_vectors

        return results_by_vectors(self, field, queries, k, filter, threads, approximate)

    def vector_pipeline(
        self,
        field: str | None = None,
        *,
        vector: "npt.ArrayLike | None" = None,
        encoder: "Encoder | None" = None,
        approximate: bool = False,
    ) -> "Pipeline":
        """A search of a vector field to be composed: `fuse(engine.pipeline(), engine.vector_pipeline(encoder=m))`."""
        from germane.engine.vectors import VectorRetrieval, own_encoder

        if vector is None and encoder is None:
            encoder = own_encoder(self, field)
        return VectorRetrieval(self, field, None if vector is None else np.asarray(vector), encoder, approximate)

    def hybrid_search(
        self,
        query: str,
        vector: "npt.ArrayLike | None" = None,
        k: int = 10,
        *,
        field: str | None = None,
        encoder: "Encoder | None" = None,
        mix: float | str = "rrf",
        model: str | RankingModel | None = None,
        syntax: bool = True,
        filter: AnyFilter | None = None,
        approximate: bool = False,
    ) -> SearchResult:
        """The best k documents by words and by vectors together.

        `vector`: the query's; else `encoder` makes it. `mix`: "rrf" joins the two rankings by reciprocal ranks; a
        number from 0 to 1 is the weight of the vectors in the sum of scores, each ranking's moved to 0..1. `filter`: as
        in `search`.
        """
        from germane.engine.vectors import mixed

        vectors = self.vector_pipeline(field, vector=vector, encoder=encoder, approximate=approximate)
        return mixed(self.pipeline(model), vectors, mix).search(query, k, syntax=syntax, filter=filter)

    def count(self, query: Query = "", *, syntax: bool = True, filter: AnyFilter | None = None) -> int:
        """How many documents a query finds and a `filter` passes (see `search`); without either, all of them.

        >>> with Engine.create(":memory:") as engine:
        ...     added = engine.add([{"id": 1, "text": "heart", "year": 2001}, {"id": 2, "text": "heart", "year": 2020}])
        ...     engine.count("heart"), engine.count("heart", filter={"year": {">=": 2010}})
        (2, 1)
        """
        retriever = self._retriever
        return retriever.count(match_of(self.read(retriever, query, syntax, {} if filter is None else filter)))

    def facet(
        self, field: str, query: Query = "", *, size: int = 10, syntax: bool = True, filter: AnyFilter | None = None
    ) -> Facet:
        """The values of a field among the documents that a query finds and a `filter` passes, and how many hold each.

        At most `size` values, the most frequent first; more different numbers than that come in classes, ascending.

        >>> with Engine.create(":memory:") as engine:
        ...     added = engine.add([{"id": n, "text": "heart", "journal": name} for n, name in enumerate("aba")])
        ...     [(value.value, value.count) for value in engine.facet("journal", "heart").values]
        [('a', 2), ('b', 1)]
        """
        retriever = self._retriever
        parsed = self.read(retriever, query, syntax, {} if filter is None else filter)
        return retriever.facet(match_of(parsed), field, whole("size", size, least=1))

    def topic(
        self,
        seeds: "Text | Sequence[Text]",
        *,
        method: "str | TrackMethod" = "germane",
        costs: "Costs | None" = None,
        unjudged: int = 25,
    ) -> "TopicFollower":
        """A topic to be followed through documents that are not in the index, from one document on it or a few.

        `method`: a name of `track.METHOD_NAMES`, or one with parameters. `costs`: of a miss and a false alarm, from
        which follows what is delivered. `unjudged`: how many documents it may learn from that nobody judged. What is
        general is learnt from the index as it is now. `germane.stream` keeps topics on disk.
        """
        from germane.engine.following import TopicFollower, general_of
        from germane.track import Costs, Following, method_named

        chosen = method_named(method) if isinstance(method, str) else method
        given = [seeds] if isinstance(seeds, str | Document | Mapping) else list(seeds)
        following = Following(chosen, costs or Costs(), unjudged)
        return TopicFollower(general_of(self._retriever), self.text_fields, following, given)

    def explain(
        self,
        query: Query,
        doc_id: DocId,
        *,
        model: str | RankingModel | None = None,
        priors: Sequence[Prior] = (),
        syntax: bool = True,
        probabilities: bool = False,
        rerank: AnyReranker | None = PROMOTED,
        weights: Mapping[str, float] | None = None,
        **parameters: Unpack[ModelParameters],
    ) -> Explanation:
        """Why the document gets its score, in parts that add up to it.

        `rerank`: why a second stage gives it its score; of a latent model a `RerankedExplanation`, with the part of
        each word of the query and where it comes from. As in `search`, the model that was promoted unless the call
        names a ranking.

        `probabilities`: with P(w|d), P(w|C) and θ_D(w) of each word, under a language model; a `ParameterError` under
        another.
        """
        retriever, doc_id = self._retriever, id_text(doc_id)
        parsed = self.read(retriever, query, syntax)
        if isinstance(rerank, str) and rerank == PROMOTED:
            named = model is not None or weights is not None or parameters or probabilities or not parsed.weights
            promotion = None if named or not isinstance(query, str) else self._promotions.of(self)
            rerank = None if promotion is None else promotion.stage
        stage = None if rerank is None else self._reranker(rerank)
        if isinstance(stage, ByModel):
            model, weights, parameters = stage.model, None, {}
        elif stage is not None:
            return explain_reranked(retriever, parsed, self._ref(doc_id), stage, tuple(priors))
        chosen = self._model(model, weights, parameters) or model_named(DEFAULT_MODEL)
        if self.max_looks is not None:
            self._check_looks(retriever, parsed, chosen, self.max_looks)
        scoring = Scoring(SignedTopic(parsed.weights), chosen.of_query(parsed.runs), tuple(priors))
        found = retriever.explain(self._ref(doc_id), scoring, probabilities=probabilities)
        if not found.parts:
            raise QueryError("no word of the query occurs in the collection, so there is no score to explain")
        return found

    def _ref(self, doc_id: str) -> int:
        """The reference of a document; an unknown id is an error."""
        [ref] = self._retriever.locate([doc_id]).tolist()
        if ref < 0:
            raise UnknownDocumentError(f"no document with id '{doc_id}' in {self.folder}")
        return int(ref)

    @overload
    def answer(self, request: SearchRequest) -> SearchResponse: ...

    @overload
    def answer(self, request: ExplainRequest) -> ExplainResponse: ...

    def answer(self, request: SearchRequest | ExplainRequest) -> SearchResponse | ExplainResponse:
        """Answer a request as the doors make it: names and texts in, a value with `to_dict()` out."""
        if isinstance(request, ExplainRequest):
            return answer_explain(self, request)
        return answer_search(self, request)

    def suggest(self, query: str) -> str | None:
        """'Did you mean': the query with words that are likely mistyped corrected, or None (`germane.rank.suggest`)."""
        tokens = tokenize(query)
        better = self.corrections(tokens, [self.analyzer.terms(query)])
        return " ".join(better.get(token, token) for token in tokens) if better else None

    def corrections(self, words: Sequence[str], runs: Sequence[Sequence[str]]) -> dict[str, str]:
        """The words that are likely mistyped, each with the better one; `runs` are the terms that stand together."""
        return self._retriever.suggest(words, runs)

    def read(self, retriever: Retriever, query: Query, syntax: bool, filter: AnyFilter | None = None) -> ParsedQuery:
        """The query, read; narrowed to the documents that pass the filter."""
        parsed = self._read(retriever, query, syntax)
        if filter is None:
            return parsed
        inner = self._read(retriever, filter, True) if isinstance(filter, str) else None
        return narrowed(
            parsed,
            condition_of(retriever, filter, inner),
            blank=not query or (isinstance(query, str) and query.isspace()),
        )

    def _read(self, retriever: Retriever, query: Query, syntax: bool) -> ParsedQuery:
        if not isinstance(query, str):
            if not isinstance(query, (dict, Mapping)):
                raise ParameterError(f"a query is a text, or a mapping from terms to weights, not {query!r:.60}")
            return ParsedQuery(dict(query))
        analyzer = retriever.schema().analyzer
        if syntax:
            parsed = parse(query, analyzer, searchable_in(retriever), max_expansions=self.max_expansions)
        else:
            parsed = plain(query, analyzer)
        if len(parsed.weights) <= MAX_QUERY_TERMS:
            return parsed
        return parsed._replace(weights=strongest(parsed.weights, MAX_QUERY_TERMS, retriever))

    # -- looking ---------------------------------------------------------------------------------------------------

    @property
    def analyzer(self) -> Analyzer:
        """How texts become terms; stored with the index."""
        return self._retriever.schema().analyzer

    @property
    def text_fields(self) -> tuple[str, ...]:
        """The fields searched as text."""
        return self._retriever.schema().text_fields

    @property
    def vector_fields(self) -> dict[str, VectorField]:
        """The vector fields by name."""
        return dict(self._retriever.schema().vector_fields)

    def vector(self, doc_id: DocId, field: str | None = None) -> "npt.NDArray[np.float32] | None":
        """The vector of a document as it is stored; None where it has none."""
        return self._retriever.vectors(np.array([self._ref(id_text(doc_id))], np.int64), field)[0]

    def filterable(self) -> set[str]:
        """The fields a query may filter on."""
        return set(self._retriever.schema().filters)

    def __len__(self) -> int:
        return self._retriever.schema().n_docs

    def __contains__(self, doc_id: object) -> bool:
        try:
            return bool(self._retriever.locate([id_text(doc_id)])[0] >= 0)
        except ParameterError:
            return False

    def document(self, doc_id: DocId) -> Document:
        """The document as it was added; of an id that was given as a whole number, 7 and "7" are the same."""
        ref = self._ref(id_text(doc_id))
        return Document(id_text(doc_id), self._retriever.documents(np.array([ref], np.int64))[0])

    def documents(self, *, vectors: bool = False) -> Iterator[Document]:
        """All live documents; with `vectors`, those that callers gave them, as they are stored."""
        return self._retriever.scan(vectors=vectors)

    def unreadable(self) -> dict[str, int]:
        """The fields of numbers that hold something else in some documents ("in press" for a year), and in how many.

        Such a value can be searched for and filtered on; in ranges, facets and sorting its document has no number.
        """
        return dict(self._retriever.unreadable())

    def stats(self) -> IndexStats:
        """Numbers about the index: documents, tokens, segments, bytes."""
        schema, found = self._retriever.schema(), self._retriever.inspect()
        return IndexStats(
            documents=schema.n_docs,
            deleted=found.deleted,
            tokens=schema.n_tokens,
            terms=found.terms,
            postings=found.postings,
            segments=found.segments,
            generation=schema.generations[0],
            bytes=found.bytes,
            bytes_dictionary=found.bytes_dictionary,
            bytes_postings=found.bytes_postings,
            text_fields=schema.text_fields,
            filterable=tuple(sorted(schema.filters)),
            no_number=self.unreadable(),
            analyzer=schema.analyzer.to_dict(),
            fingerprint=schema.analyzer.fingerprint,
            ranking={
                "model": DEFAULT_MODEL,
                **model_defaults(DEFAULT_MODEL),
                **self.chosen(model_named(DEFAULT_MODEL)),
            },
            vectors=tuple(map(VectorFieldStats.of, found.vectors)),
        )

    def chosen(self, model: RankingModel) -> Mapping[str, float]:
        """The parameters that a model takes from this collection, with their values; empty for most models."""
        schema = self._retriever.schema()
        return model.chosen(Collection(schema.n_docs, schema.n_tokens))

    # -- learning --------------------------------------------------------------------------------------------------

    @cached_property
    def models(self) -> "ModelStore":
        """The models that were learnt from clicks: their versions, which one serves, promotion and rollback."""
        from germane.engine.models.model_store import ModelStore

        return ModelStore(self.folder)

    def learn(
        self,
        clicks: "str | os.PathLike[str] | ClickStore",
        *,
        name: str = "clicks",
        model: str = "wtm",
        hold_out: Literal["query", "time"] = "query",
        share: float = 0.2,
        depth: int = 1000,
        alpha: float = 0.05,
        allow_equal: bool = False,
        topics: "AnyTopics | None" = None,
        qrels: "AnyQrels | None" = None,
        rules: "ClickRules | None" = None,
        force: bool = False,
        on_progress: Callable[[str], None] | None = None,
        **parameters: Any,
    ) -> "LearnReport":
        """Learn a latent model from a click history, and let it serve if it ranks held-out queries better.

        `model`: a name of `latent.LATENT_NAMES` with its `parameters`. The candidate is compared with what searches use
        now, a learnt model or the plain ranking, on a `share` of the queries, or of the days (`hold_out="time"`), and
        on judged queries (`topics`, `qrels`). It is kept in any case, and promoted if it passes (`learning`;
        `alpha`, `allow_equal`: see `gate.py`) or with `force`. Then searches use it, unless they name another ranking.
        """
        settings = load("germane.learning.loop.LearnSettings")
        report: LearnReport = load("germane.learning.loop.learn")(
            self,
            clicks,
            name=name,
            settings=settings(model, parameters, hold_out, share, depth, alpha, allow_equal),
            rules=rules,
            topics=topics,
            qrels=qrels,
            force=force,
            on_progress=on_progress,
        )
        return report

    def promote(self, version: str) -> "ModelVersion":
        """Let a version of a learnt model serve ("clicks@2"), and fold all documents in by it.

        What it keeps of documents becomes the vector field of its name, which later documents join as they are added.
        Where another process is writing, the next change does that.
        """
        found = self.models.promote(version)
        self._follow(found.name)
        return found

    def rollback(self, name: str = "clicks") -> "ModelVersion | None":
        """Let the version serve that did before, as `promote` does; None if there was none, and none serves now."""
        found = self.models.rollback(name)
        self._follow(name)
        return found

    def remove_models(self, versions: Sequence[str], *, force: bool = False) -> list[str]:
        """Delete versions of learnt models ("clicks@2") with the vectors that they made; those that serve with `force`.

        Then the versions serve that did before, and the vector fields become theirs. Returns the fields that hold
        vectors of a removed version still, since another process is writing: its next change removes them.
        """
        from germane.engine.models.fold_in import removed_sources

        names = dict.fromkeys(self.models.resolved(each)[0] for each in versions)  # none where one is not there
        try:
            for each in versions:
                self.models.remove(each, force=force)
        finally:
            for name in names:
                self._follow(name)
        return [name for name in removed_sources(self.models, self.vector_fields) if name in names]

    def fold_in(self, name: str = "clicks") -> int:
        """Make the vector field of a learnt model that of the version that serves; how many documents have vectors.

        Promotions do so by themselves; this is for an index that another process was changing then. Where no version
        serves any more, the field of a model goes.
        """
        from germane.engine.models.fold_in import follow, sources_of

        if self.models.serving(name) is None and name in sources_of(self.vector_fields):
            with self._changing:
                writer = self._writing()
                follow(self.models, name, writer)
                self._show_written(writer)
                return 0
        serving = self.models.version(name)
        if not self.models.stage(name).model.width:
            raise ParameterError(
                f"{name}@{serving.version} ({serving.model}) keeps no vectors of documents: nothing is folded in"
            )
        with self._changing:
            writer = self._writing()
            field = writer.snapshot.manifest.vector_fields.get(name)
            if field is not None and not field.source:
                raise ParameterError(f"'{name}' is a vector field of your own: drop it first")
            held = sum(len(live.vectors[name]) for live in writer.snapshot.segments if name in live.vectors)
            follow(self.models, name, writer, anew=held < len(self))  # some came while the model was damaged
            self._show_written(writer)
            return len(self)

    def _follow(self, name: str) -> None:
        """Bring the vector field of a model up to date, if the index can be changed now."""
        from germane.engine.models.fold_in import follow, is_behind

        with self._changing:
            if self._closed or not is_behind(self.models, name, self.vector_fields):
                return
            try:
                writer = self._writing()
            except IndexLockedError:
                return
            follow(self.models, name, writer)
            self._show_written(writer)

    def learn_mu(self, *, sample: int = 20_000, random_state: int = 0) -> LeaveOneOut:
        """The μ of Dirichlet smoothing under which each word is best predicted by the rest of its document."""
        return optimal_mu(self._leave_one_out_postings(sample, random_state))

    def learn_lam(self, *, sample: int = 20_000, random_state: int = 0) -> LeaveOneOut:
        """The λ of Jelinek-Mercer smoothing, learnt likewise; no judgement is needed."""
        return optimal_lam(self._leave_one_out_postings(sample, random_state))

    def _leave_one_out_postings(self, sample: int, random_state: int) -> Postings:
        """The postings of at most `sample` live documents, chosen at random."""
        retriever = self._retriever
        if retriever.schema().n_docs == 0:
            raise ParameterError("the index is empty: there is nothing to learn from")
        found = retriever.gather(retriever.sample(sample, random_state))
        p_C = found.cf / retriever.schema().n_tokens
        lengths = np.repeat(found.lengths, np.diff(found.starts))
        return Postings(found.counts, p_C[found.words], lengths)


def _opened(kind: type[Engine], path: str, max_expansions: int) -> Engine:
    """The engine that was carried here as its path."""
    engine = kind.open(path)
    engine.max_expansions = max_expansions
    return engine
