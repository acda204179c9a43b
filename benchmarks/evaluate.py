"""Evaluating 1,000 queries x 1,000 documents on 10 measures: our speed as a multiple of pytrec_eval's, in one run.

    python benchmarks/evaluate.py

Both start from the same dictionaries, query id -> document id -> score or grade, which are what `load_run` and
`load_qrels` return and what pytrec_eval takes. They take turns; the figures are medians of CPU time.
"""

import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np
import pytrec_eval

from germane.evaluate import evaluate

NAMES = {
    "AP": "map", "nDCG": "ndcg", "nDCG@10": "ndcg_cut_10", "P@5": "P_5", "P@10": "P_10", "RR": "recip_rank",
    "Rprec": "Rprec", "R@100": "recall_100", "R@1000": "recall_1000", "Bpref": "bpref",
}  # fmt: skip
ROUNDS = 5
BAR = 2.0
Numbers = Mapping[str, Mapping[str, float]]


def seconds(action: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    action()
    return time.process_time() - start


def case(n_queries: int, n_ranked: int, n_judged: int, distinct: int) -> tuple[Numbers, Mapping[str, dict[str, int]]]:
    """A run whose scores take so many values, and judgements with grades from 0 to 3."""
    rng = np.random.default_rng(0)
    run, qrels = {}, {}
    for i in range(n_queries):
        ranked, judged = (rng.permutation(10_000)[:n] for n in (n_ranked, n_judged))
        scores = rng.integers(0, distinct, n_ranked) / 7.0
        run[f"q{i}"] = {f"d{document}": score for document, score in zip(ranked, scores.tolist(), strict=True)}
        grades = rng.integers(0, 4, n_judged).tolist()
        qrels[f"q{i}"] = {f"d{document}": grade for document, grade in zip(judged, grades, strict=True)}
    return run, qrels


def compare(label: str, run: Numbers, qrels: Mapping[str, dict[str, int]]) -> float:
    """Check that both agree, take turns, and print and return the ratio of medians."""
    found = evaluate(run, qrels, list(NAMES))
    expected = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(run)
    for ours, theirs in NAMES.items():
        np.testing.assert_allclose(found.values[ours], [expected[query][theirs] for query in qrels], rtol=0, atol=1e-9)
    mine, other = [], []
    for _ in range(ROUNDS):
        other.append(seconds(lambda: pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(run)))
        mine.append(seconds(lambda: evaluate(run, qrels, list(NAMES))))
    a, b = statistics.median(mine), statistics.median(other)
    print(f"{label:44} ours {a:.3f} s, pytrec_eval {b:.3f} s: {b / a:.1f} times as fast")
    return b / a


def main() -> None:
    """The bar's case, and others for what it hides: ties, many judgements, and short rankings."""
    ratio = compare("1,000 x 1,000, 50 judged", *case(1000, 1000, 50, 2**40))
    compare("the same, scores of 100 values", *case(1000, 1000, 50, 100))
    compare("the same, all scores tied", *case(1000, 1000, 50, 1))
    compare("1,000 x 1,000, 1,000 judged", *case(1000, 1000, 1000, 2**40))
    compare("10,000 x 10, 3 judged", *case(10_000, 10, 3, 2**40))
    print(f"bar: {BAR:g} times, {'reached' if ratio >= BAR else 'missed'}")


if __name__ == "__main__":
    main()
