"""A feedback search against the plain short query, and against the same two passes through other engines.

python benchmarks/feedback.py                        # the synthetic collection of run.py, 500,000 documents
python benchmarks/feedback.py --docs 20000 --queries 50

Ours is the whole call: first ranking(s), learning from 20 documents, second ranking with 100 words, ids. The peers do
less: the short query for 20 hits, then, for 10 hits, the 100 weighted words that our RM3 found, handed to them ready
made; they neither read documents nor learn. CPU time, one thread, interleaved rounds, medians over the queries for ours
and means for the peers (their protocol times a batch); the ratio to a peer is of means.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import corpora
from peers import OURSELVES, PEERS, Peer, works
from run import Run

from germane import Engine
from germane.feedback import RM3, SD, Consensus, FeedbackMethod
from germane.lm import Dirichlet
from germane.rank import BM25, QueryLikelihood

N_DOCS, N_TERMS, K = 20, 100, 10
METHODS: dict[str, FeedbackMethod] = {
    "consensus": Consensus(n_docs=N_DOCS, n_terms=N_TERMS),
    "rm3": RM3(n_docs=N_DOCS, n_terms=N_TERMS),
    "sd": SD(n_docs=N_DOCS, n_terms=N_TERMS),
}
PLAIN = {"plain, Dirichlet": QueryLikelihood(Dirichlet(1000.0)), "plain, BM25": BM25()}


def timed(call: Callable[[str], Any], queries: list[str]) -> list[float]:
    """CPU milliseconds of each call."""
    found = []
    for query in queries:
        start = time.process_time()
        call(query)
        found.append(1e3 * (time.process_time() - start))
    return found


def ours(engine: Engine, queries: list[str], rounds: int) -> dict[str, list[float]]:
    """For each kind of search the times of all queries, each the median of its rounds."""
    calls: dict[str, Callable[[str], Any]] = {
        name: lambda q, model=model: engine.search(q, K, model=model, syntax=False).ids for name, model in PLAIN.items()
    }
    calls |= {
        name: lambda q, method=method: engine.search(q, K, feedback=method, syntax=False).ids
        for name, method in METHODS.items()
    }
    times: dict[str, list[list[float]]] = {name: [] for name in calls}
    for turn in range(-1, rounds):  # turn -1 warms up
        for name, call in calls.items():
            found = timed(call, queries)
            if turn >= 0:
                times[name].append(found)
    return {name: [statistics.median(each) for each in zip(*found, strict=True)] for name, found in times.items()}


def peer_ms(run: Run, peer: Peer, path: str, short: list[Any], long: list[Any], rounds: int) -> float:
    """Mean CPU milliseconds of the two passes."""
    process = run.start(peer)
    process.ask("open", path=path)
    totals = []
    for turn in range(-peer.warm_up, rounds):
        passes = [process.ask("search", queries=q, k=k, budget_s=60) for q, k in ((short, N_DOCS), (long, K))]
        if turn >= 0:
            totals.append(sum(1e3 * reply["cpu_s"] / reply["queries"] for reply in passes))
    process.close()
    return statistics.median(totals)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=500_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="tantivy,lucene", help="peers")
    args = parser.parse_args()
    args.tasks = ()
    folder = corpora.prepare("synthetic", args.docs)
    chosen = [peer for peer in PEERS if peer.name in args.only.split(",") and not works(peer)]
    run = Run(args, [OURSELVES, *chosen])
    for peer in run.available:
        run.build(peer, folder, {}, {})
    short = corpora.read_queries(folder / "queries_short.tsv")[: args.queries]
    texts = [" ".join(word for word, _ in query) for query in short]
    engine = Engine.open(run.index_path(OURSELVES, folder))
    times = ours(engine, texts, args.rounds)
    plain = statistics.median(times["plain, Dirichlet"])
    print(f"{len(engine):,} documents, {len(texts)} queries, {N_DOCS} documents, {N_TERMS} words; CPU ms a query\n")
    for name, found in times.items():
        median, mean = statistics.median(found), statistics.mean(found)
        print(f"{name:18} median {median:7.3f}  mean {mean:7.3f}  {median / plain:5.1f} x the plain Dirichlet query")
    expanded = []
    for text in texts:
        report = engine.search(text, K, feedback=METHODS["rm3"], syntax=False).feedback
        expanded.append(list(report.weights.items()) if report is not None else [])
    for peer in chosen:
        total = peer_ms(run, peer, str(run.index_path(peer, folder)), short, expanded, args.rounds)
        faster = ", ".join(f"{name} {total / statistics.mean(times[name]):.1f}" for name in METHODS)
        print(f"{peer.name:18} two passes, mean {total:7.3f}; we are faster by a factor of: {faster}")
    for name in args.only.split(","):
        if name not in {peer.name for peer in chosen}:
            print(f"{name}: unavailable; see benchmarks/peers.py", file=sys.stderr)


if __name__ == "__main__":
    main()
