"""Exact search of vectors beside FAISS, in one run on the same cores; and what smaller numbers lose.

    pip install faiss-cpu threadpoolctl
    GERMANE_DATA=... python benchmarks/vectors.py [--vectors 500000] [--dimension 128] [--rounds 15] [--threads 1 2]

An index of that many documents has the same vectors in three fields: float32, float16, int8. The best 10 of one query,
and of 64 at once, are asked for in turn of FAISS's `IndexFlatIP` (float32) and of `Engine.vector_search` and
`Engine.vector_batch`, whole answers with ids and mapped files; a round is one query of each. Ratios are FAISS's time by
ours, of the same round; the median of the rounds, and in brackets the least and the largest. CPU time decides: where
other programs share the cores, wall-clock time measures them too; it stands beside.

Recall@10 is the share of the documents found whose float32 score reaches that of the tenth best: on normal vectors, on
clustered ones (1,000 centres) and, with GERMANE_DATA, on titles of `homedepot` projected by LSA, asked by its queries.

`--approximate` measures that instead: the graphs of `Engine.build_graphs` (pip install 'germane[ann]') on clustered
vectors, CPU time and recall@10 beside the exact search of float32 by one thread.

Exit status 1 unless with one thread float32 is at least level with FAISS, and int8 at least twice as fast with a recall
of 0.98 on each data set.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

TYPES = ("float32", "float16", "int8")
K = 10
BATCH = 64
CENTRES = 1000


def normal(n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    return unit(rng.standard_normal((n, dimension), dtype=np.float32))


def clustered(n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    centres = rng.standard_normal((CENTRES, dimension), dtype=np.float32)
    places = rng.integers(CENTRES, size=n)
    return unit(centres[places] + 0.5 * rng.standard_normal((n, dimension), dtype=np.float32))


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def projected(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Titles and queries of homedepot, by LSA."""
    from germane.experiments.click_lists import ListRules, load_clicks
    from germane.latent import LSA, Pairs

    data = load_clicks("homedepot", ListRules())
    model = LSA(dimension).fit(Pairs.build(data.pairs))
    titles, queries = model.encode(data.titles), model.encode([each.query for each in data.lists])
    return unit(titles[titles.any(axis=1)]), unit(queries[queries.any(axis=1)][:500])


def engine_of(folder: Path, vectors: np.ndarray) -> "Engine":  # noqa: F821
    """An index of documents that say nothing, with the vectors in one field of each type."""
    from germane import Engine

    engine = Engine.create(folder)
    ids = [f"{i:07}" for i in range(len(vectors))]
    engine.add({"id": doc_id, "title": "a"} for doc_id in ids)
    for dtype in TYPES:
        engine.set_vectors(dtype, ids, vectors, dtype=dtype)
    return engine


def recalls(engine: "Engine", vectors: np.ndarray, queries: np.ndarray) -> dict[str, float]:  # noqa: F821
    """recall@10 of each type."""
    found: dict[str, list[float]] = {dtype: [] for dtype in TYPES}
    for begin in range(0, len(queries), BATCH):
        part = queries[begin : begin + BATCH]
        scores = part @ vectors.T
        tenth = np.partition(scores, -K, axis=1)[:, -K]
        for dtype in TYPES:
            for own, least, result in zip(scores, tenth, engine.vector_batch(part, K, field=dtype), strict=True):
                rows = np.array(result.ids, np.int64)
                found[dtype].append(float((own[rows] >= least - 1e-6).mean()))
    return {dtype: statistics.fmean(values) for dtype, values in found.items()}


Rounds = dict[str, list[tuple[float, float]]]


def timed(tasks: dict[str, Callable[[int], object]], rounds: int) -> Rounds:
    """(CPU, wall) seconds of each task, round by round."""
    times: Rounds = {name: [] for name in tasks}
    for turn in range(rounds + 1):
        for name, task in tasks.items():
            cpu, wall = time.process_time(), time.perf_counter()
            task(turn)
            if turn:  # the first is to warm up
                times[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return times


def ratios(times: Rounds, name: str, which: int) -> list[float]:
    return [a[which] / b[which] for a, b in zip(times["FAISS"], times[name], strict=True)]


def show(title: str, times: Rounds, per: int) -> dict[str, float]:
    """A table; the median ratio of CPU times of each."""
    print(f"\n{title}\n{'':10}{'CPU ms':>10}{'wall ms':>10}{'FAISS/ours: CPU':>28}{'wall':>22}")
    medians = {}
    for name, rounds in times.items():
        cpu, wall = (statistics.median(each[i] for each in rounds) * 1e3 / per for i in (0, 1))
        told = [ratios(times, name, i) for i in (0, 1)]
        medians[name] = statistics.median(told[0])
        shown = [f"{statistics.median(each):.2f} ({min(each):.2f}..{max(each):.2f})" for each in told]
        print(f"{name:10}{cpu:10.2f}{wall:10.2f}{shown[0]:>28}{shown[1]:>22}", flush=True)
    return medians


def contest(engine: "Engine", vectors: np.ndarray, queries: np.ndarray, threads: int, rounds: int) -> dict[str, float]:  # noqa: F821
    """Time one query and many; the ratios of one query."""
    import faiss
    from threadpoolctl import threadpool_limits

    faiss.omp_set_num_threads(threads)
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)

    def one(dtype: str) -> Callable[[int], object]:
        return lambda turn: engine.vector_search(queries[turn % BATCH], K, field=dtype, threads=threads).ids

    def many(dtype: str) -> Callable[[int], object]:
        return lambda _: [found.ids for found in engine.vector_batch(queries[:BATCH], K, field=dtype, threads=threads)]

    with threadpool_limits(threads):
        tasks: dict[str, Callable[[int], object]] = {"FAISS": lambda turn: flat.search(queries[turn % BATCH, None], K)}
        single = timed(tasks | {dtype: one(dtype) for dtype in TYPES}, rounds)
        tasks = {"FAISS": lambda _: flat.search(queries[:BATCH], K)}
        batch = timed(tasks | {dtype: many(dtype) for dtype in TYPES}, max(rounds // 3, 3))
    named = f"{len(vectors):,} vectors of {vectors.shape[1]}, best {K}, {threads} thread{'s' * (threads > 1)}"
    found = show(f"one query: {named}", single, 1)
    show(f"{BATCH} queries at once, each: {named}", batch, BATCH)
    return found


def approximately(vectors: np.ndarray, queries: np.ndarray) -> None:
    """Time and recall of approximate search beside exact search."""
    from germane import Engine

    ids = [f"{i:07}" for i in range(len(vectors))]
    with tempfile.TemporaryDirectory() as folder, Engine.create(Path(folder) / "index") as engine:
        engine.add({"id": doc_id, "title": "a"} for doc_id in ids)
        engine.set_vectors("v", ids, vectors)
        begun = time.process_time()
        held = engine.build_graphs("v")
        print(f"{held:,} of {len(vectors):,} vectors in graphs: {time.process_time() - begun:.0f} s CPU", flush=True)
        found, times = {}, {}
        for approximate in (False, True):
            tasks = {"": lambda turn, near=approximate: engine.vector_search(
                queries[turn % len(queries)], K, field="v", threads=1, approximate=near).ids}  # fmt: skip
            times[approximate] = statistics.median(cpu for cpu, _ in timed(tasks, len(queries))[""]) * 1e3
            found[approximate] = [
                engine.vector_search(query, K, field="v", threads=1, approximate=approximate).ids for query in queries
            ]
    shares = [len({*a} & {*b}) / K for a, b in zip(found[False], found[True], strict=True)]
    print(f"one query, best {K}: exact {times[False]:.2f} ms, approximate {times[True]:.2f} ms CPU")
    print(f"{times[False] / times[True]:.1f} x; recall@{K} {statistics.fmean(shares):.4f} (least {min(shares):.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=int, default=500_000)
    parser.add_argument("--dimension", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--approximate", action="store_true")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    if given.approximate:
        drawn = clustered(given.vectors + 500, given.dimension, rng)  # queries are of the same clusters
        approximately(drawn[:-500], drawn[-500:])
        return
    sets: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
        "normal": lambda: (normal(given.vectors, given.dimension, rng), normal(500, given.dimension, rng)),
        "clustered": lambda: (clustered(given.vectors, given.dimension, rng), clustered(500, given.dimension, rng)),
    }
    if os.environ.get("GERMANE_DATA"):
        sets["homedepot"] = lambda: projected(given.dimension)
    good, found = True, {}
    for name, make in sets.items():
        vectors, queries = make()
        with tempfile.TemporaryDirectory() as folder, engine_of(Path(folder) / "index", vectors) as engine:
            if name == "normal":
                contests = {n: contest(engine, vectors, queries, n, given.rounds) for n in given.threads}
                good &= contests[min(contests)]["float32"] >= 1 and contests[min(contests)]["int8"] >= 2
            found[name] = recalls(engine, vectors, queries)
        good &= found[name]["int8"] >= 0.98
    print(f"\nrecall@{K}")
    for name, values in found.items():
        print(f"{name:10}" + "  ".join(f"{dtype} {value:.4f}" for dtype, value in values.items()))
    sys.exit(int(not good))


if __name__ == "__main__":
    main()
