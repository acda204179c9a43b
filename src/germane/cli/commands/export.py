"""germane export: the documents, or the index, for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.progress import watched
from germane.cli.streams import put_json_line, tell
from germane.errors import ParameterError


def export(
    folder: options.Folder,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Where the documents go; stdout otherwise.", show_default=False),
    ] = None,
    ciff: Annotated[
        Path | None,
        typer.Option(
            "--ciff",
            metavar="FILE",
            help="Write the index itself, in the Common Index File Format, instead.",
            show_default=False,
        ),
    ] = None,
    progress: options.Progress = False,
) -> None:
    """Write the documents as JSON Lines, or the index in CIFF.

    Example: germane export my-index --to docs.jsonl

    Example: germane export my-index --ciff my-index.ciff
    """
    if to is not None and ciff is not None:
        raise ParameterError("choose one of --to and --ciff")
    engine = open_engine(folder)
    if ciff is not None:
        from germane.index.ciff import export_ciff

        export_ciff(folder, ciff)
        tell(f"the index of {len(engine):,} documents is in {ciff}")
        return
    import orjson

    from germane.data.atomic import open_for_writing

    documents = watched(engine.documents(), "exporting", total=len(engine), always=progress)
    lines = (orjson.dumps({"id": document.id, **document.fields}) for document in documents)
    if to is None:
        for line in lines:
            put_json_line(line)
        return
    with open_for_writing(to) as file:
        for line in lines:
            file.write(f"{line.decode()}\n")
    tell(f"{len(engine):,} documents are in {to}")
