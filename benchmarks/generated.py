"""What the generated collections share: documents that come in chunks, the files they are written to, long queries.

A chunk has a seed of its own, so the first n documents are the same however many follow them: growth is measured on
prefixes of one collection, with the same queries throughout.

Files: `docs.jsonl` (id, text), `queries_short.tsv` (qid, words), `queries_long.tsv` (qid, 50 words written
`word^weight`, weights falling and summing to 1), `collection.json` (the arguments and what came out).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

CHUNK = 50_000
"""Documents generated at a time."""
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]
WORD_BITS = 20
"""A document's number within its chunk and a word make one integer; no vocabulary has more than 2^20 words."""


class Chunk(NamedTuple):
    """Documents as word ids, one after the other; `topics` is the main topic of each."""

    tokens: np.ndarray
    lengths: np.ndarray
    topics: np.ndarray


class Sample:
    """The documents that queries are drawn from, and in how many of them each word is."""

    def __init__(self, chunks: list[Chunk], df: np.ndarray) -> None:
        self.tokens = np.concatenate([chunk.tokens for chunk in chunks])
        self.offsets = np.concatenate([[0], np.cumsum(np.concatenate([chunk.lengths for chunk in chunks]))])
        self.topics = np.concatenate([chunk.topics for chunk in chunks])
        self.n_docs = len(self.topics)
        self.df = df
        order = np.argsort(self.topics, kind="stable")
        self.by_topic = np.split(order, np.cumsum(np.bincount(self.topics))[:-1])

    def document(self, d: int) -> np.ndarray:
        return self.tokens[self.offsets[d] : self.offsets[d + 1]]


@dataclass(frozen=True)
class Shape:
    """How a collection is made. `words` has every word once; `chunk` makes so many documents.

    `long_centre`: in what share of the documents the words of long queries are (`specificity`).
    """

    words: list[str]
    chunk: Callable[[np.random.Generator, int], Chunk]
    draw_short: Callable[[Sample, np.random.Generator], np.ndarray]
    long_centre: float = 0.015


def zipf(rng: np.random.Generator, size: int, n: int, exponent: float, shift: float) -> np.ndarray:
    """Ranks from 0 to n - 1 by a Zipf-Mandelbrot law, p(r) ∝ 1 / (r + 1 + shift)^exponent.

    The inverse of the continuous distribution whose density is that law, half a rank lower: a search in a table of
    half a million sums costs ten times as much.
    """
    low, high = shift + 0.5, shift + 0.5 + n
    u = rng.random(size)
    if exponent == 1.0:
        x = low * np.exp(u * np.log(high / low))
    else:
        x = (low ** (1 - exponent) + u * (high ** (1 - exponent) - low ** (1 - exponent))) ** (1 / (1 - exponent))
    return np.minimum((x - low).astype(np.int32), n - 1)


def chunks_of(shape: Shape, n_docs: int, seed: int) -> Iterator[Chunk]:
    """The first n documents. The last chunk is made whole and cut: its documents do not depend on n."""
    for number in range(-(-n_docs // CHUNK)):
        chunk = shape.chunk(np.random.default_rng([seed, number]), CHUNK)
        left = min(CHUNK, n_docs - number * CHUNK)
        yield Chunk(chunk.tokens[: chunk.lengths[:left].sum()], chunk.lengths[:left], chunk.topics[:left])


def document_frequencies(chunk: Chunk, n_types: int) -> np.ndarray:
    keys = np.repeat(np.arange(len(chunk.lengths), dtype=np.int64) << WORD_BITS, chunk.lengths) | chunk.tokens
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return np.bincount(keys[first] & ((1 << WORD_BITS) - 1), minlength=n_types)


def write_documents(shape: Shape, n_docs: int, path: Path, seed: int, keep: bool = False) -> tuple[list[Chunk], dict]:
    """Write the documents; with `keep`, return their chunks too. The facts hold the document frequencies `df`."""
    kept, n_tokens, df, d = [], 0, np.zeros(len(shape.words), np.int64), 0
    part = path.with_suffix(".part")
    with part.open("w", encoding="ascii", buffering=1 << 20) as out:
        for chunk in chunks_of(shape, n_docs, seed):
            df += document_frequencies(chunk, len(shape.words))
            n_tokens += len(chunk.tokens)
            words = [shape.words[i] for i in chunk.tokens.tolist()]
            start = 0
            for length in chunk.lengths.tolist():
                d += 1
                out.write(f'{{"id": "d{d:07d}", "text": "{" ".join(words[start : start + length])}"}}\n')
                start += length
            if keep:
                kept.append(chunk)
    part.replace(path)
    facts = {"documents": n_docs, "seed": seed, "tokens": n_tokens, "types": int(np.count_nonzero(df))}
    return kept, facts | {"postings": int(df.sum()), "df": df}


def specificity(df: np.ndarray, n_docs: int, centre: float = 0.009, width: float = 1.2) -> np.ndarray:
    """How likely a searcher is to use a word found in df documents: lognormal around `centre` of the collection."""
    z = (np.log(np.maximum(df, 1)) - np.log(centre * n_docs)) / width
    return np.exp(-z * z / 2) * (df > 1)


def draw_long(
    sample: Sample, rng: np.random.Generator, centre: float, size: int = 50, n_feedback: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """A relevance model: the mean of some documents on one topic, cut to `size` words, weights falling."""
    while True:
        seed = int(rng.integers(sample.n_docs))
        related = rng.choice(sample.by_topic[sample.topics[seed]], size=n_feedback - 1)
        documents = [sample.document(d) for d in (seed, *related.tolist())]
        shares = np.concatenate([np.full(len(doc), 1 / len(doc) / (1 + rank)) for rank, doc in enumerate(documents)])
        ids, place = np.unique(np.concatenate(documents), return_inverse=True)
        p = np.bincount(place, weights=shares)
        pick = p * specificity(sample.df[ids], sample.n_docs, centre, width=1.5)
        if np.count_nonzero(pick) < size:
            continue
        chosen = rng.choice(len(ids), size=size, replace=False, p=pick / pick.sum())
        chosen = chosen[np.argsort(-p[chosen], kind="stable")]
        return ids[chosen], p[chosen] / p[chosen].sum()


def generate(shape: Shape, n_docs: int, out: Path, seed: int, n_short: int = 1_000, n_long: int = 200) -> None:
    """Write a collection with its queries."""
    out.mkdir(parents=True, exist_ok=True)
    chunks, facts = write_documents(shape, n_docs, out / "docs.jsonl", seed, keep=True)
    sample = Sample(chunks, facts.pop("df"))
    rng = np.random.default_rng([seed, n_docs, n_short])
    short = [shape.draw_short(sample, rng) for _ in range(n_short)]
    long = [draw_long(sample, rng, shape.long_centre) for _ in range(n_long)]
    with (out / "queries_short.tsv").open("w") as f:
        for q, ids in enumerate(short, 1):
            f.write(f"s{q:04d}\t{' '.join(shape.words[i] for i in ids)}\n")
    with (out / "queries_long.tsv").open("w") as f:
        for q, (ids, weights) in enumerate(long, 1):
            pairs = zip(ids.tolist(), weights.tolist(), strict=True)
            f.write(f"l{q:04d}\t{' '.join(f'{shape.words[i]}^{w:.6f}' for i, w in pairs)}\n")
    for kind, queries in (("short", short), ("long", [ids for ids, _ in long])):
        facts[f"postings_of_{kind}_query"] = float(np.mean([sample.df[ids].sum() for ids in queries]))
        facts[f"df_{kind}_quantiles"] = np.quantile(sample.df[np.concatenate(queries)], QUANTILES).tolist()
    (out / "collection.json").write_text(json.dumps(facts, indent=2) + "\n")


def command(shape: Callable[[], Shape], name: str) -> None:
    """The command line of a generator."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--docs", type=int, default=500_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "work" / name)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    start = time.process_time()
    generate(shape(), args.docs, args.out, args.seed)
    print((args.out / "collection.json").read_text(), end="")
    print(f"{time.process_time() - start:.0f} CPU-s")
