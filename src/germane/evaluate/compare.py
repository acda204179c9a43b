"""Two runs side by side, or several against one: means, wins and losses, the queries behind them, and tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from germane.errors import ParameterError
from germane.evaluate.measures import Evaluation, evaluate
from germane.evaluate.rankings import Qrels, Run
from germane.evaluate.significance import TESTS, Alternative, Effect, Significance, holm, paired_effect

TIE = 1e-9
"""Differences up to this are rounding."""


@dataclass(frozen=True)
class QueryDifference:
    """One query: its value in a and in b."""

    query_id: str
    text: str
    a: float
    b: float

    @property
    def difference(self) -> float:
        """a - b: above 0 where a is better."""
        return self.a - self.b


@dataclass(frozen=True)
class Comparison:
    """Run a against run b on one measure. Differences are a - b, best first."""

    measure: str
    mean_a: float
    mean_b: float
    wins: int
    losses: int
    ties: int
    effect: Effect
    tests: Mapping[str, Significance]
    differences: tuple[QueryDifference, ...]

    def worst(self, n: int = 5) -> tuple[QueryDifference, ...]:
        """The queries on which a loses most, worst first."""
        losses = [query for query in reversed(self.differences) if query.difference < -TIE]
        return tuple(losses[:n])

    def best(self, n: int = 5) -> tuple[QueryDifference, ...]:
        """The queries on which a gains most, best first."""
        return tuple(query for query in self.differences if query.difference > TIE)[:n]


def compare_evaluations(
    a: Evaluation,
    b: Evaluation,
    measure: str,
    *,
    texts: Mapping[str, str] | None = None,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
    tests: Sequence[str] = tuple(TESTS),
) -> Comparison:
    """Compare two evaluations over the same judgements, by all tests or those named."""
    if a.query_ids != b.query_ids:
        raise ParameterError("the two runs were evaluated with different judgements")
    if len(a.query_ids) < 2:
        raise ParameterError("a comparison needs two judged queries at least")
    x, y = a.values[measure], b.values[measure]
    keep = np.isfinite(x) & np.isfinite(y)  # WSS is undefined where nothing is relevant
    rows = [
        QueryDifference(query, (texts or {}).get(query, ""), va, vb)
        for query, va, vb, kept in zip(a.query_ids, x.tolist(), y.tolist(), keep.tolist(), strict=True)
        if kept
    ]
    d = np.array([row.difference for row in rows])
    exact = np.where(np.abs(d) <= TIE, 0.0, d)
    found = {name: TESTS[name](exact, np.zeros(len(exact)), alternative) for name in tests}
    return Comparison(
        measure,
        a[measure],
        b[measure],
        int((exact > 0).sum()),
        int((exact < 0).sum()),
        int((exact == 0).sum()),
        paired_effect(x[keep], y[keep], confidence),
        found,
        tuple(sorted(rows, key=lambda row: (-row.difference, row.query_id))),
    )


def compare(
    run_a: Run,
    run_b: Run,
    qrels: Qrels,
    measures: Sequence[str] = ("AP", "nDCG@10"),
    *,
    texts: Mapping[str, str] | None = None,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> list[Comparison]:
    """Evaluate two runs and compare them, measure by measure. `texts` are the queries' words, for the lists."""
    a, b = evaluate(run_a, qrels, measures), evaluate(run_b, qrels, measures)
    return [
        compare_evaluations(a, b, measure, texts=texts, alternative=alternative, confidence=confidence)
        for measure in a.measures
    ]


@dataclass(frozen=True)
class AgainstBaseline:
    """A run against the baseline: the test's p-value, and the same after Holm's correction over all runs."""

    name: str
    comparison: Comparison
    p_value: float
    p_holm: float


def compare_many(
    baseline: Run,
    runs: Mapping[str, Run],
    qrels: Qrels,
    measure: str = "AP",
    *,
    test: str = "t",
    alternative: Alternative = "two-sided",
) -> list[AgainstBaseline]:
    """Several runs against one, corrected for there being several."""
    if test not in TESTS:
        raise ParameterError(f"there is no test '{test}'; choose one of {', '.join(TESTS)}")
    base = evaluate(baseline, qrels, [measure])
    found = {
        name: compare_evaluations(evaluate(run, qrels, [measure]), base, measure, alternative=alternative)
        for name, run in runs.items()
    }
    p_values = [comparison.tests[test].p_value for comparison in found.values()]
    return [
        AgainstBaseline(name, comparison, p, float(corrected))
        for (name, comparison), p, corrected in zip(found.items(), p_values, holm(p_values), strict=True)
    ]
