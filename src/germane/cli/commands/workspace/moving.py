"""germane workspace export and import: the archive, records, and files of decisions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.commands.workspace.parts import CollectionName, ProjectName, ReviewerName, Where, opened
from germane.cli.documents import tell_skipped
from germane.cli.path_conflicts import require_apart
from germane.cli.streams import tell
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import data
    from germane import workspace as workspaces
    from germane.data import writing
    from germane.refine.screening import annotations
    from germane.refine.screening import decisions as screening_decisions

if TYPE_CHECKING:
    from germane.workspace import Workspace


def export(
    where: Where,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes.", show_default=False)],
    collection: CollectionName = None,
    project: ProjectName = None,
    reviewer: ReviewerName = None,
) -> None:
    """Write everything as one archive of JSON Lines; or the records of a collection, or decisions, in FILE's format.

    Decisions are those of --reviewer, or what all agree on, with reasons, notes and what waits (maybe), and go into
    .csv, .tsv, .jsonl or .ris.

    Example: germane workspace export my.workspace backup.jsonl

    Example: germane workspace export my.workspace reading.ris --collection reading

    Example: germane workspace export my.workspace decisions.csv --project review --reviewer ann
    """
    _one(collection, project)
    require_apart({"FILE": to}, [where, *(f"{where}{log}" for log in ("-wal", "-shm"))])
    with opened(where) as workspace:
        if collection is not None:
            count = writing.write_documents(to, workspace.collections.documents(workspace.collections.get(collection)))
            tell(f"{counted(count, 'record')} written to {to}")
        elif project is not None:
            found = workspace.projects.get(project)
            said = workspace.projects.verdicts(found, reviewer)
            screening_decisions.write_verdicts(to, said, workspace.projects.documents(found))
            count = sum(verdict.included is not None for verdict in said.values())
            tell(f"{counted(count, 'decision')} written to {to}")
        else:
            tell(f"{counted(workspaces.export_archive(workspace, to), 'row')} written to {to}")


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
            if reviewer is None:
                raise ParameterError("whose decisions? Name a --reviewer")
            _import_decisions(workspace, source, project, reviewer)
        else:
            tell(f"{counted(workspaces.import_archive(workspace, source), 'row')} read from {source}")


def _import_records(
    workspace: "Workspace", source: str, name: str, format: str | None, encoding: str, on_error: options.OnError
) -> None:
    known = {each.name: each for each in workspace.collections.all()}
    collection = known.get(name) or workspace.collections.create(name)
    skipped = data.SkipReport()
    report = workspace.collections.add(
        collection,
        data.read_documents(
            source, format=format, encoding=encoding, on_error=on_error.value, report=skipped, number=True,
            keep_source=True,
        ),
    )  # fmt: skip
    tell_skipped(skipped)
    for doc_id in report.clashing[: skipped.keep]:
        tell(f"left out: '{doc_id}' is the id of another record")
    suffix = f", {report.present:,} were there already" if report.present else ""
    clashing = f", {len(report.clashing):,} left out for their ids" if report.clashing else ""
    tell(f"{counted(report.added, 'record')} added to '{name}'{suffix}{clashing}")


def _import_decisions(workspace: "Workspace", source: str, name: str, reviewer: str) -> None:
    """Decisions and annotations of a file, all or none; those that are there already are not repeated."""
    project = workspace.projects.get(name)
    read = screening_decisions.read_verdicts(source)
    decisions = {doc_id: verdict.included for doc_id, verdict in read.items() if verdict.included is not None}
    known = workspace.projects.documents(project)
    if unknown := next((doc_id for doc_id in read if known and doc_id not in known), None):
        raise InputError(f"document '{unknown}' is not in the project '{name}'", source=source)
    workspace.projects.join(project, reviewer)
    held, said = workspace.projects.said(project, reviewer)
    if other := next((doc_id for doc_id in decisions if held.get(doc_id, decisions[doc_id]) is not decisions[doc_id]),
                     None):  # fmt: skip
        raise InputError(f"document '{other}' was decided the other way already", source=source)
    given = {doc_id: (verdict.included, verdict.annotation) for doc_id, verdict in read.items()}
    new = {
        doc_id: now for doc_id, now in given.items()
        if now != (held.get(doc_id), said.get(doc_id, annotations.NO_ANNOTATION))
        and not (now[0] is None and doc_id in held)
    }  # fmt: skip
    workspace.projects.record(project, reviewer, new, times={doc_id: verdict.at for doc_id, verdict in read.items()})
    waiting = sum(verdict.annotation.maybe for verdict in read.values())
    told = f", {waiting:,} waiting" if waiting else ""
    tell(f"{counted(len(decisions), 'decision')} read{told}, {len(new):,} new")


def _one(collection: str | None, project: str | None) -> None:
    if collection is not None and project is not None:
        raise ParameterError("choose one of --collection and --project")
