"""germane mcp: the index as tools of an assistant."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from germane.cli.streams import tell
from germane.lazy import on_first_use, optional

with on_first_use(__name__):
    from germane import metasearch
    from germane.server import assistants, running
    from germane.server import settings as server_settings
    from germane.server import warming as server_warming

HOST, PORT = "127.0.0.1", 8018


def mcp(
    index: Annotated[
        list[Path],
        typer.Argument(metavar="INDEX...", help="Indexes to search; the first is the default.", show_default=False),
    ],
    workspace: Annotated[
        str | None,
        typer.Option(
            metavar="WORKSPACE",
            help="Where marks and topics are kept: a file, or a postgresql:// URL.",
            show_default="that of the page, where there is one",
        ),
    ] = None,
    allow_write: Annotated[
        bool, typer.Option("--allow-write", help="Offer the tools that keep something too: mark, save_topic.")
    ] = False,
    settings: Annotated[
        Path | None,
        typer.Option("--settings", metavar="FILE", help="Sources of your own: TOML or JSON.", show_default=False),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Listen at http://HOST:PORT/mcp instead of talking over stdin and stdout.")
    ] = False,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen at, with --http.")] = HOST,
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="The port, with --http.")] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar="GERMANE_TOKEN",
            help="What requests must bring; demanded where ADDRESS is not this machine.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Offer an index to an assistant over the Model Context Protocol: search, get, explain, refine, find, what is new.

    Nothing is changed unless --allow-write is given.

    Example: germane mcp my-index

    Example: germane mcp my-index --workspace my.workspace --allow-write

    Example: germane mcp my-index other-index --http --port 8018
    """
    optional("mcp", "'germane mcp'")
    chosen = server_settings.Settings(
        host=host, port=port, token=token,
        sources=metasearch.Configuration() if settings is None else metasearch.Configuration.read(settings),
    )  # fmt: skip
    with (
        assistants.reading_library(index, chosen, workspace, allow_write=allow_write) as library,
        closing(server_warming.Warming(library.engines.values())) as warming,
    ):
        warming.begin()  # an assistant waits for no compiler
        server = assistants.server_of(library, allow_write=allow_write)
        if not http:
            server.run("stdio")
            return
        taken = running.listening(chosen)
        tell(f"germane answers assistants at {running.address_of(chosen, taken)}mcp (Ctrl+C ends it)")
        running.uvicorn_server(assistants.http_app(server, library), library).run(sockets=[taken])
