"""A seeded synthetic collection with the statistics that matter to a search engine.

    python benchmarks/synthetic.py --docs 500000 --out benchmarks/work/synthetic --seed 1

Each token of a document is, in this order of decision,

1. a copy of an earlier token of the same document, with probability `REPEAT` (a Polya urn: burstiness);
2. else a word of the document's first or second topic (a few thousand words with Zipf weights of their own);
3. else a word of the whole vocabulary, by a Zipf-Mandelbrot law.

Copying changes no word's expected share of the collection, so the Zipf law survives burstiness.  Document lengths are
lognormal.  Words are pronounceable lower-case ASCII strings of 3 to 10 letters, all different; no tokeniser changes
them.

A short query is 2 to 4 words of one document. The files are those of `generated.py`.
"""

from __future__ import annotations

import numpy as np
from generated import Chunk, Sample, Shape, command, specificity, zipf

N_TYPES = 500_000
ZIPF_EXPONENT, ZIPF_SHIFT = 1.05, 2.7
N_TOPICS, TOPIC_WORDS, TOPIC_EXPONENT = 400, 3_000, 0.9
P_TOPIC_1, P_TOPIC_2 = 0.33, 0.12  # of the tokens that are not copies
REPEAT = 0.30
MEAN_LENGTH, SIGMA_LENGTH, MIN_LENGTH, MAX_LENGTH = 150, 0.7, 10, 2_000

CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxz", "aeiou"
# English stop words that the patterns below could spell: left out, so that a default analyser keeps every word.
STOPWORDS = (
    "has was her him his not can did does for had how nor now let got get more were here same such than that them "
    "then this will with been both from just have come like made make take max may"
)


def make_words(rng: np.random.Generator, n: int) -> list[str]:
    """n different words; the commonest are the shortest, as in real language."""
    words: dict[str, None] = {}
    avoided = set(STOPWORDS.split())
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
            if word not in avoided:
                words[word] = None
    return list(words)[:n]


def make_topics(rng: np.random.Generator) -> np.ndarray:
    """N_TOPICS rows of word ids, in each topic's own order: frequent words tend, loosely, to come first."""
    low, high = np.log(100), np.log(N_TYPES)
    ranks = np.exp(rng.uniform(low, high, size=(N_TOPICS, TOPIC_WORDS))).astype(np.int32)
    order = np.argsort(np.log(ranks) + rng.normal(0, 2.5, ranks.shape), axis=1)
    return np.take_along_axis(np.minimum(ranks, N_TYPES - 1), order, axis=1)


def copies(rng: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
    """The Polya urn: for each token the one it copies, or itself. Pointers are followed to one that is no copy."""
    here = np.arange(lengths.sum(), dtype=np.int32)
    begin = np.repeat((np.cumsum(lengths) - lengths).astype(np.int32), lengths)
    earlier = begin + (rng.random(len(here)) * (here - begin)).astype(np.int32)
    source = np.where((rng.random(len(here), dtype=np.float32) < REPEAT) & (here > begin), earlier, here)
    while True:
        further = source[source]
        if np.array_equal(further, source):
            return source
        source = further


def shape() -> Shape:
    rng = np.random.default_rng(N_TYPES)
    words, topic_words = make_words(rng, N_TYPES), make_topics(rng)

    def chunk(rng: np.random.Generator, n_docs: int) -> Chunk:
        mu = np.log(MEAN_LENGTH) - SIGMA_LENGTH**2 / 2
        lengths = np.clip(rng.lognormal(mu, SIGMA_LENGTH, n_docs).astype(np.int64), MIN_LENGTH, MAX_LENGTH)
        topics = zipf(rng, 2 * n_docs, N_TOPICS, 0.6, 5).reshape(n_docs, 2)
        tokens = zipf(rng, lengths.sum(), N_TYPES, ZIPF_EXPONENT, ZIPF_SHIFT)
        choice = rng.random(len(tokens), dtype=np.float32)
        topical = np.flatnonzero(choice < P_TOPIC_1 + P_TOPIC_2)
        which = (choice[topical] >= P_TOPIC_1).astype(np.int32)
        doc = np.repeat(np.arange(n_docs, dtype=np.int32), lengths)[topical]
        rank = zipf(rng, len(topical), TOPIC_WORDS, TOPIC_EXPONENT, 3)
        tokens[topical] = topic_words[topics[doc, which], rank]
        return Chunk(tokens[copies(rng, lengths)], lengths, topics[:, 0])

    return Shape(words, chunk, draw_short)


def draw_short(sample: Sample, rng: np.random.Generator) -> np.ndarray:
    """2 to 4 different words of one random document."""
    size = rng.choice([2, 3, 4], p=[0.35, 0.4, 0.25])
    while True:
        ids, counts = np.unique(sample.document(int(rng.integers(sample.n_docs))), return_counts=True)
        p = counts * specificity(sample.df[ids], sample.n_docs)
        if np.count_nonzero(p) >= size:
            return rng.choice(ids, size=size, replace=False, p=p / p.sum())


if __name__ == "__main__":
    command(shape, "synthetic")
