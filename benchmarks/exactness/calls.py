"""Calls of the engine that older and newer releases understand."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

RENAMED = {"group": "group_by", "size": "k", "memory": "memory_mb"}
"""Parameters by the names of this release, and the ones that a later release may give them."""


def called(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function by the names of its parameters, or by the later ones where it has these."""
    known = inspect.signature(function).parameters
    return function(*args, **{_name(name, known): value for name, value in named.items()})


def _name(name: str, known: Any) -> str:
    later = RENAMED.get(name, name)
    return later if name not in known and later in known else name
