"""Whole numbers of more than 64 bits in JSON: the parser makes floats of them, and they lose their last digits."""

import re
from typing import Any

_STRING_OR_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*+"|(?<![\d.eE+-])-?\d{19,}+(?![.eE])', re.DOTALL)
_SHOWN = 30
_LARGE = 2.0**63


def lost_digits(value: object, text: bytes) -> str | None:
    """What is wrong if a number of the JSON `text` was changed by parsing it to `value`; None if none was."""
    if not _holds_large_float(value):
        return None
    for token in _STRING_OR_NUMBER.finditer(text):
        digits = token[0]
        if not digits.startswith(b'"') and (len(digits) > 20 or not -(2**63) <= int(digits) < 2**64):
            shown = digits[:_SHOWN].decode() + ("..." if len(digits) > _SHOWN else "")
            return f"the whole number {shown} has more than 64 bits and would lose digits: write it as a string"
    return None


def _holds_large_float(value: object) -> bool:
    """Whether there is a float in it as large as a number of more than 64 bits."""
    rest: list[Any] = list(value.values()) if isinstance(value, dict) else [value]
    for item in rest:  # which grows meanwhile
        kind = type(item)
        if kind is float:
            if not -_LARGE < item < _LARGE:
                return True
        elif kind is dict:
            rest += item.values()
        elif kind is list:
            rest += item
    return False
