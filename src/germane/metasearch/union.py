"""The union of what several sources found, ranked by one language model.

Scores of different sources cannot be compared, and many tell none. But their records are texts, and a language model
needs no more than these: with the statistics of the union, or a background from a larger collection.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from germane.arrays import Floats, Integers
from germane.lm import Dirichlet
from germane.rank.models.defaults import DEFAULT_MU
from germane.rank.retrievers.local import SnapshotRetriever
from germane.rank.scoring.statistics import Need
from germane.text import Analyzer, BulkAnalyzer


class Reference:
    """An index whose statistics are the background: words that all records hold are told from common words by it."""

    def __init__(self, path: str | Path) -> None:
        self._retriever = SnapshotRetriever.open(Path(path))

    @property
    def analyzer(self) -> Analyzer:
        """Analyser of its texts."""
        return self._retriever.schema().analyzer

    def probabilities(self, terms: Sequence[str]) -> Floats:
        """p_C(w) = cf(w)/tokens; 0 for a term that it does not hold."""
        statistics = self._retriever.statistics(Need(tuple(terms)))
        return np.array([statistics.terms[term].cf for term in terms], np.float64) / max(statistics.n_tokens, 1)


class Counts:
    """The words of texts, counted as they come: `add` while other sources are still at work."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._bulk = BulkAnalyzer(analyzer)
        self._ids: list[Integers] = []
        self._lengths: list[Integers] = []

    def add(self, texts: Sequence[str]) -> None:
        """Count the words of more texts."""
        ids, ends = self._bulk.analyze(texts)
        self._ids.append(ids.astype(np.int64))
        self._lengths.append(np.diff(ends, prepend=0))

    def likelihood(
        self, query: str, places: Sequence[int], reference: Reference | None = None, mu: float = DEFAULT_MU
    ) -> Floats:
        """log p(Q|D) of the texts at these places by Dirichlet smoothing, up to what is the same for all.

        Σ_w c(w;Q)·[log(1 + e/(a·p_C)) + log a], e = c(w;D)/(|D| + μ) and a = μ/(|D| + μ) (`lm.Dirichlet`). p_C is the
        union's, of the given places alone, or that of the reference where it holds the word.
        """
        lengths = np.concatenate(self._lengths)[places] if places else np.zeros(0, np.int64)
        words = self._bulk.analyzer.terms(query)
        wanted = Counter(words)
        if not places or not wanted:
            return np.zeros(len(places))
        number = dict(zip(words, self._bulk.analyze([query])[0].tolist(), strict=True))
        counts = self._counts([number[term] for term in wanted])[:, places]
        kept = counts.sum(axis=1) > 0
        counts, terms = counts[kept], [term for term, any_left in zip(wanted, kept, strict=True) if any_left]
        p_C = counts.sum(axis=1) / max(lengths.sum(), 1)
        if reference is not None:
            told = reference.probabilities(terms)
            p_C = np.where(told > 0, told, p_C)
        excess, background = Dirichlet(mu).split(counts, lengths[None, :], np.zeros((1, len(places))))
        weights = np.array([wanted[term] for term in terms], np.float64)
        return np.asarray(weights @ (np.log1p(excess / (background * p_C[:, None])) + np.log(background)))

    def _counts(self, terms: Sequence[int]) -> Floats:
        """c(w;D): a row for each term, a column for each text."""
        ids, lengths = np.concatenate(self._ids), np.concatenate(self._lengths)
        row = np.full(self._bulk.n_terms, -1, np.int64)
        row[list(terms)] = np.arange(len(terms))
        rows = row[ids]
        held = rows >= 0
        texts = np.repeat(np.arange(len(lengths)), lengths)[held]
        flat = np.bincount(rows[held] * len(lengths) + texts, minlength=len(terms) * len(lengths))
        return flat.reshape(len(terms), len(lengths)).astype(np.float64)
