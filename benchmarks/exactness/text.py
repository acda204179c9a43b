"""An answer as text that is equal only where the answer is equal to the last bit.

Floats are written by `float.hex`, objects by the names of their fields. How a word is written, and what may have been
meant by a query, stand apart from the rest: they may change where no score, no rank and no count does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from germane.engine import SearchResult

WORDING = frozenset({"word", "words", "name", "suggestion", "corrections"})
"""Fields that say something in words of the documents: the written form of a term, a group's name, a correction."""
CARRIED = frozenset({"result"})
"""Fields of a response that are no part of what it tells."""
DEEP = 3
"""What lies so deep within an answer is written on one line."""
SHOWN = 3
"""Results of which the stored fields and the snippet are part of an answer."""
MOST_MOVES = 50
"""A longer list of results is answered without its moves: each takes an explanation."""


class Canonical(NamedTuple):
    """An answer as text, and what of it is wording."""

    answer: str
    wording: str


def canonical(value: object) -> Canonical:
    """The text of any value that the engine answers."""
    wording: list[str] = []
    return Canonical(_text(value, 0, wording), "\n".join(wording))


def _text(value: Any, depth: int, wording: list[str]) -> str:
    match value:
        case None | bool() | int() | str() | bytes():
            return repr(value)
        case float():
            return value.hex()
        case np.generic() | np.ndarray():
            return _text(value.tolist(), depth, wording)
        case SearchResult():
            return _text(told(value), depth, wording)
        case Mapping():
            items = (f"{key!r}: {_text(item, depth + 1, wording)}" for key, item in value.items())
            return _lines("{", items, "}", depth)
        case tuple() if hasattr(value, "_asdict"):
            return _object(value._asdict(), depth, wording)
        case set() | frozenset():
            return _text(sorted(value), depth, wording)
        case Sequence():
            return _lines("[", (_text(item, depth + 1, wording) for item in value), "]", depth)
    if dataclasses.is_dataclass(value):
        names = (field.name for field in dataclasses.fields(value) if field.name not in CARRIED)
        return _object({name: getattr(value, name) for name in names}, depth, wording)
    raise TypeError(f"{type(value).__name__} cannot be written down: {value!r:.80}")


def _object(members: Mapping[str, Any], depth: int, wording: list[str]) -> str:
    parts = []
    for name, value in members.items():
        if name in WORDING and _is_wording(value):
            wording.append(f"{name}={_text(value, depth + 1, [])}")
        else:
            parts.append(f"{name}={_text(value, depth + 1, wording)}")
    return _lines("(", parts, ")", depth)


def _is_wording(value: Any) -> bool:
    """Whether it is a text, or some; and not a list of objects that have words."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return value is None or isinstance(value, str) or all(isinstance(part, str) for part in value)


def _lines(opening: str, parts: Iterable[str], closing: str, depth: int) -> str:
    """An item a line near the top, so that two texts can be compared line by line."""
    if depth >= DEEP:
        return opening + ", ".join(parts) + closing
    indent = "\n" + "  " * depth
    return opening + "".join(f"{indent}  {part}" for part in parts) + indent + closing


def told(result: SearchResult) -> dict[str, Any]:
    """All that a list of results says."""
    shown = {
        "ids": result.ids,
        "scores": result.scores,
        "offset": result.offset,
        "total": result.total,
        "total_is_exact": result.total_is_exact,
        "notes": result.query.notes,
        "reranked_by": result.reranked_by,
        "not_reranked": result.not_reranked,
        "shown": [(hit.rank, hit.title, hit.fields, hit.snippet) for hit in result[:SHOWN]],
    }
    report = result.feedback
    if report is not None:
        names = ["weights", "drift", "words", "documents", *(("moves", "fallen") if len(result) <= MOST_MOVES else ())]
        shown["feedback"] = {name: getattr(report, name) for name in names}
    return shown
