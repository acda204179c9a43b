"""germane vectors add, germane vectors drop."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.opening import open_engine
from germane.cli.streams import tell
from germane.index.vector_fields import SIMILARITIES, TYPES
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.data import vector_files
    from germane.index import graphs

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the vector field.", show_default=False)]


def add(
    folder: options.Folder,
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help='A .npy matrix, with --ids; or JSON Lines: {"id": "1", "vector": [0.1, 0.7]}.',
            show_default=False,
        ),
    ],
    ids: Annotated[
        Path | None,
        typer.Option(
            "--ids", metavar="FILE", help="The id of each row of a .npy file, one a line.", show_default=False
        ),
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            "--type",
            help=f"How the numbers of a new field are kept: {', '.join(TYPES)}. Otherwise float32.",
            show_default=False,
        ),
    ] = None,
    similarity: Annotated[
        str | None,
        typer.Option(
            "--similarity",
            help=f"How vectors of a new field are compared: {', '.join(SIMILARITIES)}. Otherwise cosine.",
            show_default=False,
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Begin the field anew: no older vector of it stays.")
    ] = False,
) -> None:
    """Give documents of an index vectors: all of them, or none if one is unknown or a vector cannot be used.

    A field that is not there yet is made. Documents not named keep the vectors they have.

    Example: germane vectors add my-index title title.npy --ids ids.txt --type int8

    Example: germane vectors add my-index title new-model.jsonl --replace
    """
    names, matrix = vector_files.read_vectors(file, ids)
    with open_engine(folder) as engine:
        n = engine.set_vectors(name, names, matrix, dtype=dtype, similarity=similarity, replace=replace)
        field = engine.vector_fields[name]
    tell(f"{counted(n, 'document')} given vectors '{name}' ({field.dimension} × {field.dtype}, {field.similarity})")


def fold(
    folder: options.Folder,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The name of the learnt model.")] = "clicks",
) -> None:
    """Fold all documents in by the version of a learnt model that serves, as the vector field of its name.

    A promotion does that by itself, and documents that are added later are folded in with them. This is for an index
    that another process was changing when a version was promoted, or whose field was dropped.

    Example: germane vectors fold my-index

    Example: germane vectors fold my-index clicks
    """
    with open_engine(folder) as engine:
        n = engine.fold_in(model)
        version = engine.models.serving(model)
    if version is None:
        tell(f"no version of '{model}' serves: the vectors that one made before are removed")
        return
    tell(f"{counted(n, 'document')} folded in by {version.name}@{version.version} ({version.model})")


def graph(
    folder: options.Folder,
    name: Name,
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", help="Faster by more, and then not the same each time.")
    ] = 1,
) -> None:
    """Make the graphs by which vectors search --approximate goes, for segments of 100,000 vectors or more.

    They lie beside the vectors and go with them. Documents that are added later are searched exactly until this is run
    again. Needs germane[ann].

    Example: germane vectors graph my-index title
    """
    with open_engine(folder) as engine:
        n = engine.build_graphs(name, threads=threads)
    tell(
        f"{counted(n, 'vector')} in graphs; the others are searched exactly, as a segment of fewer than "
        f"{graphs.LEAST:,} is always"
    )


def drop(folder: options.Folder, name: Name) -> None:
    """Remove a vector field with all its vectors; the documents stay.

    Example: germane vectors drop my-index title
    """
    with open_engine(folder) as engine:
        engine.drop_vectors(name)
    tell(f"the vector field '{name}' is gone")
