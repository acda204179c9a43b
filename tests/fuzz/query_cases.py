"""Queries, and the parameters, weights and priors that go with them. What is not refused is checked:

scores are finite and fall, ids are the collection's; the same search without pruning gives the same; a query of BM25 is
scored again, word by word, from the documents. Which documents are found: `tests/rank/test_language.py`.
"""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from fuzz import corpus
from fuzz.harness import Verdict
from fuzz.mutations import mutate
from germane import Document, Engine
from germane.engine import ExplainRequest, FeedbackRequest, RankingRequest, SearchRequest
from germane.feedback.registry import FEEDBACK_NAMES
from germane.rank.registry import MODEL_NAMES, model_named

NUMBERS = (
    0, 1, -1, 0.5, 2, 400, 1e-15, 1e15, 1e-320, 5e-324, 1e308, -1e308, 1e-9, 0.999999999999, 2**63, 2**64, 10**400,
    math.nan, math.inf, -math.inf, True, None, "auto", "x",
)  # fmt: skip
PRIORS = (
    "length", "length^-2", "length^1e308", "length^nan", "field:n", "field:n^1e6", "field:year^-1e6", "fresh:year:30",
    "fresh:year:1e-320", "fresh:n:1e-15", "fresh:day:365^2", "field:absent", "field:day", "fresh::", "length^",
    "^", "", "x" * 1000, "field:", "fresh:day:" + "1" * 5000,
)  # fmt: skip
SIGNS = (
    " ", "+", "-", '"', "(", ")", " AND ", " OR ", " NOT ", "*", "~1", "[ti]", "[dp]", ":", "^", "..", ">=",
    "<", "=", "year:", "title:", "tags:", "day:1990-01-01..", "n:", "heart",
    "knee", "copper", "^2", "^0", "^1e6", "^1e7", "^nan", "\0", "\u202e", "\ud800", "é", "ﬁ", "\t", "\n", "nan",
    "inf", "1e999", "true", "9" * 30, "day:" + "1" * 3000 + "x", "n:" + "9" * 5000,
)  # fmt: skip
ALIKE = 1e-9
"""How far a score may be from the one computed here."""


class QueryJudge:
    """Case n is a query; every third comes with parameters of all kinds."""

    def __init__(self, folder: Path) -> None:
        documents = [
            Document(f"d{i}", {
                "title": corpus.WORDS[i % 6], "text": " ".join(corpus.WORDS[j % 6] for j in range(i % 7, i % 11)),
                "year": 1990 + i, "tags": ["a", "b"][: i % 3], "day": f"19{90 + i % 10}-02-0{1 + i % 9}",
                "n": [0.5, 1e308, -1e308, 5e-324, None, 7][i % 6],
            })
            for i in range(60)
        ]  # fmt: skip
        with Engine.create(folder / "index") as engine:
            for start in range(0, 60, 20):
                engine.add(documents[start : start + 20], threads=1)
            engine.delete(["d7", "d30"])
        self._engine = engine = Engine.open(folder / "index")
        live = [document for document in documents if document.id in engine]
        self._terms = {d.id: Counter(engine.analyzer.terms(f"{d.fields['title']}\n{d.fields['text']}")) for d in live}
        self._compile()

    def _compile(self) -> None:
        """Kernels are compiled before memory and time are bounded."""
        engine = self._engine
        for model in MODEL_NAMES:
            for name in FEEDBACK_NAMES:
                marks = {"d1": True, "d2": False}
                engine.search("heart attack +diet -knee", 3, model=model, feedback=name, marks=marks)
            engine.search(" ".join(corpus.WORDS), 3, model=model, rerank=model)
            engine.search({term: 1.0 for held in self._terms.values() for term in held}, 3, model=model)

    def __call__(self, case: int) -> Verdict:
        rng = Random(f"queries {case}")
        query = _query(rng)
        if case % 3 == 0:
            self._asked(rng, query)
        else:
            self._searched(rng, query)
        return Verdict("same")

    def _searched(self, rng: Random, query: str) -> None:
        engine, model = self._engine, rng.choice(MODEL_NAMES)
        result = engine.search(query, rng.choice((1, 3, 10, 60, 10**12)), model=model)
        self._check(result)
        searcher = engine.retriever._searcher
        whole = searcher.search(
            result.query.weights,
            model_named(model).of_query(result.query.runs),
            100,
            filters=result.query.conditions,
            prune=False,
            wordless=result.query.wordless,
        )
        assert searcher.ids(whole)[: len(result)] == result.ids, "pruning changes the result"
        assert whole.scores.tolist()[: len(result)] == result.scores.tolist(), "pruning changes the scores"
        literal = engine.search(query, 60, model="bm25")
        parsed = literal.query
        for doc_id, score in zip(literal.ids, literal.scores.tolist(), strict=True):
            held = self._terms[doc_id]
            assert math.isclose(score, self._bm25(parsed.weights, held), rel_tol=ALIKE, abs_tol=ALIKE), "another score"

    def _bm25(self, weights: Mapping[str, float], held: Counter[str]) -> float:
        n, average = len(self._terms), sum(c.total() for c in self._terms.values()) / len(self._terms)
        score = 0.0
        for term, weight in weights.items():
            df = sum(1 for counts in self._terms.values() if counts[term])
            if held[term] and weight:
                idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
                score += weight * idf * held[term] * 3 / (held[term] + 2 * (0.25 + 0.75 * held.total() / average))
        return score

    def _check(self, result: Any) -> None:
        scores = result.scores.tolist()
        assert all(map(math.isfinite, scores)), "an infinite score"
        assert scores == sorted(scores, reverse=True), "scores that do not fall"
        assert len(set(result.ids)) == len(result.ids), "a document twice"
        assert all(doc_id in self._terms for doc_id in result.ids), "a document that is not there"

    def _asked(self, rng: Random, query: str) -> None:
        """What comes in by the doors: names, numbers and texts of any kind."""
        engine = self._engine
        if rng.random() < 0.3:
            words = ("heart", "knee", "", "x\ud800", "liver", 7)
            weights: Any = {rng.choice(words): rng.choice(NUMBERS) for _ in range(rng.randint(0, 4))}
            self._check(engine.search(weights, model=rng.choice(MODEL_NAMES)))
            return
        names = rng.sample(("mu", "lam", "delta", "k1", "b", "n_docs", "x"), rng.choice((0, 1, 1, 2)))
        parameters: Any = {name: rng.choice(NUMBERS) for name in names}
        priors = tuple(rng.sample(PRIORS, rng.choice((0, 0, 1, 2))))
        ranking = RankingRequest(rng.choice((None, *MODEL_NAMES, "x")), parameters, priors)
        if rng.random() < 0.2:
            explained = engine.answer(ExplainRequest(query, rng.choice(("d1", "d7", "x")), ranking, rng.random() < 0.7))
            assert math.isfinite(explained.score), "an infinite score"
            return
        learning = FeedbackRequest()
        if rng.random() < 0.4:
            names = rng.sample(("n_docs", "n_terms", "query_weight", "guard"), rng.choice((0, 1)))
            settings: Any = {name: rng.choice(NUMBERS) for name in names}
            learning = FeedbackRequest(
                rng.choice((None, *FEEDBACK_NAMES, "x")),
                settings,
                tuple(rng.sample(("d1", "d7", "d9"), rng.choice((0, 1)))),
                tuple(rng.sample(("d2", "x"), rng.choice((0, 1)))),
            )
        request = SearchRequest(
            query, rng.choice((0, 1, 5, 100, 10**30)), ranking, learning, rng.choice((None, None, *MODEL_NAMES, "x")),
            rng.choice((None, None, 0, 1, 7, 10**30)), rng.random() < 0.7, rng.random() < 0.3,
        )  # fmt: skip
        found = engine.answer(request)
        found.to_dict()
        assert all(math.isfinite(hit.score) for hit in found.hits), "an infinite score"


def _query(rng: Random) -> str:
    if rng.random() < 0.5:
        return "".join(rng.choices((*SIGNS, *corpus.QUERIES), k=rng.randint(0, 12)))
    return mutate(rng.choice(corpus.QUERIES).encode(), rng).data.decode(
        errors=rng.choice(("replace", "surrogateescape"))
    )
