"""How often "did you mean" corrects known words in context: of queries as they are, and of queries with a wrong word.

python benchmarks/did_you_mean.py             # every collection with queries, GERMANE_DATA
python benchmarks/did_you_mean.py --further   # queries of lists of titles, and further parts of the others

Corrected as they are: queries in which a word that the collection knows is corrected; where the queries are right these
are false. Mistyped: in each query one word is put in place of another, one edit away and known to the collection, drawn
by a seed; restored: the typed word is corrected to the one that was there; otherwise: to another. The least
length of a known word (`germane.rank.suggest`) was chosen after the false corrections of the first ten collections had
been seen, but for the dev queries of nfcorpus; those of the last three had not. Nothing was chosen by the further ones,
whose corrections are printed: who types into a shop's box mistypes, so that a correction there may be right.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Iterator

import numpy as np

from germane import Engine
from germane.data import dataset_path, read_documents, read_topics
from germane.experiments.judged_lists import LISTS, read_list, rows_of
from germane.lm.noisy_channel import edits_allowed
from germane.rank.spellings import Spellings
from germane.rank.suggest import RARE
from germane.text import tokenize
from germane.types import Document

SETS = {
    "scifact": ("queries.tsv",), "lisa": ("queries.tsv",), "cranfield": ("queries.tsv",), "med": ("queries.tsv",),
    "cacm": ("queries.tsv",), "cisi": ("queries.tsv",), "adi": ("queries.tsv",), "time": ("queries.tsv",),
    "cystic_fibrosis": ("queries.tsv",), "nfcorpus": ("queries.tsv", "queries_dev.tsv"),
    "checkthat2020": ("queries.tsv", "queries_dev.tsv", "queries_train.tsv"),
    "medquad_liveqa": ("queries.tsv", "queries_long.tsv"), "msmarco_medical": ("queries.tsv", "queries_val.tsv"),
}  # fmt: skip
FURTHER = ("scifact, train", "reuters21578, topics", *LISTS)


def read(name: str) -> tuple[Iterable[Document], list[str]]:
    """The documents, and the texts of the queries."""
    if name in LISTS:
        judged = read_list(name)
        every = name == "nfcorpus_titles"  # its queries of all parts, where the list has those of one
        queries = (
            [row["query"] for row in rows_of(name, "queries.tsv.gz")] if every else [t.text for t in judged.topics]
        )
        return judged.documents, queries
    name, _, part = name.partition(", ")
    files = (f"queries_{part}.tsv",) if part else SETS[name]
    return read_documents(name), [topic.text for file in files for topic in read_topics(dataset_path(name) / file)]


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
    for live in engine.retriever.snapshot.segments:
        for number in Spellings().near(live.segment, [(word, 1)])[0].tolist():
            if live.segment.surface(number) != word:
                yield live.segment.surface(number)


def measured(name: str, *, shown: bool = False) -> list[int]:
    """Queries, those corrected as they are, mistyped ones, restored ones, those corrected otherwise; milliseconds."""
    with Engine.create(":memory:") as engine:
        documents, texts = read(name)
        engine.add(documents)
        queries = [words for text in texts if (words := tokenize(text))]
        rng = random.Random(0)
        corrected(engine, queries[0])  # compiles
        started = time.perf_counter()
        changed = [(words, found) for words in queries if (found := corrected(engine, words))]
        spent = 1000.0 * (time.perf_counter() - started)
        for words, found in changed if shown else ():
            told = ", ".join(f"{typed} -> {meant}" for typed, meant in found.items())
            print(f"  {' '.join(words)}: {told}", flush=True)
        tried = restored = otherwise = 0
        for words in queries:
            drawn = mistyped(engine, words, rng)
            if drawn is not None:
                place, wrong = drawn
                found = corrected(engine, [*words[:place], wrong, *words[place + 1 :]]).get(wrong)
                right = found is not None and engine.analyzer.term_of(found) == engine.analyzer.term_of(words[place])
                tried, restored, otherwise = tried + 1, restored + right, otherwise + (found is not None and not right)
    return [len(queries), len(changed), tried, restored, otherwise, round(spent)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--further", action="store_true", help="queries that had no part in any setting")
    further = parser.parse_args().further
    heads = "collection | queries | corrected as they are | mistyped | restored | otherwise | ms a query"
    print(f"| {heads} |\n|{'---|' * 7}")
    total = np.zeros(6, np.int64)
    for name in FURTHER if further else SETS:
        row = measured(name, shown=further)
        total += row
        print(f"| {name} | {' | '.join(map(str, row[:5]))} | {row[5] / row[0]:.1f} |", flush=True)
    print(f"| all | {' | '.join(map(str, total[:5]))} | {total[5] / total[0]:.1f} |")
    print(f"corrected as they are: {100.0 * total[1] / total[0]:.2f} % of the queries; "
          f"restored: {100.0 * total[3] / total[2]:.1f} % of the mistyped")  # fmt: skip


if __name__ == "__main__":
    main()
