"""Does debiasing pay? Models learnt from simulated clicks with a known bias, judged by the true relevances.

    GERMANE_DATA=... python benchmarks/debiasing.py [--collections homedepot,nfcorpus_titles,cranfield] [--seeds 3]
        [--models wtm,bltm-pr,opca] [--queries 150] [--searches 30000] [--eta 1.0] [--threads N]
    GERMANE_DATA=... python benchmarks/debiasing.py --rules [--collections ...] [--models wtm] ...

For each collection and seed a log is simulated (`simulate_log`: position-based users who examine the k-th result with
probability k^-eta; each query has some twenty results, whose order says nothing of relevance and varies), imported, and
made into pairs three times by the same rules: debiased, raw, and the truth (the attraction γ of each result instead of
an estimate). Each model learns from each kind of pairs, with its default parameters, and ranks

- for the *logged* queries all results that were ever shown for each: what a second stage is given;
- for *new* queries, none of which is in the log, the judged titles and 50 others.

NDCG@10 over all queries and seeds, by the true judgements; the paired t-test of debiased against raw pairs; and the
share of what the true relevances give, with its 95 % interval (bootstrap over queries). Exit status 1 if debiased pairs
are not significantly better than raw ones or stay below 97 % of the truth, for any collection and model, on logged
queries.

With --rules, debiased pairs are made by each of several rules, on logged queries only; and for each collection that
rule is named which is best, on average, on the others. `chosen pairs` are those of the truth, with the weights of the
first rule: what is lost by the weights alone.
"""

import argparse
import csv
import gzip
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from germane.clicks import ClickModel, ClickStore, PairRules, em_curve, observe, read_pairs, simulate_log, write_pairs
from germane.data import catalog, read_documents, read_qrels, read_topics
from germane.evaluate.significance import paired_t
from germane.evaluate.tied import tied_ndcg
from germane.latent import Pairs, latent_named
from germane.types import Document, Judgement, Topic

BAR_SHARE, BAR_P = 0.97, 0.05
ADDED = 50
POOL = 10
"""Judged titles of a logged query, at most; as many others are shown too."""
PARAMETERS = {"bltm-pr": {"n_topics": 50}, "opca": {"n_dimensions": 50}}
"""Of models whose defaults ask for more pairs than a small log has."""
KINDS = ("raw", "debiased", "truth")
RULES = {
    **{f"learnt, {p}": PairRules(certainty=p) for p in (0.8, 0.5, 0.6, 0.7, 0.9)},
    **{f"m = {m}, {p}": PairRules(prior_weight=m, certainty=p) for m in (2.0, 10.0) for p in (0.5, 0.69, 0.84)},
}
"""The first is the default; probabilities of 0.69 and 0.84 are half a standard error and one."""
CHOSEN = "chosen pairs"


@dataclass(frozen=True)
class Collection:
    """Titles by id, and judged queries: those that are logged and others."""

    titles: dict[str, str]
    logged: list[Topic]
    new: list[Topic]
    grades: dict[str, dict[str, int]]


def homedepot() -> Collection:
    """Ratings 1 to 3 become grades 0 to 2."""
    rows = _rows("homedepot", "labels.tsv.gz")
    grades: dict[str, dict[str, int]] = {}
    for row in rows:
        grades.setdefault(row["query_id"], {})[row["product_id"]] = round(float(row["relevance"])) - 1
    queries = {row["query_id"]: (row["split"], row["query"]) for row in rows}
    parts = {split: [Topic(name, text) for name, (own, text) in queries.items() if own == split]
             for split in ("train", "test")}  # fmt: skip
    return Collection({row["product_id"]: row["title"] for row in rows}, parts["train"], parts["test"], grades)


def nfcorpus_titles() -> Collection:
    """Levels 1 to 3 of links."""
    titles = {row["doc_id"]: row["title"] for row in _rows("nfcorpus_titles", "docs.tsv.gz")}
    grades: dict[str, dict[str, int]] = {}
    for row in _rows("nfcorpus_titles", "labels.tsv.gz"):
        grades.setdefault(row["query_id"], {})[row["doc_id"]] = int(row["level"])
    rows = _rows("nfcorpus_titles", "queries.tsv.gz")
    parts = {split: [Topic(row["query_id"], row["query"]) for row in rows if row["split"] == split]
             for split in ("train", "test")}  # fmt: skip
    return Collection(titles, parts["train"], parts["test"], grades)


def plain(name: str) -> Collection:
    """A retrieval collection: every other query is logged."""
    path = catalog.dataset_path(name)
    titles = {each.id: str(each.fields.get("title") or "") for each in read_documents(str(path))}
    grades: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in read_qrels(str(path)):
        grades.setdefault(query_id, {})[doc_id] = max(grade, 0)
    topics = [topic for topic in read_topics(str(path)) if topic.id in grades]
    return Collection(titles, topics[::2], topics[1::2], grades)


def _rows(dataset: str, file: str) -> list[dict[str, str]]:
    with gzip.open(catalog.dataset_path(dataset) / file, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def load(name: str, n_queries: int, seed: int) -> Collection:
    """The collection with at most so many logged and new queries, each with a relevant title."""
    made = {"homedepot": homedepot, "nfcorpus_titles": nfcorpus_titles}.get(name)
    found = made() if made is not None else plain(name)
    rng = np.random.default_rng(seed)

    def some(topics: list[Topic]) -> list[Topic]:
        usable = [topic for topic in topics if max(found.grades.get(topic.id, {}).values(), default=0) > 0]
        return [usable[i] for i in rng.permutation(len(usable))[:n_queries].tolist()]

    logged, grades = some(found.logged), dict(found.grades)
    for topic in logged:
        own = [doc for doc in grades[topic.id] if doc in found.titles]
        best = max(own, key=lambda doc: grades[topic.id][doc])
        kept = {best, *(own[i] for i in rng.permutation(len(own))[: POOL - 1].tolist())}
        grades[topic.id] = {doc: grades[topic.id][doc] for doc in own if doc in kept}
    return Collection(found.titles, logged, some(found.new), grades)


def pairs_of(
    collection: Collection, arguments: argparse.Namespace, seed: int, wanted: Mapping[str, PairRules]
) -> tuple[dict[str, list], dict]:
    """The pairs by each of the rules wanted and the true ones, and γ of every logged query and result."""
    documents = [Document(name, {"title": title}) for name, title in collection.titles.items()]
    qrels = [Judgement(topic.id, doc, grade) for topic in collection.logged
             for doc, grade in collection.grades[topic.id].items()]  # fmt: skip
    searches = round(arguments.searches * len(collection.logged) / arguments.queries)  # as many for each query
    with tempfile.TemporaryDirectory() as folder:
        log = simulate_log(
            documents, collection.logged, qrels, Path(folder) / "log", model=ClickModel(eta=arguments.eta),
            searches=searches, users=2000, ranker=arguments.ranker, jitter=arguments.jitter,
            zipf=arguments.zipf, format="parquet", random_state=seed,
        )  # fmt: skip
        store = ClickStore.create(Path(folder) / "store")
        store.add(list(log.files), memory_mb=1024, threads=arguments.threads)
        kinds = {}
        with observe(store, memory_mb=1024, threads=arguments.threads) as observations:
            curve = em_curve(observations.cells(), positions=observations.rules.max_position)
            for kind, rules in wanted.items():
                target = Path(folder) / "pairs.tsv"
                write_pairs(observations, target, rules, curve=curve, titles=documents)
                kinds[kind] = list(read_pairs(target))
            target = Path(folder) / "all.jsonl"
            report = write_pairs(observations, target, PairRules(threshold=0.0), curve=curve, titles=documents)
            scores = {(pair.query, pair.title): pair.weight for pair in read_pairs(target)}
            shown = observations.connection.execute(
                "SELECT DISTINCT query, object FROM cells JOIN query_users USING (query) WHERE users >= 5"
            ).fetchall()
    # The truth follows the same rule, with γ in the place of its estimate: above the mean of what was examined.
    attraction = {(as_logged(query), doc): gamma for (query, doc), gamma in log.attraction.items()}
    logged = {pair: attraction[pair] for pair in sorted(shown) if pair in attraction}  # else a number was redacted
    kinds["truth"] = [
        (query, collection.titles[doc], gamma)
        for (query, doc), gamma in logged.items()
        if gamma > report.mean_rate and collection.titles[doc].strip()
    ]
    kinds[CHOSEN] = [
        (query, title, scores[query, title]) for query, title, _ in kinds["truth"] if (query, title) in scores
    ]
    return kinds, logged


def as_logged(query: str) -> str:
    """A query as the history has it."""
    return " ".join(query.lower().split())


Lists = list[tuple[str, list[str], np.ndarray]]
"""A query, the documents to rank for it, and their gains 2^grade - 1."""


def logged_lists(collection: Collection, shown: dict[tuple[str, str], float]) -> Lists:
    """Each logged query with all that was shown for it."""
    by_query: dict[str, list[str]] = {}
    for query, doc in shown:
        by_query.setdefault(query, []).append(doc)
    texts = {as_logged(topic.text): topic for topic in collection.logged}
    return [_graded(collection, texts[query], docs) for query, docs in sorted(by_query.items())]


def new_lists(collection: Collection, seed: int) -> Lists:
    """Each new query with its judged titles and others."""
    rng = np.random.default_rng([seed, 1])
    names, lists = list(collection.titles), []
    for topic in collection.new:
        own = [doc for doc in collection.grades[topic.id] if doc in collection.titles]
        others = (names[i] for i in rng.permutation(len(names))[: ADDED + len(own)].tolist())
        lists.append(_graded(collection, topic, list(dict.fromkeys([*own, *others]))[: len(own) + ADDED]))
    return lists


def _graded(collection: Collection, topic: Topic, docs: list[str]) -> tuple[str, list[str], np.ndarray]:
    grades = collection.grades[topic.id]
    return topic.text, docs, 2.0 ** np.array([grades.get(doc, 0) for doc in docs]) - 1


def judged(model, collection: Collection, lists: Lists) -> np.ndarray:
    """NDCG@10 of every list."""
    place = {doc: i for i, doc in enumerate(dict.fromkeys(doc for _, docs, _ in lists for doc in docs))}
    documents = model.fold_in([collection.titles[doc] for doc in place])
    return np.array([
        tied_ndcg(model.score(query, documents.take([place[doc] for doc in docs])), gains, 10)
        for query, docs, gains in lists
    ])  # fmt: skip


def interval(found: np.ndarray, truth: np.ndarray, resamples: int = 2000) -> tuple[float, float]:
    """The middle 95 % of the share of the truth, over queries drawn with replacement."""
    drawn = np.random.default_rng(0).integers(len(found), size=(resamples, len(found)))
    low, high = np.quantile(found[drawn].mean(axis=1) / truth[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def by_rules(arguments: argparse.Namespace) -> None:
    """The share of the truth by each rule, and for each collection the rule that is best on the others."""
    names = arguments.collections.split(",")
    for model in arguments.models.split(","):
        shares: dict[str, dict[str, float]] = {}
        for name in names:
            values: dict[str, list[np.ndarray]] = {}
            for seed in range(arguments.seeds):
                collection = load(name, arguments.queries, seed)
                kinds, shown = pairs_of(collection, arguments, seed, RULES)
                lists = logged_lists(collection, shown)
                for kind, found in kinds.items():
                    fitted = latent_named(model, **PARAMETERS.get(model, {})).fit(Pairs.build(found))
                    values.setdefault(kind, []).append(judged(fitted, collection, lists))
            truth = np.concatenate(values.pop("truth"))
            shares[name] = {kind: float(np.concatenate(found).mean() / truth.mean()) for kind, found in values.items()}
            print(f"{model}, {name}: {len(truth)} queries", file=sys.stderr, flush=True)
        print(f"| {model}: rule | {' | '.join(names)} | mean |")
        print("|---" * (len(names) + 2) + "|")
        for kind in (*RULES, CHOSEN):
            own = [shares[name][kind] for name in names]
            print(f"| {kind} | {' | '.join(f'{share:.1%}' for share in own)} | {np.mean(own):.1%} |")
        best = {name: max(RULES, key=lambda kind, name=name: np.mean(
                    [shares[other][kind] for other in names if other != name])) for name in names}  # fmt: skip
        chosen = " | ".join(f"{kind}: {shares[name][kind]:.1%}" for name, kind in best.items())
        print(f"| best on the others | {chosen} | |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", default="homedepot,nfcorpus_titles,cranfield")
    parser.add_argument("--models", default="wtm,bltm-pr,opca")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=150)
    parser.add_argument("--searches", type=int, default=30_000)
    parser.add_argument("--eta", type=float, default=1.0)
    parser.add_argument("--ranker", type=float, default=0.0)
    parser.add_argument("--jitter", type=float, default=0.5)
    parser.add_argument("--zipf", type=float, default=0.7)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--prior-weight", type=float, default=None)
    parser.add_argument("--certainty", type=float, default=PairRules().certainty)
    parser.add_argument("--rules", action="store_true", help="compare rules, and choose each left-out")
    arguments = parser.parse_args()
    if arguments.rules:
        by_rules(arguments)
        return 0
    missed = False
    print("| collection | model | queries | raw | debiased | truth | debiased - raw, p | of the truth |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.collections.split(","):
        values: dict[tuple[str, str, str], list[np.ndarray]] = {}
        for seed in range(arguments.seeds):
            collection = load(name, arguments.queries, seed)
            rules = PairRules(prior_weight=arguments.prior_weight, certainty=arguments.certainty)
            kinds, shown = pairs_of(
                collection, arguments, seed, {"debiased": rules, "raw": replace(rules, debias=False)}
            )
            lists = {"logged": logged_lists(collection, shown), "new": new_lists(collection, seed)}
            for kind in KINDS:
                pairs = Pairs.build(kinds[kind])
                for model in arguments.models.split(","):
                    fitted = latent_named(model, **PARAMETERS.get(model, {})).fit(pairs)
                    for which, own in lists.items():
                        values.setdefault((model, which, kind), []).append(judged(fitted, collection, own))
        for model in arguments.models.split(","):
            for which in ("logged", "new"):
                raw, debiased, truth = (np.concatenate(values[model, which, kind]) for kind in KINDS)
                p = paired_t(debiased, raw, "greater").p_value
                share = debiased.mean() / truth.mean()
                print(
                    f"| {name} | {model} | {len(raw):,} {which} | {raw.mean():.4f} | {debiased.mean():.4f} | "
                    f"{truth.mean():.4f} | {debiased.mean() - raw.mean():+.4f}, {p:.2g} | "
                    f"{share:.1%} ({' to '.join(f'{x:.1%}' for x in interval(debiased, truth))}) |",
                    flush=True,
                )
                missed |= which == "logged" and (p >= BAR_P or share < BAR_SHARE)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
