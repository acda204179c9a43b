"""Clusters without labels: mixtures of Smoothed Dirichlets and of multinomials beside k-means on tf-idf.

python benchmarks/clustering.py               # 20 Newsgroups and R8, GERMANE_DATA; 10 minutes

As many clusters as classes, words of three documents at least, five random starts each. NMI: normalised mutual
information with the classes, ARI: adjusted Rand index; mean ± standard deviation over the starts. Free parameters (λ
of SD, δ of the multinomial) are those with the best mean NMI on the other data set.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline

from germane.classify import MultinomialMixture, SmoothedDirichletMixture
from germane.experiments.labelled_sets import load_labelled

SETS = ("reuters_r8", "20newsgroups")
SEEDS = range(5)
LEAST_DOCUMENTS = 3
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


def main() -> None:
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
                scores[dataset, name, i] = np.array(
                    [[normalized_mutual_info_score(data.y, own), adjusted_rand_score(data.y, own)] for own in found]
                )
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
