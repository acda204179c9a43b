"""A seeded synthetic collection with the statistics that matter to a search engine.

    python benchmarks/synthetic.py --docs 500000 --out benchmarks/work/synthetic --seed 1

Each token of a document is, in this order of decision,

1. a copy of an earlier token of the same document, with probability `REPEAT` (a Polya urn: burstiness);
2. else a word of the document's first or second topic (a few thousand words with Zipf weights of their own);
3. else a word of the whole vocabulary, by a Zipf-Mandelbrot law.

Copying changes no word's expected share of the collection, so the Zipf law survives burstiness.  Document lengths are
lognormal.  Words are pronounceable lower-case ASCII strings of 3 to 10 letters, all different; no tokeniser changes
them.

Files: `docs.jsonl` (id, text), `queries_short.tsv` (qid, 2 to 4 words), `queries_long.tsv` (qid, 50 words written
`word^weight`, weights falling and summing to 1), `collection.json` (the arguments and what came out).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

N_TYPES = 500_000
ZIPF_EXPONENT, ZIPF_SHIFT = 1.05, 2.7
N_TOPICS, TOPIC_WORDS, TOPIC_EXPONENT = 400, 3_000, 0.9
P_TOPIC_1, P_TOPIC_2 = 0.33, 0.12  # of the tokens that are not copies
REPEAT = 0.30
MEAN_LENGTH, SIGMA_LENGTH, MIN_LENGTH, MAX_LENGTH = 150, 0.7, 10, 2_000
CHUNK = 50_000  # documents generated at a time

CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxz", "aeiou"
# English stop words that the patterns below could spell: left out, so that a default analyser keeps every word.
STOPWORDS = {
    "has",
    "was",
    "her",
    "him",
    "his",
    "not",
    "can",
    "did",
    "does",
    "for",
    "had",
    "how",
    "nor",
    "now",
    "let",
    "got",
    "get",
    "more",
    "were",
    "here",
    "same",
    "such",
    "than",
    "that",
    "them",
    "then",
    "this",
    "will",
    "with",
    "been",
    "both",
    "from",
    "just",
    "have",
    "come",
    "like",
    "made",
    "make",
    "take",
    "max",
    "may",
}


def make_words(rng: np.random.Generator, n: int) -> list[str]:
    """n different words; the commonest are the shortest, as in real language."""
    words: dict[str, None] = {}
    while len(words) < n:
        rank = len(words)
        size = min(n, max(2_000, rank // 2))
        if rank < 300:
            lengths = rng.choice([3, 4, 5], size=150, p=[0.5, 0.3, 0.2])
        elif rank < 10_000:
            lengths = rng.choice([4, 5, 6, 7, 8], size=size, p=[0.15, 0.3, 0.3, 0.15, 0.1])
        else:
            lengths = rng.choice([5, 6, 7, 8, 9, 10], size=size, p=[0.08, 0.22, 0.25, 0.2, 0.15, 0.1])
        consonants = rng.integers(0, len(CONSONANTS), size=(len(lengths), 5))
        vowels = rng.integers(0, len(VOWELS), size=(len(lengths), 5))
        letters = np.empty((len(lengths), 10), dtype="U1")
        letters[:, 0::2] = np.array(list(CONSONANTS))[consonants]
        letters[:, 1::2] = np.array(list(VOWELS))[vowels]
        for row, length in zip(letters.view("U10").ravel().tolist(), lengths.tolist(), strict=True):
            word = row[:length]
            if word not in STOPWORDS:
                words[word] = None
    return list(words)[:n]


def zipf_cdf(n: int, exponent: float, shift: float) -> np.ndarray:
    p = 1.0 / (np.arange(1, n + 1) + shift) ** exponent
    return np.cumsum(p / p.sum())


def make_topics(rng: np.random.Generator) -> np.ndarray:
    """N_TOPICS rows of word ids, in each topic's own order: frequent words tend, loosely, to come first."""
    low, high = np.log(100), np.log(N_TYPES)
    ranks = np.exp(rng.uniform(low, high, size=(N_TOPICS, TOPIC_WORDS))).astype(np.int64)
    order = np.argsort(np.log(ranks) + rng.normal(0, 2.5, ranks.shape), axis=1)
    return np.take_along_axis(np.minimum(ranks, N_TYPES - 1), order, axis=1)


class Collection:
    """All documents as one array of word ids, with offsets: what the queries are drawn from."""

    def __init__(self, n_docs: int, rng: np.random.Generator) -> None:
        mu = np.log(MEAN_LENGTH) - SIGMA_LENGTH**2 / 2
        lengths = np.clip(rng.lognormal(mu, SIGMA_LENGTH, n_docs).astype(np.int64), MIN_LENGTH, MAX_LENGTH)
        topic_cdf = zipf_cdf(N_TOPICS, 0.6, 5)
        self.n_docs = n_docs
        self.offsets = np.concatenate([[0], np.cumsum(lengths)])
        self.topics = np.searchsorted(topic_cdf, rng.random((n_docs, 2))).clip(max=N_TOPICS - 1)
        self.tokens = np.empty(self.offsets[-1], dtype=np.int32)
        self.df = np.zeros(N_TYPES, dtype=np.int64)
        topic_words = make_topics(rng)
        cdfs = zipf_cdf(N_TYPES, ZIPF_EXPONENT, ZIPF_SHIFT), zipf_cdf(TOPIC_WORDS, TOPIC_EXPONENT, 3)
        for first in range(0, n_docs, CHUNK):
            self._fill(rng, first, min(first + CHUNK, n_docs), topic_words, *cdfs)

    def _fill(
        self,
        rng: np.random.Generator,
        first: int,
        last: int,
        topic_words: np.ndarray,
        word_cdf: np.ndarray,
        topic_cdf: np.ndarray,
    ) -> None:
        start, end = self.offsets[first], self.offsets[last]
        doc = np.repeat(np.arange(last - first), np.diff(self.offsets[first : last + 1]))
        here = np.arange(end - start)
        begin = (self.offsets[first:last] - start)[doc]
        words = np.searchsorted(word_cdf, rng.random(len(here))).clip(max=N_TYPES - 1)
        choice = rng.random(len(here))
        topical = np.flatnonzero(choice < P_TOPIC_1 + P_TOPIC_2)
        which = (choice[topical] >= P_TOPIC_1).astype(np.int64)
        rank = np.searchsorted(topic_cdf, rng.random(len(topical))).clip(max=TOPIC_WORDS - 1)
        words[topical] = topic_words[self.topics[first + doc[topical], which], rank]
        # The Polya urn: a copy points at an earlier position; pointers are followed until none points at a copy.
        copy = (rng.random(len(here)) < REPEAT) & (here > begin)
        source = np.where(copy, begin + (rng.random(len(here)) * (here - begin)).astype(np.int64), here)
        while copy[source].any():
            source = source[source]
        words = words[source]
        self.tokens[start:end] = words
        pairs = np.unique(doc * N_TYPES + words)
        self.df += np.bincount(pairs % N_TYPES, minlength=N_TYPES)

    def document(self, d: int) -> np.ndarray:
        return self.tokens[self.offsets[d] : self.offsets[d + 1]]

    def write(self, path: Path, words: list[str]) -> None:
        part = path.with_suffix(".part")
        with part.open("w", encoding="ascii", buffering=1 << 20) as out:
            for d in range(self.n_docs):
                text = " ".join([words[i] for i in self.document(d).tolist()])
                out.write(f'{{"id": "d{d + 1:07d}", "text": "{text}"}}\n')
        part.replace(path)


def specificity(df: np.ndarray, n_docs: int, centre: float = 0.009, width: float = 1.2) -> np.ndarray:
    """How likely a searcher is to use a word found in df documents: lognormal around `centre` of the collection."""
    z = (np.log(np.maximum(df, 1)) - np.log(centre * n_docs)) / width
    return np.exp(-z * z / 2) * (df > 1)


def draw_short(c: Collection, rng: np.random.Generator) -> np.ndarray:
    """2 to 4 different words of one random document."""
    size = rng.choice([2, 3, 4], p=[0.35, 0.4, 0.25])
    while True:
        ids, counts = np.unique(c.document(rng.integers(c.n_docs)), return_counts=True)
        p = counts * specificity(c.df[ids], c.n_docs)
        if np.count_nonzero(p) >= size:
            return rng.choice(ids, size=size, replace=False, p=p / p.sum())


def draw_long(
    c: Collection, rng: np.random.Generator, by_topic: dict[int, np.ndarray], size: int = 50, n_feedback: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """A relevance model: the mean of some documents on one topic, cut to `size` words, weights falling."""
    while True:
        seed = int(rng.integers(c.n_docs))
        peers = rng.choice(by_topic[int(c.topics[seed, 0])], size=n_feedback - 1)
        model: dict[int, float] = {}
        for rank, d in enumerate([seed, *peers.tolist()]):
            doc = c.document(d)
            ids, counts = np.unique(doc, return_counts=True)
            share = counts / len(doc) / (1 + rank)
            for i, p in zip(ids.tolist(), share.tolist(), strict=True):
                model[i] = model.get(i, 0.0) + p
        ids, p = np.array(list(model)), np.array(list(model.values()))
        pick = p * specificity(c.df[ids], c.n_docs, centre=0.015, width=1.5)
        if np.count_nonzero(pick) < size:
            continue
        chosen = rng.choice(len(ids), size=size, replace=False, p=pick / pick.sum())
        chosen = chosen[np.argsort(-p[chosen], kind="stable")]
        return ids[chosen], p[chosen] / p[chosen].sum()


def generate(n_docs: int, out: Path, seed: int, n_short: int = 1_000, n_long: int = 200) -> None:
    rng = np.random.default_rng(seed)
    out.mkdir(parents=True, exist_ok=True)
    words = make_words(rng, N_TYPES)
    c = Collection(n_docs, rng)
    c.write(out / "docs.jsonl", words)
    short = [draw_short(c, rng) for _ in range(n_short)]
    by_topic = {t: np.flatnonzero(c.topics[:, 0] == t) for t in range(N_TOPICS)}
    long = [draw_long(c, rng, by_topic) for _ in range(n_long)]
    with (out / "queries_short.tsv").open("w") as f:
        for q, ids in enumerate(short, 1):
            f.write(f"s{q:04d}\t{' '.join(words[i] for i in ids)}\n")
    with (out / "queries_long.tsv").open("w") as f:
        for q, (ids, weights) in enumerate(long, 1):
            pairs = zip(ids.tolist(), weights.tolist(), strict=True)
            f.write(f"l{q:04d}\t{' '.join(f'{words[i]}^{w:.6f}' for i, w in pairs)}\n")
    facts = {
        "documents": n_docs,
        "seed": seed,
        "tokens": len(c.tokens),
        "types": int(np.count_nonzero(c.df)),
        "postings": int(c.df.sum()),
        "df_short_quantiles": np.quantile(c.df[np.concatenate(short)], [0.05, 0.25, 0.5, 0.75, 0.95]).tolist(),
        "df_long_quantiles": np.quantile(
            c.df[np.concatenate([i for i, _ in long])], [0.05, 0.25, 0.5, 0.75, 0.95]
        ).tolist(),
    }
    (out / "collection.json").write_text(json.dumps(facts, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, default=500_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "work" / "synthetic")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    start = time.perf_counter()
    generate(args.docs, args.out, args.seed)
    print((args.out / "collection.json").read_text(), end="")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
