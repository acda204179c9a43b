"""germane show: a document as it was added."""

from typing import Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.streams import put_json, say
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.data import bibliographic, responses


def show(
    folder: options.Folder,
    doc_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="The documents' ids.", show_default=False)],
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a document.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Show whole documents: every field as it was added.

    Example: germane show my-index doc-17

    Example: germane show my-index 12345678 10.1000/182 --json
    """
    engine = open_engine(folder)
    documents = [engine.document(doc_id) for doc_id in doc_ids]
    for number, document in enumerate(documents):
        if json:
            put_json(responses.DocumentResponse(document.id, document.fields))
            continue
        if number:
            say("")
        say(f"id: {document.id}")
        for name, value in document.fields.items():
            for item in bibliographic.listed(value):
                say(f"{name}: {item}")
