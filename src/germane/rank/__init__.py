"""Ranking: which documents does a query ask for, in which order, and why?

Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from germane.rank.models import BM25, DCrossEntropy, QueryLikelihood, RankingModel, TfIdf
    from germane.rank.registry import MODEL_NAMES, model_named

__all__ = ["BM25", "MODEL_NAMES", "DCrossEntropy", "QueryLikelihood", "RankingModel", "TfIdf", "model_named"]

_HOMES = {
    "BM25": "models",
    "MODEL_NAMES": "registry",
    "DCrossEntropy": "models",
    "QueryLikelihood": "models",
    "RankingModel": "models",
    "TfIdf": "models",
    "model_named": "registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"germane.rank.{_HOMES[name]}"), name)
