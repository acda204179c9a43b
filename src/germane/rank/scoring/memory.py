"""What is remembered of answers, up to a number of them."""

from collections.abc import Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


def remember(memory: dict[Key, Made], key: Key, made: Made, most: int) -> None:
    """Keep what was made. Many parameters were tried: start anew; no thread relies on what another may forget."""
    if len(memory) >= most:
        memory.clear()
    memory[key] = made
