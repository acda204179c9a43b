"""Terms as people write them."""

from collections.abc import Mapping, Sequence

from germane.rank.retriever import Retriever


def written(retriever: Retriever, terms: Sequence[str]) -> list[str]:
    """Return the commonest written form of each term, of equally common ones the first; unknown terms as they are."""
    return [commonest(forms, term) for term, forms in zip(terms, retriever.surfaces(terms), strict=True)]


def commonest(forms: Mapping[str, int], term: str) -> str:
    """Return the form with the highest count."""
    return min(forms, key=lambda form: (-forms[form], form), default=term)
