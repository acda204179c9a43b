"""Does a controlled vocabulary help refinement, as Refine §X hopes? Lists with synonyms read as one term, and without.

    python benchmarks/vocabulary.py [--mesh FILE]       # needs GERMANE_DATA
    python benchmarks/vocabulary.py --search            # an index with synonyms instead (`germane index --synonyms`)

The lists are those of `germane reproduce refine` and `refine-held-out`; what the search finds and what is marked stays
the same, and the texts that are refined are read with a vocabulary or without:

- medical: `vocabularies/medical.tsv`, 144 headings in the form of MeSH with 354 further names for them;
- abbreviations: those that the texts of all collections introduce themselves, "cystic fibrosis (CF)", written out;
- mesh: a file of NLM's own (`germane.data.mesh`), where one is given.

F1 (each method's own decision) and AP in per cent, the mean over the lists in whose texts the vocabulary changes
something; beside them the mean without it, lists won and lost, and p of Wilcoxon's test. With `--search` the same of
AP over 1,000 documents (the default ranking), the mean over the queries whose AP the vocabulary changes.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from germane.data.mesh import read_mesh
from germane.evaluate.measures import evaluate
from germane.evaluate.significance import wilcoxon
from germane.experiments import published_experiments, read_experiment
from germane.experiments.collections import Collection
from germane.experiments.marked_lists import MarkedList, marked_lists, source_documents
from germane.experiments.refinement import RefineExperiment, RefineSystem, refined
from germane.text import Analyzer, Synonyms
from germane.types import text_of

EXPERIMENTS = ("refine", "refine-held-out")
SYSTEMS = (
    RefineSystem("auto", method="auto", decision="expected-f1"),
    RefineSystem("rocchio", method="rocchio"),
    RefineSystem("em", method="em"),
    RefineSystem("mmem-aib", method="mmem-aib"),
)
SEARCHED = ("med", "cystic_fibrosis", "nfcorpus", "medquad_liveqa", "scifact")
"""Collections of medicine."""
MEDICAL = Path(__file__).parent / "vocabularies" / "medical.tsv"
INTRODUCED = re.compile(r"((?:[\w-]+ ){2,8})\(([A-Za-z]{2,8})\)")
"""Up to eight words, then an abbreviation in parentheses."""


def abbreviations(texts: Iterable[str]) -> dict[str, str]:
    """Abbreviations whose letters begin the words before them, each with the most frequent of its long forms."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for words, short in INTRODUCED.findall(text):
            long = words.replace("-", " ").lower().split()[-len(short) :]
            if "".join(word[0] for word in long) == short.lower():
                found[short.lower()][" ".join(long)] += 1
    return {short: forms.most_common(1)[0][0] for short, forms in found.items()}


def vocabularies(experiments: Sequence[RefineExperiment], mesh: str) -> dict[str, Synonyms]:
    """By name; abbreviations are those of all collections."""
    texts = (
        text_of(document.fields, source.text)
        for experiment in experiments
        for source in experiment.collections
        for document in source_documents(source)
    )
    found = {"medical": Synonyms.read(MEDICAL), "abbreviations": Synonyms(abbreviations(texts))}
    return found | ({"mesh": Synonyms(read_mesh(mesh))} if mesh else {})


def changed(one: MarkedList, other: MarkedList) -> bool:
    """Whether the vocabulary changed the texts of the list."""
    a, b = one.results.counts, other.results.counts
    return a.shape != b.shape or bool((a != b).nnz)


def search(mesh: str) -> None:
    """AP of an index with a vocabulary beside one without."""
    heads = "collection | vocabulary | queries changed | without | with | won/lost | p | all: without, with"
    print(f"| {heads} |\n{'|---' * 8}|")
    for name in SEARCHED:
        plain = Collection.open(name)
        texts = (text_of(document.fields, plain.engine.text_fields) for document in plain.documents())
        found = {"medical": Synonyms.read(MEDICAL), "abbreviations": Synonyms(abbreviations(texts))}
        found |= {"mesh": Synonyms(read_mesh(mesh))} if mesh else {}
        without = evaluate(plain.run(None, 1000), plain.qrels, ["AP"]).values["AP"]
        for vocabulary, synonyms in found.items():
            read = Collection.open(name, analyzer=Analyzer(synonyms=synonyms))
            values = evaluate(read.run(None, 1000), read.qrels, ["AP"]).values["AP"]
            touched = values != without
            told = f"{name} | {vocabulary} | {touched.sum()} of {len(values)}"
            every = f"{100 * without.mean():.1f}, {100 * values.mean():.1f}"
            if not touched.any():
                print(f"| {told} | | | | | {every} |", flush=True)
                continue
            before, after = 100 * without[touched], 100 * values[touched]
            won, lost = int((after > before).sum()), int((after < before).sum())
            means = f"{before.mean():.1f} | {after.mean():.1f}"
            p = wilcoxon(after, before).p_value
            print(f"| {told} | {means} | {won}/{lost} | {p:.3f} | {every} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mesh", default="", metavar="FILE", help="descriptors of MeSH, ASCII or XML")
    parser.add_argument("--search", action="store_true", help="indexes instead of refinement")
    asked = parser.parse_args()
    if asked.search:
        search(asked.mesh)
        return
    experiments = [read_experiment(published_experiments() / f"{name}.toml") for name in EXPERIMENTS]
    found = vocabularies(experiments, asked.mesh)
    print("vocabularies: " + ", ".join(f"{name} ({len(each.pairs):,} terms)" for name, each in found.items()))
    print(f"\n| lists | vocabulary | method | measure | without | with | won/lost | p |\n{'|---' * 8}|")
    for experiment in experiments:
        plain = list(marked_lists(experiment.collections, experiment.rules))
        without = {system.name: [refined(system, each).values for each in plain] for system in SYSTEMS}
        for name, synonyms in found.items():
            read = list(marked_lists(experiment.collections, experiment.rules, analyzer=Analyzer(synonyms=synonyms)))
            touched = [i for i, (one, other) in enumerate(zip(plain, read, strict=True)) if changed(one, other)]
            for system in SYSTEMS:
                values = {i: refined(system, read[i]).values for i in touched}
                for measure in ("F1", "AP"):
                    before, after = (
                        100 * np.array([column[i][measure] for i in touched])
                        for column in (without[system.name], values)
                    )
                    won, lost = int((after > before).sum()), int((after < before).sum())
                    told = f"{experiment.name}, {len(touched)} of {len(plain)} | {name} | {system.name} | {measure}"
                    p = wilcoxon(after, before).p_value
                    print(f"| {told} | {before.mean():.1f} | {after.mean():.1f} | {won}/{lost} | {p:.3f} |", flush=True)


if __name__ == "__main__":
    main()
