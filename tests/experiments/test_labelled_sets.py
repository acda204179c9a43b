"""Labelled data sets by name: a small one of each kind, and the public ones where GERMANE_DATA names them."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane.errors import InputError, ParameterError
from germane.experiments.labelled_sets import load_labelled
from germane.text import Analyzer

PUBLIC = os.environ.get("GERMANE_DATA")


def write(folder: Path, name: str, documents: list[dict[str, Any]]) -> None:
    (folder / name).mkdir()
    lines = "\n".join(json.dumps({"id": str(i), **document}) for i, document in enumerate(documents))
    (folder / name / "docs.jsonl").write_text(lines)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path))
    return tmp_path


def test_one_label_each(root: Path) -> None:
    write(
        root,
        "posts",
        [
            {"title": "Ranks", "text": "the rank of ranks", "label": "b", "split": "train"},
            {"title": "", "text": "documents", "label": "a", "split": "test"},
        ],
    )
    data = load_labelled("posts")
    assert data.terms == ("rank", "document")
    assert data.X.toarray().tolist() == [[3, 0], [0, 1]]
    assert (data.labels, data.y.tolist(), data.multi_label) == (("a", "b"), [1, 0], False)
    assert (data.train.tolist(), data.test.tolist()) == ([True, False], [False, True])
    assert load_labelled("posts", Analyzer("none", "none")).X.shape == (2, 5)
    with pytest.raises(ParameterError, match="multi-label"):
        load_labelled("posts", top=3)


def test_several_labels(root: Path) -> None:
    topics = [(["x"], "train"), (["y", "x"], "test"), ([], "train"), (["y"], "unused"), (["z", "x"], "train")]
    write(root, "news", [{"text": f"word{i}", "topics": own, "split": split} for i, (own, split) in enumerate(topics)])
    data = load_labelled("news")
    assert data.labels == ("x", "z", "y")  # by training documents
    assert data.ids == ("0", "1", "4")
    assert data.y.tolist() == [[True, False, False], [True, False, True], [True, True, False]]
    assert load_labelled("news", top=1, unlabelled=True).y.tolist() == [[True], [True], [False], [True]]


def test_no_label(root: Path) -> None:
    write(root, "bare", [{"text": "a word"}])
    with pytest.raises(InputError, match="document '0' has none"):
        load_labelled("bare")


@pytest.mark.skipif(not PUBLIC, reason="GERMANE_DATA is not set")
def test_reuters() -> None:
    data = load_labelled("reuters21578", top=10)
    assert (data.train.sum(), data.test.sum()) == (7775, 3019)
    assert data.labels[:3] == ("earn", "acq", "money-fx")
    assert data.y[data.test].sum(axis=0)[:2].tolist() == [1087, 719]
    assert data.X.dtype == np.float64
