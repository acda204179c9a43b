"""What the guard against query drift saves and costs: queries that feedback hurts and helps, with and without it.

python benchmarks/guard.py                    # the seven collections of feedback-untuned.toml, GERMANE_DATA

Hurt: average precision below nine tenths of that without feedback, by the engine's own model; helped: above eleven
tenths. Fell back: queries on which the guard left the query as it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from germane.evaluate.measures import evaluate
from germane.experiments.collections import Collection
from germane.feedback import feedback_named

COLLECTIONS = ("cranfield", "cisi", "med", "cacm", "cystic_fibrosis", "scifact", "lisa")
METHODS = ("rm3", "consensus")


def precisions(collection: Collection, **search: object) -> tuple[np.ndarray, int]:
    """Average precision of each judged query, and how often the guard fell back."""
    run, fell_back = {}, 0
    for topic, result in collection.engine.batch(collection.topics, 1000, **search):
        run[topic.id] = dict(zip(result.ids, result.scores.tolist(), strict=True))
        report = result.feedback
        fell_back += report is not None and report.drift is not None and report.drift.fell_back
    found = evaluate(run, collection.qrels, ["AP"]).per_query("AP")
    return np.array([found[query] for query in collection.qrels]), fell_back


def main() -> None:
    collections = [Collection.open(name) for name in COLLECTIONS]
    print("| method | guard | queries | fell back | hurt | helped | mean AP |\n|---|---|---|---|---|---|---|")
    plain = np.concatenate([precisions(collection)[0] for collection in collections])
    for name in METHODS:
        for guard in (False, True):
            method = replace(feedback_named(name), guard=guard)
            parts = [precisions(collection, feedback=method) for collection in collections]
            learnt = np.concatenate([found for found, _ in parts])
            hurt, helped = int((learnt < 0.9 * plain).sum()), int((learnt > 1.1 * plain).sum())
            back = sum(count for _, count in parts)
            cells = [name, "on" if guard else "off", len(plain), back, hurt, helped, f"{learnt.mean():.4f}"]
            print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
