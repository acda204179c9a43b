"""Collections by name: indexed once, and the yardstick over the same terms."""

import gzip
import os

import pytest

from germane.experiments.collections import Collection, LiteralBM25, cache_folder
from germane.rank.registry import model_named
from germane.text import Analyzer
from germane.types import Document, Topic


def test_the_index_is_built_once_and_again_after_a_change(tiny, tmp_path):
    indexes = cache_folder() / "indexes"
    first = Collection.open("tiny")
    assert len(first.topics) == 6
    (folder,) = indexes.iterdir()
    built = folder.stat().st_ino
    Collection.open("tiny")
    assert folder.stat().st_ino == built
    with gzip.open(tiny / "docs.jsonl.gz", "at") as file:
        file.write('{"id": "new", "title": "", "text": "heart"}\n')
    assert len(Collection.open("tiny").engine) == 41
    assert len(list(indexes.iterdir())) == 2
    for path in folder.iterdir():
        if path.is_file():
            path.write_bytes(b"damaged")
    os.rename(folder, tmp_path / "spare")
    (newest,) = indexes.iterdir()
    for path in newest.iterdir():
        if path.is_file():
            path.write_bytes(b"damaged")
    assert len(Collection.open("tiny").engine) == 41  # rebuilt


def test_literal_bm25_is_the_engine_s(tiny):
    collection = Collection.open("tiny")
    literal = collection.literal.run(collection.topics, 1000, 1.7, 0.4)
    ours = collection.run(model_named("bm25", k1=1.7, b=0.4), 1000)
    assert {query: pytest.approx(scores) for query, scores in literal.items()} == ours


def test_literal_bm25_by_hand():
    documents = [Document("1", {"text": "wing wing plate"}), Document("2", {"text": "plate"})]
    run = LiteralBM25(documents, ["text"], Analyzer()).run([Topic("q", "wing")], 10, k1=1.0, b=0.5)
    # N=2, df=1, idf=log(1+1.5/1.5); avgdl=2, |D|=3; 2*2/(2 + 1*(.5+.5*1.5))
    assert run == {"q": {"1": pytest.approx(0.6931471805599453 * 4 / 3.25)}}
