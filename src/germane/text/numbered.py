"""Terms numbered densely in order of first appearance: text by text in Python, or token by token in kernels."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from germane.arrays import Integers, Words
from germane.lazy import LazyModule
from germane.text.analyzer import Analyzer
from germane.text.stemming import stemmer
from germane.text.synonyms import Word
from germane.text.unicode_fold import scannable_bytes
from germane.text.word_table import WordTable, doubled, pack_words

if TYPE_CHECKING:
    from germane.text import kernels
else:
    kernels = LazyModule("germane.text.kernels")


PackedWords: TypeAlias = tuple[NDArray[np.uint8], Integers]
"""Bytes, and where each word begins in them, with the last one's end."""
BYTES_PER_WORD = 300
"""What a word takes as Python holds it, about."""


class NumberedWords:
    """By `Analyzer.words`, text by text. `counts`: how often each word came, in order of first appearance."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.counts: Counter[Word] = Counter()
        self._analyzer = analyzer
        self._numbers: dict[str, int] = {}
        self._terms: list[str] = []

    def analyze(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The term ids of all texts, one after another, and for each text where its ids end."""
        numbers = self._numbers
        ids: list[int] = []
        ends: list[int] = []
        for text in texts:
            words = self._analyzer.words(text)
            self.counts.update(words)
            ids += [numbers.setdefault(word.term, len(numbers)) for word in words]
            ends.append(len(ids))
        return np.array(ids, np.uint32), np.array(ends, np.int64)

    @property
    def terms(self) -> list[str]:
        """The terms as strings."""
        self._terms += islice(self._numbers, len(self._terms), None)
        return self._terms

    @property
    def packed_terms(self) -> PackedWords:
        """The terms as bytes."""
        return pack_words(self._numbers)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return len(self._numbers)

    @property
    def memory(self) -> int:
        """Bytes that the words take, about."""
        return BYTES_PER_WORD * len(self.counts)

    def surfaces(self) -> tuple[list[str], Integers]:
        """For each term the token it most often stood for so far (of equals, the one seen first), and how often."""
        best = dict.fromkeys(self._numbers, ("", 0))
        for word, count in self.counts.items():
            if count > best[word.term][1]:
                best[word.term] = (word.token, count)
        return [token for token, _ in best.values()], np.array([count for _, count in best.values()], np.int64)

    def packed_surfaces(self) -> tuple[PackedWords, Integers, Integers]:
        """The tokens of `surfaces` as bytes, the number of each term's among them, how often it came."""
        tokens, counts = self.surfaces()
        return pack_words(tokens), np.arange(len(tokens)), counts


class NumberedTokens:
    """By kernels, batch by batch: only stemming a token never met before costs Python time.

    `counts`: what was met before, in order of first appearance.
    """

    def __init__(self, analyzer: Analyzer, counts: Counter[Word]) -> None:
        self._stem_all = None if analyzer.stemmer == "none" else stemmer(analyzer.stemmer)
        # The tokens, and what is known of each: its term (-1: a stop word), how often it came. `_n_known` have their
        # terms; after an interrupt the table may hold more, which get theirs at the next call.
        self._tokens = WordTable()
        self._n_known = len(self._tokens.enter(sorted(analyzer.stop_tokens)))
        self._terms = self._tokens if self._stem_all is None and not self._n_known else WordTable()
        self._term_of = np.full(self._tokens.hashes.size, -1, dtype=np.int64)
        self._counts = np.zeros(self._tokens.hashes.size, dtype=np.int64)
        known = self._tokens.enter(word.token for word in counts)
        self._enter_terms()
        self._counts[known] = list(counts.values())

    def analyze(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The term ids of all texts, one after another, and for each text where its ids end."""
        ids, ends = self._tokens_of(texts)
        n = kernels.tokens_to_terms(ids, ends, self._term_of, self._counts)
        return ids[:n].copy(), ends

    @property
    def terms(self) -> list[str]:
        """The terms as strings."""
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
        tables = {id(table): table.memory for table in (self._terms, self._tokens)}
        return sum(tables.values()) + self._term_of.nbytes + self._counts.nbytes

    def surfaces(self) -> tuple[list[str], Integers]:
        """For each term the token it most often stood for so far (of equals, the one seen first), and how often."""
        _, best, counts = self.packed_surfaces()
        words = self._tokens.strings
        return [words[token] for token in best.tolist()], counts

    def packed_surfaces(self) -> tuple[PackedWords, Integers, Integers]:
        """All tokens as bytes, the number of each term's among them, how often it came."""
        counts = self._counts[: self._n_known]
        best = np.empty(self.n_terms, np.int64)
        kernels.commonest(self._term_of[: self._n_known], counts, best)
        return self._tokens.packed, best, counts[best]

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
        if self._terms is self._tokens:
            found = np.arange(first, n_tokens, dtype=np.uint32)
        elif self._stem_all is None:
            arena, starts = self._tokens.packed
            found = self._terms.enter_bytes(arena, starts[first:-1], starts[first + 1 :])
        else:
            found = self._terms.enter(self._stem_all(self._tokens.strings_from(first)))
        while self._term_of.size < n_tokens:
            self._term_of, self._counts = doubled(self._term_of), doubled(self._counts)
        self._term_of[first:n_tokens] = found
        self._n_known = n_tokens
