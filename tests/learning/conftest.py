"""A world in which queries and titles have no word in common, and a log of clicks in it."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from germane import Document, Engine, Topic
from germane.types import Judgement

if importlib.util.find_spec("duckdb") is None and not os.environ.get("CI"):
    collect_ignore_glob = ["test_loop.py"]  # the extra `clicks` is not installed

THEMES, TITLES, QUERIES = 10, 8, 6


def words(side: str, theme: int, rng: np.random.Generator, n: int = 2) -> str:
    return " ".join(f"{side}{'abcdefghij'[theme]}{'vwxyz'[i]}" for i in sorted(rng.permutation(5)[:n].tolist()))


class World:
    """Documents by theme, queries on themes, and who is relevant for what."""

    def __init__(self) -> None:
        rng = np.random.default_rng(7)
        self.documents = [
            Document(f"d{theme}-{i}", {"title": words("title", theme, rng, 3), "text": "filler", "year": 2000 + i})
            for theme in range(THEMES) for i in range(TITLES)
        ]  # fmt: skip
        self.topics = [
            Topic(f"q{theme}-{i}", words("query", theme, np.random.default_rng([theme, i]), 2) + f" only{theme}n{i}")
            for theme in range(THEMES) for i in range(QUERIES)
        ]  # fmt: skip
        self.judgements = [
            Judgement(topic.id, document.id, 1) for topic in self.topics for document in self.documents
            if topic.id[1 : topic.id.index("-")] == document.id[1 : document.id.index("-")]
        ]  # fmt: skip

    def index(self, folder: Path, parts: int = 1) -> Engine:
        with Engine.create(folder) as engine:
            for i in range(parts):
                engine.add(self.documents[i::parts], threads=1)
        return engine


@pytest.fixture(scope="session")
def world() -> World:
    return World()


@pytest.fixture(scope="session")
def store(world, tmp_path_factory):
    """A history of the world's clicks."""
    from germane.clicks import ClickStore, simulate_log

    folder = tmp_path_factory.mktemp("clicks")
    log = simulate_log(
        world.documents, world.topics, world.judgements, folder / "log", searches=2500, users=60, zipf=0.3, days=5
    )
    made = ClickStore.create(folder / "store")
    made.add(list(log.files), memory_mb=256, threads=1)
    return made
