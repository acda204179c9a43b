"""germane workspace: what is kept of searches, marks and screening; looked at, moved, taken back."""

import typer

from germane.cli.commands.workspace.init import init
from germane.cli.commands.workspace.inspect import list_, show
from germane.cli.commands.workspace.marking import mark, undo
from germane.cli.commands.workspace.moving import export, import_
from germane.cli.commands.workspace.noting import note
from germane.cli.commands.workspace.reviewing import conflicts, kappa

workspace = typer.Typer(no_args_is_help=True)
workspace.command("init")(init)
workspace.command("list")(list_)
workspace.command("show")(show)
workspace.command("mark")(mark)
workspace.command("undo")(undo)
workspace.command("note")(note)
workspace.command("kappa")(kappa)
workspace.command("conflicts")(conflicts)
workspace.command("export")(export)
workspace.command("import")(import_)


@workspace.callback()
def about() -> None:
    """Keep collections, searches, marks and decisions in one file, or in PostgreSQL.

    Needs SQLAlchemy and Alembic, which Germane's extra `workspace` installs.

    Example: germane workspace init my.workspace

    Example: germane workspace import my.workspace references.ris --collection reading
    """
