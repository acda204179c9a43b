"""How much reading does screening save on the shared reviews, beside a logistic baseline and naive Bayes?

    python benchmarks/screening.py [--seeds 10] [--omega 1] [--only NAME] [--ours] [--published]

The reviews are those below GERMANE_DATA.

Each review is read from one relevant and one irrelevant document (the same for all rankings of a seed), learning anew
each time a twentieth more has been read. WSS@95 in per cent, means over seeds:

- ours: `germane.refine.screening`;
- logistic: scikit-learn's balanced logistic regression on raw tf-idf of what was read, from the same fields as ours;
- naive Bayes: ASReview 1's default as we understand it (multinomial on tf-idf, alpha 3.822, `double` balancing), our
  own code, not the program, on title and abstract as there.

`published` are the levels of ASReview's naive Bayes on tf-idf (Ferdinands 2020, table 2 of "Simulation results" in
ASReview's documentation: means over 15 trials), on records that have an abstract and are no duplicates; `--published`
reads those four reviews in the same way. Then the recommended stop: recall, runs that reach 95 %, share left unread.
Exit status 1 if a bar is missed.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Labels
from germane.data import read_documents
from germane.evaluate.significance import wilcoxon
from germane.refine.screening.simulation import Mean, Run, Scorer, simulated_runs
from germane.refine.screening.stopping import StoppingRule
from germane.refine.screening.weighting import BODY_FIELDS, TITLE_FIELDS, weigh_documents, words_of

PUBLISHED = {"wilson": 83.4, "virus": 71.2, "nudging": 71.7, "ACEInhibitors": 82.9}
PEERS = ("logistic", "naive Bayes")
STOPPED_BAR = 0.95


def reviews(only: str) -> Iterator[tuple[str, list, np.ndarray]]:
    """(name, documents, labels) of each review; inclusion on abstracts where the final one was not recorded."""
    for path in sorted(Path(os.environ["GERMANE_DATA"]).glob("reviews_*/*.jsonl.gz")):
        stem = path.name.removesuffix(".jsonl.gz")
        name = stem.split("_", 2)[-1] if "asreview" in str(path) else stem
        if only not in name:
            continue
        documents = list(read_documents(path))
        column = "included" if documents[0].fields["included"] is not None else "abstract_screened_in"
        yield name, documents, np.array([bool(document.fields[column]) for document in documents])


def as_published(documents: list, y: np.ndarray) -> tuple[list, np.ndarray]:
    """The records with an abstract, the first of each title and abstract."""
    seen: dict[tuple[str, str], int] = {}
    for i, document in enumerate(documents):
        title, abstract = (str(document.fields.get(name) or "").strip().lower() for name in ("title", "abstract"))
        if abstract:
            seen.setdefault((title, abstract), i)
    kept = list(seen.values())
    return [documents[i] for i in kept], y[kept]


def raw_tf_idf(documents: list, fields: tuple[str, ...]) -> sparse.csr_matrix:
    """scikit-learn's tf-idf of some fields, terms as our analyser makes them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from germane.text import Analyzer

    texts = [words_of(document, fields) for document in documents]
    return TfidfVectorizer(analyzer=Analyzer(stemmer="porter").terms).fit_transform(texts)


def logistic_scorer(rows: sparse.csr_matrix) -> Scorer:
    from sklearn.linear_model import LogisticRegression

    def scores(labels: Labels) -> Floats:
        read = labels >= 0
        model = LogisticRegression(class_weight="balanced", solver="liblinear", random_state=0)
        return model.fit(rows[read], labels[read]).decision_function(rows)

    return scores


class NaiveBayesScorer:
    """Multinomial naive Bayes on tf-idf with ASReview's `double` balancing."""

    def __init__(self, rows: sparse.csr_matrix, alpha: float = 3.822) -> None:
        self.rows, self.alpha, self.rng = rows, alpha, np.random.default_rng(0)

    def __call__(self, labels: Labels) -> Floats:
        ones, zeros = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
        n1, n0 = len(ones), len(zeros)
        n = n1 + n0
        weight1 = 2.155 * (n1 / n0) ** -0.94
        weight0 = 1.0 - (1.0 - 0.789) / (1.0 + np.log(n))
        want = weight1 * n1 * n / (weight1 * n1 + weight0 * n0)
        k1 = int(np.clip(np.floor(want) + (self.rng.random() < want % 1), 1, max(1, n - 2)))
        copies = np.zeros(len(labels))
        for members, k in ((ones, k1), (zeros, n - k1)):
            copies[members] += k // len(members)
            copies[self.rng.choice(members, k % len(members), replace=False)] += 1
        sums = [self.rows.T @ (copies * (labels == side)) + self.alpha for side in (1, 0)]
        return self.rows @ (np.log(sums[0] / sums[0].sum()) - np.log(sums[1] / sums[1].sum()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--omega", type=float, default=1.0)
    parser.add_argument("--only", default="", help="reviews whose names hold this")
    parser.add_argument("--published", action="store_true", help="the published reviews, with records as there")
    parser.add_argument("--ours", action="store_true", help="leave the other rankings out")
    options = parser.parse_args()
    rule = StoppingRule(omega=options.omega)
    table: dict[str, dict[str, list[Run]]] = {}
    print("| review | documents | relevant | ours (95% interval) | logistic | naive Bayes | published |")
    print("|---|---|---|---|---|---|---|", flush=True)
    seconds = dict.fromkeys(["ours", *([] if options.ours else PEERS)], 0.0)
    for name, documents, y in reviews(options.only):
        if options.published:
            if name not in PUBLISHED:
                continue
            documents, y = as_published(documents, y)
        ours = weigh_documents(documents).rows
        same = raw_tf_idf(documents, (*TITLE_FIELDS, *BODY_FIELDS))
        bare = raw_tf_idf(documents, ("title", "text", "abstract"))
        makers = {
            "ours": None,
            "logistic": lambda rows=same: logistic_scorer(rows),
            "naive Bayes": lambda rows=bare: NaiveBayesScorer(rows),
        }
        if options.ours:
            makers = {"ours": None}
        runs = table[name] = {}
        for method, maker in makers.items():
            start = time.perf_counter()
            runs[method] = list(simulated_runs(ours, y, range(options.seeds), rule=rule, scorer=maker))
            seconds[method] += time.perf_counter() - start
        mean = {method: Mean.of([100 * run.wss(0.95) for run in found]) for method, found in runs.items()}
        us = mean["ours"]
        cells = [
            name,
            f"{len(y):,}",
            f"{int(y.sum()):,}",
            f"{us.value:.1f} ({us.low:.1f}-{us.high:.1f})",
            *(f"{mean[peer].value:.1f}" if peer in mean else "" for peer in PEERS),
            str(PUBLISHED.get(name, "")),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    if not table:
        sys.exit("no review was found")
    means = {m: np.mean([[100 * run.wss(0.95) for run in runs[m]] for runs in table.values()]) for m in seconds}
    print(f"| mean | | | {' | '.join(f'{means[m]:.1f}' if m in means else '' for m in ('ours', *PEERS))} | |\n")

    print(f"Recommended stop, 95 % recall at 95 % confidence, omega = {options.omega:g}:\n")
    print("| review | recall, mean | recall, least | runs with 95 % | left unread | WSS@100 | RRF@10 |")
    print("|---|---|---|---|---|---|---|")
    for name, runs in table.items():
        found = runs["ours"]
        recall = [run.recall_at_stop for run in found]
        reached = sum(r >= 0.95 - 1e-9 for r in recall)
        saved, all_of_it, early = (
            np.mean([value(run) for run in found])
            for value in (lambda r: r.saved_at_stop, lambda r: r.wss(1.0), lambda r: r.rrf10)
        )
        print(
            f"| {name} | {100 * np.mean(recall):.1f} | {100 * min(recall):.1f} | {reached}/{len(found)} | "
            f"{100 * saved:.1f} | {100 * all_of_it:.1f} | {100 * early:.1f} |"
        )
    every = [run for runs in table.values() for run in runs["ours"]]
    reached = sum(run.recall_at_stop >= 0.95 - 1e-9 for run in every)
    saved = np.mean([run.saved_at_stop for run in every])
    print(f"| all | | | {reached}/{len(every)} | {100 * saved:.1f} | | |\n")

    bars = [
        (f"WSS@95 of {name} at the published {level}", np.mean([100 * r.wss(0.95) for r in table[name]["ours"]]), level)
        for name, level in PUBLISHED.items()
        if name in table
    ]
    if "logistic" in means:
        bars.append(("mean WSS@95 above the logistic baseline", means["ours"], means["logistic"]))
    bars.append(("share of runs with 95 % recall at the stop, in %", 100 * reached / len(every), 100 * STOPPED_BAR))
    if "logistic" in means and len(table) > 1:
        pairs = [[np.mean([r.wss(0.95) for r in runs[m]]) for runs in table.values()] for m in ("ours", "logistic")]
        wins = sum(a > b for a, b in zip(*pairs, strict=True))
        p = wilcoxon(*pairs, alternative="greater").p_value
        print(f"ours above logistic in {wins} of {len(table)} reviews, Wilcoxon p = {p:.2g} (one-sided, over reviews)")
    missed = 0
    for what, value, bar in bars:
        missed += value < bar
        print(f"{'reached' if value >= bar else 'MISSED '}  {what}: {value:.1f} (bar {bar:.1f})")
    print(", ".join(f"{method}: {spent:.0f} s" for method, spent in seconds.items()))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
