"""Texts to counts: one row for each text, one column for each term of a vocabulary."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from germane.arrays import Integers
from germane.text.analyzer import Analyzer
from germane.text.any_analyzer import AnyAnalyzer
from germane.text.bulk import BulkAnalyzer
from germane.text.word_pairs import JOINED, WordPairs

BATCH = 4096
"""Texts analysed at once: analysing needs several times their size in memory."""


class Counted(NamedTuple):
    """The counts of some texts, the term of each column, and how that term is most often written."""

    counts: sparse.csr_array
    terms: list[str]
    surfaces: list[str]


def count_all(texts: Sequence[str], analyzer: AnyAnalyzer) -> Counted:
    """Count every term of the texts; columns are in order of first appearance."""
    numbering = _numbering(analyzer)
    rows = list(numbering.batches(texts))
    return Counted(_table(rows, len(numbering.terms)), numbering.terms, numbering.surfaces())


def count_known(texts: Sequence[str], analyzer: AnyAnalyzer, vocabulary: Mapping[str, int]) -> sparse.csr_array:
    """Count the terms of a vocabulary (term -> column); all others are left out."""
    numbering = _numbering(analyzer)
    rows = list(numbering.batches(texts))
    column = np.array([vocabulary.get(term, -1) for term in numbering.terms], np.int64)
    return _table([_renumbered(ids, ends, column) for ids, ends in rows], len(vocabulary))


class _Words:
    """Numbers the terms of the fast analyser."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._bulk = BulkAnalyzer(analyzer)

    @property
    def terms(self) -> list[str]:
        return self._bulk.terms

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[Integers, Integers]]:
        for start in range(0, len(texts), BATCH):
            ids, ends = self._bulk.analyze(texts[start : start + BATCH])
            yield ids.astype(np.int64), ends

    def surfaces(self) -> list[str]:
        return self._bulk.surfaces()[0]


class _Terms:
    """Numbers the terms of any analyser, one text at a time."""

    def __init__(self, analyzer: AnyAnalyzer) -> None:
        self._analyzer = analyzer
        self._ids: dict[str, int] = {}

    @property
    def terms(self) -> list[str]:
        return list(self._ids)

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[Integers, Integers]]:
        for text in texts:
            found = [self._ids.setdefault(term, len(self._ids)) for term in self._analyzer.terms(text)]
            yield np.array(found, np.int64), np.array([len(found)], np.int64)

    def surfaces(self) -> list[str]:
        return self.terms


class _Pairs:
    """Numbers the words of the fast analyser, and behind them every two that stand side by side, by their words."""

    def __init__(self, analyzer: WordPairs) -> None:
        self._words = _Words(analyzer.words)
        self._codes = np.zeros(0, np.int64)  # first word << 32 | second

    @property
    def terms(self) -> list[str]:
        return self._named(self._words.terms)

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[Integers, Integers]]:
        """All texts as one batch: the numbers of pairs begin behind those of the last word."""
        read = list(self._words.batches(texts))
        ids = np.concatenate([np.zeros(0, np.int64), *(found for found, _ in read)])
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(ends, prepend=0) for _, ends in read)])
        rows = np.repeat(np.arange(len(sizes)), sizes)
        together = rows[:-1] == rows[1:]
        codes = ((ids[:-1] << 32) | ids[1:])[together]
        self._codes, pairs = np.unique(codes, return_inverse=True)
        every = np.concatenate([rows, rows[:-1][together]])
        order = np.argsort(every, kind="stable")
        numbers = np.concatenate([ids, pairs + len(self._words.terms)])[order]
        yield numbers, np.cumsum(np.bincount(every, minlength=len(sizes)))

    def surfaces(self) -> list[str]:
        return self._named(self._words.surfaces())

    def _named(self, words: list[str]) -> list[str]:
        firsts, seconds = (self._codes >> 32).tolist(), (self._codes & 0xFFFFFFFF).tolist()
        return words + [f"{words[a]}{JOINED}{words[b]}" for a, b in zip(firsts, seconds, strict=True)]


def _numbering(analyzer: AnyAnalyzer) -> _Words | _Pairs | _Terms:
    if isinstance(analyzer, WordPairs):
        return _Pairs(analyzer)
    return _Words(analyzer) if isinstance(analyzer, Analyzer) else _Terms(analyzer)


def _renumbered(ids: Integers, ends: Integers, column: Integers) -> tuple[Integers, Integers]:
    """The ids under their columns, without those that have none (-1)."""
    columns = column[ids] if len(ids) else ids
    kept = columns >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return columns[kept], before[ends]


def _table(rows: Sequence[tuple[Integers, Integers]], n_terms: int) -> sparse.csr_array:
    """Batches of ids and ends as one table in which each term of a row stands once."""
    columns = np.concatenate([ids for ids, _ in rows]) if rows else np.zeros(0, np.int64)
    offsets = np.cumsum([0, *(len(ids) for ids, _ in rows)])
    ends = [ends + offset for (_, ends), offset in zip(rows, offsets[:-1], strict=True)]
    indptr = np.concatenate([[0], *ends]) if ends else np.zeros(1, np.int64)
    if len(columns) < 1 << 31:  # liblinear and others take 32-bit indices only
        columns, indptr = columns.astype(np.int32), indptr.astype(np.int32)
    table = sparse.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(indptr) - 1, n_terms))
    table.sum_duplicates()
    return table
