"""germane workspace list and show: what is there."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from germane.cli import options
from germane.cli.commands.workspace.parts import (
    CollectionName,
    ProjectName,
    ReviewerName,
    SearchNumber,
    Where,
    decided,
    one_part,
    opened,
)
from germane.cli.streams import put_json
from germane.cli.tables import put_rows, show_rows

if TYPE_CHECKING:
    from germane.types import Document
    from germane.workspace import Workspace

Said = tuple[str, str]
"""What was said of a record, and why."""


def list_(where: Where, json: options.Json = False, tsv: options.TabSeparated = False) -> None:
    """List what a workspace holds: collections, searches, projects with their reviewers, and all else by name.

    Example: germane workspace list my.workspace
    """
    wanted = options.one_of(json=json, tsv=tsv)
    from germane.workspace.responses import WorkspaceResponse

    with opened(where) as workspace:
        found = WorkspaceResponse.of(workspace)
    if wanted == "json":
        put_json(found)
    else:
        (put_rows if wanted == "tsv" else show_rows)(["kind", "name", "size"], [[*part] for part in found.parts])


def show(
    where: Where,
    collection: CollectionName = None,
    search: SearchNumber = None,
    project: ProjectName = None,
    reviewer: ReviewerName = None,
    format: options.RecordFormat = None,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Show the records of a collection or a search with their marks, or the decisions in a project.

    --reviewer says who asks, and shows their own decisions. Without it a project shows what all agree on, and what was
    settled; a blind one is revealed first.

    Example: germane workspace show my.workspace --collection reading

    Example: germane workspace show my.workspace --project review --reviewer ann --format ris
    """
    wanted = options.one_of(json=json, tsv=tsv, format=format is not None)
    with opened(where) as workspace:
        records = list(_records(workspace, collection, search, project, reviewer))
    if format is not None:
        from germane.data.writing import write_documents

        write_documents(sys.stdout, (document for document, _ in records), format)
        return
    titled = [(document, " ".join(str(document.fields.get("title") or "").split()), said) for document, said in records]
    if wanted == "json":
        from germane.workspace.responses import KeptRecord

        for document, title, (said, why) in titled:
            put_json(KeptRecord(document.id, title, document.fields, said or None, why or None))
        return
    rows = [[document.id, said, why, title] for document, title, (said, why) in titled]
    (put_rows if wanted == "tsv" else show_rows)(["id", "said", "why", "title"], rows)


def _records(
    workspace: "Workspace", collection: str | None, search: int | None, project: str | None, reviewer: str | None
) -> "Iterator[tuple[Document, Said]]":
    from germane.types import Document

    part = one_part(collection=collection, search=search, project=project)
    if part == "project":
        yield from _decided(workspace, str(project), reviewer)
        return
    if part == "collection":
        on = workspace.collections.get(str(collection))
        documents = workspace.collections.documents(on)
        marks = workspace.marks.current(on)
    else:
        made = workspace.searches.get(int(search or 0))
        documents = (Document(result.document, result.fields) for result in workspace.searches.results(made))
        marks = workspace.marks.current(made)
    said = dict.fromkeys(marks.relevant, "relevant") | dict.fromkeys(marks.not_relevant, "not relevant")
    for document in documents:
        yield document, (said.get(document.id, ""), "")


def _decided(workspace: "Workspace", name: str, reviewer: str | None) -> "Iterator[tuple[Document, Said]]":
    from germane.refine.screening.remarks import MAYBE, NO_REMARK
    from germane.types import Document

    project = workspace.projects.get(name)
    decisions, remarks = decided(workspace, project, reviewer)
    known = workspace.projects.documents(project)
    for doc_id in dict.fromkeys([*decisions, *remarks]):
        remark = remarks.get(doc_id, NO_REMARK)
        word = "included" if decisions.get(doc_id) else "excluded" if doc_id in decisions else ""
        why = "; ".join(filter(None, (remark.reason, remark.note and f"note: {remark.note}")))
        yield known.get(doc_id, Document(doc_id)), (word or (MAYBE if remark.maybe else ""), why)
