"""What a query costs by each ranking model, beside BM25's: lists kept decoded, and unpacked for each query anew.

    python benchmarks/models.py --collections synthetic,bursty --queries 60

One process, CPU time of `Engine.search` with its ids, the median of interleaved rounds; the indexes of `run.py`, which
are built where they are missing. Models with evidence of their own (fields, pairs, chains, integrals) are left out:
they score every document that their words are in.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping, Sequence

import corpora
from contest import SEARCHES, Engines, index_path
from peers import OURS, WORK
from results import Results

from germane import Engine
from germane.rank import MODEL_NAMES, keep_decoded, model_named
from germane.rank.models.evidence import EvidenceModel

TASKS = ("short10", "short1000", "long10", "long1000")
YARDSTICK = "bm25"
NAMES = [name for name in MODEL_NAMES if not isinstance(model_named(name), EvidenceModel)]


def seconds(engine: Engine, queries: Sequence[str | dict[str, float]], k: int, model: str) -> float:
    start = time.process_time()
    for query in queries:
        _ = engine.search(query, k=k, model=model).ids
    return time.process_time() - start


def measured(engine: Engine, queries: Sequence[str | dict[str, float]], k: int, rounds: int) -> Mapping[str, float]:
    """Milliseconds a query by model; the first round warms up."""
    told: dict[str, list[float]] = {name: [] for name in NAMES}
    for turn in range(rounds + 1):
        for name in NAMES:
            taken = seconds(engine, queries, k, name)
            if turn:
                told[name].append(1e3 * taken / len(queries))
    return {name: statistics.median(each) for name, each in told.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", default="synthetic,bursty,msmarco_medical")
    parser.add_argument("--docs", type=int, default=corpora.N_DOCS)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    for name in args.collections.split(","):
        folder = corpora.prepare(name, args.docs)
        engines = Engines(OURS[:1], Results(WORK / "results-models.json", fresh=False))
        engines.build_missing(OURS[:1], folder / "docs.jsonl", folder.name)
        with Engine.open(index_path(OURS[0], folder.name)) as engine:
            for kept, megabytes in (("kept", 1536), ("unpacked anew", 0)):
                keep_decoded(megabytes)
                for task in TASKS:
                    kind, k, _ = SEARCHES[task]
                    read = corpora.read_queries(folder / f"queries_{kind}.tsv")[: args.queries]
                    asked = [dict(q) if kind == "long" else " ".join(word for word, _ in q) for q in read]
                    found = measured(engine, asked, k, args.rounds)
                    told = ", ".join(f"{model} {ms:.3f} ({ms / found[YARDSTICK]:.1f}x)" for model, ms in found.items())
                    print(f"{name}, {kept}, {task}, ms a query: {told}", flush=True)


if __name__ == "__main__":
    main()
