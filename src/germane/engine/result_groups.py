"""A group of results that are alike, as `engine.grouping` makes it, and how many results are grouped."""

from dataclasses import dataclass

GROUPED = 200
"""As many results at least are put in groups where a request asks for them, and as many begin in a cluster."""


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """Results that are alike, best first, by `ids` and by `ranks` in the list; `words` set them apart from the others.

    The words are those with the largest p(w|group)·log(p(w|group)/p(w|list)), p the mean over documents. Words of the
    query are left out: all results have them.
    """

    words: tuple[str, ...]
    ids: tuple[str, ...]
    ranks: tuple[int, ...]
