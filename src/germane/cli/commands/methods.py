"""germane methods: every method that has a name, and its parameters."""

from typing import Annotated

import typer

from germane.cli import options
from germane.cli.streams import put_json, say
from germane.cli.tables import show_rows
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.engine import methods as named_methods


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A method; all of them otherwise.", show_default=False)
    ] = None,
    json: options.Json = False,
) -> None:
    """List the methods of ranking, feedback, refinement, classification, tracking and screening, or one's parameters.

    The parameters are set with --set NAME=VALUE by the commands that take the method.

    Example: germane methods

    Example: germane methods rm3
    """
    listed = named_methods.methods(name)
    if json:
        put_json(list(listed))
        return
    for kind, where in named_methods.KINDS.items():
        own = [method for method in listed if method.kind == kind]
        if not own:
            continue
        if name is None:
            rows = [[method.name, " ".join(parameter.name for parameter in method.parameters)] for method in own]
            show_rows([kind, "parameters"], rows, title=f"\n{where}")
            continue
        for method in own:
            say(f"\n{method.name}, {where}\n{method.about}")
            if not method.parameters:
                say("no parameters")
                continue
            rows = [[parameter.name, parameter.default, parameter.wants] for parameter in method.parameters]
            show_rows(["parameter", "default", "may be"], rows)
