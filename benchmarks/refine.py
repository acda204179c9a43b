"""How long does one refinement take, after a few marks on 200 results, and on 5,000?

    python benchmarks/refine.py [--rounds 7] [--lists 16]     reviews below GERMANE_DATA, as in refine.toml

CPU milliseconds of one process: the analysis (word counts and weights) is cached, every method has refined each list
once before, and medians are over lists and rounds. The long list is one review and part of another, read as they come,
with 5 results marked as relevant and 30 as not. Exit status 1 if a bar is missed.
"""

import argparse
import sys
import time
from statistics import median, quantiles
from typing import Any

import numpy as np

from germane.experiments import published_experiments, read_experiment
from germane.experiments.marked_lists import (
    ListSource,
    MarkedList,
    marked_lists,
    source_documents,
    word_counts,
)
from germane.refine.method import RefineMethod
from germane.refine.registry import METHOD_NAMES, method_named
from germane.refine.weighting import ResultList
from germane.types import text_of

EXPERIMENT = published_experiments() / "refine.toml"
BARS = {"nb": 10.0, "em": 10.0, "saem": 10.0, "mmem-kl": 25.0, "mmem-aib": 25.0, "tsvm": 60.0}
"""Milliseconds for 200 results."""
LONG, LONG_BAR = 5000, 2000.0
LONG_RELEVANT, LONG_REJECTED = 5, 30


def cpu_milliseconds(method: RefineMethod, results: ResultList, labels: Any, rounds: int) -> list[float]:
    """The times of several refinements after a first one."""
    method.refine(results, labels)
    times = []
    for _ in range(rounds):
        start = time.process_time()
        method.refine(results, labels)
        times.append(1000.0 * (time.process_time() - start))
    return times


def short_lists(n: int) -> list[MarkedList]:
    """Lists of 200 results, evenly chosen from the experiment's."""
    experiment = read_experiment(EXPERIMENT)
    full = [each for each in marked_lists(experiment.collections) if len(each.labels) == experiment.rules.top]
    return full[:: max(1, len(full) // n)][:n]


def long_list() -> tuple[ResultList, Any]:
    """5,000 records of two reviews, with marks."""
    texts: list[str] = []
    relevant: list[bool] = []
    for name in ("reviews_wallace2010/micro_nutrients", "reviews_cohen2006/Opiods"):
        source = ListSource(name, f"{name}.jsonl.gz", queries=["-"], relevant={"abstract_screened_in": 1})
        for document in source_documents(source):
            texts.append(text_of(document.fields, source.text))
            relevant.append(str(document.fields["abstract_screened_in"]) == "1")
    truth = np.array(relevant[:LONG])
    labels = np.full(LONG, -1, np.int8)
    labels[np.flatnonzero(truth)[:LONG_RELEVANT]] = 1
    labels[np.flatnonzero(~truth)[:LONG_REJECTED]] = 0
    return ResultList(word_counts(texts[:LONG])), labels


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lists", type=int, default=16)
    options = parser.parse_args()
    lists = short_lists(options.lists)
    words = median(each.results.n_words for each in lists)
    print(f"{len(lists)} lists of {len(lists[0].labels)} results, {words:g} different words each")
    missed = 0
    for name in METHOD_NAMES:
        method = method_named(name)
        times = [cpu_milliseconds(method, each.results, each.labels, options.rounds) for each in lists]
        missed += report(name, [each for own in times for each in own], BARS.get(name))
    results, labels = long_list()
    print(f"{len(results):,} results, {results.n_words:,} different words")
    for name in METHOD_NAMES:
        times_long = cpu_milliseconds(method_named(name), results, labels, max(3, options.rounds // 2))
        missed += report(name, times_long, LONG_BAR)
    return int(missed > 0)


def report(name: str, times: list[float], bar: float | None) -> int:
    """Print one line; 1 if the bar is missed."""
    typical = median(times)
    verdict = "" if bar is None else f"  bar {bar:6.0f}  {'reached' if typical <= bar else 'MISSED'}"
    print(
        f"{name:10} median {typical:9.2f} ms   9 of 10 within {quantiles(times, n=10)[-1]:9.2f} ms{verdict}", flush=True
    )
    return int(bar is not None and typical > bar)


if __name__ == "__main__":
    sys.exit(main())
