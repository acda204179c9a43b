"""Tables: what would command TeX or Markdown is shown instead, the best is bold, columns of numbers are flush right."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.tables import TABLES, Cell, escape_latex, escape_markdown, latex, markdown, text

HEADER = ["", "run_name", "ndcg_cut_10"]
ROWS = [["a", "50% & {more}|<b>", Cell(0.41234, bold=True, mark="b")], ["b", "$x^2$ \\ ~#", Cell(0.25)]]


def test_text() -> None:
    assert text(HEADER, ROWS).splitlines() == [
        "   run_name          ndcg_cut_10",
        "a  50% & {more}|<b>  0.4123* b",
        "b  $x^2$ \\ ~#        0.2500",
    ]


def test_markdown() -> None:
    assert markdown(HEADER, ROWS).splitlines() == [
        "|     | run\\_name          |          ndcg\\_cut\\_10 |",
        "|-----|--------------------|-----------------------:|",
        "| a   | 50% & {more}\\|\\<b> | **0.4123**<sup>b</sup> |",
        "| b   | \\$x^2\\$ \\\\ \\~#     |                 0.2500 |",
    ]


def test_latex() -> None:
    assert latex(HEADER, ROWS).splitlines() == [
        r"\begin{tabular}{llr}",
        r"\toprule",
        r" & run\_name & ndcg\_cut\_10 \\",
        r"\midrule",
        r"a & 50\% \& \{more\}\textbar{}\textless{}b\textgreater{} & \textbf{0.4123}$^{b}$ \\",
        r"b & \$x\textasciicircum{}2\$ \textbackslash{} \textasciitilde{}\# & 0.2500 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize("name", TABLES)
def test_numbers(name: str) -> None:
    written = TABLES[name](["n", "x", "undefined", "p"], [[1234, 0.5, float("nan"), Cell(0.00012, spec=".2g")]])
    assert all(number in written for number in ("1,234", "0.5000", "-", "0.00012"))
    assert TABLES[name](["only", "a head"], [])


@given(st.text())
def test_nothing_escapes_its_cell(plain: str) -> None:
    """Without the escapes no character is left that means something, and the text can be read back from them."""
    left = re.sub(r"\\text\w+\{\}|\\[&%$#_{}]", "", escape_latex(plain))
    assert not re.search(r"[\\&%$#_{}~^<>|\"\n\r]", left)
    shown = escape_markdown(plain)
    assert re.sub(r"\\(.)", r"\1", shown) == " ".join(plain.split())
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_<\n]", re.sub(r"\\.", "", shown))
