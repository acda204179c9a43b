"""Which documents hold these words in this order, near each other, or in this field?

The posting lists say which documents hold all the words; the order of words (`index.sequence_kernels`) decides which of
them hold the phrase. Terms are named by their numbers in the segment, -1 standing for one that it does not hold;
documents that are deleted are found too, as in the posting lists.

**Positions** count terms: what the analyser drops, stop words above all, takes no place, neither in a document nor in a
phrase. So "state of the art" is the two terms of "state art", next to each other. The items of a field that is a list
follow one another; from one field to another nothing is near.

**The rule.** A phrase of the terms w_0 ... w_(m-1) with slop n matches where there are m different positions p_0 ...
p_(m-1) of one field, p_i holding w_i, such that

    max_i (p_i - i) - min_i (p_i - i) <= n

With n = 0 the terms stand next to each other in the order of the phrase. Larger n is the sloppy phrase of Lucene: the
terms may be moved apart by n places in all; to swap two neighbours takes 2.

Of documents whose order of words is not kept (`--no-positions`, indexes of earlier versions) the stored text is
analysed once more. That takes far longer; where there is no text, as after an import from CIFF, it is refused.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from germane.arrays import Integers
from germane.errors import IndexFormatError, ParameterError
from germane.index import sequence_kernels
from germane.index.blocks import BLOCK
from germane.index.manifest import settings_of
from germane.index.segment import ForwardArrays, Segment, SequenceArrays, place_bits
from germane.text.bulk import BulkAnalyzer
from germane.types import text_of

MAX_TERMS = 255
"""Terms of a phrase."""
MUCH_LONGER = 32
"""A list so much longer than that of the candidates is looked at where these may be; another one as a whole."""
READ_AGAIN = 1024
"""Documents whose stored text is analysed at a time."""
_NOTHING = np.empty(0, np.int64)


def documents_with_phrase(segment: Segment, term_numbers: Sequence[int], slop: int = 0) -> Integers:
    """The documents, ascending, that hold the terms as a phrase in one field; see the rule above."""
    if not 0 < len(term_numbers) <= MAX_TERMS:
        raise ParameterError(f"a phrase has 1 to {MAX_TERMS} words that are searched, not {len(term_numbers)}")
    if type(slop) is not int or slop < 0:
        raise ParameterError(f"the slop of a phrase is a whole number, 0 or more, not {slop!r}")
    candidates = documents_with_all(segment, term_numbers)
    if len(term_numbers) == 1:
        return candidates
    distinct = sorted(set(term_numbers))
    terms, which = np.array(distinct), np.array([distinct.index(term) for term in term_numbers])
    found = []
    for docs, rows, forward, sequences in _in_order(segment, candidates):
        longest = int(segment.doc_len[docs].max(initial=0))
        holds, spots, scratch = (
            np.empty(len(docs), np.bool_),
            np.empty(longest, np.uint32),
            np.empty((3, len(terms)), np.int64),
        )
        sequence_kernels.find_phrase(
            tuple(forward),
            forward.words.view(np.uint8),
            tuple(sequences),
            docs,
            rows,
            terms,
            which,
            min(slop, 1 << 33),
            spots,
            scratch,
            holds,
        )
        found.append(docs[holds])
    return np.sort(np.concatenate([_NOTHING, *found]))


def documents_with_terms_in_field(segment: Segment, field_index: int, term_numbers: Sequence[int]) -> Integers:
    """The documents, ascending, that hold every one of the terms in the text field of this number."""
    docs = documents_with_all(segment, term_numbers)
    for term in dict.fromkeys(term_numbers):
        docs = docs[_counts(segment, field_index, term, docs) > 0]
    return docs


def field_counts(segment: Segment, field_index: int, term_number: int) -> tuple[Integers, Integers]:
    """The documents that hold the term in the text field of this number, and how often each does there."""
    docs = documents_with_all(segment, [term_number])
    counts = _counts(segment, field_index, term_number, docs)
    return docs[counts > 0], counts[counts > 0]


def field_lengths(segment: Segment) -> Integers:
    """The tokens of each text field of each document (document × field)."""
    if segment.keeps_order and np.array_equal(segment.sequence_len, segment.doc_len):
        return segment.field_len.astype(np.int64)
    n_fields = len(settings_of(segment.path, segment.container.meta)[1])
    lengths = np.zeros((segment.n_docs, n_fields), np.int64)
    for docs, rows, _, sequences in _in_order(segment, np.arange(segment.n_docs)):
        lengths[docs] = sequences.field_len.reshape(-1, sequences.n_fields)[rows]
    return lengths


def documents_with_all(segment: Segment, term_numbers: Sequence[int]) -> Integers:
    """The documents, ascending, that hold every one of the terms: those of the rarest, thinned by the others."""
    if not term_numbers or min(term_numbers) < 0:
        return _NOTHING
    terms = sorted(set(term_numbers), key=lambda term: (segment.df[term], term))
    segment.verify_lists(terms)
    n = int(segment.df[terms[0]])
    docs, room = np.empty(n + 1, np.int64), np.empty((2, BLOCK), np.uint32)
    docs[:n] = segment.postings(terms[0])[0]
    for term in terms[1:]:
        first, df = int(segment.first_block[term]), int(segment.df[term])
        if df > MUCH_LONGER * n:
            n = sequence_kernels.keep_holding(*segment.blocks, first, df, docs, n, *room)
        else:
            marks = np.zeros((segment.n_docs >> 6) + 1, np.uint64)
            n = sequence_kernels.keep_marked(*segment.blocks, first, df, docs, n, marks, *room)
    return docs[:n]


def _counts(segment: Segment, field: int, term: int, candidates: Integers) -> Integers:
    """How often each of the documents, which hold the term, does so in the field."""
    counts = np.zeros(segment.n_docs if len(candidates) else 0, np.int64)
    for docs, rows, forward, sequences in _in_order(segment, candidates):
        if not 0 <= field < sequences.n_fields:
            raise ParameterError(f"there is no text field number {field}: {segment.path} has {sequences.n_fields}")
        own, place = np.empty(len(docs), np.int64), np.empty(1, np.int64)
        sequence_kernels.count_in_field(
            tuple(forward),
            forward.words.view(np.uint8),
            tuple(sequences),
            docs,
            rows,
            np.array([term]),
            field,
            place,
            own,
        )
        counts[docs] = own
    return counts[candidates]


_InOrder = tuple[Integers, Integers, ForwardArrays, SequenceArrays]


def _in_order(segment: Segment, docs: Integers) -> Iterator[_InOrder]:
    """The documents with their sequences: those that are kept at once, then the others, some at a time.

    Each part is documents, the number of each one's sequence, the forward lists and the sequences.
    """
    unknown = docs
    if segment.keeps_order:
        known = segment.sequence_len[docs] == segment.doc_len[docs]
        kept, unknown = (docs, _NOTHING) if known.all() else (docs[known], docs[~known])
        yield kept, kept, segment.forward_arrays(kept), segment.sequence_arrays(kept)
    for begin in range(0, len(unknown), READ_AGAIN):
        some = unknown[begin : begin + READ_AGAIN]
        yield some, np.arange(len(some)), segment.forward_arrays(some), _read_again(segment, some)


def _read_again(segment: Segment, docs: Integers) -> SequenceArrays:
    """The sequences of these documents, from their stored text."""
    analyzer, text_fields = settings_of(segment.path, segment.container.meta)
    bulk = BulkAnalyzer(analyzer)
    stored = (segment.stored.fields(doc) for doc in docs.tolist())
    ids, text_ends = bulk.analyze([text_of(fields, (name,)) for fields in stored for name in text_fields])
    field_len = np.diff(text_ends, prepend=0).reshape(len(docs), -1)
    lengths = field_len.sum(axis=1)
    starts, terms, _ = segment.forward_of(docs)
    rows, n_unique = np.arange(len(docs)), np.diff(starts)
    held = np.repeat(rows, n_unique) << 32 | terms
    wanted = np.repeat(rows, lengths) << 32 | np.maximum(segment.find_terms(bulk.terms), 0)[ids]
    at = np.searchsorted(held, wanted)
    if not np.array_equal(lengths, segment.doc_len[docs]) or not np.array_equal(np.append(held, -1)[at], wanted):
        raise IndexFormatError(
            f"{segment.path} does not keep the order of words, and has no text to find it in: phrases and words in one "
            "field cannot be looked for; index that collection again from its documents"
        )
    places, ends = (at - np.repeat(starts[:-1], lengths)).astype(np.uint32), np.cumsum(lengths)
    sizes = (lengths * place_bits(n_unique) + 31) >> 5
    words = np.zeros(int(sizes.sum()) + BLOCK, np.uint32)
    sequence_kernels.pack_sequences(places, ends, n_unique, words)
    words.flags.writeable = False  # as those of a file are: one type of array for the kernels
    begins = np.concatenate([[0], np.cumsum(sizes)])
    return SequenceArrays(
        words, words.view(np.uint8), begins, field_len.astype(np.uint32).reshape(-1), len(text_fields)
    )
