"""Counts, first and last records of public collections, where `GERMANE_DATA` says they are."""

import os

import pytest

from germane.data import read_documents, read_qrels, read_topics

ROOT = os.environ.get("GERMANE_DATA", "")
pytestmark = pytest.mark.skipif(not ROOT, reason="set GERMANE_DATA to the folder of the public collections")

COLLECTIONS = [
    ("cranfield", 1400, ("1", "experimental investigation of the aerodynamics"), ("1400", "the buckling shear stress")),
    ("scifact", 5183, ("4983", "Microstructural development of human"), ("198309074", "Adhesion molecules and")),
    ("reuters21578", 21578, ("1", "BAHIA COCOA REVIEW"), ("21578", "AMERICAN EXCHANGE INTRODUCES")),
]


@pytest.fixture(autouse=True)
def present(request):
    name = request.node.callspec.params["name"]
    if not os.path.isdir(os.path.join(ROOT, name)):
        pytest.skip(f"no collection {name} in GERMANE_DATA")


@pytest.mark.parametrize(("name", "count", "first", "last"), COLLECTIONS)
def test_documents(name, count, first, last):
    documents = list(read_documents(name))
    assert len(documents) == count
    for document, (identifier, title) in ((documents[0], first), (documents[-1], last)):
        assert document.id == identifier
        assert document.fields["title"].startswith(title)
    if name == "reuters21578":
        assert documents[0].fields["places"] == ["el-salvador", "usa", "uruguay"]


@pytest.mark.parametrize(
    ("name", "suffix", "topics", "judgements"),
    [
        ("cranfield", "", 225, 1837),
        ("scifact", "", 300, 339),
        ("scifact", "_train", 809, 919),
        ("reuters21578", "_topics", 120, 14300),
    ],
)
def test_topics_and_judgements(name, suffix, topics, judgements):
    folder = os.path.join(ROOT, name)
    read = list(read_topics(os.path.join(folder, f"queries{suffix}.tsv")))
    assert len(read) == topics
    graded = list(read_qrels(os.path.join(folder, f"qrels{suffix}.txt")))
    assert len(graded) == judgements
    assert {judgement.query_id for judgement in graded} <= {topic.id for topic in read}
    if not suffix:
        assert list(read_topics(name)) == read
        assert list(read_qrels(name)) == graded


@pytest.mark.parametrize("name", ["cranfield"])
def test_three_columns(name):
    assert sum(1 for _ in read_qrels(os.path.join(ROOT, name, "qrels_original_codes.tsv"))) == 1837
