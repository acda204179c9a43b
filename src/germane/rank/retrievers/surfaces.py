"""Terms as people write them."""

from collections.abc import Sequence

from germane.index.snapshot import commonest_surface
from germane.rank.retriever import Retriever


def written(retriever: Retriever, terms: Sequence[str]) -> list[str]:
    """Return the commonest written form of each term, of equally common ones the first; unknown terms as they are."""
    return [commonest_surface(term, forms) for term, forms in zip(terms, retriever.surfaces(terms), strict=True)]
