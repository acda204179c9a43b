"""Documents a second against many topics: python benchmarks/track.py

Real text from several shared collections (GERMANE_DATA), cut into documents of 200 words, in one process. The rate
counts everything from the text to the decision: analysis, scores, normalisation, thresholds. Topics start from one
document each and have learnt what they will (`--learn N`: N documents each while it is measured). Beside it stands a
plain loop: the same analysis, then for every topic a NumPy dot product of its weights with the document's values, and
nothing decided. Rounds alternate, CPU time; the median and the spread. Exit status 1 if a bar is missed.

`--kept` goes the whole way of `germane track run` instead: JSON Lines from a file into a new workspace (SQLite, in
TMPDIR), each batch on disk before its hits are told. CPU time and time by the clock, which waits for the disk too.
"""

import argparse
import gzip
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from germane.stream import Watch
from germane.stream.files import Files
from germane.stream.intake import Intake
from germane.stream.running import run
from germane.text import Analyzer
from germane.track import (
    Background,
    BagMaker,
    Costs,
    Follower,
    Following,
    Reference,
    TopicSet,
    WordNumbers,
    method_named,
)
from germane.workspace import Workspace

COLLECTIONS = ("20newsgroups", "medquad_liveqa", "msmarco_medical")
WORDS = 200
N_BACKGROUND, N_REFERENCE = 3_000, 500
BARS = {100: 5_000.0, 10_000: 500.0}
RATIO = 5.0


def documents(data: Path, collection: str, n: int) -> list[str]:
    """The first `n` documents of 200 words, made of the collection's texts one after another, shuffled."""

    def pieces() -> Iterator[str]:
        words: list[str] = []
        with gzip.open(data / collection / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
            for record in map(json.loads, file):
                words += f"{record['title']} {record['text']}".split()
                while len(words) >= WORDS:
                    yield " ".join(words[:WORDS])
                    words = words[WORDS:]

    found = list(islice(pieces(), n))
    return [found[i] for i in np.random.default_rng(0).permutation(len(found))]


class Measured(NamedTuple):
    """One round through a workspace: documents a CPU-second, documents a second, and hits."""

    cpu: float
    clock: float
    hits: int


class Kept:
    """Topics and documents of one collection in a workspace, fed from files."""

    def __init__(self, texts: Sequence[str], n_topics: int, method: str, learn: int, p_target: float, at: Path) -> None:
        self.watch = Watch.begin(Workspace.open(at / "bench.workspace"), _records(texts[:N_BACKGROUND], "b"))
        seeds = texts[N_BACKGROUND : N_BACKGROUND + n_topics]
        costs = Costs(p_target=p_target)
        topics = {f"topic {i}": [seed] for i, seed in enumerate(seeds)}
        self.watch.follow_all(topics, method=method, unjudged=learn, costs=costs)
        self.texts, self.folder, self.n_rounds = texts[N_BACKGROUND + n_topics :], at, 0

    def measured(self, n: int) -> Measured:
        """The next n documents."""
        self.n_rounds += 1
        some, self.texts = self.texts[:n], self.texts[n:]
        file = self.folder / f"{self.n_rounds}.jsonl"
        file.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in _records(some, str(self.n_rounds))))
        hits, clock, cpu = 0, time.perf_counter(), time.process_time()
        for done in run(self.watch, [Files(file, self.watch.store)], Intake()):
            hits += len(done.hits)
            self.watch.tell(done.hits)
        return Measured(n / (time.process_time() - cpu), n / (time.perf_counter() - clock), hits)


def _records(texts: Sequence[str], prefix: str) -> list[dict[str, str]]:
    return [{"id": f"{prefix}-{i}", "date": "2026-01-31T08:00:00Z", "text": text} for i, text in enumerate(texts)]


class Stream:
    """Topics and documents of one collection."""

    def __init__(self, texts: Sequence[str], n_topics: int, method: str, learn: int) -> None:
        self.maker = BagMaker(Analyzer(), WordNumbers())
        known = self.maker.bags(texts[:N_BACKGROUND])
        self.background = Background.of(known)
        reference = Reference(known[:N_REFERENCE], self.background)
        following = Following(method_named(method), unjudged=learn)
        seeds = self.maker.bags(texts[N_BACKGROUND : N_BACKGROUND + n_topics])
        self.topics = TopicSet({str(i): Follower.start(following, [seed], reference) for i, seed in enumerate(seeds)})
        self.texts = texts[N_BACKGROUND + n_topics :]
        self.n_learnt = 0

    def together(self, texts: Sequence[str]) -> None:
        """All topics at once."""
        self.n_learnt += int(self.topics.process(self.maker.bags(texts)).learnt.sum())

    def one_by_one(self, texts: Sequence[str]) -> None:
        """A dot product a topic: the document spread out over all words, gathered at the topic's."""
        weights = [follower.tracker.weights for follower in self.topics.followers]
        reading = self.topics.followers[0].tracker.representation
        spread = np.zeros(len(self.maker.vocabulary) + 100_000)
        scores = np.zeros(len(weights))
        for bag in self.maker.bags(texts):
            read = reading.features(bag, self.background)
            spread[bag.terms] = read.values
            for t, topic in enumerate(weights):
                scores[t] = spread[topic.terms] @ topic.values + topic.common * read.common
            spread[bag.terms] = 0.0


def rate(run: Callable[[Sequence[str]], None], texts: Sequence[str]) -> float:
    """Documents a CPU-second."""
    before = time.process_time()
    run(texts)
    return len(texts) / (time.process_time() - before)


def main() -> int:
    """Measure and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 10_000])
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS))
    parser.add_argument("--method", default="germane")
    parser.add_argument("--learn", type=int, default=0, help="documents a topic may learn from while it is measured")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kept", action="store_true", help="through a workspace on disk")
    parser.add_argument("--p-target", type=float, default=0.02, help="with --kept: the share expected on each topic")
    asked = parser.parse_args()
    data = Path(os.environ["GERMANE_DATA"])
    return 0 if (through_a_workspace if asked.kept else in_memory)(asked, data) else 1


def through_a_workspace(asked: argparse.Namespace, data: Path) -> bool:
    """Whether the bars are met, from JSON Lines to rows on disk."""
    met = True
    print(f"{platform.machine()}, {asked.method}, {asked.rounds} rounds, one process, kept on disk")
    columns = ("documents/CPU-s", "documents/s", "spread", "hits/document")
    print(f"{'collection':<18}{'topics':>8}" + "".join(f"{name:>17}" for name in columns))
    for collection in asked.collections:
        for n_topics in asked.topics:
            n = 4_096 if n_topics <= 1_000 else 1_024
            texts = documents(data, collection, N_BACKGROUND + n_topics + asked.rounds * n + 512)
            with tempfile.TemporaryDirectory() as folder:
                kept = Kept(texts, n_topics, asked.method, asked.learn, asked.p_target, Path(folder))
                kept.measured(512)
                found = [kept.measured(n) for _ in range(asked.rounds)]
                kept.watch.workspace.close()
            cpu, clock = (statistics.median(each) for each in list(zip(*found, strict=True))[:2])
            met &= cpu >= BARS.get(n_topics, 0.0)
            spread = f"{min(each.clock for each in found):.0f}-{max(each.clock for each in found):.0f}"
            hits = sum(each.hits for each in found) / (n * asked.rounds)
            print(f"{collection:<18}{n_topics:>8}{cpu:>17.0f}{clock:>17.0f}{spread:>17}{hits:>17.1f}", flush=True)
    return met


def in_memory(asked: argparse.Namespace, data: Path) -> bool:
    """Whether the bars are met, from texts to decisions."""
    met = True
    print(f"{platform.machine()}, {asked.method}, {asked.rounds} rounds, one thread, CPU time")
    print(
        f"{'collection':<18}{'topics':>8}{'documents/s':>13}{'spread':>15}{'plain loop':>12}{'ratio':>8}{'learnt':>8}"
    )
    for collection in asked.collections:
        for n_topics in asked.topics:
            n_fast, n_plain = (1_024, 256) if n_topics <= 1_000 else (256, 8)
            wanted = N_BACKGROUND + n_topics + asked.rounds * (n_fast + n_plain) + 512
            stream = Stream(documents(data, collection, wanted), n_topics, asked.method, asked.learn)
            stream.together(stream.texts[:512])  # compiles, and turns the topics' words round
            fast, plain, at = [], [], 512
            for _ in range(asked.rounds):
                fast.append(rate(stream.together, stream.texts[at : at + n_fast]))
                plain.append(rate(stream.one_by_one, stream.texts[at + n_fast : at + n_fast + n_plain]))
                at += n_fast + n_plain
            ratio = statistics.median(a / b for a, b in zip(fast, plain, strict=True))
            middle = statistics.median(fast)
            met &= middle >= BARS.get(n_topics, 0.0) and ratio >= RATIO
            print(f"{collection:<18}{n_topics:>8}{middle:>13.0f}{f'{min(fast):.0f}-{max(fast):.0f}':>15}"
                  f"{statistics.median(plain):>12.0f}{ratio:>7.1f}{stream.n_learnt:>8}", flush=True)  # fmt: skip
    return met


if __name__ == "__main__":
    sys.exit(main())
