"""Tables of figures as text, Markdown, LaTeX and HTML: the same rows, each written by its own rules.

A cell is a text, a number (four decimals), or a `Cell`: a number that may be bold and carry a mark of significance.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

Rows: TypeAlias = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number, how it is written, whether it is the best of its kind, and what it is significantly better than."""

    value: float
    bold: bool = False
    mark: str = ""
    spec: str = ".4f"


class Markup(str):
    """A cell that is HTML already."""


DIGITS = 5
"""Significant digits of a score that people read; JSON has all."""


def figure(score: float) -> str:
    """A score as people read it.

    >>> figure(12.345678901), figure(-0.00123456), figure(0.5), figure(1234567.8)
    ('12.346', '-0.0012346', '0.5', '1234568')
    """
    return f"{score:.0f}" if abs(score) >= 10**DIGITS and math.isfinite(score) else f"{score:.{DIGITS}g}"


def written(value: Any) -> str:
    """A value as people read it: numbers with four decimals, whole ones with commas, what is undefined as -."""
    if isinstance(value, Cell):
        return "-" if math.isnan(value.value) else format(value.value, value.spec)
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def text(header: Sequence[str], rows: Rows) -> str:
    """Columns with spaces between them; * is the best of its kind, letters stand behind what they mark."""

    def cell(value: Any) -> str:
        if not isinstance(value, Cell):
            return written(value)
        return f"{written(value)}{'*' if value.bold else ''}{' ' + value.mark if value.mark else ''}"

    lines = [list(header), *([cell(value) for value in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(part.ljust(width) for part, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def markdown(header: Sequence[str], rows: Rows) -> str:
    """A Markdown table; what would end a cell or begin a format is escaped."""

    def cell(value: Any) -> str:
        if not isinstance(value, Cell):
            return written(value) if isinstance(value, int | float) else escape_markdown(str(value))
        number = f"**{written(value)}**" if value.bold else written(value)
        return f"{number}<sup>{escape_markdown(value.mark)}</sup>" if value.mark else number

    lines = [[escape_markdown(name) for name in header], *([cell(value) for value in row] for row in rows)]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(header))]
    numeric = _numeric(header, rows)
    drawn = [
        "| "
        + " | ".join(
            part.rjust(width) if right else part.ljust(width)
            for part, width, right in zip(line, widths, numeric, strict=True)
        )
        + " |"
        for line in lines
    ]
    rule = "|" + "|".join(
        "-" * (width + 1) + (":" if right else "-") for width, right in zip(widths, numeric, strict=True)
    )
    return "\n".join([drawn[0], f"{rule}|", *drawn[1:]])


def latex(header: Sequence[str], rows: Rows) -> str:
    r"""A LaTeX table with the rules of booktabs (`\usepackage{booktabs}`); what would be a command is escaped."""

    def cell(value: Any) -> str:
        if not isinstance(value, Cell):
            return escape_latex(written(value))
        number = escape_latex(written(value))
        number = rf"\textbf{{{number}}}" if value.bold else number
        return f"{number}$^{{{escape_latex(value.mark)}}}$" if value.mark else number

    lines = [[escape_latex(name) for name in header], *([cell(value) for value in row] for row in rows)]
    columns = "".join("r" if right else "l" for right in _numeric(header, rows))
    body = [" & ".join(line) + r" \\" for line in lines]
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", body[0], r"\midrule", *body[1:], r"\bottomrule", end])


def html(header: Sequence[str], rows: Rows) -> str:
    """An HTML table, as notebooks show it; what is no `Markup` is escaped."""

    def cell(value: Any) -> str:
        if isinstance(value, Markup):
            return value
        if not isinstance(value, Cell):
            return escape(written(value))
        number = f"<b>{escape(written(value))}</b>" if value.bold else escape(written(value))
        return f"{number}<sup>{escape(value.mark)}</sup>" if value.mark else number

    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


def escape_latex(plain: str) -> str:
    r"""The text with every character that means something to TeX written so that it is shown.

    >>> escape_latex("nDCG_cut & 5% {x}")
    'nDCG\\_cut \\& 5\\% \\{x\\}'
    """
    return "".join(_LATEX.get(mark, mark) for mark in " ".join(plain.split()))


def escape_markdown(plain: str) -> str:
    r"""The text with every character that means something in a Markdown table written so that it is shown.

    >>> escape_markdown("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d>'
    """
    return re.sub(r"([\\`*_\[<|~$])", r"\\\1", " ".join(plain.split()))


TABLES: Mapping[str, Callable[[Sequence[str], Rows], str]] = {"text": text, "markdown": markdown, "latex": latex}
"""By name, as the command line writes them."""


def _numeric(header: Sequence[str], rows: Rows) -> list[bool]:
    """Which columns hold numbers, and are set flush right."""
    return [any(isinstance(row[i], int | float | Cell) for row in rows) for i in range(len(header))]
