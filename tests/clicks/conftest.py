"""Logs for the tests: rows as UBI has them, written as JSON Lines, and a history made of them."""

import importlib.util
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("duckdb") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_*.py"]  # the extra `clicks` is not installed

Row = dict[str, Any]


def query(query_id: str, time: str, words: str | None, hits: Iterable[str] | None = None, client: str = "c1") -> Row:
    row: Row = {"query_id": query_id, "timestamp": time, "client_id": client}
    if words is not None:
        row["user_query"] = words
    if hits is not None:
        row["query_response_hit_ids"] = list(hits)
    return row


def click(
    query_id: str | None,
    time: str,
    found: str | None,
    position: object = None,
    client: str | None = "c1",
    action: str = "click",
    **more: Any,
) -> Row:
    attributes: Row = {}
    if position is not None:
        attributes["position"] = {"ordinal": position}
    if found is not None:
        attributes["object"] = {"object_id": found, "name": f"Title of {found}"}
    row = {"query_id": query_id, "timestamp": time, "action_name": action, "client_id": client}
    return {**row, "event_attributes": attributes, **more}


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def history(tmp_path: Path) -> Callable[..., Any]:
    """Makes a history of rows."""
    from germane.clicks import ClickStore, ImportRules

    def made(rows: Iterable[Mapping[str, Any]], **rules: Any) -> Any:
        store = ClickStore.create(tmp_path / "history", ImportRules(**rules))
        store.add([write_jsonl(tmp_path / "log.jsonl", rows)], memory_mb=256, threads=1)
        return store

    return made
