"""What the peers can do beside Germane: each claim is tried by a small program, and docs/compare.md holds the table.

    python benchmarks/features.py --python tantivy=VENV/bin/python --write

Each module in features/ holds the probes of one peer: a function for each feature that it has, which fails unless the
peer does it. They run in the interpreter that --python names for the peer, this one otherwise. A peer that is not
installed there keeps what its documentation says (`DOCUMENTED`), and the table marks it so. What has neither a probe
nor a line there is not to be had.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "compare.md"
BEGIN, END = "<!-- the table: python benchmarks/features.py --write -->\n", "<!-- end of the table -->\n"
DOCUMENTATION = "¹"
"""Behind what was not run, but taken from the peer's documentation."""

FEATURES = {
    "Queries": {
        "boolean": "AND, OR, NOT, parentheses",
        "phrase": "phrases",
        "proximity": "words near each other",
        "prefix": "prefixes",
        "fuzzy": "misspelt words (fuzzy)",
        "fields": "words in one field",
        "ranges": "filters by a value or a range",
    },
    "Results": {
        "facets": "facets, histograms",
        "snippets": "snippets with the words marked",
        "explanation": "why this score, in parts",
        "suggestions": "did you mean",
    },
    "Index": {
        "deletions": "deletions",
        "incremental": "documents added later",
        "ciff": "exchange of indexes (CIFF)",
        "references": "reads RIS, BibTeX, PubMed",
    },
    "Ranking and learning": {
        "ranking": "BM25",
        "language_model": "language models (Dirichlet)",
        "feedback": "learns from the first results (RM3 or alike)",
        "marks": "learns from marked documents",
        "screening": "screening, with a rule when to stop",
        "pipelines": "pipelines as expressions",
    },
    "Experiments": {
        "fusion": "fusion of rankings",
        "measures": "measures (AP, nDCG)",
        "significance": "significance tests",
    },
}

PEERS = {
    "germane": "Germane",
    "tantivy": "tantivy",
    "bm25s": "bm25s",
    "fts5": "SQLite FTS5",
    "xapian": "Xapian",
    "pyterrier": "PyTerrier",
    "ranx": "ranx",
}
NEEDS = {
    "germane": "Python",
    "tantivy": "Python",
    "bm25s": "Python",
    "fts5": "nothing",
    "xapian": "a system package",
    "pyterrier": "Python, a JVM",
    "ranx": "Python",
}
_TERRIER = "boolean phrase proximity fields snippets incremental ranking language_model feedback ciff"
_XAPIAN = (
    "boolean phrase proximity prefix fields ranges facets snippets suggestions deletions incremental ranking feedback "
    "marks"
)
DOCUMENTED = {
    "pyterrier": dict.fromkeys(_TERRIER.split(), "yes") | {"incremental": "yes, in memory", "ciff": "by a plugin"},
    "xapian": dict.fromkeys(_XAPIAN.split(), "yes") | {"language_model": "rewritten", "fuzzy": "from 1.5"},
}
"""What a peer's documentation says of features that no probe of it has tried here."""
NOTES = {
    ("bm25s", "ranges"): "by a mask of documents",
    ("fts5", "facets"): "by SQL",
    ("fts5", "ranges"): "by SQL",
    ("tantivy", "prefix"): "by a regular expression",
    ("pyterrier", "fusion"): "sums of scores",
}
"""How a feature is to be had where that is not plain."""

RUNNER = """
import inspect, runpy, sys
for name, probe in runpy.run_path(sys.argv[1], run_name="probes").items():
    if inspect.isfunction(probe) and probe.__module__ == "probes" and not name.startswith("_"):
        try:
            probe()
            print(f"RESULT {name} yes")
        except Exception as error:
            print(f"RESULT {name} {type(error).__name__}: {error}".replace(chr(10), " "))
import importlib.metadata
for name in sys.argv[2:]:
    print("VERSION", importlib.metadata.version(name))
"""
DISTRIBUTIONS = {"tantivy": "tantivy", "bm25s": "bm25s", "ranx": "ranx", "pyterrier": "pyterrier"}


class Tried(NamedTuple):
    """What a peer's probes said: feature -> "yes", or why not; its version; why nothing ran."""

    found: dict[str, str]
    version: str
    problem: str


def tried(peer: str, python: str) -> Tried:
    """Run the probes of a peer in its interpreter."""
    distribution = [DISTRIBUTIONS[peer]] if peer in DISTRIBUTIONS else []
    command = [python, "-c", RUNNER, str(HERE / "features" / f"{peer}.py"), *distribution]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=HERE.parent)
    lines = [line.split(" ", 2) for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    version = next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("VERSION ")), "")
    problem = "" if lines else (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return Tried({name: said for _, name, said in lines}, version, problem)


def cell(peer: str, feature: str, of_peer: Tried) -> str:
    """What the table says of a peer and a feature."""
    if of_peer.found.get(feature) == "yes":
        return NOTES.get((peer, feature), "yes")
    if feature in of_peer.found:
        return f"failed: {of_peer.found[feature]}"
    said = DOCUMENTED.get(peer, {}).get(feature)
    return f"{said}{DOCUMENTATION}" if said else "-"


def table(results: dict[str, Tried]) -> str:
    """The table, a part for each group of features."""
    names = [f"{PEERS[peer]} {results[peer].version}".strip() for peer in PEERS]
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for group, features in FEATURES.items():
        lines.append(f"| **{group}** |{' |' * len(names)}")
        for feature, title in features.items():
            lines.append(f"| {title} | {' | '.join(cell(peer, feature, results[peer]) for peer in PEERS)} |")
    lines.append(f"| **needs** | {' | '.join(NEEDS[peer] for peer in PEERS)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH", help="a peer's interpreter")
    parser.add_argument("--write", action="store_true", help="put the table into docs/compare.md")
    asked = parser.parse_args()
    interpreters = dict(pair.split("=", 1) for pair in asked.python)
    unknown = interpreters.keys() - PEERS.keys()
    if unknown:
        parser.error(f"there is no peer {', '.join(unknown)}; choose of {', '.join(PEERS)}")
    results = {peer: tried(peer, interpreters.get(peer, sys.executable)) for peer in PEERS}
    failed = 0
    for peer, result in results.items():
        bad = {name: said for name, said in result.found.items() if said != "yes"}
        failed += len(bad)
        print(f"{PEERS[peer]} {result.version}: {len(result.found) - len(bad)} probes passed", file=sys.stderr)
        for name, said in bad.items():
            print(f"  {name} failed: {said}", file=sys.stderr)
        if result.problem:
            print(f"  not run: {result.problem}", file=sys.stderr)
    made = table(results)
    if asked.write and not failed:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    else:
        print(made)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
