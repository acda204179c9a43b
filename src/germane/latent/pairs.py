"""Query-title pairs as numbers: word ids row by row, one vocabulary for both sides, never a pairs × words table."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from germane.arrays import Floats, Integers
from germane.errors import InputError, ParameterError
from germane.text import Analyzer, AnyAnalyzer
from germane.text.counting import count_all, count_known

Query: TypeAlias = str | Mapping[str, float]
"""A text, or terms with their weights: what an engine has made of a text by the same analyser."""


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts as rows of word ids: row i is `words[starts[i]:starts[i + 1]]`, each word once, with its count."""

    starts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]

    @classmethod
    def of_table(cls, table: sparse.csr_array) -> "Texts":
        """The rows of a sparse table of counts."""
        return cls(table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.float32))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def lengths(self) -> Floats:
        """|d|: the tokens of each text."""
        sums = np.concatenate([[0.0], np.cumsum(self.counts, dtype=np.float64)])
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    @property
    def rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def table(self, n_words: int) -> sparse.csr_array:
        """The counts as a sparse table, texts × words."""
        data = self.counts.astype(np.float64)
        return sparse.csr_array((data, self.words, self.starts), shape=(len(self), n_words))

    def take(self, rows: npt.ArrayLike) -> "Texts":
        """Some of the texts, in the order asked for."""
        wanted = np.asarray(rows, np.int64)
        sizes = np.diff(self.starts)[wanted]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[wanted] - starts[:-1], sizes)
        return Texts(starts, self.words[places], self.counts[places])

    def without_words(self) -> "Texts":
        """As many texts, all of them empty."""
        return Texts(np.zeros(len(self) + 1, np.int64), self.words[:0], self.counts[:0])


@dataclass(frozen=True, eq=False)
class WordIds:
    """The words that have ids, and the analyser that finds them: `words[i]` has the id i."""

    words: tuple[str, ...]
    analyzer: AnyAnalyzer

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """word -> id"""
        return {word: number for number, word in enumerate(self.words)}

    def texts(self, texts: Sequence[str]) -> Texts:
        """The words of each text that have ids; others are left out."""
        return Texts.of_table(count_known(texts, self.analyzer, self.ids))

    def query(self, query: Query) -> Texts:
        """A query as one row. Words that are not known have ids from len(self) on.

        They count: a score must not depend on which other documents were folded in with one.
        """
        weights = query if isinstance(query, Mapping) else Counter(self.analyzer.terms(query))
        ids, unknown = self.ids, count(len(self))
        numbered = sorted(
            (ids[word] if word in ids else next(unknown), n) for word, n in sorted(weights.items()) if n > 0
        )
        words, counts = zip(*numbered, strict=True) if numbered else ((), ())
        return Texts(np.array([0, len(words)]), np.array(words, np.int32), np.array(counts, np.float32))

    def strongest(self, weights: Floats, n: int) -> dict[str, float]:
        """The n words with the largest weights above 0, the largest first."""
        best = np.argsort(-weights, kind="stable")[:n]
        return {self.words[word]: float(weights[word]) for word in best.tolist() if weights[word] > 0}

    def numbered(self, texts: Sequence[str]) -> tuple[list[str], Texts]:
        """The new words of some texts, and the texts; new words have ids from len(self) on, in alphabetical order.

        A row has its words in the order of their ids, so that sums over it do not depend on the texts beside it.
        """
        counted = count_all(texts, self.analyzer)
        ids = self.ids
        new = sorted(term for term in counted.terms if term not in ids)
        places = {word: number for number, word in enumerate(new, len(self))}
        number = np.array([ids[term] if term in ids else places[term] for term in counted.terms], np.int32)
        table = sparse.csr_array(counted.counts)
        renamed = number[table.indices] if len(number) else table.indices
        shape = (len(texts), len(self) + len(new))
        table = sparse.csr_array((table.data, renamed, table.indptr), shape=shape)
        table.sort_indices()
        return new, Texts.of_table(table)

    def extended(self, texts: Sequence[str]) -> tuple["WordIds", Texts]:
        """This vocabulary with the new words of some texts at its end, and the texts over it."""
        new, found = self.numbered(texts)
        return WordIds((*self.words, *new), self.analyzer), found


class Pair(NamedTuple):
    """A query, the title of a document that was clicked for it, and how much the pair counts."""

    query: str
    title: str
    weight: float = 1.0


NO_QUERY, NO_TITLE, BAD_WEIGHT = "query without words", "title without words", "weight not above 0"


@dataclass(frozen=True, eq=False)
class Pairs:
    """Query-title pairs: rows of `queries` and `titles` belong together; `weights` says how often each pair counts.

    `asked[i]` numbers the query of pair i, equal for equal queries, so that splits can keep a query together.
    `dropped` counts what could not be used, by reason.

    >>> pairs = Pairs.build([("cheap car", "Used vehicles", 2.0), ("car", "", 1.0)])
    >>> len(pairs), pairs.vocabulary.words, dict(pairs.dropped)
    (1, ('cheap', 'car', 'use', 'vehicl'), {'title without words': 1})
    """

    vocabulary: WordIds
    queries: Texts
    titles: Texts
    weights: npt.NDArray[np.float32]
    asked: npt.NDArray[np.int32]
    dropped: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        pairs: Iterable[tuple[str, str, float]],
        analyzer: AnyAnalyzer | None = None,
        *,
        max_words: int | None = None,
    ) -> "Pairs":
        """Analyse the pairs. `max_words` keeps the most frequent words, counted over both sides.

        A pair without words on one side, or with a weight that is not a finite number above 0, is dropped and counted.
        """
        if max_words is not None and max_words < 1:
            raise ParameterError(f"max_words must be 1 or more, not {max_words}")
        given = [Pair(*pair) for pair in pairs]
        used = analyzer if analyzer is not None else Analyzer()
        counted = count_all([text for pair in given for text in pair[:2]], used)
        weights = np.array([pair.weight for pair in given], np.float64)
        counts, words = _most_frequent(counted.counts, counted.terms, max_words)
        sizes = np.diff(counts.indptr)
        reasons = {
            NO_QUERY: sizes[::2] == 0,
            NO_TITLE: (sizes[1::2] == 0) & (sizes[::2] > 0),
            BAD_WEIGHT: ~(np.isfinite(weights) & (weights > 0)) & (sizes[::2] > 0) & (sizes[1::2] > 0),
        }
        kept = np.flatnonzero(~np.any(list(reasons.values()), axis=0))
        if not len(kept):
            raise InputError("no pair can be used: each needs a query and a title with words, and a weight above 0")
        every = Texts.of_table(counts)
        numbers: dict[str, int] = {}
        asked = np.array([numbers.setdefault(given[place].query, len(numbers)) for place in kept.tolist()], np.int32)
        return cls(
            WordIds(tuple(words), used),
            every.take(2 * kept),
            every.take(2 * kept + 1),
            weights[kept].astype(np.float32),
            asked,
            {reason: int(mask.sum()) for reason, mask in reasons.items() if mask.any()},
        )

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, rows: npt.ArrayLike) -> "Pairs":
        """Some of the pairs."""
        at = np.asarray(rows, np.int64)
        return Pairs(
            self.vocabulary, self.queries.take(at), self.titles.take(at), self.weights[at], self.asked[at], self.dropped
        )

    def partitions(self, n: int) -> Iterator["Pairs"]:
        """The pairs in n parts, one after another."""
        for rows in np.array_split(np.arange(len(self)), n):
            yield self.take(rows)

    def titles_only(self) -> "Pairs":
        """The pairs without their queries."""
        return Pairs(self.vocabulary, self.queries.without_words(), self.titles, self.weights, self.asked, self.dropped)


def _most_frequent(counts: Any, terms: Sequence[str], at_most: int | None) -> tuple[Any, Sequence[str]]:
    if at_most is None or len(terms) <= at_most:
        return counts, terms
    frequency = np.asarray(counts.sum(axis=0)).ravel()
    kept = np.sort(np.argsort(-frequency, kind="stable")[:at_most])
    return sparse.csr_array(counts[:, kept]), [terms[column] for column in kept.tolist()]


@dataclass(frozen=True, eq=False)
class FoldedDocuments:
    """Titles folded in: what a model keeps of documents to score them.

    `vocabulary` begins with the model's words; words that are new with these titles follow. `vectors`: a row for each
    document, its topics θ^d or its place in the projected space; without columns where the model needs none.
    """

    vocabulary: WordIds
    texts: Texts
    vectors: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: npt.ArrayLike) -> "FoldedDocuments":
        """Some of the documents."""
        return FoldedDocuments(self.vocabulary, self.texts.take(rows), self.vectors[np.asarray(rows, np.int64)])

    def query(self, query: Query) -> Texts:
        """A query over the documents' words: one row."""
        return self.vocabulary.query(query)


def check_share(name: str, value: float) -> None:
    """A weight of a mixture: within [0, 1]."""
    if not (math.isfinite(value) and 0 <= value <= 1):
        raise ParameterError(f"{name} must be between 0 and 1, not {value!r}")


def check_count(name: str, value: int, least: int = 1) -> None:
    """A whole number."""
    if not isinstance(value, int) or value < least:
        raise ParameterError(f"{name} must be a whole number, {least} or more, not {value!r}")


def check_above(name: str, value: float, bound: float) -> None:
    """A number above a bound."""
    if not (math.isfinite(value) and value > bound):
        raise ParameterError(f"{name} must be a number above {bound:g}, not {value!r}")
