"""What a meta-search answers, as every door prints it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from germane.metasearch.merging import Found, FoundList, Provenance
from germane.refine.responses import RefinementResponse
from germane.schema import ABSENT, Response
from germane.types import FieldValue


@dataclass(frozen=True, slots=True)
class FoundResponse(Response):
    """One result: its rank in the list that is told, what all sources say of it together, and where each found it.

    `title` is left out where there is none.
    """

    rank: int
    id: str
    score: float
    provenance: tuple[Provenance, ...]
    title: Annotated[FieldValue, ABSENT] = None
    link: Annotated[str | None, ABSENT] = None
    fields: Annotated[Mapping[str, FieldValue] | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class SourceResponse(Response):
    """What a source gave: how many records, how many it says there are, what went wrong (`failure`), its notes."""

    source: str
    records: int
    total: int | None
    failure: Annotated[str | None, ABSENT] = None
    message: Annotated[str | None, ABSENT] = None
    notes: Annotated[tuple[str, ...] | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class FindResponse(Response):
    """One list of many sources, duplicates joined. `hits` are in the order of the refinement where there is one.

    `ranking` is how the lists were fused; `duplicates`: records that were joined with another.
    """

    query: str
    ranking: str
    sources: tuple[SourceResponse, ...]
    records: int
    duplicates: int
    hits: tuple[FoundResponse, ...]
    refinement: Annotated[RefinementResponse | None, ABSENT] = None

    @classmethod
    def of(cls, found: FoundList, refined: RefinementResponse | None = None, k: int | None = None) -> "FindResponse":
        """The first k results, or all of them."""
        by_id = {one.id: one for one in found}
        order = [one.id for one in refined.results] if refined is not None else found.ids
        return cls(
            found.query,
            found.ranking,
            tuple(_source(found, place) for place in range(len(found.answers))),
            sum(len(answer.records) for answer in found.answers),
            found.duplicates,
            tuple(_hit(by_id[name], rank) for rank, name in enumerate(order[:k], start=1)),
            refined,
        )


def _source(found: FoundList, place: int) -> SourceResponse:
    answer = found.answers[place]
    failure = answer.failure
    return SourceResponse(
        answer.source,
        len(answer.records),
        answer.total,
        None if failure is None else failure.kind,
        None if failure is None else failure.message,
        answer.notes or None,
    )


def _hit(found: Found, rank: int) -> FoundResponse:
    return FoundResponse(
        rank, found.id, found.score, found.provenance, found.fields.get("title"), found.link or None, found.fields
    )
