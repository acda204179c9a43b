"""A topic followed in this process: what is general is learnt from the index, what is on topic from a few documents."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from germane.errors import ParameterError
from germane.rank.retriever import Retriever
from germane.track import (
    Background,
    Bag,
    BagMaker,
    Costs,
    Follower,
    Following,
    Reference,
    Seen,
    TrackMethod,
    WordNumbers,
    method_named,
)
from germane.types import Document, text_of

SAMPLE = 2_000
"""Documents of the index that scores are held against."""

Text = str | Document | Mapping[str, Any]
"""A text, or a document with the text fields of the index."""


class General(NamedTuple):
    """What an index knows apart from any topic."""

    maker: BagMaker
    reference: Reference


def general_of(retriever: Retriever, beta: float = 0.5) -> General:
    """The words of the index with their frequencies as a `Background`, and an even sample of its documents."""
    schema = retriever.schema()
    if schema.n_docs == 0:
        raise ParameterError("the index is empty: there is nothing to hold a topic against")
    vocabulary = WordNumbers()
    parts = [(vocabulary.numbers(part.terms), part.df, part.cf) for part in retriever.vocabulary()]
    df, cf = (np.concatenate([part[i] for part in parts]).astype(np.float64) for i in (1, 2))
    state = {"beta": beta, "version": 1, "n_documents": schema.n_docs, "total": float(cf.sum()), "counts": cf,
             "document_counts": df}  # fmt: skip
    counts = retriever.gather(retriever.sample(SAMPLE))
    numbers = np.array(vocabulary.numbers(counts.terms), np.int64)  # ascending, as the terms are
    bags = [
        Bag(numbers[counts.words[begin:end]], counts.counts[begin:end])
        for begin, end in pairwise(counts.starts.tolist())
    ]
    return General(BagMaker(schema.analyzer, vocabulary), Reference(bags, Background.restored(state)))


def follower(
    retriever: Retriever,
    seeds: "Text | Sequence[Text]",
    method: str | TrackMethod,
    costs: Costs | None,
    unjudged: int,
) -> "TopicFollower":
    """Begin a topic from one document or a few."""
    chosen = method_named(method) if isinstance(method, str) else method
    documents = [seeds] if isinstance(seeds, str | Document | Mapping) else list(seeds)
    following = Following(chosen, costs or Costs(), unjudged)
    return TopicFollower(general_of(retriever), retriever.schema().text_fields, following, documents)


class TopicFollower:
    """A topic, and the documents that are shown to it: `see` each in turn, `judge` any.

    Nothing is kept when the process ends; `germane.stream.Watch` keeps it.
    """

    def __init__(self, general: General, fields: Sequence[str], following: Following, seeds: Sequence[Text]) -> None:
        self._maker, self._fields = general.maker, tuple(fields)
        self.follower = Follower.start(following, [self._bag(seed) for seed in seeds], general.reference)

    def see(self, document: Text) -> Seen:
        """The document's score (how far above background text), whether it is delivered, and whether it was learnt
        from."""
        return self.follower.see(self._bag(document))

    def judge(self, document: Text, on_topic: bool) -> None:
        """Learn from a person's word."""
        self.follower.judge(self._bag(document), on_topic)

    def words(self, n: int = 20) -> dict[str, float]:
        """The words that weigh most for the topic now, and their weights, the heaviest first."""
        weights = self.follower.tracker.weights
        heaviest = [i for i in np.argsort(-weights.values, kind="stable")[:n].tolist() if weights.values[i] > 0.0]
        return {self._maker.vocabulary.terms[weights.terms[i]]: float(weights.values[i]) for i in heaviest}

    def _bag(self, document: Text) -> Bag:
        if isinstance(document, str):
            return self._maker.bag(document)
        return self._maker.bag(text_of(document.fields if isinstance(document, Document) else document, self._fields))
