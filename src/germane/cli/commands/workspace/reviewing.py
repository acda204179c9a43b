"""germane workspace kappa and conflicts: do the reviewers of a project agree?"""

from typing import Annotated

import typer

from germane.cli import options
from germane.cli.commands.workspace.parts import By, Where, opened
from germane.cli.streams import put_json
from germane.cli.tables import put_rows, show_rows
from germane.errors import ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.workspace import responses

Name = Annotated[str, typer.Argument(metavar="PROJECT", help="The screening project.", show_default=False)]


def kappa(where: Where, project: Name, json: options.Json = False, tsv: options.TabSeparated = False) -> None:
    """Cohen's kappa of each pair of reviewers: agreement beyond chance on what both decided, 1 at most.

    Example: germane workspace kappa my.workspace review
    """
    wanted = options.one_of(json=json, tsv=tsv)

    with opened(where) as workspace:
        found = responses.AgreementResponse(
            project, tuple(workspace.projects.agreement(workspace.projects.get(project)))
        )
    if wanted == "json":
        put_json(found)
        return
    rows = [[*pair[:4], "-" if pair.kappa is None else pair.kappa] for pair in found.pairs]
    (put_rows if wanted == "tsv" else show_rows)(["reviewer", "reviewer", "both read", "agree", "kappa"], rows)


def conflicts(
    where: Where,
    project: Name,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="End the blindness of the project, for everybody and for good.")
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="ID", help="Settle a conflict: included; repeatable.", show_default=False),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="ID", help="Settle a conflict: excluded; repeatable.", show_default=False),
    ] = None,
    by: By = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)] = "",
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """The records that some reviewers included and others excluded; settle them one by one.

    Example: germane workspace conflicts my.workspace review --reveal

    Example: germane workspace conflicts my.workspace review --include 12345 --by cat
    """
    wanted = options.one_of(json=json, tsv=tsv)
    if (include or exclude) and not by:
        raise ParameterError("who settles it? Say it with --by")

    with opened(where) as workspace:
        found = workspace.projects.get(project)
        if reveal:
            found = workspace.projects.reveal(found)
        for given, included in ((include, True), (exclude, False)):
            for doc_id in given or ():
                workspace.projects.resolve(found, doc_id, included, by=by, reason=reason)
        answer = responses.ConflictsResponse(project, tuple(workspace.projects.conflicts(found)))
    if wanted == "json":
        put_json(answer)
        return
    words = {None: "open", True: "included", False: "excluded"}
    rows = [
        [
            each.document,
            ", ".join(each.included_by),
            ", ".join(each.excluded_by),
            words[each.resolved],
            each.by,
            each.reason,
        ]
        for each in answer.conflicts
    ]
    (put_rows if wanted == "tsv" else show_rows)(["id", "included by", "excluded by", "settled", "by", "why"], rows)
