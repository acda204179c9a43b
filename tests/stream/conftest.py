"""Streams in both databases, and documents that are easy to tell apart."""

import importlib.util
import os
import random
from typing import Any

from workspace.conftest import places, postgresql, workspace  # noqa: F401 - fixtures

if importlib.util.find_spec("sqlalchemy") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_*.py"]  # the extra `workspace` is not installed

WORDS = [f"word{n}" for n in range(400)]
TOPICS = {
    "quake": "earthquake tremor richter magnitude aftershock",
    "vote": "ballot election parliament minister turnout",
}


def made_document(number: int, topic: str | None = None, *, length: int = 30) -> dict[str, Any]:
    """Common words, a few of a topic where one is named; the same for the same number."""
    draw = random.Random(f"{number} {topic}")
    words = [WORDS[int(len(WORDS) * draw.random() ** 2)] for _ in range(length)]
    if topic is not None:
        words += draw.choices(TOPICS[topic].split(), k=8)
    draw.shuffle(words)
    return {
        "id": f"d{number}",
        "title": f"Document {number}",
        "text": " ".join(words),
        "date": f"2024-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
    }


def made_stream(n: int) -> list[dict[str, Any]]:
    """Every ninth document is of a topic, in turn."""
    names = [*TOPICS]
    return [made_document(i, names[i // 9 % 2] if i % 9 == 0 else None) for i in range(n)]


BACKGROUND = [made_document(-i) for i in range(1, 200)]
