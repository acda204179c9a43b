"""From a request to a response: the one road that the command line, HTTP and MCP share."""

from germane.deadline import looking
from germane.declare import check_request
from germane.engine.advice import sought_words, suggestion, why_nothing
from germane.engine.registry import PROMOTED
from germane.engine.requests import ExplainRequest, SearchRequest
from germane.engine.reranked import RerankedExplanation
from germane.engine.resolving import chosen_parameters, resolve
from germane.engine.responses import ExplainResponse, FeedbackResponse, HitResponse, SearchResponse
from germane.engine.result_groups import GROUPED
from germane.engine.results import SearchResult
from germane.engine.searching import Searching, SearchOptions
from germane.errors import QueryError
from germane.rank.snippets import longest_of
from germane.types import id_text


def answer_search(searching: Searching, request: SearchRequest) -> SearchResponse:
    """Search; say what may have been meant and, if nothing was found, why. A query nothing can answer is an error."""
    query = request.query if request.filter is not None else _words(request.query)
    check_request(request)
    asked = resolve(searching.retriever, request.ranking, request.feedback)

    options = SearchOptions(
        asked.model if request.ranking.names_model else None,
        asked.priors,
        request.syntax,
        asked.method,
        asked.marks,
        request.rerank,
        request.depth,
        request.filter,
        sort=request.sort,
        group_by=request.group_by,
        min_score=request.min_score,
    )

    def found(k: int, offset: int) -> SearchResult:
        return searching.search(query, k, options._replace(offset=offset))

    result = found(request.k, request.offset)
    _, retriever = result.located
    facets = tuple(map(result.facet, request.facets)) or None  # all documents are found once, for facets and total
    groups = None
    if request.groups is not None:
        deep = max(GROUPED, request.offset + request.k)
        groups = (result if (request.k, request.offset) == (deep, 0) else found(deep, 0)).groups(request.groups)
    words = sought_words(query, result, syntax=request.syntax)
    reason = None if len(result) else why_nothing(retriever, query, words, result)
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
        suggestion(retriever, query, words, result.query.runs),
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


def answer_explain(searching: Searching, request: ExplainRequest) -> ExplainResponse:
    """The parts of a document's score."""
    query = _words(request.query)
    check_request(request)
    asked = resolve(searching.retriever, request.ranking)
    assert asked.model is not None
    chosen = asked.model if request.ranking.names_model else None
    options = SearchOptions(chosen, asked.priors, request.syntax, rerank=request.rerank)
    found = searching.explain(query, id_text(request.doc_id), options, probabilities=request.probabilities)
    second = found.stage if isinstance(found, RerankedExplanation) else request.rerank
    name = asked.name if second is None or second == PROMOTED else second
    return ExplainResponse.of(
        query, name, found, {**asked.learnt, **chosen_parameters(searching.retriever, asked.model)}
    )


def _words(query: str) -> str:
    if not query.strip():
        raise QueryError("the query is empty")
    return query
