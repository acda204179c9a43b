"""The non-relevant class without marks: inferred by a mixture of two over the result list. Does feedback gain?

python benchmarks/inferred_negatives.py       # cranfield, med, cacm, cisi and cystic_fibrosis, GERMANE_DATA

The first 100 results (query likelihood, μ = 1000) are clustered in two by a mixture, of multinomials or of SD-CE, which
begins with the first ten against the rest. Rows: feedback from the first ten; with documents of the second cluster
among the first 50 taken for marked not relevant (N); with those of the first ten that are in the first cluster marked
relevant as well (R and N). AP over 1,000 documents; in brackets queries won and lost against the method's first row, *
where Wilcoxon's test says p < 0.05.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import wilcoxon

from germane.classify import MultinomialMixture, SmoothedDirichletMixture
from germane.data import read_documents
from germane.evaluate.measures import evaluate
from germane.experiments.collections import Collection
from germane.feedback import feedback_named
from germane.text import Analyzer
from germane.text.counting import count_all
from germane.types import DEFAULT_FIELDS, Marks, text_of

COLLECTIONS = ("cranfield", "med", "cacm", "cisi", "cystic_fibrosis")
LISTED, FIRST, LOOKED_AT = 100, 10, 50
METHODS = {name: feedback_named(name, n_docs=FIRST, n_terms=50, query_weight=0.5) for name in ("rm3", "sd", "rocchio")}
MIXTURES = {
    "multinomials": MultinomialMixture(2, delta=0.1, max_iter=30),
    "SD-CE": SmoothedDirichletMixture(2, lam=0.01, beta=0.1, max_iter=30),
}


def inferred(counts: object, mixture: MultinomialMixture | SmoothedDirichletMixture) -> tuple[list[int], list[int]]:
    """Places of the list that are taken for relevant and for not relevant."""
    n = counts.shape[0]
    labels = mixture.fit(counts, start=(np.arange(n) >= FIRST).astype(np.int64)).labels_
    found = np.flatnonzero(labels[:FIRST] == 0).tolist(), np.flatnonzero(labels[:LOOKED_AT] == 1).tolist()
    return found if found[0] else ([], [])  # the first ten are all gone: nothing is inferred


def main() -> None:
    print(f"| feedback | mixture | taken for marked | {' | '.join(COLLECTIONS)} |\n|{'---|' * (3 + len(COLLECTIONS))}")
    table: dict[tuple[str, str, str], list[str]] = {}
    for name in COLLECTIONS:
        collection = Collection.open(name)
        documents = list(read_documents(name))
        rows = {document.id: i for i, document in enumerate(documents)}
        counts = count_all([text_of(document.fields, DEFAULT_FIELDS) for document in documents], Analyzer()).counts
        topics = [topic for topic in collection.topics if topic.id in collection.qrels]
        lists = {
            topic.id: collection.engine.search(topic.text, LISTED, model="dirichlet", mu=1000.0, syntax=False).ids
            for topic in topics
        }
        marks: dict[tuple[str, str], dict[str, Marks | None]] = {("", ""): dict.fromkeys(lists)}
        for title, mixture in MIXTURES.items():
            marks[title, "N"], marks[title, "R and N"] = {}, {}
            for query, ids in lists.items():
                own = counts[[rows[doc_id] for doc_id in ids]]
                good, bad = inferred(own, mixture) if len(ids) > FIRST else ([], [])
                against = [ids[i] for i in bad]
                marks[title, "N"][query] = Marks(not_relevant=against) if against else None
                marks[title, "R and N"][query] = Marks([ids[i] for i in good], against) if against else None
        for feedback, method in METHODS.items():
            plain = np.zeros(0)
            for (title, kind), of_query in marks.items():
                run = {}
                for topic in topics:
                    result = collection.engine.search(
                        topic.text, 1000, feedback=method, marks=of_query[topic.id], syntax=False
                    )
                    run[topic.id] = dict(zip(result.ids, result.scores.tolist(), strict=True))
                found = evaluate(run, collection.qrels, ["AP"]).per_query("AP")
                values = np.array([found[topic.id] for topic in topics])
                if not title:
                    plain = values
                    table.setdefault((feedback, title, kind), []).append(f"{values.mean():.4f}")
                    continue
                won, lost = int((values > plain).sum()), int((values < plain).sum())
                sure = won + lost > 0 and wilcoxon(values, plain).pvalue < 0.05
                table.setdefault((feedback, title, kind), []).append(
                    f"{values.mean():.4f}{'*' if sure else ''} ({won}/{lost})"
                )
    for row, cells in table.items():
        print(f"| {' | '.join(row)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
