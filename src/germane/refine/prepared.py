"""A list of results as a person has it, and its analysis, which every refinement of the list shares."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from germane.errors import InputError, ParameterError, UnknownDocumentError
from germane.refine.weighting import ResultList
from germane.text import Analyzer, BulkAnalyzer
from germane.types import RESULT_FIELDS, text_of


class PreparedResults:
    """Ids in retrieval order, word counts, and the written form of each word. The texts themselves are let go.

    `results`: texts, pairs (id, text), or anything with an id and fields: a `Document`, a `Hit`, a mapping. A result
    without an id has the number of its place in the list, from 1. `ids` are unique and never empty.
    """

    def __init__(self, results: Iterable[Any], analyzer: Analyzer) -> None:
        self.ids, texts = read_results(results)
        self.analyzer = analyzer
        self._places = {result_id: place for place, result_id in enumerate(self.ids)}
        self._digest = _digest(self.ids, texts)
        bulk = BulkAnalyzer(analyzer)
        words, ends = bulk.analyze(texts)
        starts = np.concatenate(([0], ends))
        shape = (len(texts), len(bulk.terms))
        self.list = ResultList(sparse.csr_matrix((np.ones(len(words)), words.astype(np.int64), starts), shape))
        self.terms = bulk.terms
        self.words = bulk.surfaces()[0]

    def __len__(self) -> int:
        return len(self.ids)

    def holds(self, results: Iterable[Any], analyzer: Analyzer) -> bool:
        """Whether this is the analysis of these very results by this analyser."""
        return analyzer == self.analyzer and _digest(*read_results(results)) == self._digest

    def same_as(self, other: "PreparedResults") -> bool:
        """Whether the other is an analysis of the same results in the same way, so that words have the same numbers."""
        return self is other or (self.analyzer == other.analyzer and self._digest == other._digest)

    def place(self, result_id: str) -> int:
        """Where a result stands in the original order, from 0."""
        if result_id not in self._places:
            raise UnknownDocumentError(
                f"no result has the id '{result_id}'; there are {len(self.ids):,}, the first is '{self.ids[0]}'"
            )
        return self._places[result_id]


def read_results(results: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Ids and texts; `InputError` for an empty list, an id that comes twice, or something that is no result."""
    if isinstance(results, str | bytes | Mapping):
        raise ParameterError(
            "results are a list of texts, of pairs (id, text) or of documents, not one text or mapping"
        )
    ids: list[str] = []
    texts: list[str] = []
    for number, result in enumerate(results, start=1):
        result_id, text = _read(result, number)
        ids.append(result_id)
        texts.append(text)
    if not ids:
        raise InputError("there are no results to refine")
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        repeated = next(i for i in ids if i in seen or seen.add(i))  # type: ignore[func-returns-value]
        raise InputError(f"two results have the id '{repeated}'; a mark must mean one of them")
    return ids, texts


def _read(result: Any, number: int) -> tuple[str, str]:
    if isinstance(result, str):
        return str(number), result
    if isinstance(result, Mapping):
        fields = result.get("fields")
        return _id(result.get("id"), number), text_of(fields if isinstance(fields, Mapping) else result, RESULT_FIELDS)
    if hasattr(result, "id") and isinstance(getattr(result, "fields", None), Mapping):
        return _id(result.id, number), text_of(result.fields, RESULT_FIELDS)
    if isinstance(result, tuple | list) and len(result) == 2 and isinstance(result[1], str):
        return _id(result[0], number), result[1]
    raise InputError(f"result {number} is neither a text, a pair (id, text) nor a document: {type(result).__name__}")


def _id(value: object, number: int) -> str:
    if value is None:
        return str(number)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"the id of result {number} is neither a text nor a whole number: {value!r}")
    return str(value)


def _digest(ids: Sequence[str], texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Ids and the texts' hashes (64 bits, of this process alone): two lists of one digest are taken for the same."""
    return tuple(zip(ids, map(hash, texts), strict=True))
