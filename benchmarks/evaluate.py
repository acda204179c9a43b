"""Evaluating 1,000 queries x 1,000 documents on 10 measures: our time as a multiple of pytrec_eval's, in one run.

python benchmarks/evaluate.py
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
import pytrec_eval

from germane.evaluate import evaluate

NAMES = {
    "AP": "map", "nDCG": "ndcg", "nDCG@10": "ndcg_cut_10", "P@5": "P_5", "P@10": "P_10", "RR": "recip_rank",
    "Rprec": "Rprec", "R@100": "recall_100", "R@1000": "recall_1000", "Bpref": "bpref",
}  # fmt: skip


def seconds(action: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    """Take turns, five rounds, and print the ratio of medians."""
    rng = np.random.default_rng(0)
    run = {
        f"q{i}": dict(zip((f"d{d}" for d in rng.permutation(10_000)[:1000]), rng.random(1000).tolist(), strict=True))
        for i in range(1000)
    }
    qrels = {
        f"q{i}": dict(
            zip((f"d{d}" for d in rng.permutation(10_000)[:50]), rng.integers(0, 4, 50).tolist(), strict=True)
        )
        for i in range(1000)
    }
    ours, theirs = [], []
    for _ in range(5):
        theirs.append(seconds(lambda: pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(run)))
        ours.append(seconds(lambda: evaluate(run, qrels, list(NAMES))))
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"ours {a:.3f} s, pytrec_eval {b:.3f} s, ratio {a / b:.2f} (bar: 2)")


if __name__ == "__main__":
    main()
