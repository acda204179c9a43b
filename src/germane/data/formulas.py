"""Cells of tables that a spreadsheet would compute: written with an apostrophe before them, and read without it."""

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_QUOTED_FORMULA = re.compile(r"'+[=+\-@\t\r\n]")


def no_formula(text: str) -> str:
    """The text as a cell that no spreadsheet computes: an apostrophe before one that begins as a formula does.

    >>> no_formula("=1+1"), no_formula("one")
    ("'=1+1", 'one')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def without_apostrophe(cell: str) -> str:
    """The cell as it was before `no_formula`.

    >>> without_apostrophe("'=1+1")
    '=1+1'
    """
    return cell[1:] if _QUOTED_FORMULA.match(cell) else cell
