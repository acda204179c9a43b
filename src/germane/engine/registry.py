"""Re-rankers by name, as the command line and configuration write them. Naming them loads nothing."""

from germane.rank.registry import MODEL_NAMES, MODELS

PROMOTED = "promoted"
"""What a search's `rerank` is unless it says otherwise; None leaves the promoted model out."""
RERANKERS: dict[str, str] = {}
"""Where each class is; it is made without arguments. Every ranking model is a re-ranker too. See docs/extending.md."""

RERANKER_NAMES = (*RERANKERS, *MODEL_NAMES)


def is_reranker(name: str) -> bool:
    """Whether a re-ranker has that name; one's own count from when they are added."""
    return name in RERANKERS or name in MODELS
