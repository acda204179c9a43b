"""germane export: the documents, or the index, for other programs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.path_conflicts import require_apart
from germane.cli.progress import watched
from germane.cli.streams import put_json_line, tell
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.data import writing
    from germane.index import ciff as ciff_files


def export(
    folder: options.Folder,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Where the documents go; stdout otherwise.", show_default=False),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="jsonl, csv, tsv, ris, medline, bibtex or endnote-xml.",
            show_default="that of FILE's ending; jsonl on stdout",
        ),
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
    vectors: Annotated[
        bool,
        typer.Option("--vectors", help="With the documents' vectors, as they are stored; in JSON Lines."),
    ] = False,
    progress: options.Progress = False,
) -> None:
    """Write the documents in the format of the file's ending, or the index in CIFF.

    Vectors are left out unless --vectors is given; those of a learnt model always, since it makes them again. Records
    of RIS, NBIB and BibTeX are written whole, with every tag that was read; in another format than their own, what has
    no tag there becomes a note.

    Example: germane export my-index --to docs.jsonl

    Example: germane export my-index --to kept.ris

    Example: germane export my-index --to docs.jsonl --vectors

    Example: germane export my-index --ciff my-index.ciff
    """
    if ciff is not None and (to is not None or format is not None):
        raise ParameterError(f"choose one of {'--to' if to is not None else '--format'} and --ciff")
    require_apart({"--to": to, "--ciff": ciff}, [folder])
    if ciff is not None:
        if vectors:
            raise ParameterError("CIFF has no vectors: --vectors goes with JSON Lines")

        written = ciff_files.export_ciff(folder, ciff)
        tell(f"the index of {counted(written.documents, 'document')} is in {ciff}")
        return

    chosen = writing.format_for(to, format)
    if vectors and chosen != "jsonl":
        raise ParameterError(f"{chosen} has no vectors: --vectors goes with JSON Lines")
    engine = open_engine(folder)
    own = [name for name, field in engine.vector_fields.items() if not field.source]
    if own and not vectors and chosen == "jsonl":
        tell(f"without the vectors of the documents ({', '.join(sorted(own))}): --vectors writes them too")
    documents = watched(engine.documents(vectors=vectors), "exporting", total=len(engine), always=progress)
    if to is not None:
        count = writing.write_documents(to, documents, chosen)
        tell(f"{counted(count, 'document')} written to {to} ({chosen})")
    elif chosen == "jsonl":
        for document in documents:
            put_json_line(writing.record_text(document, chosen).rstrip("\n").encode())
    else:
        writing.write_documents(sys.stdout, documents, chosen)
