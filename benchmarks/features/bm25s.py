"""Probes of bm25s."""

from tempfile import mkdtemp

import bm25s

TEXTS = ["a heart attack needs help at once", "the surgery took four hours", "the heart of the army was brave"]


def ranking() -> None:
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(TEXTS, show_progress=False), show_progress=False)
    places, _ = retriever.retrieve(bm25s.tokenize("surgery", show_progress=False), k=1, show_progress=False)
    assert places[0, 0] == 1
    retriever.save(mkdtemp())


def ranges() -> None:
    """A mask of documents given by the caller: a filter, but no fields to filter by."""
    import numpy as np

    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(TEXTS, show_progress=False), show_progress=False)
    scores = retriever.get_scores(["heart"], weight_mask=np.array([0, 1, 1]))
    assert scores[0] == 0 < scores[2]
