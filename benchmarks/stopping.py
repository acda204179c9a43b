"""How often does the recommended stop keep its word, by family of reviews, and what does it cost in reading?

    python benchmarks/stopping.py [--seeds 3] [--only NAME] [--families reviews,planted,types]

The reviews are those below GERMANE_DATA. Families: each source with each of its labels (final inclusion, inclusion on
the abstract); the kinds of study among PubMed's records, up to 37 % of which are relevant; and two with planted
difficulty, made from each review: *noise*, a tenth of the relevant records exchanged for irrelevant ones drawn at
random, which no ranking can find; and *cluster*, records of another review added, and the nearest to one of them, an
eighth as many as the review has relevant ones, called relevant.

Each review is read once for each seed by the ranking, from one relevant and one irrelevant record. Rules, on the same
readings: *windows*, the rule of before (the least p of all windows of the reading, tested at 5 % after each hundredth);
*silence*, `StoppingRule()`; *sample*, `StoppingRule(sample=True)`, with 3 random orders for each reading. For each
family: runs whose recall at the stop reached 95 %, the Clopper-Pearson interval of that share, the least recall, and
the share of the records left unread. Exit status 1 if *silence* or *sample* is under 95 % in a family.
"""

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse, stats
from screening import review_files, variants

from germane.arrays import Mask
from germane.data import read_documents
from germane.refine.screening.simulation import Run, simulated_runs, stopped_run
from germane.refine.screening.stopping import StoppingRule
from germane.refine.screening.weighting import weigh_documents
from germane.types import Document

STUDY_TYPES = ("human", "child", "rodent", "systematic_review", "trial")
NOISE, CLUSTER, ADDED = 0.1, 0.125, 0.25
SAMPLES = 3
BAR = 0.95


def with_noise(y: Mask, seed: int) -> Mask:
    """Some relevant records exchanged for irrelevant ones, at random."""
    rng = np.random.default_rng([seed, len(y), 1])
    k = max(1, round(NOISE * int(y.sum())))
    changed = y.copy()
    changed[rng.choice(np.flatnonzero(y), k, replace=False)] = False
    changed[rng.choice(np.flatnonzero(~y), k, replace=False)] = True
    return changed


def with_cluster(
    documents: list[Document], y: Mask, others: list[Document], seed: int
) -> tuple[sparse.csr_array, Mask]:
    """Rows and labels with records of another review, one of them and its nearest relevant."""
    rng = np.random.default_rng([seed, len(y), 2])
    n = min(len(others), max(200, int(ADDED * len(y))))
    added = [others[i] for i in rng.choice(len(others), n, replace=False)]
    rows = weigh_documents([*documents, *added]).rows
    centre = len(y) + int(rng.integers(n))
    likeness = (rows[len(y) :] @ rows[[centre]].T).toarray().ravel()
    planted = np.zeros(n, bool)
    planted[np.argsort(-likeness, kind="stable")[: max(2, round(CLUSTER * int(y.sum())))]] = True
    return rows, np.concatenate([y, planted])


def windows_stop(n_docs: int, decisions: Mask, target: float = 0.95, alpha: float = 0.05) -> int:
    """Where the rule of before stopped: the least hypergeometric p of the windows that begin after a find (or at 0)."""
    hits = np.concatenate([[0], np.cumsum(decisions)])
    for t in range(20, n_docs, max(1, n_docs // 100)):
        r = int(hits[t])
        starts = np.concatenate([[0], np.flatnonzero(decisions[:t]) + 1])
        starts = starts[starts < t]
        missed = int(r / target + 1e-9) + 1 - r
        found = r - hits[starts]
        if r and stats.hypergeom.cdf(found, n_docs - starts, found + missed, t - starts).min() < alpha:
            return t
    return n_docs


def readings(options: argparse.Namespace) -> Iterator[tuple[str, Run, Mask]]:
    """(family, reading, labels) of every run."""
    wanted = options.families.split(",")
    files = list(review_files(options.only))
    for i, (source, _, documents) in enumerate(files):
        rows = weigh_documents(documents).rows
        labels = variants(documents)
        seeds = range(options.seeds)
        if "reviews" in wanted:
            for name, y in labels.items():
                for run in simulated_runs(rows, y, seeds):
                    yield f"{source}, {name}", run, y
        if "planted" in wanted:
            y = next(iter(labels.values()))
            for seed in seeds:
                noisy = with_noise(y, seed)
                yield "noise", next(simulated_runs(rows, noisy, [seed])), noisy
                merged, planted = with_cluster(documents, y, files[(i + 5) % len(files)][2], seed)
                yield "cluster", next(simulated_runs(merged, planted, [seed])), planted
    path = Path(os.environ["GERMANE_DATA"]) / "pubmed_study_types" / "records.jsonl.gz"
    if "types" in wanted and path.exists():
        documents = list(read_documents(path))
        rows = weigh_documents(documents).rows
        for name in STUDY_TYPES:
            y = np.array([str(document.fields[name]) == "1" for document in documents])
            for run in simulated_runs(rows, y, range(max(1, options.seeds // 3))):
                yield "study types", run, y


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="reviews whose file names hold this")
    parser.add_argument("--families", default="reviews,planted,types", help="which of reviews, planted and types")
    table: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for family, run, y in readings(parser.parse_args()):
        of = table[family]
        before = windows_stop(len(y), run.relevant)
        of["windows"].append(Run(run.seed, run.order, run.relevant, before))
        of["silence"].append(run)
        draws = range(SAMPLES * run.seed, SAMPLES * (run.seed + 1))
        of["sample"] += [stopped_run(seed, run.order, y, StoppingRule(sample=True)) for seed in draws]
    if not table:
        sys.exit("no review was found")
    print("| family | rule | runs with 95 % | interval of the share | least recall | left unread |")
    print("|---|---|---|---|---|---|")
    short: list[str] = []
    everything: dict[str, list[Run]] = defaultdict(list)
    for family, of in table.items():
        for rule, runs in of.items():
            everything[rule] += runs
            if report(family, rule, runs) < BAR and rule != "windows":
                short.append(f"{rule} in {family}")
    for rule, runs in everything.items():
        report("all", rule, runs)
    verdict = f"MISSED by {', '.join(short)}" if short else "reached"
    print(f"\n95 % recall in 95 % of the runs of every family: {verdict}")
    return 1 if short else 0


def report(family: str, rule: str, runs: list[Run]) -> float:
    """Print one line; the share of runs that reached the recall."""
    recall = [run.recall_at_stop for run in runs]
    reached = sum(each >= BAR - 1e-9 for each in recall)
    between = stats.binomtest(reached, len(runs)).proportion_ci(method="exact")
    saved = np.mean([run.saved_at_stop for run in runs])
    print(
        f"| {family} | {rule} | {reached}/{len(runs)} | {100 * between.low:.1f}-{100 * between.high:.1f} % | "
        f"{100 * min(recall):.1f} | {100 * saved:.1f} % |",
        flush=True,
    )
    return reached / len(runs)


if __name__ == "__main__":
    sys.exit(main())
