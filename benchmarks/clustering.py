"""Clusters without labels: mixtures of Smoothed Dirichlets and of multinomials beside k-means on tf-idf.

python benchmarks/clustering.py               # 20 Newsgroups and R8, GERMANE_DATA; 10 minutes
python benchmarks/clustering.py --lists       # groups of results: six clusters of 200 documents, found by one word

As many clusters as classes, words of three documents at least, five random starts each. NMI: normalised mutual
information with the classes, ARI: adjusted Rand index; mean ± standard deviation over the starts. Free parameters (λ
of SD, δ of the multinomial) are those with the best mean NMI on the other data set.

With --lists: of each data set 25 words at random that 400 to 3,000 documents hold; of each the 200 documents with the
largest smoothed share of it, in six clusters. "groups" are those of `SearchResult.groups`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline

from germane.classify import MultinomialMixture, SmoothedDirichletMixture
from germane.engine.grouping import clusters
from germane.experiments.labelled_sets import LabelledData, load_labelled
from germane.refine.clustering import information_bottleneck
from germane.refine.weighting import ResultList

SETS = ("reuters_r8", "20newsgroups")
SEEDS = range(5)
LEAST_DOCUMENTS = 3
SCORES = (normalized_mutual_info_score, adjusted_rand_score)
SD = [{"lam": lam} for lam in (0.5, 0.1, 0.01)]
GRIDS: dict[str, list[dict[str, float]]] = {
    "k-means on tf-idf": [{}],
    "multinomials": [{"delta": delta} for delta in (0.01, 0.1, 1.0)],
    "SD, as printed": SD,
    "SD-CE": SD,
}


def made(name: str, n_clusters: int, seed: int, **parameters: float) -> Any:
    if name == "k-means on tf-idf":
        return make_pipeline(TfidfTransformer(sublinear_tf=True), KMeans(n_clusters, n_init=1, random_state=seed))
    if name == "multinomials":
        return MultinomialMixture(n_clusters, random_state=seed, **parameters)
    rule = "kl" if name == "SD, as printed" else "ce"
    return SmoothedDirichletMixture(n_clusters, rule=rule, random_state=seed, **parameters)


def found_by_a_word(data: LabelledData) -> Iterator[tuple[Any, Any]]:
    """The counts and classes of the documents that a search for one word puts first, word by word."""
    X = data.X.tocsc().astype(float)
    df, lengths = np.diff(X.indptr), np.asarray(X.sum(axis=1)).ravel()
    for word in np.random.default_rng(0).permutation(np.flatnonzero((df >= 400) & (df <= 3000)))[:25]:
        at = slice(X.indptr[word], X.indptr[word + 1])
        shares = (X.data[at] + 0.3) / (lengths[X.indices[at]] + 300)
        first = X.indices[at][np.argsort(-shares, kind="stable")[:200]]
        counts = X[first].tocsr()
        used = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) >= 2)
        yield counts[:, used], data.y[first]


def lists() -> None:
    ways: dict[str, Callable[[Any], Any]] = {
        "k-means on tf-idf": lambda X: made("k-means on tf-idf", 6, 0).fit_predict(X),
        "multinomials": lambda X: made("multinomials", 6, 0, delta=1.0).fit_predict(X),
        "bottleneck": lambda X: information_bottleneck(ResultList(X).weights).cut(6),
        **{f"SD-CE λ={sd['lam']}": lambda X, sd=sd: made("SD-CE", 6, 0, **sd).fit_predict(X) for sd in SD},
        "groups": lambda X: clusters(X, 6),
    }
    print("| data | method | NMI | ARI | CPU ms |\n|---|---|---|---|---|")
    for dataset in (*SETS, "ohsumed23"):
        found = list(found_by_a_word(load_labelled(dataset)))
        for name, way in ways.items():
            started = time.process_time()
            labels = [way(X) for X, _ in found]
            spent = 1000 * (time.process_time() - started) / len(found)
            pairs = [(y, own) for (_, y), own in zip(found, labels, strict=True)]
            means = [np.mean([score(*pair) for pair in pairs]) for score in SCORES]
            print(f"| {dataset} | {name} | {means[0]:.3f} | {means[1]:.3f} | {spent:.0f} |")


def main() -> None:
    if "--lists" in sys.argv[1:]:
        return lists()
    scores: dict[tuple[str, str, int], np.ndarray] = {}
    seconds: dict[tuple[str, str], float] = {}
    for dataset in SETS:
        data = load_labelled(dataset)
        X = data.X.tocsr()
        X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= LEAST_DOCUMENTS)]
        for name, grid in GRIDS.items():
            started = time.process_time()
            for i, parameters in enumerate(grid):
                found = [made(name, len(data.labels), seed, **parameters).fit_predict(X) for seed in SEEDS]
                scores[dataset, name, i] = np.array([[score(data.y, own) for score in SCORES] for own in found])
            seconds[dataset, name] = (time.process_time() - started) / (len(grid) * len(SEEDS))
    print("| data | method | parameters | NMI | ARI | CPU seconds |\n|---|---|---|---|---|---|")
    for dataset, other in (SETS, SETS[::-1]):
        for name, grid in GRIDS.items():
            best = max(range(len(grid)), key=lambda i: scores[other, name, i][:, 0].mean())
            mean, spread = scores[dataset, name, best].mean(axis=0), scores[dataset, name, best].std(axis=0, ddof=1)
            chosen = " ".join(f"{key}={value:g}" for key, value in grid[best].items())
            cells = [dataset, name, chosen, *(f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True))]
            print(f"| {' | '.join(cells)} | {seconds[dataset, name]:.1f} |")


if __name__ == "__main__":
    main()
