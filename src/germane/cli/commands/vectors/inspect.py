"""germane vectors list, germane vectors search."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import hits, options
from germane.cli.commands.vectors.changing import Name
from germane.cli.failures import NOTHING_FOUND
from germane.cli.opening import open_engine
from germane.cli.requests import Typed, asking
from germane.cli.streams import put_json, put_row, tell, terminal
from germane.engine.requests import SearchRequest
from germane.errors import ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane.data import vector_files
    from germane.engine import responses


def list_(folder: options.Folder, json: options.Json = False) -> None:
    """The vector fields of an index: name, dimension, type, similarity, documents that have one, bytes, and the version
    of a learnt model that makes them, if one does.

    Example: germane vectors list my-index
    """
    stored = open_engine(folder).stats().vectors
    if json:
        put_json(stored)
        return
    for field in stored:
        own = (field.name, field.dimension, field.dtype, field.similarity, field.documents, field.bytes)
        put_row(own if field.model is None else (*own, field.model))
    if not stored:
        tell("the index has no vector field")


@asking(SearchRequest, only={"filter"})
def search(
    folder: options.Folder,
    name: Name,
    typed: Typed,
    vector: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The query's vector: a .npy file or a JSON list.", show_default=False),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            help="A text instead, of which the learnt model that made the field makes a vector.",
            show_default=False,
        ),
    ] = None,
    k: options.K = 10,
    query: Annotated[
        str | None,
        typer.Option("--query", help="Search by these words too, and join both rankings.", show_default=False),
    ] = None,
    mix: Annotated[
        str,
        typer.Option(
            "--mix", help="How they are joined: rrf, by ranks; or the weight of the vectors, from 0 to 1, by scores."
        ),
    ] = "rrf",
    approximate: Annotated[
        bool, typer.Option("--approximate", help="By the graphs of germane vectors graph: faster, may miss some.")
    ] = False,
    json: options.Json = False,
    tsv: options.Tsv = False,
    trec: options.Trec = False,
    tag: options.Tag = "germane",
) -> None:
    """The documents whose vectors are nearest to a query's, exactly; with --query, by words and vectors together.

    Of a field that a learnt model made, no file is needed: the model makes a vector of --text, or of --query.

    Exit code 1 means that nothing was found.

    Example: germane vectors search my-index title query.npy -k 5

    Example: germane vectors search my-index title query.json --query "heart attack" --mix 0.3

    Example: germane vectors search my-index clicks --text "heart attack"
    """
    if (vector is None and text is None and query is None) or (text is not None and (vector or query) is not None):
        raise ParameterError("give the query's vector as a file, or a text (--text), or words (--query)")
    wanted = options.one_of(json=json, tsv=tsv, trec=trec)

    engine = open_engine(folder)
    near = None if vector is None else vector_files.read_vector(vector)
    if query is None:
        by = text if near is None else near
        assert by is not None  # one of the two was given
        result = engine.vector_search(by, k, field=name, filter=typed["filter"], approximate=approximate)
        ranked_by = f"vectors:{name}"
    else:
        result = engine.hybrid_search(
            query, near, k, field=name, mix=_mix(mix), filter=typed["filter"], approximate=approximate
        )
        ranked_by = f"hybrid:{name}:{mix}"
    found = responses.SearchResponse.of(result, query or text or "", ranked_by, k)
    if wanted == "json":
        put_json(found)
    elif wanted == "tsv":
        hits.put_tsv(found)
    elif wanted == "trec":
        hits.put_trec(found, tag)
    elif found.hits:
        hits.show(terminal(), engine, found)
    if not found.hits:
        tell("no document has a vector in this field and passes the filter")
        raise typer.Exit(NOTHING_FOUND)


def _mix(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
