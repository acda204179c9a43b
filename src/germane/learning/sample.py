"""Samples of a click history for an index: pairs with the titles that the index has, and how clicks are distributed."""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from germane.arrays import Floats
from germane.lazy import on_first_use
from germane.types import Document, title_of

with on_first_use(__name__):
    from germane import clicks
    from germane.clicks import pairs as clicks_pairs

if TYPE_CHECKING:
    from germane.clicks import ClickStore, PairRules, PairsReport, SearchRules

SPLIT = 1 << 32
_PAIRS = "pairs.jsonl"


class ClickedPair(NamedTuple):
    """A query, a document of the index that was clicked for it, its title, Score(d, q), and how many people typed the
    query."""

    query: str
    doc_id: str
    title: str
    weight: float
    users: int | None = None


@dataclass(frozen=True, eq=False)
class ClickSample:
    """Some days of a history: pairs, the report of how they came about, and counts of searches and clicks."""

    days: tuple[str, ...]
    pairs: list[ClickedPair]
    report: "PairsReport"
    searches: Mapping[str, int]
    clicks_by_position: Floats
    people: frozenset[int] = frozenset()
    """The codes of those who typed a query of a pair (`clicks.observations.person_code`)."""

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the pairs."""
        digest = hashlib.sha256()
        for pair in self.pairs:
            digest.update(orjson.dumps((pair.query, pair.doc_id, pair.title, pair.weight)))
        return digest.hexdigest()


def sampled(
    store: "ClickStore",
    documents: Iterable[Document],
    text_fields: Sequence[str],
    *,
    days: Sequence[str] | None = None,
    search_rules: "SearchRules | None" = None,
    pair_rules: "PairRules | None" = None,
    memory_mb: int,
    threads: int | None,
    on_progress: Callable[[str], None] | None = None,
) -> ClickSample:
    """Observe some days of the history, and make pairs with the titles of the documents."""
    titled = (Document(each.id, {"title": title_of(each.fields, text_fields)}) for each in documents)
    with (
        tempfile.TemporaryDirectory(prefix="germane-") as folder,
        clicks.observe(
            store, search_rules, memory_mb=memory_mb, threads=threads, work=folder, on_progress=on_progress, days=days
        ) as observed,
    ):
        path = Path(folder) / _PAIRS
        report = clicks.write_pairs(observed, path, pair_rules, titles=titled)
        users = observed.users_by_query()
        pairs = [pair._replace(users=users.get(pair.query)) for pair in _read(path)]
        return ClickSample(
            observed.days, pairs, report, observed.searches_by_query(), observed.raw_curve()[1],
            clicks_pairs.people_of_pairs(observed),
        )  # fmt: skip


def _read(path: Path) -> Iterator[ClickedPair]:
    with path.open("rb") as lines:
        for line in lines:
            row = orjson.loads(line)
            yield ClickedPair(row["query"], row["object"], row["title"], row["weight"])


def held_out(query: str, share: float, purpose: str) -> bool:
    """Whether a query belongs to the share held out: by its hash, so that it stays so for every later model."""
    return int(hashlib.sha256(f"{purpose}\0{query}".encode()).hexdigest()[:8], 16) < share * SPLIT
