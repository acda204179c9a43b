"""Formatters that write the same rows as a plain-text, Markdown, LaTeX or HTML table.

A cell is a string, a number (written with four decimals), or a `Cell`: a number with its own format, bold for the best
value of its group, and with letters that mark significant differences.
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
    """A number in a table.

    `bold`: the best value of its group. `mark`: letters of the rows that it is significantly better than. `spec`: its
    format specification.
    """

    value: float
    bold: bool = False
    mark: str = ""
    spec: str = ".4f"


class Markup(str):
    """A cell that is HTML already, and is not escaped."""


DIGITS = 5
"""Significant digits of a displayed score; JSON has all digits."""


def figure(score: float) -> str:
    """Format a score for display, with `DIGITS` significant digits.

    >>> figure(12.345678901), figure(-0.00123456), figure(0.5), figure(1234567.8)
    ('12.346', '-0.0012346', '0.5', '1234568')
    """
    return f"{score:.0f}" if abs(score) >= 10**DIGITS and math.isfinite(score) else f"{score:.{DIGITS}g}"


def written(value: Any) -> str:
    """Format a value for display: floats with four decimals, integers with thousands separators, nan as "-"."""
    if isinstance(value, Cell):
        return "-" if math.isnan(value.value) else format(value.value, value.spec)
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def text(header: Sequence[str], rows: Rows) -> str:
    """Format a table as aligned plain text; * follows the best value of a group, letters mark significance."""

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
    """Format a table as Markdown, with its special characters escaped."""

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
    r"""Format a table as LaTeX with booktabs rules (`\usepackage{booktabs}`), with special characters escaped."""

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
    """Format a table as HTML, as notebooks show it; every cell but a `Markup` is escaped."""

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
    r"""Escape the characters that are special in TeX, and collapse white space.

    >>> escape_latex("nDCG_cut & 5% {x}")
    'nDCG\\_cut \\& 5\\% \\{x\\}'
    """
    return "".join(_LATEX.get(mark, mark) for mark in " ".join(plain.split()))


def escape_markdown(plain: str) -> str:
    r"""Escape the characters that are special in a Markdown table, and collapse white space.

    >>> escape_markdown("a|b *c* <d>")
    'a\\|b \\*c\\* \\<d>'
    """
    return re.sub(r"([\\`*_\[<|~$])", r"\\\1", " ".join(plain.split()))


TABLES: Mapping[str, Callable[[Sequence[str], Rows], str]] = {"text": text, "markdown": markdown, "latex": latex}
"""Formatters by the names that the command line accepts."""


def _numeric(header: Sequence[str], rows: Rows) -> list[bool]:
    """Return for each column whether it holds numbers, which are aligned to the right."""
    return [any(isinstance(row[i], int | float | Cell) for row in rows) for i in range(len(header))]
