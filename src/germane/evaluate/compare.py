"""Two runs side by side, or any number: means, wins and losses, the queries behind them, and tests."""

import itertools
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.evaluate.frames import AnyQrels, AnyRun, dataframe
from germane.evaluate.measures import Evaluation, evaluate
from germane.evaluate.significance import TESTS, Alternative, Effect, Significance, holm, paired_effect
from germane.tables import Cell, figure, html, latex, markdown, text

TIE = 1e-9
"""Differences up to this are rounding."""
LEVEL = 0.05
"""A corrected p-value below this is called significant."""


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

    def __repr__(self) -> str:
        tests = ", ".join(f"{name} p = {figure(found.p_value)}" for name, found in self.tests.items())
        means = f"{self.mean_a:.4f} against {self.mean_b:.4f} ({self.mean_a - self.mean_b:+.4f})"
        return f"<Comparison {self.measure}: {means}, {self.wins} won, {self.losses} lost, {self.ties} tied; {tests}>"

    def _repr_html_(self) -> str:
        """A table for notebooks: the means, the queries won and lost, and the tests."""
        rows: list[list[Any]] = [["mean of a", self.mean_a], ["mean of b", self.mean_b]]
        rows += [["won", self.wins], ["lost", self.losses], ["tied", self.ties]]
        rows += [[f"p ({name})", figure(found.p_value)] for name, found in self.tests.items()]
        return html([self.measure, ""], rows)


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
    run_a: AnyRun,
    run_b: AnyRun,
    qrels: AnyQrels,
    measures: str | Sequence[str] = ("AP", "nDCG@10"),
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
class Pair:
    """Run a against run b on one measure: the test's p-value, and the same after Holm's correction over all pairs."""

    a: str
    b: str
    comparison: Comparison
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class RunsCompared:
    """Any number of runs: their evaluations, and on each measure every pair, or every run against the baseline.

    p-values are corrected by Holm's method over the pairs of one measure.
    """

    evaluations: Mapping[str, Evaluation]
    pairs: Mapping[str, tuple[Pair, ...]]
    test: str
    baseline: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """The runs, in the order given."""
        return tuple(self.evaluations)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, in the order given."""
        return tuple(self.pairs)

    def mean(self, name: str, measure: str) -> float:
        """The value of a run over all queries."""
        return self.evaluations[name][measure]

    def differences(self, measure: str) -> Floats:
        """The matrix of mean(row) - mean(column)."""
        means = np.array([self.mean(name, measure) for name in self.names])
        matrix: Floats = means[:, None] - means[None, :]
        return matrix

    def p_values(self, measure: str) -> Floats:
        """The matrix of corrected p-values; NaN where two runs were not compared."""
        matrix = np.full((len(self.names), len(self.names)), np.nan)
        for pair in self.pairs[measure]:
            i, j = self.names.index(pair.a), self.names.index(pair.b)
            matrix[i, j] = matrix[j, i] = pair.p_holm
        return matrix

    def better_than(self, name: str, measure: str, level: float = LEVEL) -> tuple[str, ...]:
        """The runs that this one is significantly better than, by the corrected p-value."""
        at = self.names.index(name)
        better = (self.differences(measure)[at] > 0.0) & (self.p_values(measure)[at] < level)
        return tuple(other for other, found in zip(self.names, better.tolist(), strict=True) if found)

    def __str__(self) -> str:
        return text(*self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(*self._table())

    def to_dataframe(self, *, pairs: bool = False) -> Any:
        """A pandas DataFrame: a row for each run with its means, against a baseline with differences and p-values too.

        `pairs`: a row for each two runs that were compared on each measure. p-values are corrected (`Pair.p_holm`).
        Needs pandas.
        """
        if pairs:
            return dataframe([_pair_row(measure, pair) for measure, own in self.pairs.items() for pair in own])
        rows = []
        for name in self.names:
            row: dict[str, Any] = {"run": name} | {measure: self.mean(name, measure) for measure in self.measures}
            for measure in self.measures if self.baseline is not None else ():
                at = self.names.index(name), self.names.index(str(self.baseline))
                row[f"{measure} difference"] = float(self.differences(measure)[at])
                row[f"{measure} p"] = float(self.p_values(measure)[at])
            rows.append(row)
        return dataframe(rows)

    def to_markdown(self) -> str:
        """The means, best in bold, with a letter for each run that is significantly worse."""
        return markdown(*self._table())

    def to_latex(self) -> str:
        """The same as a LaTeX table, for booktabs."""
        return latex(*self._table())

    def _table(self) -> tuple[list[str], list[list[Any]]]:
        return means_table(self)


def _pair_row(measure: str, pair: Pair) -> dict[str, Any]:
    found = pair.comparison
    return {
        "measure": measure, "a": pair.a, "b": pair.b, "mean_a": found.mean_a, "mean_b": found.mean_b,
        "difference": found.mean_a - found.mean_b, "wins": found.wins, "losses": found.losses, "ties": found.ties,
        "p": pair.p_value, "p_holm": pair.p_holm,
    }  # fmt: skip


def compare_runs(
    runs: Mapping[str, AnyRun],
    qrels: AnyQrels,
    measures: str | Sequence[str] = ("AP", "nDCG@10"),
    *,
    baseline: str | None = None,
    test: str = "t",
    alternative: Alternative = "two-sided",
    texts: Mapping[str, str] | None = None,
) -> RunsCompared:
    """Any number of runs against one another, or all against the `baseline`, corrected for there being several; of a
    single one the means."""
    if test not in TESTS:
        raise ParameterError(f"there is no test '{test}'; choose one of {', '.join(TESTS)}")
    if not runs or (baseline is not None and len(runs) < 2):
        raise ParameterError(f"a comparison needs {'a run at least' if baseline is None else 'two runs at least'}")
    if baseline is not None and baseline not in runs:
        raise ParameterError(f"the baseline '{baseline}' is none of the runs: {', '.join(runs)}")
    evaluations = {name: evaluate(run, qrels, measures) for name, run in runs.items()}
    if baseline is None:
        compared = list(itertools.combinations(runs, 2))
    else:
        compared = [(name, baseline) for name in runs if name != baseline]
    found: dict[str, tuple[Pair, ...]] = {}
    for measure in next(iter(evaluations.values())).measures:
        rows = [
            compare_evaluations(
                evaluations[a], evaluations[b], measure, texts=texts, alternative=alternative, tests=[test]
            )
            for a, b in compared
        ]
        p_values = [row.tests[test].p_value for row in rows]
        found[measure] = tuple(
            Pair(a, b, row, p, corrected)
            for (a, b), row, p, corrected in zip(compared, rows, p_values, holm(p_values).tolist(), strict=True)
        )
    return RunsCompared(evaluations, found, test, baseline)


def means_table(found: RunsCompared) -> tuple[list[str], list[list[Any]]]:
    """Runs down, measures across: the best of a column in bold, with the letters of the runs it is better than."""
    letters = dict(zip(found.names, run_letters(), strict=False))
    best = {measure: max(found.mean(name, measure) for name in found.names) for measure in found.measures}
    rows = [
        [
            letters[name],
            name + (" (baseline)" if name == found.baseline else ""),
            *(
                Cell(
                    found.mean(name, measure),
                    bold=found.mean(name, measure) >= best[measure] - TIE,
                    mark="".join(letters[other] for other in found.better_than(name, measure)),
                )
                for measure in found.measures
            ),
        ]
        for name in found.names
    ]
    return ["", "run", *found.measures], rows


def run_letters() -> Iterator[str]:
    """a, b, ... z, then a1, b1, and so on."""
    for round_ in itertools.count():
        yield from (letter + (str(round_) if round_ else "") for letter in string.ascii_lowercase)
