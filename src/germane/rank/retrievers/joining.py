"""Answers of the parts of a collection as one answer: pure functions of plain data."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from operator import neg

import numpy as np

from germane.arrays import Integers
from germane.errors import ParameterError
from germane.index.vector_fields import VectorField
from germane.rank.retriever import NO_HITS, Counts, FieldVectors, Hits, Inspection, Refs, Schema


def joined_hits(parts: Sequence[Hits], k: int | None, ids_of: Callable[[Refs], list[str]]) -> Hits:
    """The best k of documents that each part has in order: score descending, then id ascending.

    `ids_of` reads ids, where the parts' answers have none: only of documents of several parts with the same score.
    """
    parts = [part for part in parts if len(part.refs)]
    if len(parts) < 2:
        return parts[0].part(0, len(parts[0].refs) if k is None else k) if parts else NO_HITS
    joined = _together(parts)
    homes = np.repeat(np.arange(len(parts)), [len(part.refs) for part in parts])
    order = np.argsort(-joined.scores, kind="stable")
    ranked, homes = joined.chosen(order), homes[order]
    places = np.arange(len(order))
    scores, end = ranked.scores.tolist(), 0
    for begin in np.flatnonzero(ranked.scores[1:] == ranked.scores[:-1]).tolist():
        if begin < end or (k is not None and begin >= k):
            continue
        end = bisect_right(scores, -scores[begin], begin, key=neg)
        if (homes[begin:end] != homes[begin]).any():
            tied = ranked.part(begin, end)
            ids = ids_of(tied.refs) if tied.ids is None else tied.ids
            places[begin:end] = begin + np.array(sorted(range(end - begin), key=ids.__getitem__))
    return ranked.chosen(places[:k])


def _together(parts: Sequence[Hits]) -> Hits:
    ids = [part.ids for part in parts if part.ids is not None]
    together = [each for own in ids for each in own] if len(ids) == len(parts) else None
    return Hits(
        np.concatenate([part.scores for part in parts]), np.concatenate([part.refs for part in parts]), together
    )


def joined_counts(
    parts: Sequence[tuple[Integers, Counts]],
    n_docs: int,
    named: Sequence[str],
    frequencies: Callable[[list[str]], tuple[Integers, Integers]],
) -> Counts:
    """Documents of several parts as counts of terms, each with its places among all documents.

    `named`: terms that are numbered too. `frequencies`: df and cf of terms in the whole collection.
    """
    terms = sorted({*named, *(term for _, own in parts for term in own.terms)})
    number = {term: i for i, term in enumerate(terms)}
    sizes, lengths = np.zeros(n_docs, np.int64), np.zeros(n_docs)
    for rows, own in parts:
        sizes[rows], lengths[rows] = np.diff(own.starts), own.lengths
    starts = np.concatenate([[0], np.cumsum(sizes)])
    words, counts = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    for rows, own in parts:
        within = np.arange(len(own.words)) - np.repeat(own.starts[:-1], sizes[rows])
        at = np.repeat(starts[rows], sizes[rows]) + within
        words[at] = np.array([number[term] for term in own.terms], np.int64)[own.words]
        counts[at] = own.counts
    return Counts(starts, words, counts, lengths, terms, *frequencies(terms))


def joined_schema(parts: Sequence[Schema]) -> Schema:
    """What several parts hold; `ParameterError` where their texts did not become terms in the same way."""
    first = parts[0]
    for other in parts[1:]:
        if other.analyzer.fingerprint != first.analyzer.fingerprint:
            raise ParameterError(
                f"{first.name} and {other.name} cannot be searched as one: their texts were analysed in other ways"
            )
        if other.text_fields != first.text_fields:
            raise ParameterError(
                f"{first.name} and {other.name} cannot be searched as one: the text fields of the one are "
                f"{', '.join(first.text_fields)}, those of the other {', '.join(other.text_fields)}"
            )
    mixed = {name for part in parts for name in part.filters - part.numeric}
    return Schema(
        " + ".join(part.name for part in parts),
        first.analyzer,
        first.text_fields,
        frozenset().union(*(part.filters for part in parts)),
        frozenset().union(*(part.numeric for part in parts)) - mixed,
        _joined_fields(parts),
        sum(part.n_docs for part in parts),
        sum(part.n_tokens for part in parts),
        all(part.keeps_order for part in parts),
        tuple(generation for part in parts for generation in part.generations),
    )


def _joined_fields(parts: Sequence[Schema]) -> Mapping[str, VectorField]:
    joined: dict[str, VectorField] = {}
    for part in parts:
        for name, field in part.vector_fields.items():
            if joined.setdefault(name, field) != field:
                raise ParameterError(
                    f"the collections cannot be searched as one: the vector field '{name}' is {joined[name]} in one of "
                    f"them and {field} in {part.name}"
                )
    return joined


def joined_inspections(parts: Sequence[Inspection], n_terms: int) -> Inspection:
    """The sizes of several parts added up; `n_terms`: the distinct terms of all."""
    vectors: dict[str, list[FieldVectors]] = defaultdict(list)
    for own in (field for part in parts for field in part.vectors):
        vectors[own.name].append(own)
    deleted, _, postings, segments, size, dictionary, lists, _ = zip(*parts, strict=True)
    fields = tuple(
        FieldVectors(name, own[0].field, sum(each.documents for each in own), sum(each.bytes for each in own))
        for name, own in sorted(vectors.items())
    )
    sums = sum(deleted), n_terms, sum(postings), sum(segments), sum(size), sum(dictionary), sum(lists)
    return Inspection(*sums, fields)
