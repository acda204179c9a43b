"""The fast road for indexing: batches of texts to term ids, equal to `Analyzer.terms` text by text."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from germane.arrays import Integers, Words
from germane.errors import ParameterError
from germane.text import kernels
from germane.text.analyzer import Analyzer
from germane.text.stemming import stemmer
from germane.text.synonyms import Word
from germane.text.tokenizer import scannable

_FIRST_TOKENS = 1 << 13

_Scalar = TypeVar("_Scalar", bound=np.generic)


class BulkAnalyzer:
    """Analyses batches of texts, and numbers their terms densely in order of first appearance.

    `terms[i]` is the term with id `i`; successive batches extend the same vocabulary. Only a token never met before
    costs Python time: the rest is one pass over the bytes (`kernels.scan`) and one over the tokens. A batch needs
    about six times its size in memory while it is analysed. The kernels release the GIL, so threads run side by side
    when each has its own BulkAnalyzer; one BulkAnalyzer must not be shared. An analyser with synonyms takes the slower
    road of `NumberedWords`, text by text: its terms do not follow from single tokens.

    >>> bulk = BulkAnalyzer(Analyzer())
    >>> bulk.analyze(["Ranking the documents", "A document ranks"])
    (array([0, 1, 1, 0], dtype=uint32), array([2, 4]))
    >>> bulk.terms
    ['rank', 'document']
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self._numbered = NumberedWords(analyzer) if analyzer.synonyms is not None else None
        self.terms: list[str] = self._numbered.terms if self._numbered is not None else []
        self._stem_all = stemmer(analyzer.stemmer)
        self._term_ids: dict[str, int] = {}
        # The token table (see kernels), and what is known of each token: its term (-1: a stop word), how often it came.
        # `_n_tokens` have their terms; after an interrupt the table may hold more, which get theirs at the next call.
        self._n_tokens = 0
        self._spellings: list[str] = []
        self._state = np.zeros(5, dtype=np.int64)
        self._starts = np.zeros(_FIRST_TOKENS + 1, dtype=np.int64)
        self._hashes = np.zeros(_FIRST_TOKENS, dtype=np.uint64)
        self._slots = np.zeros(2 * _FIRST_TOKENS, dtype=np.uint64)
        self._arena = np.zeros(8 * _FIRST_TOKENS, dtype=np.uint8)
        self._term_of = np.zeros(_FIRST_TOKENS, dtype=np.int64)
        self._counts = np.zeros(_FIRST_TOKENS, dtype=np.int64)

    def analyze(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The term ids of all texts, one after another, and for each text where its ids end."""
        if isinstance(texts, str):
            raise ParameterError("analyze takes a sequence of texts, not one text")
        if self._numbered is not None:
            return self._numbered.analyze(texts)
        data, byte_ends = _join(texts)
        ids, ends = self._scan(data, byte_ends)
        n = kernels.tokens_to_terms(ids, ends, self._term_of, self._counts)
        return ids[:n].copy(), ends

    def surfaces(self) -> tuple[list[str], Integers]:
        """For each term the token it most often stood for so far (of equals, the one seen first), and how often."""
        if self._numbered is not None:
            return self._numbered.surfaces()
        term_of, counts = self._term_of[: self._n_tokens], self._counts[: self._n_tokens]
        order = np.lexsort((-counts, term_of))  # stable: equals stay in order of first appearance
        kept, first = np.unique(term_of[order], return_index=True)
        best = order[first[kept >= 0]]
        return [self._spellings[token] for token in best.tolist()], counts[best]

    def _scan(self, data: NDArray[np.uint8], byte_ends: Integers) -> tuple[Words, Integers]:
        """The token ids of the texts and where each text ends; new tokens are entered with their terms."""
        ids = np.empty((data.size + byte_ends.size) // 2 + 1, dtype=np.uint32)
        ends = np.empty(byte_ends.size, dtype=np.int64)
        state = self._state
        state[[kernels.POS, kernels.DOC, kernels.OUT]] = 0
        while True:
            need = kernels.scan(data, byte_ends, self._arena, self._starts, self._hashes, self._slots, ids, ends, state)
            if need == kernels.DONE:
                break
            if need == kernels.GROW_ARENA:
                self._arena = _doubled(self._arena)
            else:
                self._grow_table(int(state[kernels.TOKENS]))
        self._enter_terms(int(state[kernels.TOKENS]))
        return ids, ends

    def _grow_table(self, n_tokens: int) -> None:
        """Room for twice as many tokens. The kernel reads its capacity off the hashes, so they come last."""
        hashes = _doubled(self._hashes)
        slots = np.zeros(2 * hashes.size, dtype=np.uint64)
        kernels.fill_slots(hashes, n_tokens, slots)
        self._starts = _doubled(self._starts)
        self._term_of = _doubled(self._term_of)
        self._counts = _doubled(self._counts)
        self._slots = slots
        self._hashes = hashes

    def _enter_terms(self, n_tokens: int) -> None:
        """Give every token from `self._n_tokens` up to `n_tokens` its term."""
        tokens = self._tokens(self._n_tokens, n_tokens)
        stop, term_ids, terms = self.analyzer.stop_tokens, self._term_ids, self.terms
        stems = iter(self._stem_all([token for token in tokens if token not in stop]))
        found = []
        for token in tokens:
            if token in stop:
                found.append(-1)
                continue
            term = next(stems)
            term_id = term_ids.setdefault(term, len(terms))
            if term_id == len(terms):
                terms.append(term)
            found.append(term_id)
        self._term_of[self._n_tokens : n_tokens] = found
        self._spellings += tokens
        self._n_tokens = n_tokens

    def _tokens(self, first: int, last: int) -> list[str]:
        """The tokens with ids from `first` up to `last`."""
        starts = self._starts[first : last + 1].tolist()
        data = self._arena[starts[0] : starts[-1]].tobytes()
        offsets = [start - starts[0] for start in starts]
        return [data[a:b].decode() for a, b in pairwise(offsets)]


def _join(texts: Sequence[str]) -> tuple[NDArray[np.uint8], Integers]:
    """The UTF-8 bytes of all texts, made scannable, and where each ends."""
    ready = [text if text.isascii() else scannable(text) for text in texts]
    joined = "".join(ready)
    data = joined.encode()
    lengths = map(len, ready) if len(data) == len(joined) else (len(text.encode()) for text in ready)
    ends = np.cumsum(np.fromiter(lengths, dtype=np.int64, count=len(ready)))
    return np.frombuffer(data, dtype=np.uint8), ends


def _doubled(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    grown = np.zeros(2 * array.size, dtype=array.dtype)
    grown[: array.size] = array
    return grown


class NumberedWords:
    """What `BulkAnalyzer` does, by `Analyzer.words` text by text: terms numbered in order of first appearance."""

    def __init__(self, analyzer: Analyzer) -> None:
        self.terms: list[str] = []
        self._analyzer = analyzer
        self._ids: dict[str, int] = {}
        self._counts: Counter[Word] = Counter()

    def analyze(self, texts: Sequence[str]) -> tuple[Words, Integers]:
        """The term ids of all texts, one after another, and for each text where its ids end."""
        found: list[int] = []
        ends: list[int] = []
        for text in texts:
            words = self._analyzer.words(text)
            self._counts.update(words)
            for word in words:
                number = self._ids.setdefault(word.term, len(self.terms))
                if number == len(self.terms):
                    self.terms.append(word.term)
                found.append(number)
            ends.append(len(found))
        return np.array(found, np.uint32), np.array(ends, np.int64)

    def surfaces(self) -> tuple[list[str], Integers]:
        """For each term the token it most often stood for so far (of equals, the one seen first), and how often."""
        best = dict.fromkeys(self.terms, ("", 0))
        for word, count in self._counts.items():
            if count > best[word.term][1]:
                best[word.term] = (word.token, count)
        return [token for token, _ in best.values()], np.array([count for _, count in best.values()], np.int64)
