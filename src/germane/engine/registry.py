"""Re-rankers by name, as the command line and configuration write them. Naming them loads nothing."""

from typing import TYPE_CHECKING

from germane.errors import ParameterError
from germane.lazy import load
from germane.rank.registry import MODEL_NAMES, MODELS, model_named

if TYPE_CHECKING:
    from germane.engine.rerank import Reranker

RERANKERS: dict[str, str] = {}
"""Where each class is; it is made without arguments. Every ranking model is a re-ranker too. See docs/extending.md."""

RERANKER_NAMES = (*RERANKERS, *MODEL_NAMES)


def is_reranker(name: str) -> bool:
    """Whether a re-ranker has that name; one's own count from when they are added."""
    return name in RERANKERS or name in MODELS


def reranker_named(name: str) -> "Reranker":
    """The re-ranker of that name, with its defaults."""
    if name in RERANKERS:
        made: Reranker = load(RERANKERS[name])()
        return made
    if name not in MODELS:
        raise ParameterError(f"there is no re-ranker '{name}'; choose one of {', '.join((*RERANKERS, *MODELS))}")
    from germane.engine.rerank import ByModel

    return ByModel(model_named(name))
