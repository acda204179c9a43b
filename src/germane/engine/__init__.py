"""The engine and what it returns."""

from germane.engine.engine import Engine
from germane.engine.results import Hit, SearchResult
from germane.index.writer import AddReport
from germane.rank.explain import Explanation, TermPart

__all__ = ["AddReport", "Engine", "Explanation", "Hit", "SearchResult", "TermPart"]
