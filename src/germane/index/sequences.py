"""Which documents hold words in a certain order, or in a certain field.

Candidates hold all the words; their stored text is analysed again, field by field, and searched. A phrase lies within
one value of one field, and stop words do not count: the words are those that the analyser keeps.

The words q_1 ... q_n are at the positions p_1 ... p_n with `slop` moves if max(p_i - i) - min(p_i - i) <= slop, no
position serving twice: 0 asks for the words side by side in this order, 1 allows a word between two of them, 2 lets
two neighbours change places. This is Lucene's measure of a sloppy phrase.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.index.segment import Segment
from germane.text import Analyzer
from germane.types import text_of

DocumentNumbers = npt.NDArray[np.int64]
_MANY = 16
"""Stored documents are read one by one where fewer than one of so many is wanted."""


class TextFields(NamedTuple):
    """How the texts of an index become terms, and which fields are texts."""

    analyzer: Analyzer
    names: tuple[str, ...]

    def sequences(self, fields: dict[str, Any]) -> Iterator[list[str]]:
        """The terms of each value of the text fields, in order."""
        for name in self.names:
            value = fields.get(name)
            for item in value if isinstance(value, list) else (value,):
                if item is not None:
                    yield self.analyzer.terms(text_of({name: item}, (name,)))


def documents_with_phrase(
    segment: Segment, term_numbers: Sequence[int], slop: int, texts: TextFields
) -> DocumentNumbers:
    """The documents, ascending, that hold the terms as a phrase with so many moves; deleted ones included."""
    if min(term_numbers, default=-1) < 0:
        return np.empty(0, np.int64)
    terms = segment.terms(np.array(term_numbers, np.int64))
    return _verified(
        segment, texts, documents_with_all(segment, term_numbers), lambda held: holds_phrase(held, terms, slop)
    )


def documents_with_terms_in_field(
    segment: Segment, term_numbers: Sequence[int], field: str, texts: TextFields
) -> DocumentNumbers:
    """The documents, ascending, that hold any of the terms in this field; deleted ones included."""
    known = [number for number in term_numbers if number >= 0]
    terms = frozenset(segment.terms(np.array(known, np.int64)))
    candidates = documents_with_any(segment, known)
    return _verified(segment, texts._replace(names=(field,)), candidates, lambda held: not terms.isdisjoint(held))


def documents_with_phrase_in_field(
    segment: Segment, term_numbers: Sequence[int], slop: int, field: str, texts: TextFields
) -> DocumentNumbers:
    """The documents, ascending, that hold the terms as a phrase in this field; deleted ones included."""
    return documents_with_phrase(segment, term_numbers, slop, texts._replace(names=(field,)))


def documents_with_all(segment: Segment, term_numbers: Sequence[int]) -> DocumentNumbers:
    """The documents, ascending, that hold all of the terms: the rarest one's, then those of them that hold the next."""
    by_df = sorted(set(term_numbers), key=lambda number: int(segment.df[number]))
    lists = (segment.postings(number)[0] for number in by_df)
    return reduce(lambda held, docs: held[_among(held, docs)], lists).astype(np.int64)


def documents_with_any(segment: Segment, term_numbers: Sequence[int]) -> DocumentNumbers:
    """The documents, ascending, that hold one of the terms at least."""
    if len(term_numbers) == 1:
        return segment.postings(term_numbers[0])[0].astype(np.int64)
    held = np.zeros(segment.n_docs, np.bool_)
    for number in term_numbers:
        held[segment.postings(number)[0]] = True
    return np.flatnonzero(held)


def _among(few: npt.NDArray[np.uint32], many: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Which of the sorted `few` are among the sorted `many`."""
    places = np.searchsorted(many, few)
    places[places == len(many)] = 0
    found: npt.NDArray[np.bool_] = many[places] == few
    return found


def holds_phrase(held: Sequence[str], phrase: Sequence[str], slop: int) -> bool:
    """Whether a sequence of terms holds the phrase with at most so many moves (see the top of this module)."""
    positions: dict[str, list[int]] = {term: [] for term in phrase}
    for position, term in enumerate(held):
        if term in positions:
            positions[term].append(position)
    if not all(positions.values()):
        return False
    starts = {position - i for i, term in enumerate(phrase) for position in positions[term]}
    return any(_fits(phrase, positions, start, slop) for start in starts)


def _fits(phrase: Sequence[str], positions: dict[str, list[int]], start: int, slop: int) -> bool:
    """Whether each word i can stand at a place from start + i to start + i + slop; the first free one will do."""
    taken: set[int] = set()
    for i, term in enumerate(phrase):
        place = next((at for at in positions[term] if at >= start + i and at not in taken), None)
        if place is None or place > start + i + slop:
            return False
        taken.add(place)
    return True


def _verified(
    segment: Segment, texts: TextFields, candidates: DocumentNumbers, accepts: Callable[[list[str]], bool]
) -> DocumentNumbers:
    """The candidates one of whose sequences of terms is accepted."""
    good = [
        doc for doc, fields in _stored(segment, candidates) if any(accepts(held) for held in texts.sequences(fields))
    ]
    return np.array(good, np.int64)


def _stored(segment: Segment, docs: DocumentNumbers) -> Iterator[tuple[int, dict[str, Any]]]:
    """Document numbers and stored fields."""
    if len(docs) * _MANY < segment.n_docs:
        yield from ((doc, segment.stored.fields(doc)) for doc in docs.tolist())
        return
    wanted = set(docs.tolist())
    yield from ((doc, fields) for doc, fields in enumerate(segment.stored.all_fields()) if doc in wanted)
