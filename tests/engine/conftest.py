"""Small indexes for the engine's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from germane import Document, Engine

DOCUMENTS = [
    Document("1", {"title": "Heart attack", "text": "Myocardial infarction, known as heart attack.", "year": 2001}),
    Document("2", {"title": "Cardiac surgery", "text": "Surgery of the heart.", "year": 2005, "tags": ["a", "b"]}),
    Document("3", {"title": "Diet", "text": "Diets and the heart; attacks are rarer.", "year": 2010}),
    Document("4", {"title": "", "text": ""}),
    Document("5", {"title": "Knees", "text": "Surgery of the knee.", "tags": ["b"]}),
]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Five documents, open for writing."""
    with Engine.create(tmp_path / "index") as made:
        made.add(DOCUMENTS, threads=1)
        yield made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The same, for tests that only search."""
    with Engine.create(tmp_path_factory.mktemp("library") / "index") as made:
        made.add(DOCUMENTS, threads=1)
    return made
