"""How much reading does screening save on the shared reviews, beside ASReview 3's learner and logistic regression?

    python benchmarks/screening.py [--seeds 5] [--only NAME] [--ours] [--published] [--abstracts] [--left-out]

The reviews are those below GERMANE_DATA.

Each review is read from one relevant and one irrelevant document (the same for all rankings of a seed), learning anew
each time a twentieth more has been read. WSS@95 in per cent, means over seeds:

- ours: `germane.refine.screening`;
- elas_u4: the learner that ASReview 3 has by default, a linear SVM on tf-idf of words and pairs of words. Its settings
  are read from the package where `asreview` is installed, and are those of version 3.0.8 elsewhere; the rest is
  scikit-learn's, as there;
- logistic: scikit-learn's balanced logistic regression on raw tf-idf of what was read, from the same fields as ours.

Then the recall after 10 % and 25 % of the reading, and Wilcoxon's test over reviews. `--abstracts` reads the reviews
that have both labels by inclusion on the abstract too. `--left-out` chooses the weight of the unread documents for each
review on all the others. `published` are the levels of ASReview 1's naive Bayes on tf-idf (Ferdinands 2020, table 2 of
"Simulation results" in ASReview's documentation: means over 15 trials), on records that have an abstract and are no
duplicates; `--published` reads those four reviews in the same way. Exit status 1 if a bar is missed.
`benchmarks/stopping.py` measures the recommended stop.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from germane.arrays import Floats, Labels, Mask
from germane.data import read_documents
from germane.evaluate.significance import wilcoxon
from germane.refine.screening.ranking import UNREAD_WEIGHT, Ranker
from germane.refine.screening.simulation import Mean, Run, Scorer, WarmScorer, simulated_runs
from germane.refine.screening.weighting import BODY_FIELDS, TITLE_FIELDS, weigh_documents, words_of
from germane.types import Document

PUBLISHED = {"wilson": 83.4, "virus": 71.2, "nudging": 71.7, "ACEInhibitors": 82.9}
LABELS = {"included": "final", "abstract_screened_in": "abstract"}
PEERS = ("elas_u4", "logistic")
ELAS_U4: dict[str, dict[str, Any]] = {
    "feature_extractor": {"ngram_range": (1, 2), "sublinear_tf": True, "min_df": 1, "max_df": 0.95},
    "classifier": {"loss": "squared_hinge", "C": 0.11},
    "balancer": {"ratio": 9.8},
}
WEIGHTS = (UNREAD_WEIGHT, 1.0, 10.0)
"""Weights of the unread documents to choose from."""
SIGNIFICANT = 0.05


def review_files(only: str) -> Iterator[tuple[str, str, list[Document]]]:
    """(source, name, documents) of each review."""
    for path in sorted(Path(os.environ["GERMANE_DATA"]).glob("reviews_*/*.jsonl.gz")):
        source, stem = path.parent.name.removeprefix("reviews_"), path.name.removesuffix(".jsonl.gz")
        name = stem.split("_", 2)[-1] if source == "asreview" else stem
        if only in name:
            yield source, name, list(read_documents(path))


def variants(documents: list[Document]) -> dict[str, Mask]:
    """The labels of a review by name, final ones first; some reviews have one kind only."""
    return {
        name: np.array([bool(document.fields[column]) for document in documents])
        for column, name in LABELS.items()
        if documents[0].fields[column] is not None
    }


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


def elas_u4_settings() -> dict[str, dict[str, Any]]:
    """The settings of ASReview's learner, from the package if it is installed."""
    try:
        from asreview.models.models import get_ai_config
    except ImportError:
        return ELAS_U4
    config = get_ai_config("elas_u4")["value"]
    return {name: getattr(config, f"{name}_param") for name in ELAS_U4}


def elas_u4_scorer(documents: list[Document]) -> Scorer:
    """ASReview's `Tfidf` of title and abstract, `Balanced` weights and `SVM`: scikit-learn's, with its settings."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    settings = elas_u4_settings()
    texts = [f"{document.fields['title'] or ''} {document.fields['abstract'] or ''}" for document in documents]
    rows = TfidfVectorizer(**settings["feature_extractor"]).fit_transform(texts)
    ratio = settings["balancer"]["ratio"]

    def scores(labels: Labels) -> Floats:
        read = labels >= 0
        y = labels[read]
        weight = np.where(y == 1, 1.0, (y == 1).sum() / (ratio * (y == 0).sum()))
        model = LinearSVC(**settings["classifier"], random_state=0)
        return model.fit(rows[read], y, sample_weight=weight * len(y) / weight.sum()).decision_function(rows)

    return scores


def rankings(
    documents: list[Document], rows: sparse.csr_array, options: argparse.Namespace
) -> dict[str, Callable[[], Scorer]]:
    """What makes the rankings to compare, by name."""
    found: dict[str, Callable[[], Scorer]] = {}
    weights = WEIGHTS if options.left_out else (UNREAD_WEIGHT,)
    for weight in weights:
        ranker = Ranker(rows, unread_weight=weight)
        found["ours" if weight == UNREAD_WEIGHT else f"unread {weight:g}"] = lambda ranker=ranker: WarmScorer(ranker)
    if not options.ours:
        elas, plain = elas_u4_scorer(documents), logistic_scorer(raw_tf_idf(documents, (*TITLE_FIELDS, *BODY_FIELDS)))
        found |= {"elas_u4": lambda: elas, "logistic": lambda: plain}
    return found


def tested_reviews(options: argparse.Namespace) -> Iterator[tuple[str, str, list[Document], Mask]]:
    """(review, row of the table, documents, labels)."""
    for _, name, documents in review_files(options.only):
        labels = variants(documents)
        first = next(iter(labels))
        for kind, y in labels.items() if options.abstracts else [(first, labels[first])]:
            if not options.published:
                yield name, name if kind == first else f"{name}, {kind}", documents, y
            elif name in PUBLISHED and kind == first:
                yield name, name, *as_published(documents, y)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="reviews whose names hold this")
    parser.add_argument("--published", action="store_true", help="the published reviews, with records as there")
    parser.add_argument("--ours", action="store_true", help="leave the other rankings out")
    parser.add_argument("--abstracts", action="store_true", help="labels of inclusion on the abstract too")
    parser.add_argument("--left-out", action="store_true", help="choose the weight of the unread on the other reviews")
    options = parser.parse_args()
    table: dict[str, dict[str, list[Run]]] = {}
    of: dict[str, str] = {}
    seconds: dict[str, float] = {}
    for review, row, documents, y in tested_reviews(options):
        rows = weigh_documents(documents).rows
        of[row], runs = review, table.setdefault(row, {})
        for method, maker in rankings(documents, rows, options).items():
            start = time.process_time()
            runs[method] = list(simulated_runs(rows, y, range(options.seeds), scorer=maker))
            seconds[method] = seconds.get(method, 0.0) + time.process_time() - start
        if len(table) == 1:
            print(f"| review | documents | relevant | {' | '.join(runs)} | published |")
            print(f"|---|---|---|{'---|' * (len(runs) + 1)}")
        cells = [row, f"{len(y):,}", f"{int(y.sum()):,}", *map(interval, runs.values()), str(PUBLISHED.get(row, ""))]
        print(f"| {' | '.join(cells)} |", flush=True)
    if not table:
        sys.exit("no review was found")
    methods = list(seconds)
    for name, value in MEASURES.items():
        means = [f"{100 * np.mean([[value(r) for r in runs[m]] for runs in table.values()]):.1f}" for m in methods]
        print(f"| mean {name} | | | {' | '.join(means)} | |")
    wss = {m: by_review(table, of, m) for m in methods}
    if options.left_out:
        wss["ours"] = left_out(wss)
    missed = 0
    for peer in PEERS:
        if peer in wss and len(wss["ours"]) > 1:
            missed += not tell_pair(wss["ours"], wss[peer], peer)
    for name, bar in PUBLISHED.items():
        if name in table:
            value = 100 * np.mean([run.wss(0.95) for run in table[name]["ours"]])
            print(f"{'reached' if value >= bar else 'MISSED '}  WSS@95 of {name}: {value:.1f} (published {bar})")
    print(", ".join(f"{method}: {spent:.0f} s" for method, spent in seconds.items()))
    return 1 if missed else 0


def early(share: float) -> Callable[[Run], float]:
    """The measure: recall after a share of the reading."""
    return lambda run: float(run.hits[max(1, int(share * len(run.order))) - 1] / run.hits[-1])


MEASURES: dict[str, Callable[[Run], float]] = {
    "WSS@95": lambda run: run.wss(0.95),
    "WSS@100": lambda run: run.wss(1.0),
    "recall after 10 %": early(0.1),
    "recall after 25 %": early(0.25),
}


def interval(runs: list[Run]) -> str:
    """WSS@95 with its interval over seeds."""
    mean = Mean.of([100 * run.wss(0.95) for run in runs])
    return f"{mean.value:.1f} ({mean.low:.1f}-{mean.high:.1f})"


def by_review(table: Mapping[str, Mapping[str, list[Run]]], of: Mapping[str, str], method: str) -> dict[str, float]:
    """Mean WSS@95 in per cent of each review, over its labels and seeds."""
    rows: dict[str, list[float]] = {}
    for row, runs in table.items():
        rows.setdefault(of[row], []).append(float(np.mean([100 * run.wss(0.95) for run in runs[method]])))
    return {review: float(np.mean(values)) for review, values in rows.items()}


def chosen_left_out(values: Mapping[tuple[str, str], float]) -> dict[str, str]:
    """For each collection the setting whose mean over all the *other* collections is the largest.

    `values` has one number for each (collection, setting); equals are settled by the first setting.
    """
    collections, settings = (list(dict.fromkeys(key[side] for key in values)) for side in (0, 1))
    totals = {setting: sum(values[collection, setting] for collection in collections) for setting in settings}
    return {left: max(settings, key=lambda setting: totals[setting] - values[left, setting]) for left in collections}


def left_out(wss: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """WSS@95 of each review with the weight that is best over all the others."""
    settings = [method for method in wss if method not in PEERS]
    values = {(review, setting): wss[setting][review] for setting in settings for review in wss[setting]}
    chosen = chosen_left_out(values)
    print(f"left out: {', '.join(f'{review} {setting}' for review, setting in chosen.items())}")
    return {review: values[review, setting] for review, setting in chosen.items()}


def tell_pair(ours: Mapping[str, float], theirs: Mapping[str, float], peer: str) -> bool:
    """Print one comparison over reviews; is ours significantly above?"""
    a, b = np.array(list(ours.values())), np.array([theirs[review] for review in ours])
    p = wilcoxon(a, b, alternative="greater").p_value
    above = bool(p < SIGNIFICANT and a.mean() > b.mean())
    print(
        f"{'reached' if above else 'MISSED '}  mean WSS@95 {a.mean():.1f}, {peer} {b.mean():.1f}: above in "
        f"{(a > b).sum()} of {len(a)} reviews, Wilcoxon p = {p:.3f} (one-sided)"
    )
    return above


if __name__ == "__main__":
    sys.exit(main())
