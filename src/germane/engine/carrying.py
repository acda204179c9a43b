"""Results that are carried to another process, by pickle or what builds on it: their values, without the index."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from germane.engine.result_groups import ResultGroup
from germane.engine.results import SearchResult
from germane.errors import GermaneError
from germane.rank.retriever import Hits
from germane.rank.scoring.facets import Facet
from germane.types import FieldValue

if TYPE_CHECKING:
    from germane.rank.retriever import Retriever
    from germane.text import Analyzer


class Carried(NamedTuple):
    """Values of a result that travel: all that it reports about its documents."""

    told: Mapping[str, Any]
    """The public members."""
    scores: npt.NDArray[np.float64]
    ids: list[str]
    fields: list[dict[str, FieldValue]]
    total: int
    total_is_exact: bool
    text_fields: tuple[str, ...]
    analyzer: "Analyzer"


class CarriedResult(SearchResult):
    """A result in another process: hits, scores, fields, snippets, the total and what feedback learnt are as they were.

    What the index would have to be asked for, such as facets, is an error that says so.
    """

    def __init__(self, carried: Carried) -> None:
        none = np.empty(0, np.int64)
        vars(self).update(carried.told)
        vars(self).update(_hits=Hits(carried.scores, none), _ids=carried.ids, _carried=carried)

    @property
    def _held(self) -> Carried:
        held: Carried = vars(self)["_carried"]
        return held

    def __reduce__(self) -> tuple[Any, ...]:
        return CarriedResult, (self._held,)

    @property
    def total(self) -> int:
        return self._held.total

    @property
    def total_is_exact(self) -> bool:
        return self._held.total_is_exact

    @property
    def texts(self) -> "tuple[tuple[str, ...], Analyzer]":
        return self._held.text_fields, self._held.analyzer

    def fields(self, i: int) -> dict[str, FieldValue]:
        return self._held.fields[i]

    @property
    def located(self) -> "tuple[Hits, Retriever]":
        _refuse("where its documents lie")

    def facet(self, name: str, size: int = 10) -> Facet:
        _refuse(f"the facet '{name}'")

    def groups(self, n: int) -> tuple[ResultGroup, ...]:
        _refuse("groups")


def reduced(result: SearchResult) -> tuple[Any, ...]:
    """Return the constructor and the values that pickle stores of a result."""
    return CarriedResult, (_carried_of(result),)


def _carried_of(result: SearchResult) -> Carried:
    """The values of a result."""
    told = {each.name: getattr(result, each.name) for each in dataclasses.fields(result) if each.name[0] != "_"}
    told["query"] = result.query._replace(weights=dict(result.query.weights))
    fields = [result.fields(i) for i in range(len(result))]
    return Carried(told, result.scores, result.ids, fields, result.total, result.total_is_exact, *result.texts)


def _refuse(what: str) -> NoReturn:
    raise GermaneError(
        f"a result that was carried to another process has no index: ask for {what} before it is carried"
    )
