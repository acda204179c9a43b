"""BM25 written out as in the books, over the same terms: an independent yardstick for the engine, made to be read."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from germane.text import Analyzer
from germane.types import Document, Topic, text_of


class LiteralBM25:
    """score = Σ_w c(w,Q) · log(1 + (N - df + ½)/(df + ½)) · c(w,D)(k1 + 1)/(c(w,D) + k1(1 - b + b|D|/avgdl)).

    Robertson & Zaragoza 2009, with the idf that cannot be negative (Lucene's). Nothing is shared with the engine but
    the analyser.
    """

    def __init__(self, documents: Iterable[Document], fields: Sequence[str], analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._postings: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._length: dict[str, int] = {}
        for document in documents:
            terms = analyzer.terms(text_of(document.fields, fields))
            self._length[document.id] = len(terms)
            for term, count in Counter(terms).items():
                self._postings[term].append((document.id, count))

    def run(self, topics: Iterable[Topic], k: int, k1: float = 1.2, b: float = 0.75) -> dict[str, dict[str, float]]:
        """The best k documents of each topic."""
        n, mean = len(self._length), sum(self._length.values()) / len(self._length)
        run: dict[str, dict[str, float]] = {}
        for topic in topics:
            scores: dict[str, float] = defaultdict(float)
            for term, weight in Counter(self._analyzer.terms(topic.text)).items():
                postings = self._postings.get(term, [])
                idf = math.log(1.0 + (n - len(postings) + 0.5) / (len(postings) + 0.5))
                for doc, c in postings:
                    scores[doc] += weight * idf * c * (k1 + 1.0) / (c + k1 * (1.0 - b + b * self._length[doc] / mean))
            best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
            run[topic.id] = dict(best)
        return run
