"""Conditions on documents: plain values that can travel, evaluated over a whole segment at once by `mask_of`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers
from germane.deadline import look
from germane.index.segment import Segment
from germane.index.sequences import (
    TextFields,
    documents_with_all,
    documents_with_any,
    documents_with_phrase,
    documents_with_terms_in_field,
)
from germane.rank.query.filters import FieldFilter, HasValue, StartsWith

BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class HoldsAny:
    """Documents that hold one of these terms at least; with `field`, in that field."""

    terms: tuple[str, ...]
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Phrase:
    """Documents that hold the terms as a phrase with at most `slop` moves (`index.sequences`); with `field`, there."""

    terms: tuple[str, ...]
    slop: int = 0
    field: str | None = None


@dataclass(frozen=True, slots=True)
class And:
    """Documents that satisfy all parts; every document, where there are none."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Documents that satisfy one of the parts at least; none, where there are none."""

    parts: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Documents that do not satisfy the part."""

    part: "Condition"


Condition: TypeAlias = FieldFilter | HasValue | StartsWith | HoldsAny | Phrase | And | Or | Not


@lru_cache(maxsize=1 << 14)
def holds(term: str) -> HoldsAny:
    """Documents that hold this term."""
    return HoldsAny((term,))


def both(parts: Iterable[Condition]) -> Condition:
    """All of the conditions, each once, as simply as that can be said."""
    flat = (part for given in parts for part in (given.parts if isinstance(given, And) else (given,)))
    distinct = tuple(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else And(distinct)


def either(parts: Iterable[Condition]) -> Condition:
    """One of the conditions at least, as simply as that can be said: words of one field are held together."""
    words: dict[str | None, dict[str, None]] = {}
    rest: dict[Condition, None] = {}
    for part in (part for given in parts for part in (given.parts if isinstance(given, Or) else (given,))):
        if isinstance(part, HoldsAny):
            words.setdefault(part.field, {}).update(dict.fromkeys(part.terms))
        else:
            rest[part] = None
    joined = (*(HoldsAny(tuple(terms), field) for field, terms in words.items()), *rest)
    return joined[0] if len(joined) == 1 else Or(joined)


def mask_of(condition: Condition, segment: Segment, texts: TextFields) -> BoolArray:
    """True for each document of the segment that satisfies the condition."""
    look()
    match condition:
        case And(parts):
            return _all_of(parts, segment, texts)
        case Or(parts):
            mask = np.zeros(segment.n_docs, np.bool_)
            for part in parts:
                mask |= mask_of(part, segment, texts)
            return mask
        case Not(part):
            return ~mask_of(part, segment, texts)
        case HoldsAny(terms, field):
            return _mask(segment, _holding_any(segment, terms, field, texts))
        case Phrase(terms, slop, field):
            return _mask(segment, _holding_phrase(segment, terms, slop, field, texts))
        case _:
            return condition.passes(segment)


def _holding_any(segment: Segment, terms: tuple[str, ...], field: str | None, texts: TextFields) -> Integers:
    found = segment.find_terms(terms)
    numbers = found[found >= 0].tolist()
    if field is None:
        return documents_with_any(segment, numbers)
    return documents_with_terms_in_field(segment, numbers, field, texts)


def _holding_phrase(
    segment: Segment, terms: tuple[str, ...], slop: int, field: str | None, texts: TextFields
) -> Integers:
    return documents_with_phrase(segment, segment.find_terms(terms).tolist(), slop, texts, field)


def _all_of(parts: Sequence[Condition], segment: Segment, texts: TextFields) -> BoolArray:
    """Words first, the rarest before the others; then what is left of them is compared with the other parts."""
    words = [part.terms[0] for part in parts if is_word(part)]
    mask = np.ones(segment.n_docs, np.bool_)
    if words:
        numbers = segment.find_terms(words)
        if (numbers < 0).any():
            return np.zeros(segment.n_docs, np.bool_)
        mask = _mask(segment, documents_with_all(segment, numbers.tolist()))
    for part in parts:
        if is_word(part):
            continue
        if not mask.any():
            break
        mask &= mask_of(part, segment, texts)
    return mask


def is_word(part: Condition) -> TypeGuard[HoldsAny]:
    """Whether the condition is that a document holds one term."""
    return isinstance(part, HoldsAny) and part.field is None and len(part.terms) == 1


def _mask(segment: Segment, docs: Integers) -> BoolArray:
    mask = np.zeros(segment.n_docs, np.bool_)
    mask[docs] = True
    return mask


def true_without(condition: Condition, terms: frozenset[str]) -> bool:
    """Whether a document that holds none of the terms may satisfy the condition."""
    return _possible(condition, terms)[0]


def _possible(condition: Condition, absent: frozenset[str]) -> tuple[bool, bool]:
    """Whether the condition can be true, and whether it can be false, of a document without these terms."""
    match condition:
        case HoldsAny(terms):
            return not absent.issuperset(terms), True
        case Phrase(terms):
            return absent.isdisjoint(terms), True
        case Not(part):
            true, false = _possible(part, absent)
            return false, true
        case And(parts):
            known = [_possible(part, absent) for part in parts]
            return all(true for true, _ in known), any(false for _, false in known)
        case Or(parts):
            known = [_possible(part, absent) for part in parts]
            return any(true for true, _ in known), all(false for _, false in known)
        case _:
            return True, True
