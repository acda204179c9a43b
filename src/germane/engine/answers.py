"""From a request to a response: the one road that the command line, HTTP and MCP share."""

from typing import TYPE_CHECKING

from germane.deadline import looking
from germane.engine.advice import sought_words, suggestion, why_nothing
from germane.engine.promotion import PROMOTED
from germane.engine.requests import ExplainRequest, SearchRequest, resolve
from germane.engine.reranked import RerankedExplanation
from germane.engine.responses import ExplainResponse, FeedbackResponse, HitResponse, SearchResponse
from germane.engine.results import GROUPED, SearchResult
from germane.engine.snippets import longest_of
from germane.errors import QueryError

if TYPE_CHECKING:
    from germane.engine.engine import Engine


def answer_search(engine: "Engine", request: SearchRequest) -> SearchResponse:
    """Search; say what may have been meant and, if nothing was found, why. A query nothing can answer is an error."""
    query = request.query if request.filter is not None else _words(request.query)
    asked = resolve(engine, request.ranking, request.feedback)

    def found(k: int, offset: int) -> SearchResult:
        return engine.search(
            query,
            k,
            model=asked.model if request.ranking.names_model else None,
            priors=asked.priors,
            syntax=request.syntax,
            feedback=asked.method,
            marks=asked.marks,
            rerank=request.rerank,
            depth=request.depth,
            filter=request.filter,
            offset=offset,
            sort=request.sort,
            group=request.group,
            min_score=request.min_score,
        )

    result = found(request.k, request.offset)
    facets = tuple(map(result.facet, request.facets)) or None  # all documents are found once, for facets and total
    groups = None
    if request.groups is not None:
        deep = max(GROUPED, request.offset + request.k)
        groups = (result if (request.k, request.offset) == (deep, 0) else found(deep, 0)).groups(request.groups)
    words = sought_words(query, result, syntax=request.syntax)
    reason = None if len(result) else why_nothing(engine, query, words, result)
    told = result.feedback if request.explain else None
    second = result.reranked_by if request.rerank == PROMOTED else request.rerank
    shown, scored = request.snippets, request.sort is None
    longest = longest_of(len(result))
    return SearchResponse(
        query,
        asked.name if second is None else f"{asked.name} >> {second}",
        request.k,
        tuple(
            HitResponse.of(hit, result.snippet_of(hit.fields, longest=longest) if shown else None, scored=scored)
            for hit in looking(result)
        ),
        suggestion(engine, query, words, result.query.runs),
        None if told is None else FeedbackResponse.of(request.feedback.name, told),
        reason,
        dict(asked.learnt) or None,
        result.query.notes or None,
        result,
        result.offset,
        result.total,
        result.total_is_exact,
        facets,
        groups,
        result.reranked_by,
        result.not_reranked,
    )


def answer_explain(engine: "Engine", request: ExplainRequest) -> ExplainResponse:
    """The parts of a document's score."""
    query = _words(request.query)
    asked = resolve(engine, request.ranking)
    assert asked.model is not None
    found = engine.explain(
        query,
        request.doc_id,
        model=asked.model if request.ranking.names_model else None,
        priors=asked.priors,
        syntax=request.syntax,
        probabilities=request.probabilities,
        rerank=request.rerank,
    )
    second = found.stage if isinstance(found, RerankedExplanation) else request.rerank
    name = asked.name if second is None or second == PROMOTED else second
    return ExplainResponse.of(query, name, found, {**asked.learnt, **engine.chosen(asked.model)})


def _words(query: str) -> str:
    if not query.strip():
        raise QueryError("the query is empty")
    return query
