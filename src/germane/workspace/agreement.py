"""Do two reviewers agree more than chance would? Cohen's kappa (1960)."""

from collections.abc import Mapping
from typing import NamedTuple


class Agreement(NamedTuple):
    """Two reviewers' decisions on what both have read; `kappa` is None where it is not defined."""

    one: str
    other: str
    both: int
    agreed: int
    kappa: float | None


def cohens_kappa(one: Mapping[str, bool], other: Mapping[str, bool]) -> float | None:
    """Agreement beyond chance on the documents that both decided.

    kappa = (p_o - p_e) / (1 - p_e), p_o the share of equal decisions, p_e = p1 q1 + (1-p1)(1-q1) with p1 and q1 the
    shares that each included (Cohen, A coefficient of agreement for nominal scales, 1960, eq. 1). None where nothing
    was decided by both, or where each said one and the same of everything (p_e = 1).

    >>> cohens_kappa({"a": True, "b": False, "c": True, "d": False}, {"a": True, "b": False, "c": False, "d": False})
    0.5
    """
    shared = [document for document in one if document in other]
    n = len(shared)
    yes_one = sum(one[document] for document in shared)
    yes_other = sum(other[document] for document in shared)
    agreed = sum(one[document] is other[document] for document in shared)
    expected = yes_one * yes_other + (n - yes_one) * (n - yes_other)  # p_e n^2, a whole number
    if expected == n * n:
        return None
    return (agreed * n - expected) / (n * n - expected)


def agreement(one: str, of_one: Mapping[str, bool], other: str, of_other: Mapping[str, bool]) -> Agreement:
    """What two reviewers have in common."""
    shared = [document for document in of_one if document in of_other]
    agreed = sum(of_one[document] is of_other[document] for document in shared)
    return Agreement(one, other, len(shared), agreed, cohens_kappa(of_one, of_other))
