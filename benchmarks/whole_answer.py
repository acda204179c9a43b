"""One whole answer as the API and the page give it, beside tantivy: top 10, stored fields, snippets, suggestions, JSON.

    python benchmarks/whole_answer.py                   # three collections of GERMANE_DATA, five rounds
    python benchmarks/whole_answer.py --quick           # Cranfield, 40 queries, one round
    python benchmarks/whole_answer.py --answers FILE    # a digest of each answer instead, to compare releases

Each round is a new process that opens both indexes and asks each query twice: once as users first ask it, then again
(`warm`). The engines take turns, query by query. Times are CPU milliseconds of all threads for one answer, the mean
over the queries, the opening not included; the table has the median of the rounds, and the ratio is to tantivy's.

tantivy searches title and text, stemmed as English, and makes the same JSON: ids, scores, stored fields, and its own
snippets of the text. It looks for no mistyped words. Its queries are built by its lenient parser of the query's words.
Needs tantivy beside germane (`pip install tantivy`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import orjson

from germane import Engine
from germane.data import dataset_path, read_documents, read_topics
from germane.engine.requests import SearchRequest
from germane.text import tokenize
from germane.types import text_of

COLLECTIONS = ("scifact", "nfcorpus", "cranfield")
FIELDS = ("title", "text")
K = 10
ROUNDS = 5
Answer = Callable[[str], bytes]


def main() -> None:
    """Measure every collection, or print the digests of its answers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--answers", type=Path, help="write the digests of all answers here, and measure nothing")
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    n_queries = 40 if options.quick else None
    if options.measure:
        name, folder = options.measure
        print(json.dumps(measured(Path(folder), texts_of(name)[:n_queries])))
        return
    names = ("cranfield",) if options.quick else COLLECTIONS
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in names:
            with Engine.create(folder / name / "germane") as engine:
                engine.add(read_documents(name))
        if options.answers:
            digests = {name: digests_of(folder / name, texts_of(name)[:n_queries]) for name in names}
            options.answers.write_text(json.dumps(digests, indent=0))
            return
        report(names, folder, rounds=1 if options.quick else ROUNDS, quick=options.quick)


def report(names: Sequence[str], folder: Path, *, rounds: int, quick: bool) -> None:
    """Print a row for each collection."""
    print("| collection | pass | germane ms | tantivy ms | ratio | lowest | highest |\n|---|---|---|---|---|---|---|")
    for name in names:
        build_tantivy(folder / name / "tantivy", name)
        command = [sys.executable, __file__, "--measure", name, str(folder / name), *(["--quick"] if quick else [])]
        one_round(command)  # compiles the kernels
        done = [one_round(command) for _ in range(rounds)]
        for which in ("first", "warm"):
            ours, theirs = ([row[which][engine] for row in done] for engine in ("germane", "tantivy"))
            ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
            figures = statistics.median(ours), statistics.median(theirs), statistics.median(ratios)
            cells = [f"{figure:.2f}" for figure in (*figures, min(ratios), max(ratios))]
            print(f"| {name} | {which} | {' | '.join(cells)} |", flush=True)


def one_round(command: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
    """Return the figures of a new process."""
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ)
    figures: dict[str, dict[str, float]] = json.loads(done.stdout)
    return figures


def texts_of(name: str) -> list[str]:
    """The queries of a collection."""
    return [topic.text for topic in read_topics(dataset_path(name) / "queries.tsv")]


def measured(folder: Path, queries: Sequence[str]) -> dict[str, dict[str, float]]:
    """CPU milliseconds for one answer of each engine, in the first pass over the queries and in the second."""
    engines = {"germane": germane(folder / "germane"), "tantivy": tantivy(folder / "tantivy")}
    figures: dict[str, dict[str, float]] = {}
    for which in ("first", "warm"):
        seconds = dict.fromkeys(engines, 0.0)
        for i, query in enumerate(queries):
            for name in list(engines) if i % 2 else reversed(engines):
                began = time.process_time()
                engines[name](query)
                seconds[name] += time.process_time() - began
        figures[which] = {name: 1000.0 * total / len(queries) for name, total in seconds.items()}
    return figures


def digests_of(folder: Path, queries: Sequence[str]) -> list[list[str]]:
    """Each query with a digest of its answer."""
    answer = germane(folder / "germane")
    return [[query, hashlib.sha256(answer(query)).hexdigest()] for query in queries]


# -- engines -----------------------------------------------------------------------------------------------------------


def germane(folder: Path) -> Answer:
    """Open our index; return what answers a query as HTTP does."""
    engine = Engine.open(folder)

    def answer(query: str) -> bytes:
        return orjson.dumps(engine.answer(SearchRequest(query, K, snippets=True)).to_dict())

    return answer


def build_tantivy(folder: Path, name: str) -> None:
    """Make tantivy's index of a collection, in one segment."""
    import tantivy

    folder.mkdir()
    builder = tantivy.SchemaBuilder().add_text_field("id", stored=True, tokenizer_name="raw")
    for field in FIELDS:
        builder.add_text_field(field, stored=True, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(1 << 28, 1)
    for document in read_documents(name):
        texts = {field: text_of(document.fields, (field,)) for field in FIELDS}
        writer.add_document(tantivy.Document(id=document.id, **texts))
    writer.commit()
    writer.wait_merging_threads()


def tantivy(folder: Path) -> Answer:
    """Open tantivy's index; return what gives the same JSON."""
    import tantivy

    index = tantivy.Index.open(str(folder))
    schema, searcher = index.schema, index.searcher()

    def answer(text: str) -> bytes:
        query, _ = index.parse_query_lenient(" ".join(tokenize(text)), list(FIELDS))
        found = searcher.search(query, K)
        snippets = tantivy.SnippetGenerator.create(searcher, query, schema, "text")
        hits = []
        for rank, (score, address) in enumerate(found.hits, 1):
            document = searcher.doc(address)
            piece = snippets.snippet_from_doc(document)
            marks = [(mark.start, mark.end) for mark in piece.highlighted()]
            fields = {field: document[field][0] for field in FIELDS}
            hits.append(
                {"rank": rank, "id": document["id"][0], "score": score, "fields": fields,
                 "snippet": {"text": piece.fragment(), "marks": marks}}
            )  # fmt: skip
        return orjson.dumps({"query": text, "k": K, "hits": hits, "total": found.count})

    return answer


if __name__ == "__main__":
    main()
