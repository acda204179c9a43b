"""The engine and what it returns."""

from germane.engine.candidates import Candidates, Gathered
from germane.engine.engine import Engine
from germane.engine.rerank import RERANKER_NAMES, ByModel, Reranker, reranker_named
from germane.engine.results import Hit, SearchResult
from germane.index.writer import AddReport
from germane.rank.explain import Explanation, TermPart

__all__ = [
    "RERANKER_NAMES",
    "AddReport",
    "ByModel",
    "Candidates",
    "Engine",
    "Explanation",
    "Gathered",
    "Hit",
    "Reranker",
    "SearchResult",
    "TermPart",
    "reranker_named",
]
