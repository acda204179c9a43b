"""The fast road for indexing: batches of texts to term ids, equal to `Analyzer.terms` text by text."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from germane.arrays import Integers, Words
from germane.errors import ParameterError
from germane.lazy import LazyModule
from germane.text.analyzer import Analyzer
from germane.text.folding import scannable_bytes
from germane.text.stemming import stemmer
from germane.text.synonyms import Word
from germane.text.word_table import WordTable, doubled

if TYPE_CHECKING:
    from germane.text import kernels
else:
    kernels = LazyModule("germane.text.kernels")


PackedWords: TypeAlias = tuple[NDArray[np.uint8], Integers]
"""Bytes, and where each word begins in them, with the last one's end."""


class BulkAnalyzer:
    """Analyses batches of texts, and numbers their terms densely in order of first appearance.

    `terms[i]` is the term with id `i`; successive batches extend the same vocabulary. Only stemming a token never met
    before costs Python time: the rest is done by kernels. A batch
    needs about six times its size in memory while it is analysed. The kernels release the GIL, so threads run side by
    side when each has its own BulkAnalyzer; one BulkAnalyzer must not be shared. An analyser with synonyms takes the
    slower road of `NumberedWords`, text by text: its terms do not follow from single tokens.

    >>> bulk = BulkAnalyzer(Analyzer())
    >>> bulk.analyze(["Ranking the documents", "A document ranks"])
    (array([0, 1, 1, 0], dtype=uint32), array([2, 4]))
    >>> bulk.terms
    ['rank', 'document']
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self._numbered = NumberedWords(analyzer) if analyzer.synonyms is not None else None
        self._terms = self._numbered.table if self._numbered is not None else WordTable()
        self._stem_all = stemmer(analyzer.stemmer)
        # The tokens, and what is known of each: its term (-1: a stop word), how often it came. `_n_known` have their
        # terms; after an interrupt the table may hold more, which get theirs at the next call.
        self._tokens = WordTable()
        self._n_known = len(self._tokens.enter(sorted(analyzer.stop_tokens)))
        self._term_of = np.full(self._tokens.hashes.size, -1, dtype=np.int64)
        self._counts = np.zeros(self._tokens.hashes.size, dtype=np.int64)

    def analyze(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The term ids of all texts, one after another, and for each text where its ids end."""
        if isinstance(texts, str):
            raise ParameterError("analyze takes a sequence of texts, not one text")
        if self._numbered is not None:
            return self._numbered.analyze(texts)
        ids, ends = self._tokens_of(texts)
        n = kernels.tokens_to_terms(ids, ends, self._term_of, self._counts)
        return ids[:n].copy(), ends

    @property
    def terms(self) -> list[str]:
        """The terms as strings, made when they are asked for: `terms[i]` has the id `i`."""
        return self._terms.strings

    @property
    def packed_terms(self) -> PackedWords:
        """The terms as bytes, without strings."""
        return self._terms.packed

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return len(self._terms)

    @property
    def memory(self) -> int:
        """Bytes that the words take."""
        return self._terms.memory + self._tokens.memory + self._term_of.nbytes + self._counts.nbytes

    def surfaces(self) -> tuple[list[str], Integers]:
        """For each term the token it most often stood for so far (of equals, the one seen first), and how often."""
        (_, _), best, counts = self.packed_surfaces()
        words = self._surface_table.strings
        return [words[token] for token in best.tolist()], counts

    def packed_surfaces(self) -> tuple[PackedWords, Integers, Integers]:
        """What `surfaces` says, without strings: packed tokens, the number of each term's token, how often it came."""
        if self._numbered is not None:
            return self._numbered.packed_surfaces()
        counts = self._counts[: self._n_known]
        best = np.empty(self.n_terms, np.int64)
        kernels.commonest(self._term_of[: self._n_known], counts, best)
        return self._tokens.packed, best, counts[best]

    @property
    def _surface_table(self) -> WordTable:
        return self._tokens if self._numbered is None else self._numbered.tokens

    def _tokens_of(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The token ids of the texts and where each text ends; new tokens are entered with their terms."""
        data, byte_ends = scannable_bytes(texts)
        ends = np.empty(len(texts), dtype=np.int64)
        size = int(byte_ends[-1]) if texts else 0
        folded, (begins, token_ends) = np.empty(size + 8, np.uint8), np.empty((2, size // 2), np.int64)
        n = kernels.cut(data, byte_ends, folded, begins, token_ends, ends) if texts else 0
        ids = self._tokens.enter_bytes(folded, begins[:n], token_ends[:n])
        self._enter_terms()
        return ids, ends

    def _enter_terms(self) -> None:
        """Give every token that has none its term."""
        n_tokens, first = len(self._tokens), self._n_known
        if n_tokens == first:
            return
        if self.analyzer.stemmer == "none":
            arena, starts = self._tokens.packed
            found = self._terms.enter_bytes(arena, starts[first:-1], starts[first + 1 :])
        else:
            found = self._terms.enter(self._stem_all(self._tokens.strings_from(first)))
        while self._term_of.size < n_tokens:
            self._term_of, self._counts = doubled(self._term_of), doubled(self._counts)
        self._term_of[first:n_tokens] = found
        self._n_known = n_tokens


class NumberedWords:
    """What `BulkAnalyzer` does, by `Analyzer.words` text by text: terms numbered in order of first appearance."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.table = WordTable()
        self.tokens = WordTable()
        self._analyzer = analyzer
        self._counts: Counter[Word] = Counter()

    def analyze(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The term ids of all texts, one after another, and for each text where its ids end."""
        terms: list[str] = []
        ends: list[int] = []
        for text in texts:
            words = self._analyzer.words(text)
            self._counts.update(words)
            terms += [word.term for word in words]
            ends.append(len(terms))
        return self.table.enter(terms), np.array(ends, np.int64)

    def packed_surfaces(self) -> tuple[PackedWords, Integers, Integers]:
        """For each term the token it most often stood for so far (of equals, the one seen first), and how often."""
        best = dict.fromkeys(self.table.strings, ("", 0))
        for word, count in self._counts.items():
            if count > best[word.term][1]:
                best[word.term] = (word.token, count)
        numbers = self.tokens.enter(token for token, _ in best.values())
        return self.tokens.packed, numbers.astype(np.int64), np.array([count for _, count in best.values()], np.int64)
