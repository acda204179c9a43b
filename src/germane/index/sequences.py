"""Which documents hold words in a certain order, near each other, or in a certain field.

Candidates hold all the words; the order of words that the segment keeps (`index.sequence_kernels`) decides which of
them hold the phrase. A phrase lies within one value of one field, and stop words do not count: the words are those that
the analyser keeps.

The words q_1 ... q_n are at the positions p_1 ... p_n with `slop` moves if max(p_i - i) - min(p_i - i) <= slop, no
position serving twice: 0 asks for the words side by side in this order, 1 allows a word between two of them, 2 lets
two neighbours change places. This is Lucene's measure of a sloppy phrase.

The stored text is analysed again where the order is not kept (`--no-positions`, indexes of earlier versions), and where
a phrase was found in a document that has a field of several values, which follow one another in the sequence. Where
there is no text either, as after an import from CIFF, the question is refused. Terms are numbers of the segment, -1 one
that it does not hold; deleted documents are found too.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from germane.arrays import Integers, Mask
from germane.errors import IndexFormatError, ParameterError
from germane.index.blocks import BLOCK
from germane.index.segment import Segment
from germane.lazy import LazyModule, is_few
from germane.text import Analyzer
from germane.types import text_of

if TYPE_CHECKING:
    from germane.index import pair_kernels, sequence_kernels
else:
    pair_kernels = LazyModule("germane.index.pair_kernels")
    sequence_kernels = LazyModule("germane.index.sequence_kernels")

MAX_TERMS = 255
"""Terms of a phrase."""
_MANY = 16
"""Stored documents are read one by one where fewer than one of so many is wanted."""
_MUCH_LONGER = 32
"""A list so much longer than that of the candidates is looked at where these may be; another one as a whole."""
COSTLY = 1024
"""To analyse a document's text takes as long as reading so many numbers."""
_ANY_FIELD = -1
_NOTHING = np.empty(0, np.int64)


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


# -- phrases -----------------------------------------------------------------------------------------------------------


def documents_with_phrase(
    segment: Segment, term_numbers: Sequence[int], slop: int, texts: TextFields, field: str | None = None
) -> Integers:
    """The documents, ascending, that hold the terms as a phrase with so many moves; with `field`, there.

    Deleted ones included.
    """
    return phrase_among(segment, documents_with_all(segment, term_numbers), term_numbers, slop, texts, field)


def phrase_among(
    segment: Segment,
    candidates: Integers,
    term_numbers: Sequence[int],
    slop: int,
    texts: TextFields,
    field: str | None = None,
) -> Integers:
    """Those of some documents, ascending, each of which holds all the terms, that hold them as a phrase."""
    if len(term_numbers) > MAX_TERMS:
        raise ParameterError(f"a phrase has at most {MAX_TERMS} words, not {len(term_numbers)}")
    if len(term_numbers) == 1 and field is None:
        return candidates
    number, asked = _ANY_FIELD, texts
    if field is not None:
        number, asked = _field_number(field, texts), texts._replace(names=(field,))
    if is_few(len(candidates) * COSTLY):
        return _in_texts(segment, candidates, term_numbers, slop, asked)
    known, doubtful = _known_and_unknown(segment, candidates, texts)
    if len(known):
        known = known[_hold_phrase(segment, known, term_numbers, slop, number)]
        if len(segment.several_values) and len(term_numbers) > 1:
            several = np.isin(known, segment.several_values)
            known, doubtful = known[~several], np.sort(np.concatenate([known[several], doubtful]))
    if not len(doubtful):
        return known
    return np.sort(np.concatenate([known, _in_texts(segment, doubtful, term_numbers, slop, asked)]))


def _in_texts(
    segment: Segment, candidates: Integers, term_numbers: Sequence[int], slop: int, texts: TextFields
) -> Integers:
    """The same from the stored texts, which needs no kernels."""
    phrase = segment.terms(np.array(term_numbers, np.int64))
    return _verified(segment, candidates, texts, lambda held: holds_phrase(held, phrase, slop))


def _hold_phrase(segment: Segment, docs: Integers, term_numbers: Sequence[int], slop: int, field: int) -> Mask:
    """Whether each document holds the phrase, the values of a field taken as one; the order of words is known."""
    distinct = sorted(set(term_numbers))
    terms, which = np.array(distinct), np.array([distinct.index(term) for term in term_numbers])
    holds, spots = np.empty(len(docs), np.bool_), np.empty(int(segment.doc_len[docs].max()), np.uint32)
    sequence_kernels.find_phrase(
        *_arrays(segment, docs),
        docs,
        field,
        terms,
        which,
        min(slop, 1 << 33),
        spots,
        np.empty((3, len(terms)), np.int64),
        holds,
    )
    return holds


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


# -- pairs -------------------------------------------------------------------------------------------------------------


class PairCounts(NamedTuple):
    """The documents, ascending, that hold two terms near each other; how often side by side in order, how often near.

    Every two places count for which that is so, both in one value of one field.
    """

    docs: Integers
    ordered: Integers
    unordered: Integers


def pair_counts(segment: Segment, first: int, second: int, window: int, texts: TextFields) -> PairCounts:
    """Count a pair of terms in every document, deleted ones included; near is less than `window` places apart."""
    docs = documents_with_all(segment, [first, second])
    known, unknown = _known_and_unknown(segment, docs, texts)
    counts = np.zeros((len(docs), 2), np.int64)
    if len(known):
        terms, own = np.array(sorted({first, second})), np.empty((len(known), 2), np.int64)
        which = [int(np.searchsorted(terms, term)) for term in (first, second)]
        spots = np.empty(int(segment.doc_len[known].max()), np.uint32)
        scratch = np.empty((2, len(terms)), np.int64)
        pair_kernels.count_pair(*_arrays(segment, known), known, terms, *which, window, spots, scratch, own)
        counts[np.searchsorted(docs, known)] = own
        several = known[np.isin(known, segment.several_values)]  # whose values follow one another in the sequence
        unknown = np.sort(np.concatenate([unknown, several]))
    if len(unknown):
        pair = segment.term(first), segment.term(second)
        held = [[count_pair(values, *pair, window) for values in own] for _, own in _texts(segment, unknown, texts)]
        counts[np.searchsorted(docs, unknown)] = [np.sum(own, axis=0) for own in held]
    near = counts[:, 1] > 0
    return PairCounts(docs[near], counts[near, 0], counts[near, 1])


def count_pair(held: Sequence[str], first: str, second: str, window: int) -> tuple[int, int]:
    """How often a sequence of terms holds the pair side by side in this order, and near each other in any order."""
    places = [[place for place, term in enumerate(held) if term == wanted] for wanted in (first, second)]
    steps = [b - a for a in places[0] for b in places[1] if a < b or first != second]
    return steps.count(1), sum(abs(step) < window for step in steps)


# -- fields ------------------------------------------------------------------------------------------------------------


def documents_with_terms_in_field(
    segment: Segment, term_numbers: Sequence[int], field: str, texts: TextFields
) -> Integers:
    """The documents, ascending, that hold any of the terms in this field; deleted ones included."""
    found = [field_counts(segment, number, field, texts)[0] for number in dict.fromkeys(term_numbers) if number >= 0]
    return found[0] if len(found) == 1 else np.unique(np.concatenate([_NOTHING, *found]))


def field_counts(segment: Segment, term_number: int, field: str, texts: TextFields) -> tuple[Integers, Integers]:
    """The documents, ascending, that hold the term in this field, and how often they do."""
    docs = documents_with_all(segment, [term_number])
    known, unknown = _known_and_unknown(segment, docs, texts)
    counts = np.zeros(len(docs), np.int64)
    if len(known):
        own, place, terms = np.empty(len(known), np.int64), np.empty(1, np.int64), np.array([term_number])
        sequence_kernels.count_in_field(*_arrays(segment, known), known, _field_number(field, texts), terms, place, own)
        counts[np.searchsorted(docs, known)] = own
    if len(unknown):
        term, asked = segment.term(term_number), texts._replace(names=(field,))
        held = [sum(values.count(term) for values in own) for _, own in _texts(segment, unknown, asked)]
        counts[np.searchsorted(docs, unknown)] = held
    return docs[counts > 0], counts[counts > 0]


def counts_by_field(segment: Segment, term_number: int, texts: TextFields) -> tuple[Integers, Integers]:
    """The documents, ascending, that hold the term, and how often in each field (document × field)."""
    segment.verify_lists([term_number])
    held, total = segment.postings(term_number)
    docs, counts = held.astype(np.int64), np.zeros((len(held), len(texts.names)), np.int64)
    for i, name in enumerate(texts.names[:-1]):
        there, own = field_counts(segment, term_number, name, texts)
        counts[np.searchsorted(docs, there), i] = own
    counts[:, -1] = total - counts.sum(axis=1)  # what is in no other field is in the last
    return docs, counts


def field_lengths(segment: Segment, texts: TextFields) -> Integers:
    """The tokens of each text field of each document (document × field)."""
    lengths = np.zeros((segment.n_docs, len(texts.names)), np.int64)
    known, unknown = _known_and_unknown(segment, np.arange(segment.n_docs), texts)
    if len(known):
        lengths[known] = segment.field_len[known]
    if len(unknown):
        for i, name in enumerate(texts.names):
            for doc, own in _texts(segment, unknown, texts._replace(names=(name,))):
                lengths[doc, i] = sum(map(len, own))
    return lengths


def _field_number(field: str, texts: TextFields) -> int:
    if field not in texts.names:
        raise ParameterError(f"'{field}' is not one of the text fields: {', '.join(texts.names)}")
    return texts.names.index(field)


# -- documents that hold words -----------------------------------------------------------------------------------------


def documents_with_all(segment: Segment, term_numbers: Sequence[int]) -> Integers:
    """The documents, ascending, that hold all of the terms: the rarest one's, then those of them that hold the next."""
    if min(term_numbers, default=-1) < 0:
        return _NOTHING
    terms = sorted(set(term_numbers), key=lambda number: (int(segment.df[number]), number))
    segment.verify_lists(terms)
    if is_few(int(segment.df[terms].sum())):
        return reduce(np.intersect1d, (segment.postings(term)[0] for term in terms)).astype(np.int64)
    n = int(segment.df[terms[0]])
    docs, room = np.empty(n + 1, np.int64), np.empty((2, BLOCK), np.uint32)
    docs[:n] = segment.postings(terms[0])[0]
    for term in terms[1:]:
        first, df = int(segment.first_block[term]), int(segment.df[term])
        if df > _MUCH_LONGER * n:
            n = sequence_kernels.keep_holding(*segment.blocks, first, df, docs, n, *room)
        else:
            n = sequence_kernels.keep_marked(
                *segment.blocks, first, df, docs, n, np.zeros((segment.n_docs >> 6) + 1, np.uint64), *room
            )
    return docs[:n]


def documents_with_any(segment: Segment, term_numbers: Sequence[int]) -> Integers:
    """The documents, ascending, that hold one of the terms at least."""
    if len(term_numbers) == 1:
        return segment.postings(term_numbers[0])[0].astype(np.int64)
    return np.flatnonzero(_holding_any(segment, term_numbers))


def count_with_any(segment: Segment, term_numbers: Sequence[int]) -> int:
    """How many documents hold one of the terms at least."""
    if len(term_numbers) == 1:
        return int(segment.df[term_numbers[0]])
    return int(np.count_nonzero(_holding_any(segment, term_numbers)))


def _holding_any(segment: Segment, term_numbers: Sequence[int]) -> npt.NDArray[np.bool_]:
    held = np.zeros(segment.n_docs, np.bool_)
    for number in term_numbers:
        held[segment.postings(number)[0]] = True
    return held


# -- the order of words ------------------------------------------------------------------------------------------------


def _known_and_unknown(segment: Segment, docs: Integers, texts: TextFields) -> tuple[Integers, Integers]:
    """The documents whose order of words the segment keeps, and the others."""
    if not segment.keeps_order:
        return _NOTHING, docs
    if segment.field_len.shape[1] != len(texts.names):
        raise segment.container.damage("lengths of other fields than the index has")
    known = segment.sequence_len[docs] == segment.doc_len[docs]
    return (docs, _NOTHING) if known.all() else (docs[known], docs[~known])


def _arrays(segment: Segment, docs: Integers) -> tuple[Any, Any, Any]:
    """What the kernels read: the forward lists, also as bytes, and the sequences; those of `docs` are verified."""
    segment.verify_forward(docs)
    forward = segment.forward_arrays
    return tuple(forward), forward.words.view(np.uint8), tuple(segment.sequence_arrays(docs))


def _verified(
    segment: Segment, candidates: Integers, texts: TextFields, accepts: Callable[[list[str]], bool]
) -> Integers:
    """The candidates one of whose sequences of terms is accepted."""
    found = [doc for doc, own in _texts(segment, candidates, texts) if any(map(accepts, own))]
    return np.array(found, np.int64)


def _texts(segment: Segment, docs: Integers, texts: TextFields) -> Iterator[tuple[int, list[list[str]]]]:
    """The documents and their sequences of terms, from the stored text; an error where there is none."""
    for doc, fields in _stored(segment, docs):
        if not fields and segment.doc_len[doc]:
            raise IndexFormatError(
                f"{segment.path} keeps neither the order of words nor the text of its documents: phrases and words in "
                "one field cannot be looked for; index that collection again from its documents"
            )
        yield doc, list(texts.sequences(fields))


def _stored(segment: Segment, docs: Integers) -> Iterator[tuple[int, dict[str, Any]]]:
    """Document numbers and stored fields."""
    if len(docs) * _MANY < segment.n_docs:
        yield from ((doc, segment.stored.fields(doc)) for doc in docs.tolist())
        return
    wanted = set(docs.tolist())
    yield from ((doc, fields) for doc, fields in enumerate(segment.stored.all_fields()) if doc in wanted)
