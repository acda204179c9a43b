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
    one_part,
    opened,
)
from germane.cli.streams import put_json
from germane.cli.tables import put_rows, show_rows
from germane.lazy import on_first_use
from germane.types import Document

with on_first_use(__name__):
    from germane.data import writing
    from germane.refine.screening import verdicts
    from germane.workspace import responses

if TYPE_CHECKING:
    from germane.refine.screening.verdicts import Verdict
    from germane.workspace import Workspace


def list_(where: Where, json: options.Json = False, tsv: options.TabSeparated = False) -> None:
    """List what a workspace holds: collections, searches, projects with their reviewers, and all else by name.

    Example: germane workspace list my.workspace
    """
    wanted = options.one_of(json=json, tsv=tsv)

    with opened(where) as workspace:
        found = responses.WorkspaceResponse.of(workspace)
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
        writing.write_documents(
            sys.stdout, (verdicts.with_verdict(document, said, format) for document, said in records), format
        )
        return
    words = ("relevant", "not relevant") if project is None else ("included", "excluded")
    rows = []
    for document, said in records:
        annotation = said.annotation
        word = said.word if said.included is None else words[not said.included]
        why = "; ".join(filter(None, (annotation.reason, annotation.note and f"note: {annotation.note}")))
        rows.append((document, word, why, " ".join(str(document.fields.get("title") or "").split())))
    if wanted == "json":
        for document, word, why, title in rows:
            put_json(responses.KeptRecord(document.id, title, document.fields, word or None, why or None))
        return
    shown = [[document.id, *texts] for document, *texts in rows]
    (put_rows if wanted == "tsv" else show_rows)(["id", "said", "why", "title"], shown)


def _records(
    workspace: "Workspace", collection: str | None, search: int | None, project: str | None, reviewer: str | None
) -> "Iterator[tuple[Document, Verdict]]":
    part = one_part(collection=collection, search=search, project=project)
    if part == "project":
        found = workspace.projects.get(str(project))
        known = workspace.projects.documents(found)
        for doc_id, verdict in workspace.projects.verdicts(found, reviewer).items():
            yield known.get(doc_id, Document(doc_id)), verdict
        return
    if part == "collection":
        on = workspace.collections.get(str(collection))
        documents = workspace.collections.documents(on)
        said = workspace.marks.verdicts(on)
    else:
        made = workspace.searches.get(int(search or 0))
        documents = (Document(result.document, result.fields) for result in workspace.searches.results(made))
        said = workspace.marks.verdicts(made)
    for document in documents:
        yield document, said.get(document.id, verdicts.NO_VERDICT)
