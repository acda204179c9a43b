"""A bigram language model: the probability of a sentence, each word given the one before it.

    P(t_1 … t_n) = Π_i P(t_i | t_{i-1})

Source: Lecture, the chain rule P(t_1)P(t_2|t_1)P(t_3|t_1t_2)…, with the history cut to one word (a Markov chain).
The words that followed v are treated as a document, and the unigram model as its collection, so that every smoothing
of `germane.lm.smoothing` smooths bigrams too.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Self

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.lm.parameters import positive
from germane.lm.smoothing import Dirichlet, Smoothing

EDGE = ""
"""Stands before the first word of a sentence and, as an event to be predicted, after the last."""


class BigramModel:
    """P(w|v) = e_v(w) + a_v·P(w), with e and a by a `Smoothing` of the words that followed v.

    Jelinek-Mercer: λ·c(v,w)/c(v) + (1-λ)·P(w); Dirichlet: (c(v,w) + μ·P(w)) / (c(v) + μ). With an `MLE` smoothing a
    history that was seen allows nothing but what followed it. P(w) is the unigram model, with δ added to every count
    and one more "word" that stands for all unseen ones: P(w) = (c(w)+δ)/(N+δ(V+1)). Its mass is shared by spelling:
    each of the A-1 characters seen, and the end of the word, has probability 1/A, so that a long unknown word is less
    probable than a short one and P sums to 1 over all strings of those characters (but for known words counted
    twice).

    >>> model = BigramModel.fit([["about", "fifteen", "minutes"], ["two", "minuets", "by", "bach"]])
    >>> model.log_probability(["fifteen", "minutes"]) > model.log_probability(["fifteen", "minuets"])
    True
    """

    def __init__(self, follows: dict[str, Counter[str]], smoothing: Smoothing, delta: float) -> None:
        self.smoothing = smoothing
        self.delta = positive("delta", delta)
        self._follows = follows
        self._counts: Counter[str] = Counter()
        for following in follows.values():
            self._counts.update(following)
        if not self._counts:
            raise ParameterError("a bigram model needs at least one sentence")
        self._lengths = {before: following.total() for before, following in follows.items()}
        self._total = self._counts.total() + self.delta * (len(self._counts) + 1)
        self._log_alphabet = math.log(len(set("".join(self._counts))) + 1)

    @classmethod
    def fit(cls, sentences: Iterable[Sequence[str]], *, smoothing: Smoothing | None = None, delta: float = 0.5) -> Self:
        """Count the words and the pairs of neighbours of sentences that are already cut into words.

        `smoothing` is that of the bigrams, Dirichlet with μ = 100 unless another is given.
        """
        follows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            if isinstance(sentence, str):
                raise ParameterError(f"a sentence is a list of words, not the text {sentence!r}: cut it first")
            if EDGE in sentence:
                raise ParameterError("a sentence holds an empty word: leave it out")
            before = EDGE
            for word in (*sentence, EDGE):
                follows[before][word] += 1
                before = word
        return cls(dict(follows), smoothing or Dirichlet(mu=100), delta)

    @property
    def words(self) -> list[str]:
        """Every word seen, in the order of the alphabet."""
        return sorted(self._counts.keys() - {EDGE})

    def __contains__(self, word: str) -> bool:
        return word != EDGE and word in self._counts

    def unigram(self, words: Sequence[str]) -> Floats:
        """log P(w) of each word, by itself."""
        return np.array([self._log_unigram(word) for word in words], np.float64)

    def given(self, before: str, words: Sequence[str]) -> Floats:
        """log P(w|before) of each word; `before` is `EDGE` at the beginning, and a word may be `EDGE` for the end."""
        following = self._follows.get(before, Counter())
        counts = np.array([following[word] for word in words], np.float64)
        excess, background = self.smoothing.split(counts, self._lengths.get(before, 0), len(following))
        with np.errstate(divide="ignore"):  # without smoothing, what never followed has probability 0
            return np.log(excess + background * np.exp(self.unigram(words)))

    def log_probability(self, sentence: Sequence[str]) -> float:
        """log P(t_1 … t_n, end) = Σ_i log P(t_i|t_{i-1})."""
        return float(sum(self.given(v, [w])[0] for v, w in pairwise([EDGE, *sentence, EDGE])))

    def _log_unigram(self, word: str) -> float:
        if word in self._counts:
            return math.log((self._counts[word] + self.delta) / self._total)
        return math.log(self.delta / self._total) - (len(word) + 1) * self._log_alphabet
