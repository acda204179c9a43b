"""Germane: search that learns.

Importing the package loads nothing heavy; each name below is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.classify import TextClassifier
    from germane.engine import Engine, Hit, SearchResult
    from germane.errors import GermaneError
    from germane.lm import LanguageModel
    from germane.refine.refiner import Refiner
    from germane.text import Analyzer
    from germane.types import Document, Topic

__all__ = [
    "Analyzer",
    "Document",
    "Engine",
    "GermaneError",
    "Hit",
    "LanguageModel",
    "Refiner",
    "SearchResult",
    "TextClassifier",
    "Topic",
]
__version__ = "0.1.0"

_HOMES = {
    "Analyzer": "germane.text",
    "Document": "germane.types",
    "Engine": "germane.engine",
    "GermaneError": "germane.errors",
    "Hit": "germane.engine",
    "LanguageModel": "germane.lm",
    "Refiner": "germane.refine.refiner",
    "SearchResult": "germane.engine",
    "TextClassifier": "germane.classify",
    "Topic": "germane.types",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'germane' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
