"""Searches that `germane find` keeps in a workspace, and takes up again with the marks that were made on them."""

import dataclasses
from typing import TYPE_CHECKING, Any

from germane.errors import InputError
from germane.lazy import on_first_use
from germane.types import Mark

with on_first_use(__name__):
    from germane.metasearch import answers as metasearch_answers
    from germane.metasearch import merging
    from germane.workspace import values

if TYPE_CHECKING:
    from germane.metasearch.merging import FoundList
    from germane.types import Marks
    from germane.workspace import Workspace
    from germane.workspace.values import Result, Search


def save(workspace: "Workspace", found: "FoundList") -> "Search":
    """Keep a list as it was fetched: the query, every result with its fields, and where each source had it."""
    results = (
        values.Result(one.id, one.fields, one.score, [dataclasses.asdict(source) for source in one.provenance])
        for one in found
    )
    sources = ",".join(answer.source for answer in found.answers)
    return workspace.searches.record(found.query, results, source=sources, settings={"ranking": found.ranking})


def taken_up(workspace: "Workspace", search: "Search") -> "FoundList":
    """The list as it was kept."""
    results: list[merging.Found] = []
    records: dict[str, list[tuple[int, metasearch_answers.SourceRecord]]] = {
        name: [] for name in search.source.split(",") if name
    }
    for rank, result in enumerate(workspace.searches.results(search), start=1):
        provenance = tuple(merging.Provenance(**each) for each in _provenance(search, result))
        results.append(merging.Found(rank, result.document, result.score or 0.0, result.fields, provenance))
        for one in provenance:
            record = metasearch_answers.SourceRecord(one.id, result.fields, one.link, one.score)
            records.setdefault(one.source, []).append((one.rank, record))
    answers = tuple(
        metasearch_answers.SourceAnswer(name, tuple(record for _, record in sorted(given, key=lambda each: each[0])))
        for name, given in records.items()
    )
    return merging.FoundList(search.query, str(search.settings.get("ranking", "")), tuple(results), answers)


def keep_marks(workspace: "Workspace", search: "Search", marks: "Marks") -> "Marks":
    """Keep marks that are not there yet; all that hold then."""
    stored = workspace.marks.current(search)
    for given, known, mark in (
        (marks.relevant, stored.relevant, Mark.RELEVANT),
        (marks.not_relevant, stored.not_relevant, Mark.NOT_RELEVANT),
    ):
        for doc_id in given:
            if doc_id not in known:
                workspace.marks.mark(search, doc_id, mark)
    return workspace.marks.current(search)


def _provenance(search: "Search", result: "Result") -> list[dict[str, Any]]:
    names = {"source", "id", "rank", "link", "score"}
    if not isinstance(result.provenance, list) or not all(
        isinstance(each, dict) and each.keys() == names for each in result.provenance
    ):
        raise InputError(f"search {search.id} was not kept by 'germane find': it cannot be taken up again")
    return result.provenance
