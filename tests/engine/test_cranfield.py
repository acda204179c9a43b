"""A real collection: Cranfield's counts, and its mean average precision by an independent sum."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from germane import Engine
from germane.data import read_documents, read_qrels, read_topics

ROOT = os.environ.get("GERMANE_DATA", "")
pytestmark = pytest.mark.skipif(
    not (Path(ROOT) / "cranfield").is_dir() if ROOT else True,
    reason="set GERMANE_DATA to the folder of the public collections (cranfield)",
)


def average_precision(ranked: Sequence[str], relevant: set[str]) -> float:
    found, total = 0, 0.0
    for rank, doc_id in enumerate(ranked, start=1):
        if doc_id in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)


@pytest.fixture(scope="module")
def cranfield(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    with Engine.create(tmp_path_factory.mktemp("cranfield") / "index") as engine:
        engine.add(read_documents("cranfield"))
    return engine


@pytest.fixture(scope="module")
def relevant() -> dict[str, set[str]]:
    judged: dict[str, set[str]] = {}
    for judgement in read_qrels("cranfield"):
        if judgement.grade > 0:
            judged.setdefault(judgement.query_id, set()).add(judgement.doc_id)
    return judged


def mean_average_precision(engine: Engine, relevant: dict[str, set[str]], model: str) -> float:
    results = engine.batch(read_topics("cranfield"), 1000, model=model)
    precisions = [
        average_precision(result.ids, relevant[topic.id]) for topic, result in results if topic.id in relevant
    ]
    assert len(precisions) == len(relevant)
    return sum(precisions) / len(precisions)


def test_counts(cranfield: Engine, relevant: dict[str, set[str]]) -> None:
    stats = cranfield.stats()
    assert stats.documents == len(cranfield) == 1400
    assert stats.segments == 1
    assert sum(map(len, relevant.values())) == 1837
    assert len(relevant) == 225
    assert str(cranfield.document("471").fields["text"]).strip() == ""


def test_mean_average_precision(cranfield: Engine, relevant: dict[str, set[str]]) -> None:
    assert mean_average_precision(cranfield, relevant, "dirichlet") > 0.39


def test_t_cross_entropy_beats_d_cross_entropy(cranfield: Engine, relevant: dict[str, set[str]]) -> None:
    """SD chapter 2."""
    ours = mean_average_precision(cranfield, relevant, "dirichlet")
    assert ours > mean_average_precision(cranfield, relevant, "dce")
