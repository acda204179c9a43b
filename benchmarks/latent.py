"""How fast do topic models learn, beside tomotopy's LDA, and in how much memory?

    GERMANE_DATA=... python benchmarks/latent.py [--rounds 5] [--threads 1 2] [--models bltm plsa bltm-pr]
    python benchmarks/latent.py --memory [--pairs 10000000] [--iterations 2]

Speed: `fit` of 20 iterations of EM (with the random start and everything else that fitting does once) beside 20 sweeps
of collapsed Gibbs sampling over the same tokens, 100 topics each, in one process, in rounds that take turns. Tokens
times 20 per second of CPU time, all threads together. An EM iteration and a Gibbs sweep are not the same work: both
visit every token once, EM with all its topics, and both are usually given some tens to hundreds of them. tomotopy
(`pip install tomotopy`, a peer that the package never imports) has its defaults, and a second row without the
optimisation of α that it does every ten sweeps (`optim_interval=0`). For BLTM tokens are those of queries and titles,
which LDA reads as one document; PLSA reads titles alone, and so does the LDA beside it.

Memory: simulated pairs of 11 words on average over 200,000 words a side, made in the same process, then BLTM.fit; the
peak resident memory of the process. Exit status 1 if a bar is missed: BLTM's tokens 10 times tomotopy's in the median
round on every collection, 12 GiB.
"""

import argparse
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

BAR, BAR_GIB = 10.0, 12.0
TOPICS, ITERATIONS = 100, 20
COLLECTIONS = ("homedepot", "cooking_tags_titles", "nfcorpus_titles")


def documents(pairs, sides: Sequence) -> list[list[str]]:
    """The tokens of each pair, those of its sides joined."""
    words = pairs.vocabulary.words
    found: list[list[str]] = [[] for _ in range(len(pairs))]
    for side in sides:
        for row, word, count in zip(side.rows.tolist(), side.words.tolist(), side.counts.tolist(), strict=True):
            found[row] += [words[word]] * int(count)
    return found


def sweeps(texts: list[list[str]], threads: int, optimised: bool) -> Callable[[], float]:
    """A measurement: CPU seconds of the sweeps of a new model."""
    import tomotopy

    def run() -> float:
        model = tomotopy.LDAModel(k=TOPICS, seed=1)
        if not optimised:
            model.optim_interval = 0
        for text in texts:
            model.add_doc(text)
        model.train(0, workers=threads)
        start = time.process_time()
        model.train(ITERATIONS, workers=threads)
        return time.process_time() - start

    return run


def iterations(name: str, pairs, threads: int) -> Callable[[], float]:
    """A measurement: CPU seconds of a fit."""
    import numba

    from germane.latent import latent_named

    def run() -> float:
        numba.set_num_threads(threads)
        start = time.process_time()
        latent_named(name, n_topics=TOPICS, n_iterations=ITERATIONS).fit(pairs)
        return time.process_time() - start

    latent_named(name, n_topics=TOPICS, n_iterations=1).fit(pairs)  # compiled before
    return run


def speed(given: argparse.Namespace) -> int:
    import tomotopy

    from germane.experiments.click_lists import ListRules, load_clicks
    from germane.latent import Pairs

    print(f"{platform.machine()}, {os.cpu_count()} CPUs, tomotopy {tomotopy.__version__} ({tomotopy.isa})")
    missed = 0
    for name in given.collections:
        pairs = Pairs.build(load_clicks(name, ListRules(added=0, most=1)).pairs)
        both = float(pairs.queries.counts.sum() + pairs.titles.counts.sum())
        print(f"\n{name}: {len(pairs):,} pairs, {both:,.0f} tokens, {len(pairs.vocabulary):,} words")
        for threads in given.threads:
            for titles_only in sorted({model == "plsa" for model in given.models}):
                models = [model for model in given.models if (model == "plsa") == titles_only]
                missed += contest(given, pairs, models, threads, titles_only)
    return missed


def contest(given: argparse.Namespace, pairs, models: Sequence[str], threads: int, titles_only: bool) -> int:
    """One collection, one number of threads: rounds of all measurements, and a table; how many bars are missed."""
    sides = [pairs.titles] if titles_only else [pairs.queries, pairs.titles]
    tokens = sum(float(side.counts.sum()) for side in sides)
    texts = documents(pairs, sides)
    entrants = {"tomotopy": sweeps(texts, threads, True), "tomotopy, fixed α": sweeps(texts, threads, False)}
    entrants |= {model: iterations(model, pairs, threads) for model in models}
    rates: dict[str, list[float]] = {name: [] for name in entrants}
    for _ in range(given.rounds):
        for name, run in entrants.items():
            rates[name].append(tokens * ITERATIONS / run() / 1e6)
    print(f"{threads} thread(s), {'titles' if titles_only else 'queries and titles'}: million tokens per CPU second")
    missed = 0
    for name, own in rates.items():
        told = [f"{statistics.median(own):7.2f} ({min(own):.2f}-{max(own):.2f})"]
        for peer in ("tomotopy", "tomotopy, fixed α"):
            ratios = [ours / theirs for ours, theirs in zip(own, rates[peer], strict=True)]
            told.append(f"{statistics.median(ratios):5.1f} x ({min(ratios):.1f}-{max(ratios):.1f})")
            missed += name == "bltm" and peer == "tomotopy" and statistics.median(ratios) < BAR
        print(f"  {name:20}{told[0]:24}{told[1]:22}{told[2]}", flush=True)
    return missed


def simulated(n_pairs: int, n_words: int, n_topics: int):
    """Pairs whose words come by Zipf's law from one of many subjects, a vocabulary of its own for each side."""
    from germane.latent.pairs import Pairs, Texts, Vocabulary
    from germane.text import Analyzer

    rng = np.random.default_rng(0)
    subject = rng.integers(0, n_topics, n_pairs, dtype=np.int32)

    def side(mean: float, offset: int) -> Texts:
        sizes = 1 + rng.poisson(mean - 1, n_pairs)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        words = np.empty(starts[-1], np.int32)
        for first in range(0, n_pairs, 1 << 18):  # draws are doubles: some at a time
            last = min(first + (1 << 18), n_pairs)
            rows = np.repeat(np.arange(first, last), sizes[first:last])
            rank = np.exp(rng.random(len(rows)) * np.log(n_words)).astype(np.int64) - 1  # about P ∝ 1/rank
            local = rng.random(len(rows)) < 0.7
            words[starts[first] : starts[last]] = np.where(local, (rank * n_topics + subject[rows]) % n_words, rank)
        return Texts(starts, words + np.int32(offset), np.ones(len(words), np.float32))

    queries, titles = side(3.0, 0), side(8.0, n_words)
    vocabulary = Vocabulary(tuple(f"w{i}" for i in range(2 * n_words)), Analyzer("none", "none"))
    return Pairs(vocabulary, queries, titles, np.ones(n_pairs, np.float32), np.arange(n_pairs, dtype=np.int32))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def memory(given: argparse.Namespace) -> int:
    from germane.latent import BLTM

    start = time.process_time()
    pairs = simulated(given.pairs, given.words, 1000)
    tokens = float(pairs.queries.counts.sum(dtype=np.float64) + pairs.titles.counts.sum(dtype=np.float64))
    print(f"{len(pairs):,} pairs, {tokens:,.0f} tokens, {given.words:,} words a side: made in "
          f"{time.process_time() - start:.0f} CPU s, peak {peak():.2f} GiB", flush=True)  # fmt: skip
    start, wall = time.process_time(), time.perf_counter()
    BLTM(n_topics=TOPICS, n_iterations=given.iterations).fit(pairs)
    used, wall = time.process_time() - start, time.perf_counter() - wall
    print(f"BLTM, {TOPICS} topics, {given.iterations} iterations: {used:.0f} CPU s, {wall:.0f} s, "
          f"{tokens * given.iterations / used / 1e6:.1f} million tokens per CPU s, peak {peak():.2f} GiB")  # fmt: skip
    return int(peak() > BAR_GIB)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--models", nargs="+", default=["bltm", "plsa", "bltm-pr"])
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS))
    parser.add_argument("--memory", action="store_true", help="peak memory instead of speed")
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--iterations", type=int, default=2)
    given = parser.parse_args()
    sys.exit(int((memory if given.memory else speed)(given) > 0))


if __name__ == "__main__":
    main()
