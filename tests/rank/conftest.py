"""Indexes for the ranking tests, built from lists of tokens so that a test knows every count."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from unittest.mock import patch

import pytest

from germane import Analyzer, Document, Engine

RAW = Analyzer(stemmer="none", stopwords="none")
Tokens = Mapping[str, Sequence[str]]
Build = Callable[..., Engine]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build an index: each positional argument (id -> tokens, or documents) becomes one segment, none is merged."""
    root = tmp_path_factory.mktemp("indexes")
    numbers = itertools.count()

    def _build(*segments: Tokens | Iterable[Document], delete: Sequence[str] = (), analyzer: Analyzer = RAW) -> Engine:
        engine = Engine.create(root / str(next(numbers)), analyzer=analyzer)
        with patch("germane.index.merge_scheduler.choose_merge", return_value=[]):
            for segment in segments:
                engine.add(_documents(segment), threads=1)
            if delete:
                engine.delete(delete)
            engine.close()
        return Engine.open(engine.folder)

    return _build


def _documents(segment: Tokens | Iterable[Document]) -> Iterable[Document]:
    if isinstance(segment, Mapping):
        return [Document(doc_id, {"text": " ".join(tokens)}) for doc_id, tokens in segment.items()]
    return segment
