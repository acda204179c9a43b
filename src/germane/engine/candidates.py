"""The best documents of a first ranking, with all that a second look at them may ask."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from germane.arrays import Floats, Integers
from germane.rank.models.base import RankingModel
from germane.rank.retriever import Counts, Hits, Refs, Retriever, Scoring, SignedTopic
from germane.rank.scoring.priors import Prior
from germane.types import FieldValue


class Gathered(NamedTuple):
    """The words of some documents, numbered from 0 on: words of these documents and of the query, nothing else.

    Document i holds the words `words[starts[i]:starts[i+1]]` (ascending) `counts` times; `lengths` are |D|. `query`:
    word -> weight, for the query's words that the collection holds. `terms` names the words; `df` and `cf` are their
    frequencies in the collection.
    """

    query: dict[int, float]
    starts: Integers
    words: Integers
    counts: Floats
    lengths: Floats
    terms: Sequence[str]
    df: Integers
    cf: Integers


def gathered(retriever: Retriever, refs: Refs, weights: Mapping[str, float]) -> Gathered:
    """Read documents as counts, with the words of a query that have a weight above 0."""
    wanted = {term: weight for term, weight in weights.items() if weight > 0.0}
    counts = retriever.gather(refs, [*wanted])
    return Gathered(_by_number(wanted, counts), *counts)


def _by_number(weights: Mapping[str, float], counts: Counts) -> dict[int, float]:
    """Number the terms that have weights as the counts do; those that the collection lacks are left out."""
    numbered = {}
    for term, weight in weights.items():
        at = bisect_left(counts.terms, term)
        if at < len(counts.terms) and counts.terms[at] == term:
            numbered[at] = weight
    return numbered


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best documents of a first ranking, in its order, for a re-ranker to score again.

    `topic`: the query as the first ranking knew it, with feedback the one it learnt. `ids` and `scores` cost nothing;
    `gathered` (counts) and `fields` are read when they are first asked for.
    """

    topic: SignedTopic
    hits: Hits = field(repr=False)
    retriever: Retriever = field(repr=False)
    priors: tuple[Prior, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.hits.refs)

    @property
    def refs(self) -> Refs:
        """References to the documents."""
        return self.hits.refs

    @property
    def scores(self) -> Floats:
        """The scores of the first ranking, descending; -inf for what a re-ranker brought itself (`Widening`)."""
        return self.hits.scores

    @cached_property
    def ids(self) -> list[str]:
        """The documents' ids."""
        return self.retriever.ids(self.refs)

    @cached_property
    def gathered(self) -> Gathered:
        """The documents' words and lengths."""
        return gathered(self.retriever, self.refs, self.topic.weights)

    def fields(self, i: int) -> dict[str, FieldValue]:
        """The stored fields of candidate i (from 0)."""
        return self.retriever.documents(self.refs[i : i + 1])[0]

    def scores_by(self, model: RankingModel) -> Floats:
        """The candidates' exact scores by any ranking model, under the topic and the priors of the first ranking."""
        return self.retriever.score(self.refs, Scoring(self.topic, model, self.priors))
