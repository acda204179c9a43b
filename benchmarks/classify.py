"""How long does training take beside scikit-learn's MultinomialNB, and how much memory does it need?

    python benchmarks/classify.py [--rounds 15] [--no-dcm]     20 Newsgroups below GERMANE_DATA
    python benchmarks/classify.py --memory [--documents N]      synthetic counts, 1,000,000 × 200,000

Times are CPU seconds of one process, medians of rounds in which the contestants take turns; kernels are compiled and
everything is run once before. Memory is the peak resident size of a process that has the input and trains, less what
it had before the input, divided by the size of the input. Exit status 1 if a bar is missed.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

FIT_BAR, PREDICT_BAR, DCM_BAR, MEMORY_BAR = 1.5, 1.2, 1 / 50, 3.0
MEMORY_MODELS = ("SD", "SD-CE", "multinomial")


def models() -> dict[str, Any]:
    """The classifiers with the parameters of SD table 4.2."""
    from germane.classify import DCMClassifier, MultinomialClassifier, SmoothedDirichletClassifier

    return {
        "SD": SmoothedDirichletClassifier(lam=1e-4, beta=0.1),
        "SD-CE": SmoothedDirichletClassifier(lam=1e-4, beta=1e-3, rule="ce"),
        "multinomial": MultinomialClassifier(delta=1e-3),
        "DCM": DCMClassifier(S=900, delta=1e-4),
        "DCM, S too": DCMClassifier(S=None, delta=1e-4),
    }


def cpu_seconds(work: Callable[[], Any]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start


def measure_speed(rounds: int, with_dcm: bool) -> list[tuple[str, float, float]]:
    """(what, measured, bar) of every ratio; prints the times."""
    from sklearn.model_selection import train_test_split
    from sklearn.naive_bayes import MultinomialNB

    from germane.experiments.labelled_sets import load_labelled

    data = load_labelled("20newsgroups")
    y = np.asarray(data.labels)[data.y]
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    X, y, T = data.X[train], y[train], data.X[test]
    contestants: dict[str, Any] = {"MultinomialNB": MultinomialNB(alpha=1e-3), **models()}
    dcms = {name: contestants.pop(name) for name in ("DCM", "DCM, S too")}
    for model in contestants.values():
        model.fit(X, y).predict(T)
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for name, model in contestants.items():
            times.setdefault((name, "fit"), []).append(cpu_seconds(lambda model=model: model.fit(X, y)))
            times.setdefault((name, "predict"), []).append(cpu_seconds(lambda model=model: model.predict(T)))
    if with_dcm:
        for name, model in dcms.items():
            times[name, "fit"] = [cpu_seconds(lambda model=model: model.fit(X, y))]
    typical = {key: median(values) for key, values in times.items()}
    for (name, what), seconds in typical.items():
        ratio = seconds / typical["MultinomialNB", what]
        print(f"{name:14} {what:8} {1000 * seconds:10.1f} ms  {ratio:8.2f} × MultinomialNB")
    ratios = []
    for name in ("SD", "SD-CE"):
        for what, bar in (("fit", FIT_BAR), ("predict", PREDICT_BAR)):
            ratios.append((f"{name} {what} / MultinomialNB", typical[name, what] / typical["MultinomialNB", what], bar))
        if with_dcm:
            for dcm in dcms:
                ratios.append((f"{name} fit / {dcm} fit", typical[name, "fit"] / typical[dcm, "fit"], DCM_BAR))
    return ratios


def synthetic(n_docs: int, n_words: int, words_a_document: int = 100) -> tuple[Any, Any]:
    """Counts with `words_a_document` different words in each row, made without a temporary of their size."""
    random = np.random.default_rng(0)
    nnz = n_docs * words_a_document
    indices, data = np.empty(nnz, np.int32), np.empty(nnz)
    step = n_words // words_a_document
    starts = np.arange(words_a_document, dtype=np.int32) * step
    for first in range(0, n_docs, 10_000):
        rows = min(10_000, n_docs - first)
        span = slice(first * words_a_document, (first + rows) * words_a_document)
        indices[span] = (starts + random.integers(0, step, (rows, words_a_document), dtype=np.int32)).ravel()
        data[span] = random.integers(1, 4, rows * words_a_document)
    indptr = np.arange(n_docs + 1, dtype=np.int32) * words_a_document
    return sparse.csr_matrix((data, indices, indptr), shape=(n_docs, n_words), copy=False), random.integers(
        0, 20, n_docs
    )


def train_once(name: str, n_docs: int, n_words: int) -> None:
    """In a process of its own: print the bytes of the input and the growth of the resident size up to its peak."""
    model = models()[name]
    small, labels = synthetic(100, 1000)
    model.fit(small, labels)  # compiled kernels and libraries are not the input's memory
    before = resident()
    X, y = synthetic(n_docs, n_words)
    model.fit(X, y)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + y.nbytes
    print(json.dumps({"input": size, "growth": peak() - before}))


def measure_memory(n_docs: int, n_words: int) -> list[tuple[str, float, float]]:
    ratios = []
    for name in MEMORY_MODELS:
        command = [sys.executable, __file__, "--train-once", name, "--documents", str(n_docs), "--words", str(n_words)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"{name:14} input {found['input'] / 1e9:6.2f} GB, at most {found['growth'] / 1e9:6.2f} GB with training")
        ratios.append((f"{name} memory / input", found["growth"] / found["input"], MEMORY_BAR))
    return ratios


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    """VmHWM, and not getrusage: that starts at the size of the process this one was forked from."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-dcm", action="store_true", help="leave out the DCM, which takes long")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--train-once", choices=MEMORY_MODELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train_once:
        train_once(options.train_once, options.documents, options.words)
        return 0
    if options.memory:
        ratios = measure_memory(options.documents, options.words)
    else:
        ratios = measure_speed(options.rounds, not options.no_dcm)
    for what, ratio, bar in ratios:
        print(f"{what:34} {ratio:8.3f}  bar {bar:.3f}  {'met' if ratio <= bar else 'MISSED'}")
    return int(any(ratio > bar for _, ratio, bar in ratios))


if __name__ == "__main__":
    sys.exit(main())
