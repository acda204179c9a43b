"""The ir_datasets reader, against a stand-in for the package, so that nothing is downloaded."""

import sys
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from germane.data import read_documents, read_qrels, read_topics
from germane.errors import InputError, MissingExtraError


class Section(NamedTuple):
    head: str
    body: str


class Doc(NamedTuple):
    doc_id: str
    title: str
    sections: tuple[Section, ...]
    tags: tuple[str, ...]
    raw: bytes

    def default_text(self):
        return f"{self.title} {self.sections[0].body}"


class Query(NamedTuple):
    query_id: str
    text: str


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


def load(name):
    if name != "toy":
        raise KeyError(name)
    return SimpleNamespace(
        has_docs=lambda: True,
        docs_iter=lambda: iter([Doc("d1", "T", (Section("h", "b"),), ("x", "y"), b"raw")]),
        has_queries=lambda: True,
        queries_iter=lambda: iter([Query("q1", "words")]),
        has_qrels=lambda: False,
    )


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))


@pytest.mark.usefixtures("toy")
def test_documents_and_topics():
    (document,) = read_documents("irds:toy")
    assert document.id == "d1"
    assert dict(document.fields) == {
        "title": "T",
        "sections": ['{"head":"h","body":"b"}'],
        "tags": ["x", "y"],
        "text": "T b",
    }
    assert list(read_topics("irds:toy")) == [("q1", "words")]
    (document,) = read_documents("irds:toy", mapping={"label": "title"})
    assert document.fields["label"] == "T"


@pytest.mark.usefixtures("toy")
def test_unknown():
    with pytest.raises(InputError, match="irds:other: ir_datasets knows no data set of this name"):
        list(read_documents("irds:other"))
    with pytest.raises(InputError, match="irds:toy: this data set has no qrels"):
        list(read_qrels("irds:toy"))


def test_package_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'germane\[datasets\]'"):
        list(read_documents("irds:toy"))


def test_what_cannot_be_fetched_is_a_sentence(monkeypatch):
    def fail():
        raise RuntimeError("All download sources failed", ["a long list"])
        yield

    broken = SimpleNamespace(has_docs=lambda: True, docs_iter=fail, has_qrels=lambda: True, qrels_iter=fail)
    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=lambda name: broken))
    with pytest.raises(InputError, match=r"irds:toy: ir_datasets cannot give the docs \(All download .* GERMANE_DATA"):
        list(read_documents("irds:toy"))
    with pytest.raises(InputError, match="cannot give the qrels"):
        list(read_qrels("irds:toy"))
