"""The engine: one object that opens, fills and searches an index. The doors (CLI, HTTP) translate to these calls."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from germane.engine.announcing import announce_compiling
from germane.engine.answers import answer_explain, answer_search
from germane.engine.batches import in_order
from germane.engine.changes import EngineChanges
from germane.engine.filtering import AnyFilter
from germane.engine.learnt_models import EngineLearning
from germane.engine.open_collections import OpenCollections
from germane.engine.open_index import OpenIndex
from germane.engine.registry import PROMOTED
from germane.engine.requests import ExplainRequest, SearchRequest
from germane.engine.rerank import AnyReranker
from germane.engine.resolving import chosen_parameters
from germane.engine.responses import ExplainResponse, IndexStats, SearchResponse, index_stats
from germane.engine.results import SearchResult, match_of
from germane.engine.searching import Query, Searching, SearchOptions, ranking_named, ref_of
from germane.engine.vector_searches import VectorSearches
from germane.errors import IndexFormatError, ParameterError
from germane.feedback import FeedbackMethod
from germane.index.manifest import NAME as MANIFEST
from germane.index.vector_fields import VectorField
from germane.lazy import load
from germane.lm.parameters import whole
from germane.rank.models.base import RankingModel
from germane.rank.models.parameters import ModelParameters
from germane.rank.retriever import Retriever
from germane.rank.scoring.explain import Explanation
from germane.rank.scoring.facets import Facet
from germane.rank.scoring.priors import Prior
from germane.tables import html
from germane.text import Analyzer, tokenize
from germane.types import DEFAULT_FIELDS, DocId, Document, Marks, Topic, id_text
from germane.wording import counted

if TYPE_CHECKING:
    from germane.engine.following import Text, TopicFollower
    from germane.engine.pipelines import Pipeline
    from germane.track import Costs, TrackMethod

Marked = Marks | Mapping[str, bool] | Mapping[int, bool]


class Engine(EngineChanges, VectorSearches, EngineLearning):
    """An index opened for searching and, from the first change on, for writing.

    >>> with Engine.create("my-index") as engine:
    ...     added = engine.add([Document("1", {"text": "heart attack"})])
    ...     engine.search("heart").ids
    ['1']

    Searching is safe from many threads. A snapshot stays as it was opened; `refresh` looks for commits of others. A
    closed engine can still be searched, and changes nothing any more.
    """

    def __init__(self, index: OpenIndex | OpenCollections) -> None:
        announce_compiling()
        self.folder, self._index, self._searching = index.folder, index, Searching(index)

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
        index = OpenIndex.create(os.fspath(path), analyzer, fields, positions=positions, vectors=vectors)
        return cls(index)

    @classmethod
    def open(cls, path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> "Engine":
        """Open an index, or several as one (`Engine.open(["reports", "papers"])`), which are searched only.

        The writer's lock is taken by the first call that changes something, and given back soon after the last one
        (`open_index.IDLE_SECONDS`), so that others can write while this engine is open.
        """
        if not isinstance(path, str | os.PathLike):
            return cls(OpenCollections([os.fspath(each) for each in path]))
        return cls(OpenIndex.open(os.fspath(path)))

    @classmethod
    def open_or_create(
        cls, path: str | os.PathLike[str], *, analyzer: Analyzer | None = None, fields: Sequence[str] | None = None
    ) -> "Engine":
        """Open the index, or make an empty one where there is none.

        An `analyzer` or `fields` (in any order) that the index there does not have is a ParameterError.
        """
        if (Path(path) / MANIFEST).exists():
            return cls.open(path)._require_same(analyzer, fields)
        return cls._created_by_somebody(path, analyzer, fields)

    @classmethod
    def _created_by_somebody(
        cls, path: str | os.PathLike[str], analyzer: Analyzer | None, fields: Sequence[str] | None
    ) -> "Engine":
        """Make an index, unless another process is faster."""
        try:
            return cls.create(path, analyzer=analyzer, fields=fields or DEFAULT_FIELDS)
        except IndexFormatError:
            if not (Path(path) / MANIFEST).exists():
                raise
        return cls.open(path)._require_same(analyzer, fields)

    def _require_same(self, analyzer: Analyzer | None, fields: Sequence[str] | None) -> "Engine":
        if analyzer is not None and analyzer.fingerprint != self.analyzer.fingerprint:
            raise ParameterError(f"the index in {self.folder} was made with another analyzer: {self.analyzer}")
        if fields is not None and set(fields) != set(self.text_fields):
            raise ParameterError(f"the index in {self.folder} has other text fields: {', '.join(self.text_fields)}")
        return self

    @classmethod
    def upgrade(cls, old: str | os.PathLike[str], new: str | os.PathLike[str]) -> "Engine":
        """Make a new index of the documents of one that an older version of Germane made, which stays as it is.

        So is one of this version that does not keep the order of words: the new one does.
        """
        engine: Engine = load("germane.engine.upgrading.upgraded")(cls, Path(old), new)
        return engine

    def refresh(self, *, within: float = 0.0) -> None:
        """See what other processes have committed since; never less than was seen before.

        `within`: seconds that what is seen may be old. Every commit costs a reader about a millisecond; one that asks
        before each search beside a busy writer asks with `refresh(within=0.1)`, ten times a second at most.
        """
        self._index.refresh(within)

    def close(self) -> None:
        """Finish background merging and let other writers in. Nothing can be changed through this engine any more."""
        self._index.close()

    def release(self) -> None:
        """Finish background merging and let other writers in; the next change takes the lock again."""
        self._index.release()

    def __repr__(self) -> str:
        size = counted(len(self), "document")
        return f"<Engine {str(self.folder)!r}: {size}, searched in {', '.join(self.text_fields)}>"

    def _repr_html_(self) -> str:
        """A table for notebooks: where the index lies, and what is in it."""
        rows = [("index", str(self.folder)), ("documents", len(self)), ("searched", ", ".join(self.text_fields))]
        rows += [("filtered on", ", ".join(sorted(self.filterable()))), ("vectors", ", ".join(self.vector_fields))]
        return html(["Engine", ""], [list(row) for row in rows if row[1] != ""])

    def __reduce__(self) -> tuple[Any, ...]:
        """An engine is carried to another process as its path, and opens the index there as it is then."""
        if self._index.vanishes:
            raise ParameterError(
                "an index in memory cannot be carried to another process, which would not find it: make one in a "
                "folder, Engine.create(path)"
            )
        return _opened, (type(self), self._index.paths, self.max_expansions)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        `(Field("tenant") == "a") & (Field("year") >= 2020)` (`filter_values`); a text is read as a query. Feedback
        learns from documents that pass, and from those that are marked. A blank query finds all that pass.

        `offset`: leave so many results out and give the next k. `sort`: order by a field instead ("year", or "-year"
        for the largest first). `group_by`: of documents with the same value of a field, the best alone. `min_score`: no
        result below.
        """
        chosen = ranking_named(model, weights, parameters, learns=feedback is not None or bool(marks))
        options = SearchOptions(
            chosen, tuple(priors), syntax, feedback, marks, rerank, depth, filter, offset, sort, group_by, min_score
        )
        return self._searching.search(query, k, options)

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
        chosen = ranking_named(model, weights, parameters, learns=feedback is not None)
        options = SearchOptions(chosen, tuple(priors), syntax, feedback, rerank=rerank, depth=depth, filter=filter)
        return in_order(lambda topic: (topic, self._searching.search(topic.text, k, options)), topics, threads)

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
        chosen = ranking_named(model, weights, parameters)
        made: Pipeline = load("germane.engine.pipelines.Retrieval")(self._searching, chosen, tuple(priors))
        return made

    def count(self, query: Query = "", *, syntax: bool = True, filter: AnyFilter | None = None) -> int:
        """How many documents a query finds and a `filter` passes (see `search`); without either, all of them.

        >>> with Engine.create(":memory:") as engine:
        ...     added = engine.add([{"id": 1, "text": "heart", "year": 2001}, {"id": 2, "text": "heart", "year": 2020}])
        ...     engine.count("heart"), engine.count("heart", filter={"year": {">=": 2010}})
        (2, 1)
        """
        retriever = self.retriever
        parsed = self._searching.read(retriever, query, syntax, {} if filter is None else filter)
        return retriever.count(match_of(parsed))

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
        retriever = self.retriever
        parsed = self._searching.read(retriever, query, syntax, {} if filter is None else filter)
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
        begin = load("germane.engine.following.follower")
        made: TopicFollower = begin(self.retriever, seeds, method, costs, unjudged)
        return made

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
        options = SearchOptions(ranking_named(model, weights, parameters), tuple(priors), syntax, rerank=rerank)
        return self._searching.explain(query, id_text(doc_id), options, probabilities=probabilities)

    @overload
    def answer(self, request: SearchRequest) -> SearchResponse: ...

    @overload
    def answer(self, request: ExplainRequest) -> ExplainResponse: ...

    def answer(self, request: SearchRequest | ExplainRequest) -> SearchResponse | ExplainResponse:
        """Answer a request as the doors make it: names and texts in, a value with `to_dict()` out."""
        if isinstance(request, ExplainRequest):
            return answer_explain(self._searching, request)
        return answer_search(self._searching, request)

    def suggest(self, query: str) -> str | None:
        """'Did you mean': the query with words that are likely mistyped corrected, or None (`germane.rank.suggest`)."""
        words = tokenize(query)
        better = self.corrections(words, [self.analyzer.terms(query)])
        return " ".join(better.get(word, word) for word in words) if better else None

    def corrections(self, words: Sequence[str], runs: Sequence[Sequence[str]]) -> dict[str, str]:
        """The words that are likely mistyped, each with the better one; `runs` are the terms that stand together."""
        return self.retriever.suggest(words, runs)

    @property
    def max_expansions(self) -> int:
        """Different prefixes, fuzzy words and phrases with moves that a query may have; a server allows fewer."""
        return self._searching.max_expansions

    @max_expansions.setter
    def max_expansions(self, most: int) -> None:
        self._searching.max_expansions = most

    @property
    def max_looks(self) -> int | None:
        """Documents that a query's phrases, fields and models may look into (`query.work`); a server sets a bound."""
        return self._searching.max_looks

    @max_looks.setter
    def max_looks(self, most: int | None) -> None:
        self._searching.max_looks = most

    # -- looking ---------------------------------------------------------------------------------------------------

    @property
    def retriever(self) -> Retriever:
        """The collection as it is shown now, which stays as it is whatever is added."""
        return self._index.retriever

    @property
    def analyzer(self) -> Analyzer:
        """How texts become terms; stored with the index."""
        return self.retriever.schema().analyzer

    @property
    def text_fields(self) -> tuple[str, ...]:
        """The fields searched as text."""
        return self.retriever.schema().text_fields

    @property
    def vector_fields(self) -> dict[str, VectorField]:
        """The vector fields by name."""
        return dict(self.retriever.schema().vector_fields)

    def vector(self, doc_id: DocId, field: str | None = None) -> "npt.NDArray[np.float32] | None":
        """The vector of a document as it is stored; None where it has none."""
        retriever = self.retriever
        return retriever.vectors(np.array([ref_of(retriever, id_text(doc_id))]), field)[0]

    def filterable(self) -> set[str]:
        """The fields a query may filter on."""
        return set(self.retriever.schema().filters)

    def __len__(self) -> int:
        return self.retriever.schema().n_docs

    def __contains__(self, doc_id: object) -> bool:
        try:
            return bool(self.retriever.locate([id_text(doc_id)])[0] >= 0)
        except ParameterError:
            return False

    def document(self, doc_id: DocId) -> Document:
        """The document as it was added; of an id that was given as a whole number, 7 and "7" are the same."""
        retriever, name = self.retriever, id_text(doc_id)
        return Document(name, retriever.documents(np.array([ref_of(retriever, name)]))[0])

    def documents(self, *, vectors: bool = False) -> Iterator[Document]:
        """All live documents; with `vectors`, those that callers gave them, as they are stored."""
        return self.retriever.scan(vectors=vectors)

    def unreadable(self) -> dict[str, int]:
        """The fields of numbers that hold something else in some documents ("in press" for a year), and in how many.

        Such a value can be searched for and filtered on; in ranges, facets and sorting its document has no number.
        """
        return dict(self.retriever.unreadable())

    def stats(self) -> IndexStats:
        """Numbers about the index: documents, tokens, segments, bytes."""
        return index_stats(self.retriever)

    def chosen(self, model: RankingModel) -> Mapping[str, float]:
        """The parameters that a model takes from this collection, with their values; empty for most models."""
        return chosen_parameters(self.retriever, model)


def _opened(kind: type[Engine], path: str | list[str], max_expansions: int) -> Engine:
    """The engine that was carried here as its path."""
    engine = kind.open(path)
    engine.max_expansions = max_expansions
    return engine
