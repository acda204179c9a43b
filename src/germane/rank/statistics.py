"""What a ranking must know of a whole collection, as plain data: counted by each shard, merged, sent to all of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from germane.arrays import Integers
from germane.errors import ParameterError
from germane.index.snapshot import Snapshot, entropy_of
from germane.rank.models import RankingModel
from germane.rank.plan import Collection, Plan, QueryTerm, checked


class TermStatistics(NamedTuple):
    """Live documents that hold a term (df), and its occurrences in them (cf)."""

    df: int
    cf: int

    def merge(self, other: "TermStatistics") -> "TermStatistics":
        """Those of two sets of documents together."""
        return TermStatistics(self.df + other.df, self.cf + other.cf)


UNKNOWN = TermStatistics(0, 0)


@dataclass(frozen=True, eq=False)
class CollectionStatistics:
    """Documents, tokens, and the frequencies of terms: of a query's terms, or of the whole vocabulary (`complete`).

    Shards that score with the merged statistics of all give the scores of one index of all documents, bit for bit.
    TF-IDF and D-cross-entropy know every word of a document and need complete statistics; the others do with the
    query's terms.
    """

    n_docs: int
    n_tokens: int
    terms: Mapping[str, TermStatistics]
    complete: bool = False

    @classmethod
    def of(cls, snapshot: Snapshot, terms: Sequence[str] | None = None) -> "CollectionStatistics":
        """The statistics of an index: of some terms, or of its whole vocabulary."""
        if terms is not None:
            known = zip(terms, snapshot.term_stats(terms), strict=True)
            asked = {term: TermStatistics(stats.df, stats.cf) for term, stats in known}
            return cls(snapshot.n_docs, snapshot.n_tokens, asked)
        found: dict[str, TermStatistics] = {}
        for i, live in enumerate(snapshot.segments):
            df, cf = snapshot.live_frequencies(i)
            names = live.segment.terms(np.flatnonzero(df))
            found.update(zip(names, map(TermStatistics, df[df > 0].tolist(), cf[df > 0].tolist()), strict=True))
        return cls(snapshot.n_docs, snapshot.n_tokens, found, complete=True)

    @classmethod
    def merged(cls, parts: Iterable["CollectionStatistics"]) -> "CollectionStatistics":
        """The statistics of several shards together; no document may be in two of them."""
        parts = list(parts)
        terms: dict[str, TermStatistics] = {}
        for part in parts:
            for term, own in part.terms.items():
                terms[term] = terms[term].merge(own) if term in terms else own
        complete = all(part.complete for part in parts)
        return cls(sum(part.n_docs for part in parts), sum(part.n_tokens for part in parts), terms, complete)

    def known_terms(self, weights: Mapping[str, float]) -> list[QueryTerm]:
        """The terms of a query that the collection holds; an incomplete account must tell of all of them."""
        untold = [term for term in weights if term not in self.terms]
        if untold and not self.complete:
            raise ParameterError(
                f"the statistics do not tell of '{untold[0]}': count the query's terms in every shard, "
                "with CollectionStatistics.of(snapshot, terms)"
            )
        found = ((term, weight, self.terms.get(term, UNKNOWN)) for term, weight in weights.items())
        return [QueryTerm(term, weight, own.df, own.cf) for term, weight, own in found if own.df > 0 and weight > 0.0]

    def plan(self, weights: Mapping[str, float], model: RankingModel) -> Plan | None:
        """The work of a query over all shards; None if none of its terms is known."""
        terms = self.known_terms(checked(weights))
        return model.plan(terms, self.collection(entropy=model.needs_entropy)) if terms else None

    def collection(self, *, entropy: bool) -> Collection:
        """What a plan needs beside the terms; H(p_C) where it is asked for."""
        return Collection(self.n_docs, self.n_tokens, self.entropy if entropy else None)

    def frequencies(self, terms: Sequence[str]) -> tuple[Integers, Integers]:
        """df and cf of terms, which must all be told of or absent."""
        self._whole()
        found = np.array([self.terms.get(term, UNKNOWN) for term in terms], np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    @cached_property
    def entropy(self) -> float:
        """H(p_C), in nats."""
        self._whole()
        return entropy_of(np.array([own.cf for own in self.terms.values()], np.int64), self.n_tokens)

    @cached_property
    def digest(self) -> str:
        """The same for the same statistics: what has been computed with them can be remembered."""
        told = blake2b(f"{self.n_docs} {self.n_tokens} {self.complete}".encode(), digest_size=16)
        for term in sorted(self.terms):
            told.update(f"\n{term}\t{self.terms[term].df}\t{self.terms[term].cf}".encode("utf-8", "surrogatepass"))
        return told.hexdigest()

    def _whole(self) -> None:
        if not self.complete:
            raise ParameterError(
                "this model needs the statistics of the whole vocabulary: take CollectionStatistics.of(snapshot) of "
                "every shard, without naming terms"
            )

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        terms = {term: list(own) for term, own in self.terms.items()}
        return {"n_docs": self.n_docs, "n_tokens": self.n_tokens, "complete": self.complete, "terms": terms}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "CollectionStatistics":
        """What `to_dict` gave."""
        terms = {term: TermStatistics(*own) for term, own in content["terms"].items()}
        return cls(content["n_docs"], content["n_tokens"], terms, content["complete"])
