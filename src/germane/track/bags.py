"""A document as the trackers see it: which words, how often. Words are numbered once and for all, as they come."""

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from germane.arrays import Floats, Integers
from germane.text import Analyzer
from germane.text.bulk import BulkAnalyzer


class Bag(NamedTuple):
    """The words of a text by their numbers, ascending and each once, and their counts f_w > 0."""

    terms: Integers
    counts: Floats

    @property
    def length(self) -> float:
        """|D| = Σ_w f_w."""
        return float(self.counts.sum())


class Batch:
    """Bags one after another: `terms` and `counts` of all, `owners` says whose each is, `lengths` has every |D|."""

    def __init__(self, bags: Sequence[Bag]) -> None:
        self.terms: Integers = np.concatenate([bag.terms for bag in bags] or [np.zeros(0, np.int64)])
        self.counts: Floats = np.concatenate([bag.counts for bag in bags] or [np.zeros(0)])
        self.sizes = np.array([len(bag.terms) for bag in bags], np.int64)
        self.owners = np.repeat(np.arange(len(bags)), self.sizes)
        self.lengths = self.sums(self.counts)

    def __len__(self) -> int:
        return len(self.sizes)

    def sums(self, values: Floats) -> Floats:
        """Σ over the words of each bag, added one by one: the same whatever else is in the batch."""
        sums: Floats = np.bincount(self.owners, values, len(self.sizes)).astype(np.float64, copy=False)
        return sums


class WordNumbers:
    """Words and their numbers, given in the order of arrival and never again changed.

    Scores are sums in the order of these numbers: a stream that goes on with the same vocabulary goes on bit by bit.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self.terms = list(dict.fromkeys(terms))
        self._ids = {term: number for number, term in enumerate(self.terms)}

    def __len__(self) -> int:
        return len(self.terms)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """The words' numbers; each new word gets the next one."""
        found = [self._ids.setdefault(term, len(self._ids)) for term in terms]
        self.terms += islice(self._ids, len(self.terms), None)
        return found

    def find(self, term: str) -> int | None:
        """The word's number, if it has one."""
        return self._ids.get(term)


class BagMaker:
    """Texts to bags, with one analyser and one vocabulary, which grows.

    >>> maker = BagMaker(Analyzer(), WordNumbers())
    >>> maker.bag("Ranked documents and a document")
    Bag(terms=array([0, 1]), counts=array([1., 2.]))
    """

    def __init__(self, analyzer: Analyzer, vocabulary: WordNumbers) -> None:
        self.analyzer, self.vocabulary = analyzer, vocabulary
        self._bulk = BulkAnalyzer(analyzer)
        self._numbers = np.empty(0, np.int64)  # of the bulk analyser's terms

    def bag(self, text: str) -> Bag:
        """The bag of one text."""
        return self.bags([text])[0]

    def bags(self, texts: Sequence[str]) -> list[Bag]:
        """The bags of many texts, in their order."""
        ids, ends = self._bulk.analyze(texts)
        if self._bulk.n_terms > len(self._numbers):
            new = self._bulk.terms[len(self._numbers) :]
            self._numbers = np.append(self._numbers, self.vocabulary.numbers(new)).astype(np.int64)
        return _split(self._numbers[ids], ends, len(self.vocabulary))


def _split(numbers: Integers, ends: Integers, n_words: int) -> list[Bag]:
    """The bags of texts whose words lie one after another: sorted all at once, as (text, word)."""
    texts = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    pairs, found = np.unique(texts * n_words + numbers, return_counts=True)
    owners, terms = np.divmod(pairs, max(n_words, 1))
    counts, cuts = found.astype(np.float64), np.cumsum(np.bincount(owners, minlength=len(ends)))
    return [Bag(terms[a:b], counts[a:b]) for a, b in pairwise([0, *cuts.tolist()])]
