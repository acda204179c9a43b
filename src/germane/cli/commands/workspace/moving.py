"""germane workspace export and import: the archive, records, and files of decisions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.commands.workspace.parts import CollectionName, ProjectName, ReviewerName, Where, opened
from germane.cli.documents import tell_skipped
from germane.cli.streams import counted, tell
from germane.errors import ParameterError

if TYPE_CHECKING:
    from germane.types import Document
    from germane.workspace import Workspace
    from germane.workspace.values import Project


def export(
    where: Where,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes.", show_default=False)],
    collection: CollectionName = None,
    project: ProjectName = None,
    reviewer: ReviewerName = None,
) -> None:
    """Write everything as one archive of JSON Lines; or the records of a collection, or decisions, in FILE's format.

    Decisions are those of --reviewer, or what all agree on, and go into .csv, .tsv, .jsonl or .ris.

    Example: germane workspace export my.workspace backup.jsonl

    Example: germane workspace export my.workspace reading.ris --collection reading

    Example: germane workspace export my.workspace decisions.csv --project review --reviewer ann
    """
    _one(collection, project)
    with opened(where) as workspace:
        if collection is not None:
            from germane.data.writing import write_documents

            count = write_documents(to, workspace.collections.documents(workspace.collections.get(collection)))
            tell(f"{counted(count, 'record')} written to {to}")
        elif project is not None:
            from germane.refine.screening.decisions import write_decisions

            found = workspace.projects.get(project)
            held = workspace.projects.decisions(found, reviewer) if reviewer else workspace.projects.outcome(found)
            write_decisions(to, held, _documents(workspace, found))
            tell(f"{counted(len(held), 'decision')} written to {to}")
        else:
            from germane.workspace import export_archive

            tell(f"{counted(export_archive(workspace, to), 'row')} written to {to}")


def import_(
    where: Where,
    source: Annotated[str, typer.Argument(metavar="FILE", help="What comes in.", show_default=False)],
    collection: CollectionName = None,
    project: ProjectName = None,
    reviewer: ReviewerName = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
) -> None:
    """Take in an archive, into an empty workspace; or references into a collection; or decisions into a project.

    A collection that is not there is made. Of two records with one id the first stays, and the other is reported.

    Example: germane workspace import new.workspace backup.jsonl

    Example: germane workspace import my.workspace references.ris --collection reading

    Example: germane workspace import my.workspace decisions.csv --project review --reviewer ann
    """
    _one(collection, project)
    with opened(where) as workspace:
        if collection is not None:
            _import_records(workspace, source, collection, format, encoding, on_error)
        elif project is not None:
            from germane.refine.screening.decisions import read_decisions

            if reviewer is None:
                raise ParameterError("whose decisions? Name a --reviewer")
            found = read_decisions(source)
            made = workspace.projects.get(project)
            workspace.projects.join(made, reviewer)
            held = workspace.projects.decisions(made, reviewer)
            other = next((doc_id for doc_id in found if held.get(doc_id, found[doc_id]) is not found[doc_id]), None)
            if other is not None:
                raise ParameterError(f"document '{other}' was decided the other way already")
            new = workspace.projects.keep(made, reviewer, held | found)
            tell(f"{counted(len(found), 'decision')} read, {new:,} new")
        else:
            from germane.workspace import import_archive

            tell(f"{counted(import_archive(workspace, source), 'row')} read from {source}")


def _import_records(
    workspace: "Workspace", source: str, name: str, format: str | None, encoding: str, on_error: options.OnError
) -> None:
    from germane.data import SkipReport, read_documents

    known = {each.name: each for each in workspace.collections.all()}
    collection = known.get(name) or workspace.collections.create(name)
    skipped = SkipReport()
    report = workspace.collections.add(
        collection,
        read_documents(
            source, format=format, encoding=encoding, on_error=on_error.value, report=skipped, number=True,
            keep_source=True,
        ),
    )  # fmt: skip
    tell_skipped(skipped)
    for doc_id in report.clashing[: skipped.keep]:
        tell(f"left out: '{doc_id}' is the id of another record")
    told = f", {report.present:,} were there already" if report.present else ""
    clashing = f", {len(report.clashing):,} left out for their ids" if report.clashing else ""
    tell(f"{counted(report.added, 'record')} added to '{name}'{told}{clashing}")


def _documents(workspace: "Workspace", project: "Project") -> "dict[str, Document]":
    """The records of a project, where they are kept here."""
    chosen = [each for each in workspace.collections.all() if each.id == project.collection_id]
    return {document.id: document for each in chosen for document in workspace.collections.documents(each)}


def _one(collection: str | None, project: str | None) -> None:
    if collection is not None and project is not None:
        raise ParameterError("choose one of --collection and --project")
