"""Ranking by the whole integral P(Q|D) = ∫ P(Q|θ) P(θ|D) dθ: Dirichlet, DCM and Smoothed Dirichlet document models.

python benchmarks/integrals.py                # cranfield, med, cacm and cisi, GERMANE_DATA; 10 minutes

The posterior of a document is α = c + μ·p_C under each; QL takes its mean, DCM its integral, "SD, approximate" the
ratio of SD's approximate normalisers (3.24), "SD" that of the exact ones by the saddle point, over θ smoothed with λ.
AP; μ and λ are the best on the mean of the other collections. A document's s is that of its length: words it holds
have r as if it did not, which is little beside their counts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, xlogy

from germane.data import read_documents
from germane.evaluate.measures import evaluate
from germane.experiments.collections import Collection
from germane.lm.distributions.saddle_point import cut_gammas
from germane.text import Analyzer
from germane.text.counting import count_all
from germane.types import DEFAULT_FIELDS, text_of

COLLECTIONS = ("cranfield", "med", "cacm", "cisi")
MU = (100.0, 300.0, 1000.0)
LAM = (0.9, 0.99, 0.999)
Term = Callable[[int, np.ndarray, float], np.ndarray]


class Documents:
    """A collection as counts, and its queries as words with how often they are asked for."""

    def __init__(self, name: str) -> None:
        analyzer, self.collection = Analyzer(), Collection.open(name)
        documents = list(read_documents(name))
        counted = count_all([text_of(document.fields, DEFAULT_FIELDS) for document in documents], analyzer)
        self.columns, self.ids = counted.counts.tocsc(), [document.id for document in documents]
        self.cf = np.asarray(counted.counts.sum(axis=0)).ravel()
        self.len_d = np.asarray(counted.counts.sum(axis=1)).ravel()
        self.p_C = self.cf / self.cf.sum()
        place = {term: i for i, term in enumerate(counted.terms)}
        self.queries = {
            topic.id: np.unique(
                [place[term] for term in analyzer.terms(topic.text) if term in place], return_counts=True
            )
            for topic in self.collection.topics
        }

    def precision(self, term: Term, of_length: Callable[[float], np.ndarray]) -> float:
        """Mean AP of Σ_w term(w, counts, q_w) + of_length(|Q|)."""
        known: dict[tuple[int, int], np.ndarray] = {}
        run = {}
        for query, (words, counts) in self.queries.items():
            scores = of_length(float(counts.sum())).copy()
            for word, count in zip(words.tolist(), counts.tolist(), strict=True):
                if (word, count) not in known:
                    column = self.columns[:, [word]].toarray().ravel()
                    known[word, count] = term(word, column, float(count))
                scores += known[word, count]
            best = np.argsort(-scores, kind="stable")[:1000]
            run[query] = {self.ids[i]: float(scores[i]) for i in best}
        return float(np.mean(list(evaluate(run, self.collection.qrels, ["AP"]).per_query("AP").values())))

    def rates(self, mu: float, lam: float) -> np.ndarray:
        """s of every document: s = |D| + μ + Σ_w r(μ·p_C(w), s·l_w), over words of one frequency at once."""
        frequency, number = np.unique(self.cf, return_counts=True)
        shares = frequency / self.cf.sum()
        lengths, of = np.unique(self.len_d, return_inverse=True)
        found = []
        for length in lengths:

            def excess(log_s: float, length: float = length) -> float:
                s = float(np.exp(log_s))
                r = np.exp(cut_gammas(mu * shares, s * (1.0 - lam) * shares).log_r)
                return float(np.log((length + mu + float(number @ r)) / s))

            low = float(np.log(length + mu)) - 0.1
            found.append(float(np.exp(brentq(excess, low, low + 12.0, xtol=1e-8))))
        return np.array(found)[of]


def measured(documents: Documents) -> dict[tuple[str, float, float], float]:
    """AP by model, μ and λ."""
    p_C, len_d, found = documents.p_C, documents.len_d, {}
    nothing = np.zeros(len(documents.ids))
    for mu in MU:
        found["QL", mu, 1.0] = documents.precision(
            lambda w, c, q, mu=mu: q * np.log((c + mu * p_C[w]) / (len_d + mu)), lambda n: nothing
        )
        found["DCM", mu, 1.0] = documents.precision(
            lambda w, c, q, mu=mu: gammaln(c + mu * p_C[w] + q) - gammaln(c + mu * p_C[w]),
            lambda n, mu=mu: gammaln(len_d + mu) - gammaln(len_d + mu + n),
        )
        found["SD, approximate", mu, 1.0] = documents.precision(
            lambda w, c, q, mu=mu: _g(c + mu * p_C[w] + q) - _g(c + mu * p_C[w]),
            lambda n, mu=mu: _g(len_d + mu) - _g(len_d + mu + n),
        )
    for mu, lam in product(MU, LAM):
        s = documents.rates(mu, lam)

        def term(w: int, c: np.ndarray, q: float, mu: float = mu, lam: float = lam, s: np.ndarray = s) -> np.ndarray:
            alpha, least = c + mu * p_C[w], (1.0 - lam) * p_C[w]
            return q * np.log(least) + cut_gammas(alpha, s * least).log_r - cut_gammas(alpha + q, s * least).log_r

        found["SD", mu, lam] = documents.precision(term, lambda n: nothing)
    return found


def _g(x: np.ndarray) -> np.ndarray:
    return np.asarray(xlogy(x, x))


def main() -> None:
    found = {name: measured(Documents(name)) for name in COLLECTIONS}
    models = list(dict.fromkeys(model for model, _, _ in found[COLLECTIONS[0]]))
    print(f"| model | {' | '.join(COLLECTIONS)} |\n|{'---|' * (1 + len(COLLECTIONS))}")
    for model in models:
        cells = []
        for name in COLLECTIONS:
            others = [other for other in COLLECTIONS if other != name]
            settings = [key for key in found[name] if key[0] == model]
            best = max(settings, key=lambda key: sum(found[other][key] for other in others))
            lam = f", λ={best[2]:g}" if best[2] < 1.0 else ""
            cells.append(f"{found[name][best]:.4f} (μ={best[1]:g}{lam})")
        print(f"| {model} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
