"""Is a merged list, refined by a few marks, better than each source, and than fusion?

    python benchmarks/merged_lists.py

Every shared review (GERMANE_DATA) is split over three 'databases': a record is in one of them (half of the records), in
two or in all three. Each database ranks its own records in its own way (BM25, Dirichlet and Jelinek-Mercer query
likelihood) and gives its first 200 for each of the review's four queries; a third of its records lack their identifier.
`MetaSearch` merges them. A person reads the merged list from the top and marks the first 1, 3, 5 or 10 relevant
results, and those above them as not relevant.

AP is that of what the person has not seen: results down to the last mark are taken out of all lists and out of the
relevant records, of which all of the review count, found or not. Lists are compared by Wilcoxon's test, one-sided, and
p-values of all comparisons corrected by Holm. Exit status 1 if one of the bars' differences cannot be told from chance.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from germane.engine import Engine
from germane.evaluate.significance import holm, wilcoxon
from germane.experiments import published_experiments, read_experiment
from germane.experiments.marked_lists import ListSource, judged_queries, source_documents
from germane.metasearch import Folder, FoundList, GermaneIndex, MetaSearch
from germane.types import Document

MODELS = ("bm25", "dirichlet", "jm")
MARKS = (1, 3, 5, 10)
TOP = 200
METHODS = ("auto", "paper")
ALPHA = 0.05


def databases(documents: Sequence[Document], draw: random.Random) -> list[list[Document]]:
    """The records of each; `work` is which record of the review it is."""
    split: list[list[Document]] = [[] for _ in MODELS]
    for number, document in enumerate(documents):
        count = draw.choices((1, 2, 3), (0.5, 0.3, 0.2))[0]
        for place in draw.sample(range(len(MODELS)), count):
            fields = {"title": document.fields.get("title") or "", "text": document.fields.get("abstract") or ""}
            if draw.random() < 2 / 3:
                fields["doi"] = f"10.5555/{number}"
            year = document.fields.get("year")
            if year:
                fields["year"] = year
            split[place].append(Document(f"{place}-{number}", fields | {"work": str(number)}))
    return split


def works(found: FoundList) -> list[list[int]]:
    """The review's records that each result stands for."""
    return [sorted({int(one.id.partition("-")[2]) for one in result.provenance}) for result in found]


def residual_ap(ranked: Sequence[Sequence[int]], relevant: set[int], seen: set[int]) -> float:
    """AP of a list without what was seen, over all relevant records that were not."""
    wanted, found, total, rank = relevant - seen, set(), 0.0, 0
    for records in ranked:
        if all(record in seen for record in records):
            continue
        rank += 1
        fresh = (set(records) & wanted) - found
        if fresh:
            found |= fresh
            total += len(found) / max(rank, len(found)) * len(fresh)
    return total / len(wanted) if wanted else 0.0


def seen_for(ranked: Sequence[Sequence[int]], relevant: set[int], n: int) -> int | None:
    """Results read until the n-th relevant one; None where there are not so many, or none is left to be found."""
    places = [place for place, records in enumerate(ranked) if relevant & set(records)]
    return places[n - 1] + 1 if len(places) > n else None


def judged(source: ListSource, seed: int) -> Iterator[dict[int, dict[str, float]]]:
    """For each query: AP of each system for each number of marks."""
    documents = source_documents(source)
    draw = random.Random(f"{seed}:{source.name}")
    with tempfile.TemporaryDirectory() as folder:
        sources: list[GermaneIndex | Folder] = []
        for place, records in enumerate(databases(documents, draw)):
            engine = Engine.create(Path(folder, str(place)), positions=False)
            engine.add(records, threads=1)
            sources.append(GermaneIndex(name=f"database {place + 1}", engine=engine, model=MODELS[place]))
        for query in judged_queries(source, documents):
            relevant = {number for number, flag in enumerate(query.relevant) if flag}
            lists = {
                ranking: MetaSearch(sources, ranking=ranking).search(query.text, TOP)
                for ranking in ("rrf", "combmnz", "lm")
            }
            merged = lists["rrf"]
            assert not merged.failures, merged.failures
            ranked = works(merged)
            rows = {}
            for n in MARKS:
                depth = seen_for(ranked, relevant, n)
                if depth is None:
                    continue
                seen = {record for records in ranked[:depth] for record in records}
                marks = {merged.ids[i]: bool(relevant & set(ranked[i])) for i in range(depth)}
                place_of = dict(zip(merged.ids, ranked, strict=True))
                row = {
                    answer.source: residual_ap([[int(r.id.partition("-")[2])] for r in answer.records], relevant, seen)
                    for answer in merged.answers
                }
                row |= {f"fused by {name}": residual_ap(works(found), relevant, seen) for name, found in lists.items()}
                for method in METHODS:
                    refined = merged.refine(marks, method)
                    row[f"refined, {method}"] = residual_ap([place_of[name] for name in refined.ids], relevant, seen)
                rows[n] = row
            yield rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="reviews whose name holds this")
    parser.add_argument("--json", type=Path, help="write the means and p-values to a file")
    options = parser.parse_args()
    table: dict[int, dict[str, list[float]]] = {n: defaultdict(list) for n in MARKS}
    for source in read_experiment(published_experiments() / "refine.toml").collections:
        if source.documents.startswith("reviews_") and (not options.only or options.only in source.name):
            for rows in judged(source, options.seed):
                for n, row in rows.items():
                    for name, value in row.items():
                        table[n][name].append(value)
            print(f"{source.name} done", file=sys.stderr)
    names = list(table[MARKS[0]])
    bars = [name for name in names if name.startswith(("database", "fused by rrf", "fused by combmnz", "fused by lm"))]
    tests = {
        (n, name): wilcoxon(table[n]["refined, auto"], table[n][name], "greater").p_value
        for n in MARKS
        for name in bars
    }
    corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
    print(f"{'AP of what was not seen':26}" + "".join(f"{n:>4} marks" for n in MARKS))
    for name in names:
        print(f"{name:26}" + "".join(f"{100 * mean(table[n][name]):10.1f}" for n in MARKS))
    print(f"{'lists':26}" + "".join(f"{len(table[n][names[0]]):10}" for n in MARKS))
    print("\np of 'refined, auto' not being above (Wilcoxon, Holm):")
    for name in bars:
        print(f"{name:26}" + "".join(f"{corrected[n, name]:10.1g}" for n in MARKS))
    if options.json:
        means = {name: {n: mean(table[n][name]) for n in MARKS} for name in names}
        p = {name: {n: corrected[n, name] for n in MARKS} for name in bars}
        options.json.write_text(json.dumps({"ap": means, "p": p}, indent=1) + "\n")
    sys.exit(any(value >= ALPHA for value in corrected.values()))


if __name__ == "__main__":
    main()
