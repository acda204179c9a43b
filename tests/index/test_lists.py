"""Posting lists read from the first to the last are those that are read one by one."""

from pathlib import Path

import pytest

from germane.index.builder import SegmentBuilder
from germane.index.lists import ESCAPE, PostingsReader
from germane.index.segment import Segment
from germane.index.unpacking import unpack_list
from germane.text import Analyzer
from germane.types import Document


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_lists_in_pieces(tmp_path: Path, step: int) -> None:
    """Word i is in every i-th document, so that some lists have several blocks, and some frequencies are escaped."""
    builder = SegmentBuilder(Analyzer(stemmer="none", stopwords="none"), ("text",))
    texts = [" ".join(f"w{i}" for i in range(1, 40) if not doc % i) + " own" * (doc % 3) for doc in range(900)]
    builder.add([Document(str(doc), {"text": text}) for doc, text in enumerate(texts)], 0)
    builder.write(tmp_path / "segment", {})
    segment = Segment(tmp_path / "segment")
    segment.verify_lists()
    assert (segment.df > ESCAPE).sum() > 2
    reader = PostingsReader(segment.container)
    while reader.lists < segment.n_terms:
        assert len(reader.read(0)[0].table.last) == 0
        first_term = reader.lists
        n = min(step, segment.n_terms - first_term)
        blocks, first, df = reader.read(n)
        assert df.tolist() == segment.df[first_term : first_term + n].tolist()
        for i in range(n):
            found, expected = unpack_list(blocks, int(first[i]), int(df[i])), segment.postings(first_term + i)
            assert [own.tolist() for own in found] == [own.tolist() for own in expected]
