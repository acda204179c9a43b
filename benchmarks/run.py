"""Measure Germane beside its peers: the same tokens, one thread each, in one run, in interleaved rounds.

python benchmarks/run.py                         # everything that is installed
python benchmarks/run.py --quick                 # a smoke run: 20,000 documents, few queries
python benchmarks/run.py --only tantivy,bm25s --collections bursty --tasks short10,long10
python benchmarks/run.py --tasks growth --sizes 500000,2000000 --collections synthetic
python benchmarks/run.py --write                 # also write docs/performance.md (on ARM docs/performance-arm64.md)
python benchmarks/run.py --tasks none --write    # only write it, from what earlier runs measured

Each run adds to work/results.json, and replaces what it measures again; --fresh starts a new one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path

import cold
import corpora
from contest import SEARCHES, Contest, Engines, index_path, say
from growth import Growth
from peers import OUR_PYTHON, OURS, PEERS, WORK, Peer, works
from processes import WorkerError
from report import markdown
from results import Results

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
PAGES = {"aarch64": "performance-arm64.md", "arm64": "performance-arm64.md"}
"""The page of a processor's family; of any other docs/performance.md."""
BESIDE_WRITER = HERE / "beside_writer.py"
BESIDE_WRITER_DOCS = (50_000, 500_000)
OF_COLLECTIONS = (*SEARCHES, "build", "size", "open", "add", "threads", "overhead", "feedback")
OF_OURSELVES = ("cold", "startup", "writer")
TASKS = (*OF_COLLECTIONS, "growth", *OF_OURSELVES)
COLLECTIONS = (*corpora.MADE, *corpora.REAL)
USUAL_COLLECTIONS = (*corpora.MADE, "msmarco_medical")
SIZES = "50000,100000,200000,500000,1000000,2000000"
QUICK = {
    "docs": 20_000,
    "sizes": "5000,10000,20000",
    "queries": 100,
    "feedback_queries": 20,
    "rounds": 2,
    "build_rounds": 1,
    "cold_rounds": 1,
    "budget": 2.0,
    "results": WORK / "results-quick.json",
}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=int, default=corpora.N_DOCS, help="documents of the generated collections")
    parser.add_argument("--sizes", default=SIZES, help="documents of the collections of the task growth")
    parser.add_argument("--queries", type=int, default=1_000, help="at most so many queries of each kind")
    parser.add_argument("--feedback-queries", type=int, default=200, help="at most so many for the task feedback")
    parser.add_argument("--feedback-peers", default="tantivy,lucene", help="peers that make the two passes of feedback")
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds of searches")
    parser.add_argument("--build-rounds", type=int, default=3, help="builds by each engine")
    parser.add_argument("--cold-rounds", type=int, default=2, help="processes with an empty cache")
    parser.add_argument("--budget", type=float, default=10, help="seconds after which an engine's round is cut short")
    parser.add_argument("--only", default="", help="peers, e.g. tantivy,pisa; 'germane' alone: no peer")
    parser.add_argument("--tasks", default=",".join(TASKS), help=f"of {','.join(TASKS)}; or none")
    parser.add_argument("--collections", default=",".join(USUAL_COLLECTIONS), help=f"of {','.join(COLLECTIONS)}")
    parser.add_argument("--results", type=Path, default=WORK / "results.json", help="the file that runs add to")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier runs measured")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK['docs']:,} documents, few queries and rounds")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md, or docs/performance-arm64.md")
    if parser.parse_args().quick:
        parser.set_defaults(**QUICK)
    args = parser.parse_args()
    args.tasks = "" if args.tasks == "none" else args.tasks
    peers = ["germane", *(peer.name for peer in PEERS)]
    for option, known in (
        ("tasks", TASKS),
        ("collections", COLLECTIONS),
        ("only", peers),
        ("feedback_peers", peers),
    ):
        chosen = [part for part in getattr(args, option).split(",") if part]
        if set(chosen) - set(known):
            parser.error(f"--{option}: unknown {sorted(set(chosen) - set(known))}; known: {', '.join(known)}")
        setattr(args, option, chosen)
    args.sizes = sorted(int(size) for size in args.sizes.split(","))
    if "GERMANE_DATA" not in os.environ and set(args.collections) & set(corpora.REAL):
        say("GERMANE_DATA is not set: the real collections are left out")
        args.collections = [name for name in args.collections if name not in corpora.REAL]
    return args


def available(only: list[str]) -> tuple[list[Peer], list[str]]:
    """The engines that start, and why the others do not."""
    chosen = [*OURS, *(peer for peer in PEERS if not only or peer.name in only)]
    reasons = {peer.name: works(peer) for peer in chosen}
    return [p for p in chosen if not reasons[p.name]], [f"{name}: {why}" for name, why in reasons.items() if why]


def of_ourselves(args: argparse.Namespace, results: Results) -> None:
    """What needs no peer and one collection at most."""
    if "startup" in args.tasks:
        results.put("startup", **cold.start_up())
    if "cold" in args.tasks:
        folder = corpora.prepare(args.collections[0], args.docs)
        Engines(OURS[:1], results).build_missing(OURS[:1], folder / "docs.jsonl", folder.name)
        index = index_path(OURS[0], folder.name)
        query = " ".join(word for word, _ in corpora.read_queries(folder / "queries_short.tsv")[0])
        found = cold.cold_start(index, query, args.cold_rounds)
        say("cold start:", found)
        results.put("cold", **found)
    if "writer" in args.tasks and BESIDE_WRITER.exists():
        found = {}
        for n_docs in BESIDE_WRITER_DOCS:
            command = [str(OUR_PYTHON), str(BESIDE_WRITER), "--json", "--docs", str(n_docs)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                raise WorkerError("beside_writer.py failed")
            found |= {f"{way}; {n_docs:,} documents": told for way, told in json.loads(done.stdout).items()}
        results.put(beside_writer=found)


def measure(args: argparse.Namespace, results: Results) -> list[str]:
    """All that is asked for; returns what could not be measured."""
    engines, trouble = available(args.only)
    say("\n".join(f"unavailable: {line}" for line in trouble))
    for name in args.collections:
        if set(args.tasks) & set(OF_COLLECTIONS):
            contest = Contest(name, args, engines, results)
            contest.run(args.tasks)
            trouble += contest.failures
        if "growth" in args.tasks and name in corpora.MADE:
            growth = Growth(name, args, engines, results)
            try:
                growth.run()
            except WorkerError as error:
                trouble.append(str(error))
            trouble += growth.failures
    try:
        of_ourselves(args, results)
    except WorkerError as error:
        trouble.append(str(error))
    return trouble


def main() -> None:
    args = parse()
    WORK.mkdir(exist_ok=True)
    results = Results(args.results, args.fresh)
    if args.tasks:
        results.begin()
        results.end(measure(args, results))
    page = markdown(results.data)
    print(page)
    if args.write:
        (DOCS / PAGES.get(results.data["machine"]["architecture"], "performance.md")).write_text(page)


if __name__ == "__main__":
    main()
