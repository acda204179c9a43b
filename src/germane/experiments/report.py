"""An experiment's result for people (text, Markdown), for programs (JSON) and as figures."""

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from germane.data.atomic import open_for_writing
from germane.errors import StorageError
from germane.evaluate import plots
from germane.experiments.results import Compared, Figure, Ratios, Result
from germane.experiments.verdicts import LEVEL, TESTS

SUBSCRIPTS = """± is the standard deviation over splits. _2,4: significantly better than systems 2 and 4, by both the
two-tailed paired t-test and the sign test at 95%; _A: than all others; _A-6: than all others but 6."""


def as_markdown(result: Result) -> str:
    """One table a measure: systems down, data sets across (or the reverse); in parentheses what the source reports."""
    experiment = result.experiment
    parts = [f"# {experiment.title}", experiment.about.strip()]
    systems = list(dict.fromkeys(figure.system for figure in result.figures))
    numbered = any(figure.better_than is not None for figure in result.figures)
    for measure in experiment.measures:
        rows = [["", *experiment.datasets]]
        for number, system in enumerate(systems, start=1):
            head = f"{number} {system}" if numbered else system
            rows.append([head, *(_cell(_find(result, dataset, system, measure)) for dataset in experiment.datasets)])
        if systems:
            shown = [list(row) for row in zip(*rows, strict=True)] if experiment.datasets_down else rows
            parts.append(f"## {measure}\n\n{table(shown)}")
    if numbered:
        parts.append(SUBSCRIPTS)
    if experiment.reference_source:
        parts.append(f"In parentheses: {experiment.reference_source}.")
    if result.parameters:
        rows = [["", *experiment.datasets]]
        named = dict.fromkeys(system for found in result.parameters.values() for system in found)
        rows += [
            [system, *(result.parameters.get(d, {}).get(system, "") for d in experiment.datasets)] for system in named
        ]
        parts.append(f"## Parameters\n\n{experiment.tuned_by}\n\n{table(rows)}")
    if result.comparisons:
        about = (
            f"Paired, two-sided tests over {experiment.unit}; * below 0.05, not corrected for there being many tests. "
        )
        about += experiment.compared_by
        parts.append(f"## Comparisons\n\n{about.strip()}\n\n{comparison_tables(result)}")
    if result.ratios:
        parts.append(f"## Ratios\n\n{ratio_tables(result)}")
    if result.bars:
        parts.append("## Bars\n\n" + "\n".join(f"- {bar}" for bar in result.bars))
    parts += [f"## {heading}\n\n{table(rows)}" for heading, rows in result.tables.items()]
    if result.conventions:
        lines = [f"- {name}: {text}" for name, text in result.conventions.items()]
        parts.append(f"## {experiment.conventions}\n\n" + "\n".join(lines))
    parts.append(f"## Verdict\n\n{verdict(result)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def as_text(result: Result) -> str:
    """The same for a terminal."""
    return re.sub(r"^#+ ", "", as_markdown(result), flags=re.MULTILINE)


def verdict(result: Result) -> str:
    """How many figures are within tolerance, and which are not."""
    checked = [figure for figure in result.figures if figure.expected is not None]
    out = [figure for figure in checked if not figure.ok]
    tolerance = result.experiment.tolerance
    lines = [f"{len(checked) - len(out)} of {len(checked)} expected figures are within {tolerance:g}."]
    lines += [f"- OUT: {f.dataset}, {f.system}, {f.measure}: {f.value:.4f}, expected {f.expected:.4f}" for f in out]
    lines += [f"- {bar}" for bar in result.bars if not bar.reached]
    return "\n".join(lines)


def as_json(result: Result) -> str:
    """Everything, for programs."""
    content = {
        "name": result.experiment.name,
        "title": result.experiment.title,
        "ok": result.ok,
        "figures": [
            {
                "dataset": f.dataset, "system": f.system, "measure": f.measure, "value": f.value,
                "expected": f.expected, "reference": f.reference, "tolerance": f.tolerance, "ok": f.ok,
                **({} if f.deviation is None else {"deviation": f.deviation, "better_than": f.better_than}),
            }
            for f in result.figures
        ],
        "bars": [{"text": bar.text, "reached": bar.reached} for bar in result.bars],
        "ratios": [
            {
                "system": r.asked.system, "against": r.asked.against, "measure": r.asked.measure, "values": r.values,
                "best": {dataset: {"system": row, "value": value} for dataset, (row, value) in r.best.items()},
                "mean": r.mean, "low": r.spread.low, "high": r.spread.high, "worst": r.worst,
                **({"hurt": r.hurt, "mean_hurt": r.mean_hurt} if r.hurt else {}),
            }
            for r in result.ratios
        ],
        "comparisons": _comparisons(result),
        "tables": result.tables,
        "parameters": result.parameters,
        "judgements": result.conventions,
    }  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _comparisons(result: Result) -> list[dict[str, Any]]:
    return [
        {
            "a": compared.asked.a, "b": compared.asked.b, "measure": found.measure, "queries": name,
            "mean_a": found.mean_a, "mean_b": found.mean_b, "difference": found.effect.mean,
            "low": found.effect.low, "high": found.effect.high,
            "wins": found.wins, "losses": found.losses, "ties": found.ties,
            "p": {test: value.p_value for test, value in found.tests.items()},
        }
        for compared in result.comparisons
        for name, found in compared.rows.items()
    ]  # fmt: skip


def expected_toml(result: Result) -> str:
    """The figures as the `[expected]` part of the file, for whoever changes a ranking on purpose."""
    lines: list[str] = []
    for dataset in result.experiment.datasets:
        lines.append(f"[expected.{_key(dataset)}]")
        for system in dict.fromkeys(figure.system for figure in result.figures):
            found = [f for f in result.figures if (f.dataset, f.system) == (dataset, system)]
            values = ", ".join(f"{_key(f.measure)} = {f.value:.4f}" for f in found)
            lines.append(f"{_key(system)} = {{ {values} }}")
        lines.append("")
    return "\n".join(lines)


def write_report(result: Result, folder: Path, *, figures: bool = True) -> list[Path]:
    """Write NAME.md, NAME.json and the plots into the folder; returns what was written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder} cannot be made: {error.strerror or error}") from error
    name = result.experiment.name
    written = [folder / f"{name}.md", folder / f"{name}.json"]
    for path, text in zip(written, (as_markdown(result), as_json(result)), strict=True):
        with open_for_writing(path) as file:
            file.write(text)
    if figures:
        for (system, parameter, measure), curves in result.curves.items():
            path = folder / f"{name}-{_file(system)}-{parameter}-{_file(measure)}.png"
            plots.save(plots.sensitivity(curves, f"{parameter} of {system}", measure), path)
            written.append(path)
        for dataset, runs in result.runs.items():
            path = folder / f"{name}-{_file(dataset)}-precision-recall.png"
            plots.save(plots.precision_recall(runs, result.qrels[dataset], collection=dataset), path)
            written.append(path)
        for drawing, draw in result.drawings.items():
            path = folder / f"{name}-{drawing}.png"
            plots.save(draw(), path)
            written.append(path)
    return written


def _find(result: Result, dataset: str, system: str, measure: str) -> Figure | None:
    wanted = (dataset, system, measure)
    return next((f for f in result.figures if (f.dataset, f.system, f.measure) == wanted), None)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    spread = f" ± {figure.deviation:.4f}" if figure.deviation is not None else ""
    better = f" _{figure.better_than}" if figure.better_than else ""
    reference = f" ({figure.reference:.4g})" if figure.reference is not None else ""
    return f"{figure.value:.4f}{spread}{better}{reference}{'' if figure.ok else ' !'}"


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else json.dumps(name)


def _file(name: str) -> str:
    return "".join(mark if mark.isalnum() else "-" for mark in name).strip("-")


# -- tables: Markdown that also reads well in a terminal ---------------------------------------------------------------


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
        intervals = [(ratios.spread.low, ratios.spread.high) for ratios in columns]
        rows.append(["95% interval", "", *(f"{low:.3f} to {high:.3f}" for low, high in intervals)])
        rows.append(["least", "", *(f"{ratios.worst:.4f}" for ratios in columns)])
        if any(ratios.hurt for ratios in columns):
            shares = (
                "" if r.mean_hurt is None else f"{r.mean_hurt:.1%} (most {max(r.hurt.values()):.1%})" for r in columns
            )
            rows.append(["queries hurt", "", *shares])
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
