"""Clicks and runs with a known truth, small enough to be made where they are needed."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from germane.engine import Engine


def planted_clicks(engine: Engine, application: str = "research", queries: int = 40, visitors: int = 24) -> bytes:
    """A log of the page: every visitor searches for two words of a title, and opens what is of the same theme, less
    often further down. The lists are turned, as if the ranking had changed."""
    rng = random.Random(7)
    began = datetime(2026, 3, 2, 9, tzinfo=UTC)
    lines = []
    for number, query in enumerate(_queries(engine, queries)):
        best = engine.search(query[1], 10, syntax=False).ids
        for visitor in range(visitors):
            found = [*best[visitor % 4 :], *best[: visitor % 4]]  # what is seen at several places tells of places
            at = began + timedelta(days=visitor % 3, minutes=3 * number, seconds=visitor)
            row = {
                "query_id": f"{number:012}{visitor:012}", "client_id": f"visitor{visitor:017}",
                "user_query": query[1], "application": application,
            }  # fmt: skip
            lines.append({**row, "timestamp": at.isoformat(), "query_response_hit_ids": list(found)})
            for position, name in enumerate(found, start=1):
                if name.rpartition("-")[0] == query[0] and rng.random() < 1.0 / position:
                    attributes = {"object": {"object_id": name}, "position": {"ordinal": position}}
                    when = (at + timedelta(seconds=5 + position)).isoformat()
                    lines.append({**row, "timestamp": when, "action_name": "click", "event_attributes": attributes})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _queries(engine: Engine, n: int) -> Iterator[tuple[str, str]]:
    for document in list(engine.documents())[: 5 * n : 5]:
        words = [word.strip(",:").lower() for word in str(document.fields["title"]).split() if len(word) > 4]
        yield document.id.rpartition("-")[0], " ".join(words[:2])


def planted_run(engine: Engine, *, model: str, queries: int = 24) -> str:
    """A run over themes, in TREC's columns."""
    return "".join(
        f"{theme} Q0 {hit.id} {rank} {hit.score:.6f} {model}\n"
        for theme, text in _themes(engine, queries)
        for rank, hit in enumerate(engine.search(text, 20, model=model, syntax=False), start=1)
    )


def planted_qrels(engine: Engine, queries: int = 24) -> str:
    """What is of a theme is relevant to it."""
    ids = [document.id for document in engine.documents()]
    return "".join(
        f"{theme} 0 {name} {int(name.rpartition('-')[0] == theme)}\n"
        for theme, _ in _themes(engine, queries)
        for name in ids
        if name.rpartition("-")[0] == theme or name.endswith("-03")
    )


def _themes(engine: Engine, n: int) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for theme, text in _queries(engine, len(engine) // 5):
        found.setdefault(theme, text)
    return [*found.items()][:n]
