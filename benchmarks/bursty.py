"""A second generated collection, of another shape than `synthetic.py`: long bursts, heavy tails, topical queries.

    python benchmarks/bursty.py --docs 500000 --out benchmarks/work/bursty --seed 7

A document is a sequence of bursts: a word is drawn, then said 1 + Geometric times (Katz's K-mixture), function words
rarely more than once. A word comes from the document's one topic (some hundred words, steep Zipf weights) or from the
whole vocabulary, whose Zipf law has the exponent 1 and no shift: function words are as frequent, and words seen once as
many, as in real text. Lengths are lognormal with a heavy tail. A short query is 2 to 5 words of one topic, so that its
words come together in documents; a long one is a relevance model of some documents on a topic. The files are those of
`generated.py`.
"""

from __future__ import annotations

import numpy as np
from generated import Chunk, Sample, Shape, command, zipf

N_TYPES = 1_000_000
N_TOPICS, TOPIC_EXPONENT, TOPIC_SHIFT = 100, 0.7, 3.0
TOPIC_WORDS, TOPIC_WORD_EXPONENT, TOPIC_WORD_SHIFT = 300, 1.0, 1.0
P_TOPIC = 0.30
MEAN_BURSTS, SIGMA_BURSTS, MIN_BURSTS, MAX_BURSTS = 75, 1.0, 3, 3_000
FUNCTION_WORDS = 150
"""Words of lower rank say nothing: they are hardly bursty, and in no topic."""
AGAIN_FUNCTION, AGAIN_CONTENT = 0.15, 0.45
"""Chance of saying a word once more."""
RAREST_TOPICAL = 100_000
QUERY_SIZES, QUERY_SHARES = (2, 3, 4, 5), (0.3, 0.35, 0.2, 0.15)
SYLLABLES = [vowel + consonant for vowel in "aeiou" for consonant in "bdfgklmpstvz"]


def make_words(n: int) -> list[str]:
    """n different words of two, three, then four syllables, in no alphabetical order; no English stop word is one."""
    words: list[str] = []
    base, syllables = len(SYLLABLES), 2
    while len(words) < n:
        size = base**syllables
        for i in range(min(size, n - len(words))):
            number, word = (i * 7_368_787 + 11) % size, ""  # a walk through all numbers: step and size are coprime
            for _ in range(syllables):
                number, digit = divmod(number, base)
                word += SYLLABLES[digit]
            words.append(word)
        syllables += 1
    return words


def make_topics() -> np.ndarray:
    """N_TOPICS rows of word ids, each topic's own words first."""
    rng = np.random.default_rng(N_TOPICS)
    ranks = np.exp(rng.uniform(np.log(FUNCTION_WORDS), np.log(RAREST_TOPICAL), size=(N_TOPICS, TOPIC_WORDS)))
    return ranks.astype(np.int32)


def shape() -> Shape:
    topic_words = make_topics()

    def chunk(rng: np.random.Generator, n_docs: int) -> Chunk:
        mu = np.log(MEAN_BURSTS) - SIGMA_BURSTS**2 / 2
        bursts = np.clip(rng.lognormal(mu, SIGMA_BURSTS, n_docs).astype(np.int64), MIN_BURSTS, MAX_BURSTS)
        topics = zipf(rng, n_docs, N_TOPICS, TOPIC_EXPONENT, TOPIC_SHIFT)
        doc = np.repeat(np.arange(n_docs, dtype=np.int32), bursts)
        words = zipf(rng, len(doc), N_TYPES, 1.0, 0.0)
        topical = np.flatnonzero(rng.random(len(doc), dtype=np.float32) < P_TOPIC)
        rank = zipf(rng, len(topical), TOPIC_WORDS, TOPIC_WORD_EXPONENT, TOPIC_WORD_SHIFT)
        words[topical] = topic_words[topics[doc[topical]], rank]
        again = np.where(words < FUNCTION_WORDS, AGAIN_FUNCTION, AGAIN_CONTENT)
        said = 1 + (np.log1p(-rng.random(len(doc))) / np.log(again)).astype(np.int64)
        return Chunk(
            np.repeat(words, said), np.add.reduceat(said, np.concatenate([[0], np.cumsum(bursts)[:-1]])), topics
        )

    def draw_short(sample: Sample, rng: np.random.Generator) -> np.ndarray:
        """2 to 5 different words of the topic of a random document, its heavier words rather than its lighter."""
        size = rng.choice(QUERY_SIZES, p=QUERY_SHARES)
        own = topic_words[sample.topics[rng.integers(sample.n_docs)]]
        while True:
            ids = own[zipf(rng, size, TOPIC_WORDS, TOPIC_WORD_EXPONENT, TOPIC_WORD_SHIFT)]
            if len(np.unique(ids)) == size and (sample.df[ids] > 1).all():
                return ids

    return Shape(make_words(N_TYPES), chunk, draw_short, long_centre=0.005)


if __name__ == "__main__":
    command(shape, "bursty")
