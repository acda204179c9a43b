"""germane convert: references from one format into another, and what it cannot hold."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.documents import mapping_of, tell_skipped
from germane.cli.path_conflicts import require_apart
from germane.cli.progress import watched
from germane.cli.streams import put_json, tell
from germane.cli.tables import show_rows
from germane.errors import InputError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import data
    from germane.data import conversion, formats, lines, writing


def convert(
    source: Annotated[
        str,
        typer.Argument(metavar="SRC", help="References or documents in any format that is read.", show_default=False),
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Where they go: .ris, .nbib, .bib, .xml (EndNote), .csv, .tsv, .jsonl.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="The format of FILE.", show_default="that of its ending"),
    ] = None,
    to_encoding: Annotated[
        str | None,
        typer.Option(
            "--to-encoding",
            metavar="NAME",
            help="The encoding of FILE.",
            show_default="that of SRC in the same format, else utf-8",
        ),
    ] = None,
    format: options.Format = None,
    mapping: options.Map = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    progress: options.Progress = False,
    json: options.Json = False,
) -> None:
    """Write references in another format, and say what that cannot hold.

    In the same format a record leaves as it came, byte for byte. In another one, what has no place becomes a note.

    Example: germane convert library.ris library.bib

    Example: germane convert export.txt clean.ris --format ris --encoding latin-1 --on-error skip
    """
    chosen = writing.format_for(target, to)
    require_apart({"the target": target}, [source])
    if to_encoding is None:
        same = (format or formats.format_of(source, encoding)) == chosen
        to_encoding = encoding if same and chosen != "endnote-xml" else "utf-8"
        if same and to_encoding.lower() in ("utf-8", "utf8") and lines.begins_with_mark(source):
            to_encoding = "utf-8-sig"
    skipped = data.SkipReport()
    documents = data.read_documents(
        source, format=format, mapping=mapping_of(mapping or ()), on_error=on_error.value, report=skipped,
        encoding=encoding, number=True, keep_source=True,
    )  # fmt: skip
    report = conversion.LossReport(chosen)
    count = writing.write_documents(
        target, report.watch(watched(documents, "converting", always=progress)), chosen, encoding=to_encoding
    )
    tell_skipped(skipped)
    if not count:
        raise InputError("there are no documents in it", source=source)
    losses = report.response()
    if json:
        put_json(losses)
    elif losses.losses:
        show_rows(["field", f"in {chosen}", "records", "first"], [[*loss] for loss in losses.losses])
    tell(f"{counted(count, 'record')} written to {target} ({chosen})")
