"""A search over shards: a request goes to every shard as plain data, ids and scores come back and are joined.

1. each shard:       `CollectionStatistics.of(snapshot, terms)`, or without terms for models that need the vocabulary
2. the coordinator:  `CollectionStatistics.merged(...)`, then `ShardRequest.of(weights, model, k, statistics)`
3. each shard:       `score_shard(searcher, request)`
4. the coordinator:  `join(answers, k)`

The result is that of one index of all documents, to the last bit. Everything has `to_dict` and `from_dict` for JSON.
Priors stay at home: theirs for a document without the field depends on all documents.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from germane.rank.conditions import Condition, condition_from_dict, condition_to_dict
from germane.rank.models import RankingModel
from germane.rank.plan import Plan
from germane.rank.registry import description_of, model_named
from germane.rank.searcher import Searcher
from germane.rank.statistics import CollectionStatistics


@dataclass(frozen=True, eq=False)
class ShardRequest:
    """The best k documents of a plan, among those that pass all filters.

    `plan` is None where no shard holds a word of the query. `statistics` are there for a model that needs those of the
    whole vocabulary. `wordless`: see `Searcher.search_plan`.
    """

    plan: Plan | None
    model: RankingModel
    k: int
    filters: tuple[Condition, ...] = ()
    statistics: CollectionStatistics | None = None
    wordless: bool = False

    @classmethod
    def of(
        cls,
        weights: Mapping[str, float],
        model: RankingModel,
        k: int,
        statistics: CollectionStatistics,
        filters: Sequence[Condition] = (),
        wordless: bool = False,
    ) -> "ShardRequest":
        """Plan a query with the statistics of all shards."""
        needed = statistics if model.word_sums() is not None else None
        return cls(statistics.plan(weights, model), model, k, tuple(filters), needed, wordless)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        name, parameters = description_of(self.model)
        return {
            "plan": None if self.plan is None else self.plan.to_dict(),
            "model": {"name": name, "parameters": parameters},
            "k": self.k,
            "filters": [condition_to_dict(condition) for condition in self.filters],
            "statistics": None if self.statistics is None else self.statistics.to_dict(),
            "wordless": self.wordless,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ShardRequest":
        """What `to_dict` gave."""
        plan, statistics = content["plan"], content["statistics"]
        return cls(
            None if plan is None else Plan.from_dict(plan),
            model_named(content["model"]["name"], **content["model"]["parameters"]),
            content["k"],
            tuple(map(condition_from_dict, content["filters"])),
            None if statistics is None else CollectionStatistics.from_dict(statistics),
            content["wordless"],
        )


@dataclass(frozen=True, slots=True)
class ShardAnswer:
    """Documents, best first: ids and scores."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"ids": list(self.ids), "scores": list(self.scores)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ShardAnswer":
        """What `to_dict` gave."""
        return cls(tuple(content["ids"]), tuple(content["scores"]))


def score_shard(searcher: Searcher, request: ShardRequest) -> ShardAnswer:
    """The shard's best documents, scored as in the whole collection."""
    hits = searcher.search_plan(
        request.plan,
        request.model,
        request.k,
        filters=request.filters,
        statistics=request.statistics,
        wordless=request.wordless,
    )
    return ShardAnswer(tuple(searcher.ids(hits)), tuple(hits.scores.tolist()))


def join(answers: Iterable[ShardAnswer], k: int) -> ShardAnswer:
    """The best k of all shards in the total order: score descending, then id ascending."""
    rows = (
        zip((-score for score in answer.scores), answer.ids, strict=True) for answer in answers
    )  # each in that order already
    best = [row for row, _ in zip(heapq.merge(*rows), range(k), strict=False)]
    return ShardAnswer(tuple(doc_id for _, doc_id in best), tuple(-score for score, _ in best))
