"""How an open index is searched: queries are read, rankings chosen, feedback and second stages joined."""

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from germane.engine.candidates import Candidates
from germane.engine.feedback import Passes, model_of, search_with_feedback, topic_of
from germane.engine.feedback_report import FeedbackReport
from germane.engine.filtering import AnyFilter, condition_of, narrowed
from germane.engine.models.promotion import Promotion, Promotions, unused
from germane.engine.open_collections import OpenCollections
from germane.engine.open_index import OpenIndex
from germane.engine.paging import Paging
from germane.engine.registry import PROMOTED, RERANKERS, is_reranker
from germane.engine.requests import UNSCORED
from germane.engine.rerank import (
    AnyReranker,
    ByModel,
    Reranker,
    SecondStage,
    Widening,
    reranker_named,
    reranker_of,
)
from germane.engine.reranked import explain_reranked
from germane.engine.results import SearchResult
from germane.errors import GermaneError, ParameterError, QueryError, UnknownDocumentError
from germane.feedback import FeedbackMethod, feedback_named
from germane.feedback.registry import DEFAULT_FEEDBACK
from germane.lazy import load
from germane.rank.models.base import RankingModel
from germane.rank.models.parameters import ModelParameters
from germane.rank.plan import checked
from germane.rank.query.resolve import MAX_EXPANSIONS, ParsedQuery, parse, plain, searchable_in, strongest
from germane.rank.query.work import looks
from germane.rank.registry import DEFAULT_MODEL, MODELS, model_named
from germane.rank.retriever import Hits, Retriever, Scoring, SignedTopic, TopRequest
from germane.rank.scoring.explain import Explanation
from germane.rank.scoring.priors import Prior
from germane.types import Marks

if TYPE_CHECKING:
    from germane.engine.models.model_store import ModelStore

Query: TypeAlias = str | Mapping[str, float]
"""A text in the query language, or a topic model: index terms with their weights."""
MAX_QUERY_TERMS = 1024
"""A longer query keeps its strongest terms; the bound is far above what any ranking needs."""
MOST_STAGES = 4
"""Latent models that are kept as second stages, beside those of the index."""
NO_MARKS = Marks()
PLAIN = (None,) * 7
"""A search without feedback, marks, a second stage, or another order: most of them."""


class SearchOptions(NamedTuple):
    """What a search may say beside its query and k; see `Engine.search`. `model`: None where none was named."""

    model: RankingModel | None = None
    priors: tuple[Prior, ...] = ()
    syntax: bool = True
    feedback: str | FeedbackMethod | None = None
    marks: Marks | Mapping[str, bool] | Mapping[int, bool] | None = None
    rerank: AnyReranker | None = PROMOTED
    depth: int | None = None
    filter: AnyFilter | None = None
    offset: int = 0
    sort: str | None = None
    group_by: str | None = None
    min_score: float | None = None

    @property
    def learns(self) -> bool:
        """Whether the search is to learn from its first results or from marks."""
        return self.feedback is not None or bool(self.marks)

    @property
    def names_ranking(self) -> bool:
        """Whether the search names a ranking of its own, and so leaves the promoted model out."""
        return self.model is not None or self.learns or self.sort is not None


def ranking_named(
    model: str | RankingModel | None,
    weights: Mapping[str, float] | None,
    parameters: ModelParameters,
    *,
    learns: bool = False,
) -> RankingModel | None:
    """Return the model asked for; None if none was. `learns`: with feedback parameters need a model's name."""
    if isinstance(model, RankingModel):
        if parameters or weights is not None:
            raise ParameterError("a RankingModel carries its own parameters")
        return model
    if not model and not parameters and weights is None:
        return None
    if learns and not model:
        named = ", ".join(parameters) or "weights"
        raise ParameterError(
            f"{named}: with feedback, name the model that has it (model=...), or give the method its parameters: "
            "feedback=RM3(n_docs=20)"
        )
    return model_named(model or DEFAULT_MODEL, weights, **parameters)


@dataclass(eq=False)
class Searching:
    """Searches of an open index.

    `max_expansions`: how many prefixes, fuzzy words and phrases with moves a query may have. `max_looks`: how often a
    query may look into documents (`rank.query.work`); None: without bound.
    """

    index: OpenIndex | OpenCollections
    max_expansions: int = MAX_EXPANSIONS
    max_looks: int | None = None
    _stages: dict[Hashable, tuple[object, Reranker]] = field(default_factory=dict)
    _staging: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._promotions = Promotions(self.index.folder)

    @property
    def retriever(self) -> Retriever:
        """The collection as it is shown now."""
        return self.index.retriever

    @cached_property
    def models(self) -> "ModelStore":
        """The learnt models of the index."""
        made: ModelStore = load("germane.engine.models.model_store.ModelStore")(self.index.folder)
        return made

    def search(self, query: Query, k: int, options: SearchOptions) -> SearchResult:
        """Return the best k documents."""
        retriever = self.index.retriever
        parsed = self.read(retriever, query, options.syntax, options.filter)
        self._check_cost(retriever, parsed, options.model)
        promotion, rerank = self._promoted(query, parsed, options), options.rerank
        if isinstance(rerank, str) and rerank == PROMOTED:
            rerank = None if promotion is None else promotion.stage
        _, priors, _, feedback, marks, _, depth, _, offset, sort, group_by, min_score = options
        if offset == 0 and promotion is None and (feedback, marks, rerank, depth, sort, group_by, min_score) == PLAIN:
            return SearchResult(parsed, _best(retriever, parsed, options.model, k, priors), retriever)
        if sort is not None:
            names, values = ("min_score", "feedback", "marks", "rerank"), (min_score, feedback, marks or None, rerank)
            UNSCORED.check(["sort", *(name for name, value in zip(names, values, strict=True) if value is not None)])
        second = SecondStage.of(None if rerank is None else self.reranker(rerank), depth)
        ranked = _Ranked(retriever, parsed, options, second, promotion)
        hits = Paging(offset, sort, group_by, min_score).page(ranked.best, k, parsed, retriever)
        widened, promotion = second is not None and isinstance(second.reranker, Widening), ranked.promotion
        if promotion is None:
            return SearchResult(parsed, hits, retriever, ranked.report, offset, widened)
        by = None if promotion.stage is None else promotion.reference
        return SearchResult(parsed, hits, retriever, ranked.report, offset, by is not None, by, promotion.problem)

    def explain(self, query: Query, doc_id: str, options: SearchOptions, *, probabilities: bool) -> Explanation:
        """Return the parts of a document's score."""
        retriever = self.index.retriever
        parsed, rerank = self.read(retriever, query, options.syntax), options.rerank
        if isinstance(rerank, str) and rerank == PROMOTED:
            promotion = None if probabilities else self._promoted(query, parsed, options)
            rerank = None if promotion is None else promotion.stage
        stage, model, ref = None if rerank is None else self.reranker(rerank), options.model, ref_of(retriever, doc_id)
        if isinstance(stage, ByModel):
            model = stage.model
        elif stage is not None:
            return explain_reranked(retriever, parsed, ref, stage, options.priors)
        model = model or model_named(DEFAULT_MODEL)
        self._check_cost(retriever, parsed, model)
        scoring = Scoring(SignedTopic(parsed.weights), model.of_query(parsed.runs), options.priors)
        found = retriever.explain(ref, scoring, probabilities=probabilities)
        if not found.parts:
            raise QueryError("no word of the query occurs in the collection, so there is no score to explain")
        return found

    # -- queries ---------------------------------------------------------------------------------------------------

    def read(self, retriever: Retriever, query: Query, syntax: bool, filter: AnyFilter | None = None) -> ParsedQuery:
        """Read a query, and narrow it to the documents that pass a filter."""
        parsed = self._read(retriever, query, syntax)
        if filter is None:
            return parsed
        inner = self._read(retriever, filter, True) if isinstance(filter, str) else None
        blank = not query or (isinstance(query, str) and query.isspace())
        return narrowed(parsed, condition_of(retriever, filter, inner), blank=blank)

    def _read(self, retriever: Retriever, query: Query, syntax: bool) -> ParsedQuery:
        if not isinstance(query, str):
            if not isinstance(query, (dict, Mapping)):
                raise ParameterError(f"a query is a text, or a mapping from terms to weights, not {query!r:.60}")
            return ParsedQuery(checked(query))
        analyzer = retriever.schema().analyzer
        if syntax:
            parsed = parse(query, analyzer, searchable_in(retriever), max_expansions=self.max_expansions)
        else:
            parsed = plain(query, analyzer)
        if len(parsed.weights) <= MAX_QUERY_TERMS:
            return parsed
        return parsed._replace(weights=strongest(parsed.weights, MAX_QUERY_TERMS, retriever))

    def _check_cost(self, retriever: Retriever, parsed: ParsedQuery, model: RankingModel | None) -> None:
        if self.max_looks is None:
            return
        wanted = looks(parsed, retriever, model)
        if wanted > self.max_looks:
            raise QueryError(
                f"the query would look into documents {wanted:,} times, where {self.max_looks:,} are allowed: use "
                "rarer words in phrases and fields, or fewer of them, or another model"
            )

    # -- second stages ---------------------------------------------------------------------------------------------

    def _promoted(self, query: Query, parsed: ParsedQuery, options: SearchOptions) -> Promotion | None:
        """Return the promoted model for a search that names no ranking; None for any other."""
        if not (isinstance(options.rerank, str) and options.rerank == PROMOTED) or options.names_ranking:
            return None
        if not isinstance(query, str) or not parsed.weights:
            return None
        return self._promotions.of(lambda: self.models, self.index.retriever.schema().analyzer)

    def reranker(self, rerank: AnyReranker) -> Reranker:
        """Return what a search named; of a model or a file the stage that was made of it first."""
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


def ref_of(retriever: Retriever, doc_id: str) -> int:
    """Return the reference of a document; an unknown id is an error."""
    [ref] = retriever.locate([doc_id]).tolist()
    if ref < 0:
        raise UnknownDocumentError(f"no document with id '{doc_id}' in {retriever.schema().name}")
    return int(ref)


def _best(
    retriever: Retriever, parsed: ParsedQuery, model: RankingModel | None, k: int, priors: tuple[Prior, ...]
) -> Hits:
    """Return the best k documents of one ranking."""
    ranking = (model or model_named(DEFAULT_MODEL)).of_query(parsed.runs)
    scoring = Scoring(SignedTopic(parsed.weights), ranking, priors)
    return retriever.top(TopRequest(scoring, k, parsed.conditions, parsed.wordless))


@dataclass(eq=False)
class _Ranked:
    """The ranking of one search, as deep as a page needs it, with what it tells: the report of feedback, and whether
    the promoted model could be used."""

    retriever: Retriever
    parsed: ParsedQuery
    options: SearchOptions
    second: SecondStage | None
    promotion: Promotion | None
    report: FeedbackReport | None = None

    def best(self, n: int) -> Hits:
        """Return the first n results."""
        second, priors = self.second, self.options.priors
        n_first = n if second is None or n < 1 else max(n, second.depth)
        rank: Callable[[int], tuple[Hits, SignedTopic]] = self._learnt if self.options.learns else self._plain
        hits, topic = rank(n_first)
        if second is not None:
            try:
                hits = second.apply(
                    hits, n, self.parsed, lambda first: Candidates(topic, first, self.retriever, priors)
                )
            except GermaneError as error:
                if self.promotion is None:
                    raise
                self.promotion, hits = unused(self.promotion.reference, error), hits.part(0, n)
        if self.report is not None:
            self.report = self.report.with_hits(hits)
        return hits

    def _plain(self, n: int) -> tuple[Hits, SignedTopic]:
        hits = _best(self.retriever, self.parsed, self.options.model, n, self.options.priors)
        return hits, SignedTopic(self.parsed.weights)

    def _learnt(self, n: int) -> tuple[Hits, SignedTopic]:
        parsed, options = self.parsed, self.options
        named = options.feedback or DEFAULT_FEEDBACK
        method = named if isinstance(named, FeedbackMethod) else feedback_named(named)
        chosen = None if options.model is None else options.model.of_query(parsed.runs)
        firsts = tuple(chosen or model_of(ranking) for ranking in method.first_rankings)
        passes = Passes(firsts, chosen or model_of(method.final), parsed.conditions, options.priors, parsed.wordless)
        marks = NO_MARKS if options.marks is None else Marks.of(options.marks)
        hits, learnt = search_with_feedback(self.retriever, parsed.weights, n, method, marks, passes)
        self.report = FeedbackReport(method, learnt, passes, self.retriever, parsed, hits)
        return hits, topic_of(learnt.expansion, learnt.terms)
