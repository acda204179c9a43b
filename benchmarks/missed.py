"""Do the intervals of what is missed hold the truth? python benchmarks/missed.py

Topics of two shared streams (GERMANE_DATA): Reuters-21578 by date, and Wikipedia's current events. Each starts from
its first story and is followed through the documents after it, learning by itself. Then a person judges what was
delivered and some of the near misses, as `to_judge` chooses them, and the interval of P_miss is held against the truth.
The prior of the shares is fitted on one stream (Dirichlet-multinomial, by Minka's fixed point, times TEMPER) and judged
on the other. `--fit` prints the prior of both together, which is `germane.track.missed.PRIOR`.
"""

import argparse
import gzip
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from germane.text import Analyzer
from germane.track import Background, Bag, BagMaker, Follower, Following, Reference, TopicSet, WordNumbers, method_named
from germane.track.missed import N_LAYERS, Layer, estimate_missed, layers_of, lot_of, to_judge
from germane.track.topics import SAMPLE

TEMPER, LEAST = 0.2, 0.15
"""Topics differ more than one Dirichlet has it, so its parameters are made smaller; no layer is ruled out."""


class Stream(NamedTuple):
    """Documents in their order, the topics of each, and those that it may be of."""

    name: str
    texts: list[str]
    topics: list[set[str]]
    perhaps: list[set[str]]
    n_background: int
    span: int


class Trial(NamedTuple):
    """One topic followed: layer (-1: delivered), lot and truth of every document."""

    layers: np.ndarray
    lots: np.ndarray
    on_topic: np.ndarray

    def counts(self) -> np.ndarray:
        """On-topic documents among what is delivered, and in every layer."""
        return np.bincount(self.layers[self.on_topic] + 1, minlength=N_LAYERS + 1)


def lines(path: Path) -> Iterator[dict]:
    """The records of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def reuters(data: Path) -> Stream:
    """Stories that the indexers gave topics to, by date."""
    stories = [each for each in lines(data / "reuters21578/docs.jsonl.gz") if each["topics_attr"] == "YES"]
    stories.sort(key=lambda each: (each["date"], each["id"]))
    texts = [f"{each['title']} {each['text']}" for each in stories]
    return Stream("reuters", texts, [set(each["topics"]) for each in stories], [set()] * len(stories), 2_500, 8_000)


def events(data: Path) -> Stream:
    """Items of the portal, with the stories that they surely belong to, and those that they may."""
    items = list(lines(data / "wiki_current_events/stream_2010_2021.jsonl.gz"))
    return Stream("events", [each["text"] for each in items], [set(each["topics"]) for each in items],
                  [set(each["maybe_topics"]) for each in items], 8_000, 12_000)  # fmt: skip


def followed(stream: Stream, method: str, n_topics: int, random_state: int) -> list[Trial]:
    """Some of the topics with enough stories, each followed from its first one on."""
    bags = BagMaker(Analyzer(), WordNumbers()).bags(stream.texts)
    background = Background.of(bags[: stream.n_background])
    rng = np.random.default_rng(random_state)
    sample = rng.choice(stream.n_background, 1_000, replace=False)
    reference = Reference([bags[i] for i in sorted(sample.tolist())], background)
    stories = defaultdict(list)
    for i in range(stream.n_background, len(bags)):
        for topic in stream.topics[i]:
            stories[topic].append(i)
    found = sorted(topic for topic, places in stories.items() if len(places) >= 6)
    chosen = [found[i] for i in rng.permutation(len(found))[:n_topics]]
    lots = np.array([lot_of(str(i)) for i in range(len(bags))])
    trials = []
    for topic in chosen:
        seed = stories[topic][0]
        places = [i for i in range(seed + 1, min(len(bags), seed + 1 + stream.span)) if topic not in stream.perhaps[i]]
        on_topic = np.array([topic in stream.topics[i] for i in places])
        if on_topic.sum() >= 4:
            follower = Follower.start(Following(method_named(method)), [bags[seed]], reference)
            scores = seen(follower, [bags[i] for i in places])
            trials.append(Trial(layers_of(scores, follower.thresholds.decision), lots[places], on_topic))
    return trials


def seen(follower: Follower, bags: Sequence[Bag]) -> np.ndarray:
    """The normalised score of every document when it came."""
    topics = TopicSet({"topic": follower})
    return np.concatenate([topics.scores(bags[at : at + 512])[0][:, 0] for at in range(0, len(bags), 512)])


def fitted(trials: Sequence[Trial]) -> np.ndarray:
    """The Dirichlet of the shares: α_j ← α_j·Σ(ψ(n_j + α_j) - ψ(α_j))/Σ(ψ(n + α) - ψ(α)), Minka 2000, tempered."""
    counts = np.array([trial.counts() for trial in trials], np.float64)
    alpha, total = np.ones(counts.shape[1]), counts.sum(axis=1)
    for _ in range(500):
        above = (digamma(counts + alpha) - digamma(alpha)).sum(axis=0)
        below = (digamma(total + alpha.sum()) - digamma(alpha.sum())).sum()
        alpha = np.maximum(alpha * above / below, 1e-3)
    return np.maximum(TEMPER * alpha, LEAST)


def judged(trial: Trial, prior: np.ndarray, n: int) -> tuple[Layer, list[Layer]]:
    """What is known when all that was delivered is judged, and `n` near misses in rounds of five."""
    hits = trial.layers == -1
    delivered = Layer(int(hits.sum()), int(hits.sum()), int(trial.on_topic[hits].sum()))
    members = [np.flatnonzero(trial.layers == j) for j in range(N_LAYERS)]
    samples = [own[np.argsort(trial.lots[own])][:SAMPLE] for own in members]
    known = [Layer(len(own)) for own in members]
    for _ in range(0, n, 5):
        room = [len(sample) - layer.judged for sample, layer in zip(samples, known, strict=True)]
        wanted = to_judge(delivered, known, 5, prior=prior)
        sizes = [layer.judged + min(more, free) for layer, more, free in zip(known, wanted, room, strict=True)]
        known = [Layer(len(own), size, int(trial.on_topic[sample[:size]].sum()))
                 for own, sample, size in zip(members, samples, sizes, strict=True)]  # fmt: skip
    return delivered, known


def report(trials: Sequence[Trial], prior: np.ndarray, n: int, confidence: float) -> str:
    """How often the truth lies in the interval, how wide that is, and how far the estimate is off."""
    held, widths, errors = [], [], []
    for trial in trials:
        counts = trial.counts()
        truth = counts[1:].sum() / counts.sum()
        found = estimate_missed(*judged(trial, prior, n), prior=prior, confidence=confidence).p_miss
        held.append(found.low <= truth <= found.high)
        widths.append(found.high - found.low)
        errors.append(abs(found.estimate - truth))
    error = np.sqrt(np.mean(held) * (1 - np.mean(held)) / len(held))
    return (f"{n:>7}{len(held):>8}{np.mean(held):>10.2f} ± {1.96 * error:.2f}{np.mean(widths):>8.2f}"
            f"{np.mean(errors):>8.2f}")  # fmt: skip


def main() -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="germane")
    parser.add_argument("--topics", type=int, default=150)
    parser.add_argument("--confidence", type=float, default=0.9)
    parser.add_argument("--fit", action="store_true", help="print the prior of both streams together")
    asked = parser.parse_args()
    data = Path(os.environ["GERMANE_DATA"])
    trials = {stream.name: followed(stream, asked.method, asked.topics, 0) for stream in (reuters(data), events(data))}
    for name, own in trials.items():
        counts = np.sum([trial.counts() for trial in own], axis=0)
        print(f"{name}: {len(own)} topics, shares delivered and by layer", (counts / counts.sum()).round(2).tolist())
    if asked.fit:
        print("prior:", fitted([trial for own in trials.values() for trial in own]).round(2).tolist())
    print(f"{asked.method}, intervals of {asked.confidence:.0%}, prior of the other stream, tempered by {TEMPER}")
    print(f"{'stream':<10}{'judged':>7}{'topics':>8}{'held':>10}{'':>7}{'width':>8}{'error':>8}")
    for name, other in (("reuters", "events"), ("events", "reuters")):
        prior = fitted(trials[other])
        for n in (0, 10, 30):
            print(f"{name:<10}{report(trials[name], prior, n, asked.confidence)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
