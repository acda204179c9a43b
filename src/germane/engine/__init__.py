"""The engine, what it is asked and what it answers."""

from germane.engine.candidates import Candidates, Gathered
from germane.engine.engine import Engine
from germane.engine.requests import ExplainRequest, FeedbackRequest, RankingRequest, SearchRequest
from germane.engine.rerank import RERANKER_NAMES, ByModel, Reranker, reranker_named
from germane.engine.responses import ExplainResponse, IndexStats, SearchResponse
from germane.engine.results import Hit, SearchResult
from germane.index.writer import AddReport
from germane.rank.explain import Explanation, TermPart

__all__ = [
    "RERANKER_NAMES",
    "AddReport",
    "ByModel",
    "Candidates",
    "Engine",
    "ExplainRequest",
    "ExplainResponse",
    "Explanation",
    "FeedbackRequest",
    "Gathered",
    "Hit",
    "IndexStats",
    "RankingRequest",
    "Reranker",
    "SearchRequest",
    "SearchResponse",
    "SearchResult",
    "TermPart",
    "reranker_named",
]
