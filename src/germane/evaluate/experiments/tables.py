"""Tables of a report: Markdown that also reads well in a terminal."""

import itertools
from collections.abc import Sequence

from germane.evaluate.experiments.results import Compared, Ratios, Result
from germane.evaluate.experiments.verdicts import LEVEL, TESTS


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is the head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def ratio_tables(result: Result) -> str:
    """Data sets down, systems across; one table for all systems held against the same figures."""

    def alike(ratios: Ratios) -> tuple[str, str, tuple[str, ...]]:
        return ratios.asked.measure, ratios.asked.against, tuple(ratios.asked.datasets)

    parts = []
    for (measure, against, datasets), group in itertools.groupby(sorted(result.ratios, key=alike), alike):
        columns = list(group)
        best = columns[0].best
        rows = [["", f"best {against}", *(ratios.asked.system for ratios in columns)]]
        for dataset in datasets:
            row, value = best[dataset]
            setting = row.removeprefix(against).strip()
            cell = f"{value:.4f}" + (f" ({setting})" if setting else "")
            rows.append([dataset, cell, *(f"{ratios.values[dataset]:.4f}" for ratios in columns)])
        rows.append(["mean", "", *(f"{ratios.mean:.4f}" for ratios in columns)])
        rows.append(["least", "", *(f"{ratios.worst:.4f}" for ratios in columns)])
        parts.append(f"{measure} over that of the best {against}.\n\n{table(rows)}")
    return "\n\n".join(parts)


def comparison_tables(result: Result) -> str:
    """One table a pair: data sets down, the last row all queries together; p-values below 0.05 are starred."""
    return "\n\n".join(_comparison_table(compared) for compared in result.comparisons)


def _comparison_table(compared: Compared) -> str:
    asked = compared.asked
    rows = [["", asked.a, asked.b, "difference", "won/lost/tied", *(f"p ({name})" for name in TESTS)]]
    for name, found in compared.rows.items():
        rows.append([
            name, f"{found.mean_a:.4f}", f"{found.mean_b:.4f}", f"{found.effect.mean:+.4f}",
            f"{found.wins}/{found.losses}/{found.ties}", *(_p_value(found.tests[test].p_value) for test in TESTS),
        ])  # fmt: skip
    return f"### {asked.a} - {asked.b}, {asked.measure}\n\n{table(rows)}"


def _p_value(p: float) -> str:
    return f"{p:.1e}*" if p < 0.0001 else f"{p:.4f}{'*' if p < LEVEL else ''}"
