"""Do two records without a common identifier describe one work? By title, year, first author and abstract."""

from collections import Counter
from collections.abc import Iterable, Sequence

from germane.data.works import SHORT, Work
from germane.lazy import on_first_use

with on_first_use(__name__):
    from rapidfuzz.distance import OSA

OPENING = 8
"""Words of an abstract that say something of it: fewer are not compared."""
SAME_ABSTRACT, OTHER_ABSTRACT = 0.65, 0.4
"""Of the words of the shorter beginning the share from which on they are the same abstract, and below which not."""
LONG_WORD = 4
"""Words of fewer letters that differ by one are different words; and they alone do not make two titles different."""


def agree(one: Work, other: Work, similarity: float) -> bool:
    """Whether two records without a common identifier are of one work."""
    if one.year is not None and other.year is not None and abs(one.year - other.year) > 1:
        return False
    if one.preprint != other.preprint or one.notice != other.notice:
        return False
    authors = _same_author(one, other)
    if authors is False:
        return False
    abstracts = _same_abstract(one, other)
    if abstracts is False:
        return False
    whole = one.numbers == other.numbers and likeness(one, other, similarity, abstracts is True) >= similarity
    if min(len(one.words), len(other.words)) < SHORT and not abstracts:
        if whole and one.words == other.words:
            return authors is True and one.year is not None and one.year == other.year
        whole = False
    if whole:
        return True
    if abstracts is None and authors is None:
        return False
    return any(
        _is_part(short.title, main, similarity) for short, long in ((one, other), (other, one)) for main in long.mains
    )


def _is_part(short: tuple[str, ...], main: tuple[str, ...], similarity: float) -> bool:
    """Whether a title is another one without its subtitle."""
    if abs(len(short) - len(main)) > 1:
        return False
    return short == main or _soft_jaccard(short, main, strict=True) >= similarity


def _same_author(one: Work, other: Work) -> bool | None:
    """None where one of the records names nobody."""
    if not one.author or not other.author:
        return None
    return bool(one.author & other.author) or _near_names(one.author, other.author)


def _near_names(some: Iterable[str], others: Iterable[str]) -> bool:
    return any(
        OSA.distance(a, b, score_cutoff=1) <= 1 for a in some for b in others if min(len(a), len(b)) >= LONG_WORD
    )


def _same_abstract(one: Work, other: Work) -> bool | None:
    """Whether the abstracts begin alike; None where one is missing, or it is not to be told."""
    a, b = one.opening_words, other.opening_words
    fewer = min(len(a), len(b))
    if fewer < OPENING:
        return None
    share = len(a & b) / fewer
    return True if share >= SAME_ABSTRACT else False if share < OTHER_ABSTRACT else None


def likeness(one: Work, other: Work, at_least: float = 0.0, same_abstract: bool = True) -> float:
    """m/(|A| + |B| - m) of the titles' words; 1 where the titles differ by their spaces alone.

    0 where it cannot be `at_least` so much, and where each title has a long word that the other lacks, unless the
    abstracts are the same.
    """
    if one.title == other.title:
        return 1.0 if one.title else 0.0
    a, b = len(one.title), len(other.title)
    if "".join(one.title) == "".join(other.title):
        return 1.0
    if not a or not b or min(a, b) / max(a, b) < at_least:  # m ≤ min(a, b)
        return 0.0
    return _soft_jaccard(one.title, other.title, strict=not same_abstract)


def _soft_jaccard(one: Sequence[str], other: Sequence[str], *, strict: bool) -> float:
    """`strict`: 0 where long words are left on both sides."""
    a, b = Counter(one), Counter(other)
    both = a & b
    m = float(both.total())
    mine, theirs = list((a - both).elements()), list((b - both).elements())
    left = []
    for word in mine:
        pair = _typing_error(word, theirs) if len(word) >= LONG_WORD else None
        if pair is None:
            left.append(word)
        else:
            theirs.remove(pair)
            m += 1 - 0.5 / max(len(word), len(pair))
    if strict and all(any(len(word) >= LONG_WORD for word in words) for words in (left, theirs)):
        return 0.0
    return m / (len(one) + len(other) - m) if m else 0.0


def _typing_error(word: str, others: Iterable[str]) -> str | None:
    """The first of the others that is the word but for one letter missing, added, changed, or two exchanged."""
    for other in others:
        if len(other) >= LONG_WORD and OSA.distance(word, other, score_cutoff=1) <= 1:
            return other
    return None
