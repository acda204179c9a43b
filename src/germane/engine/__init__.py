"""`Engine`, the entry point for indexing and search, with its requests, responses, re-rankers and pipelines.

Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.engine.asynchronous import AsyncEngine
    from germane.engine.candidates import Candidates, Gathered
    from germane.engine.engine import Engine
    from germane.engine.pipelines import Pipeline
    from germane.engine.registry import RERANKER_NAMES
    from germane.engine.requests import ExplainRequest, FeedbackRequest, RankingRequest, SearchRequest
    from germane.engine.rerank import ByModel, Reranker, reranker_named
    from germane.engine.responses import ExplainResponse, IndexStats, SearchResponse
    from germane.engine.results import Hit, SearchResult
    from germane.index.writer import AddReport
    from germane.rank.scoring.explain import Explanation, TermPart

__all__ = [
    "RERANKER_NAMES",
    "AddReport",
    "AsyncEngine",
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
    "Pipeline",
    "RankingRequest",
    "Reranker",
    "SearchRequest",
    "SearchResponse",
    "SearchResult",
    "TermPart",
    "reranker_named",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "asynchronous": ["AsyncEngine"],
        "candidates": ["Candidates", "Gathered"],
        "changes": ["AddReport"],
        "engine": ["Engine", "Explanation"],
        "pipelines": ["Pipeline"],
        "registry": ["RERANKER_NAMES"],
        "requests": ["ExplainRequest", "FeedbackRequest", "RankingRequest", "SearchRequest"],
        "rerank": ["ByModel", "Reranker", "reranker_named"],
        "responses": ["ExplainResponse", "IndexStats", "SearchResponse", "TermPart"],
        "results": ["Hit", "SearchResult"],
    },
)
