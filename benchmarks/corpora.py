"""The collections: each becomes docs.jsonl and queries_{short,long,phrases}.tsv in a folder under work/.

Real text is cut into lower-case [a-z0-9]+ runs here, once, so that every engine indexes the same tokens.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from math import exp, log
from pathlib import Path

import bursty
import generated
import synthetic

WORK = Path(__file__).parent / "work"
MADE = {"synthetic": (synthetic.shape, 1), "bursty": (bursty.shape, 7)}
"""The generated collections and their seeds."""
REAL = ("msmarco_medical", "20newsgroups")
N_DOCS = 500_000
WORD = re.compile(r"[a-z0-9]+")
Query = list[tuple[str, float]]


def folder_of(name: str, n_docs: int) -> Path:
    return WORK / (name if name in REAL or n_docs == N_DOCS else f"{name}-{n_docs}")


def prepare(name: str, n_docs: int) -> Path:
    """The collection's folder, filled if it was not. `n_docs` is for the generated ones."""
    folder = folder_of(name, n_docs)
    if not (folder / "collection.json").exists():
        if name in REAL:
            prepare_real(Path(os.environ["GERMANE_DATA"]) / name, folder, seed=1)
        else:
            shape, seed = MADE[name]
            generated.generate(shape(), n_docs, folder, seed)
    if not (folder / "queries_phrases.tsv").exists():
        write_queries(folder / "queries_phrases.tsv", draw_phrases(random.Random(1), folder / "docs.jsonl"))
    return folder


def draw_phrases(rng: random.Random, documents: Path, n: int = 1_000) -> list[Query]:
    """Two different words that stand side by side, anywhere in the collection."""
    with documents.open("rb") as lines:
        n_docs = sum(1 for _ in lines)
    chosen = Counter(rng.randrange(n_docs) for _ in range(2 * n))
    found = []
    with documents.open("rb") as lines:
        for i, line in enumerate(lines):
            words = json.loads(line)["text"].split() if chosen[i] else []
            for _ in range(chosen[i] if len(words) > 1 else 0):
                at = rng.randrange(len(words) - 1)
                if words[at] != words[at + 1]:
                    found.append([(words[at], 1.0), (words[at + 1], 1.0)])
    rng.shuffle(found)
    return found[:n]


def prepare_prefixes(name: str, sizes: Sequence[int]) -> dict[int, Path]:
    """Files with the first documents of a generated collection, so many each; its queries are elsewhere."""
    folder = WORK / f"{name}-growth"
    folder.mkdir(parents=True, exist_ok=True)
    paths = {size: folder / f"docs-{size}.jsonl" for size in sorted(sizes)}
    *shorter, longest = paths
    if not paths[longest].exists():
        shape, seed = MADE[name]
        generated.write_documents(shape(), longest, paths[longest], seed)
    for size in shorter:
        if not paths[size].exists():
            with paths[longest].open("rb") as lines, paths[size].with_suffix(".part").open("wb") as out:
                out.writelines(islice(lines, size))
            paths[size].with_suffix(".part").replace(paths[size])
    return paths


def prepare_real(source: Path, folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    documents: list[list[str]] = []
    df: Counter[str] = Counter()
    with gzip.open(source / "docs.jsonl.gz", "rt", encoding="utf-8") as lines, (folder / "docs.jsonl").open("w") as out:
        for i, line in enumerate(lines, 1):
            record = json.loads(line)
            words = WORD.findall(f"{record.get('title', '')} {record['text']}".lower())
            documents.append(words)
            df.update(set(words))
            out.write(json.dumps({"id": f"d{i:07d}", "text": " ".join(words)}) + "\n")
    rng = random.Random(seed)
    queries = source / "queries.tsv"
    if queries.exists():
        found = [WORD.findall(line.split("\t")[1].lower()) for line in queries.read_text().splitlines()]
        short = [[(word, 1.0) for word in dict.fromkeys(words)] for words in found if words]
    else:
        short = [draw_short(rng, documents, df) for _ in range(1_000)]
    long = [draw_long(rng, documents, df) for _ in range(200)]
    write_queries(folder / "queries_short.tsv", short)
    write_queries(folder / "queries_long.tsv", long)
    facts = {
        "documents": len(documents),
        "tokens": sum(map(len, documents)),
        "types": len(df),
        "postings": sum(df.values()),
    }
    (folder / "collection.json").write_text(json.dumps(facts, indent=2) + "\n")


def specificity(df: int, n_docs: int, centre: float = 0.009, width: float = 1.2) -> float:
    """As in generated.py: how likely a searcher is to use a word found in df documents."""
    return exp(-(((log(df) - log(centre * n_docs)) / width) ** 2) / 2) if df > 1 else 0.0


def draw(rng: random.Random, weights: dict[str, float], size: int) -> list[str]:
    """`size` different words, without replacement, in proportion to their weights."""
    keys = {word: rng.random() ** (1 / weight) for word, weight in weights.items() if weight > 1e-12}
    return sorted(keys, key=keys.__getitem__, reverse=True)[:size]


def draw_short(rng: random.Random, documents: list[list[str]], df: Counter[str]) -> Query:
    size = rng.choices([2, 3, 4], weights=[35, 40, 25])[0]
    while True:
        counts = Counter(rng.choice(documents))
        words = draw(rng, {w: c * specificity(df[w], len(documents)) for w, c in counts.items()}, size)
        if len(words) == size:
            return [(word, 1.0) for word in words]


def draw_long(rng: random.Random, documents: list[list[str]], df: Counter[str], size: int = 50) -> Query:
    """A relevance model of a document and of others that share its most telling words."""
    n = len(documents)
    while True:
        seed = rng.choice(documents)
        telling = set(draw(rng, {w: c * specificity(df[w], n, 0.005) for w, c in Counter(seed).items()}, 5))
        sample = rng.sample(documents, min(n, 2_000))
        related = sorted(sample, key=lambda words: -len(telling.intersection(words)))[:9]
        model: Counter[str] = Counter()
        for rank, words in enumerate([seed, *related]):
            for word, count in Counter(words).items():
                model[word] += count / len(words) / (1 + rank)
        chosen = draw(rng, {w: p * specificity(df[w], n, 0.015, 1.5) for w, p in model.items()}, size)
        if len(chosen) == size:
            total = sum(model[word] for word in chosen)
            return sorted(((word, model[word] / total) for word in chosen), key=lambda pair: -pair[1])


def write_queries(path: Path, queries: list[Query]) -> None:
    with path.open("w") as out:
        for i, query in enumerate(queries, 1):
            out.write(f"q{i:04d}\t{' '.join(w if x == 1 else f'{w}^{x:.6f}' for w, x in query)}\n")


def read_queries(path: Path) -> list[Query]:
    found = []
    for line in path.read_text().splitlines():
        pairs = [part.partition("^") for part in line.split("\t")[1].split()]
        found.append([(word, float(weight or 1)) for word, _, weight in pairs])
    return found
