"""The plain road from texts to term ids, for analysers whose terms do not follow from single tokens."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from germane.arrays import Integers, Words
from germane.text.analyzer import Analyzer
from germane.text.synonyms import Word


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
