"""The engine, what it is asked and what it answers."""

from germane.engine.engine import Engine
from germane.engine.requests import ExplainRequest, FeedbackRequest, RankingRequest, SearchRequest
from germane.engine.responses import ExplainResponse, IndexStats, SearchResponse
from germane.engine.results import Hit, SearchResult
from germane.index.writer import AddReport
from germane.rank.explain import Explanation, TermPart

__all__ = [
    "AddReport",
    "Engine",
    "ExplainRequest",
    "ExplainResponse",
    "Explanation",
    "FeedbackRequest",
    "Hit",
    "IndexStats",
    "RankingRequest",
    "SearchRequest",
    "SearchResponse",
    "SearchResult",
    "TermPart",
]
