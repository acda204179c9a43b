"""Germane: an in-process search engine based on language models, which learns from clicks and relevance feedback.

    >>> from germane import Document, Engine
    >>> with Engine.create(":memory:") as engine:
    ...     report = engine.add([Document("1", {"text": "Copper is a metal."}), Document("2", {"text": "A tree."})])
    ...     engine.search("metals").ids
    ['1']

Start with `Engine`. Every name below is imported on first use, so that importing the package is fast.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.classify import TextClassifier
    from germane.engine import AsyncEngine, Engine, Hit, SearchResult
    from germane.errors import GermaneError
    from germane.lm import LanguageModel
    from germane.rank.query.filter_values import Field, Filter
    from germane.refine.refiner import Refiner
    from germane.text import Analyzer
    from germane.types import Document, Topic

__all__ = [
    "Analyzer",
    "AsyncEngine",
    "Document",
    "Engine",
    "Field",
    "Filter",
    "GermaneError",
    "Hit",
    "LanguageModel",
    "Refiner",
    "SearchResult",
    "TextClassifier",
    "Topic",
]
__version__ = "0.1.0"

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "classify": ["TextClassifier"],
        "engine": ["AsyncEngine", "Engine", "Hit", "SearchResult"],
        "errors": ["GermaneError"],
        "lm": ["LanguageModel"],
        "rank.query.filter_values": ["Field", "Filter"],
        "refine.refiner": ["Refiner"],
        "text": ["Analyzer"],
        "types": ["Document", "Topic"],
    },
)
