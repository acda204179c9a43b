"""How often "did you mean" corrects known words in context: of queries as they are, and of queries with a wrong word.

python benchmarks/did_you_mean.py             # every collection with queries, GERMANE_DATA

Corrected as they are: queries in which a word that the collection knows is corrected; where the queries are right these
are false. Mistyped: in each query one word is put in place of another, one edit away and known to the collection, drawn
by a seed; restored: the typed word is corrected to the one that was there; otherwise: to another. The least
length of a known word (`germane.rank.suggest`) was chosen after the false corrections of the first ten collections had
been seen, but for the dev queries of nfcorpus; those of the last three had not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import numpy as np

from germane import Engine
from germane.data import dataset_path, read_documents, read_topics
from germane.lm.noisy_channel import edits_allowed
from germane.rank.suggest import RARE, edit_distances
from germane.text import tokenize

SETS = {
    "scifact": ("queries.tsv",), "lisa": ("queries.tsv",), "cranfield": ("queries.tsv",), "med": ("queries.tsv",),
    "cacm": ("queries.tsv",), "cisi": ("queries.tsv",), "adi": ("queries.tsv",), "time": ("queries.tsv",),
    "cystic_fibrosis": ("queries.tsv",), "nfcorpus": ("queries.tsv", "queries_dev.tsv"),
    "checkthat2020": ("queries.tsv", "queries_dev.tsv", "queries_train.tsv"),
    "medquad_liveqa": ("queries.tsv", "queries_long.tsv"), "msmarco_medical": ("queries.tsv", "queries_val.tsv"),
}  # fmt: skip


def is_known(engine: Engine, word: str) -> bool:
    term = engine.analyzer.term_of(word)
    return term is not None and len(engine.search({term: 1.0}, RARE)) == RARE


def corrected(engine: Engine, words: list[str]) -> dict[str, str]:
    """The corrections of words that the collection knows."""
    found = engine.corrections(words, [engine.analyzer.terms(" ".join(words))])
    return {typed: meant for typed, meant in found.items() if is_known(engine, typed)}


def mistyped(engine: Engine, words: list[str], rng: random.Random) -> tuple[int, str] | None:
    """A place in the query, and a known word one edit away from what stands there."""
    term_of = engine.analyzer.term_of
    for place in rng.sample(range(len(words)), len(words)):
        word = words[place]
        if edits_allowed(word) and is_known(engine, word):
            near = sorted(
                other for other in _one_edit_away(engine, word) if term_of(other) not in (None, term_of(word))
            )
            near = [other for other in near if other not in words and is_known(engine, other)]
            if near:
                return place, rng.choice(near)
    return None


def _one_edit_away(engine: Engine, word: str) -> Iterator[str]:
    for live in engine._searcher.snapshot.segments:
        for number in np.flatnonzero(edit_distances(live.segment, word, 1) == 1).tolist():
            yield live.segment.surface(number)


def measured(name: str) -> list[int]:
    """Queries, those corrected as they are, mistyped ones, restored ones, those corrected otherwise; milliseconds."""
    with Engine.create(":memory:") as engine:
        engine.add(read_documents(name))
        texts = [topic.text for file in SETS[name] for topic in read_topics(dataset_path(name) / file)]
        queries = [words for text in texts if (words := tokenize(text))]
        rng = random.Random(0)
        corrected(engine, queries[0])  # compiles
        started = time.perf_counter()
        false = sum(bool(corrected(engine, words)) for words in queries)
        spent = 1000.0 * (time.perf_counter() - started)
        tried = restored = otherwise = 0
        for words in queries:
            drawn = mistyped(engine, words, rng)
            if drawn is not None:
                place, wrong = drawn
                found = corrected(engine, [*words[:place], wrong, *words[place + 1 :]]).get(wrong)
                right = found is not None and engine.analyzer.term_of(found) == engine.analyzer.term_of(words[place])
                tried, restored, otherwise = tried + 1, restored + right, otherwise + (found is not None and not right)
    return [len(queries), false, tried, restored, otherwise, round(spent)]


def main() -> None:
    heads = "collection | queries | corrected as they are | mistyped | restored | otherwise | ms a query"
    print(f"| {heads} |\n|{'---|' * 7}")
    total = np.zeros(6, np.int64)
    for name in SETS:
        row = measured(name)
        total += row
        print(f"| {name} | {' | '.join(map(str, row[:5]))} | {row[5] / row[0]:.1f} |", flush=True)
    print(f"| all | {' | '.join(map(str, total[:5]))} | {total[5] / total[0]:.1f} |")
    print(f"corrected as they are: {100.0 * total[1] / total[0]:.2f} % of the queries; "
          f"restored: {100.0 * total[3] / total[2]:.1f} % of the mistyped")  # fmt: skip


if __name__ == "__main__":
    main()
