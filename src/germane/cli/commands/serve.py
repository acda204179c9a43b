"""germane serve: the page and the API."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli.progress import watched
from germane.cli.streams import say, tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import metasearch
    from germane.server import roles, running
    from germane.server import settings as server_settings
    from germane.server import workers as server_workers

if TYPE_CHECKING:
    from germane.server.library import Library
    from germane.types import Document

PORT = 8017


def serve(
    index: Annotated[
        list[Path] | None,
        typer.Option(
            "--index",
            metavar="DIR",
            help="An index to serve; repeatable. Without one, the sample collection.",
            show_default=False,
        ),
    ] = None,
    workspace: Annotated[
        str | None,
        typer.Option(
            help="Where marks, projects and topics are kept.", show_default="germane.workspace in GERMANE_HOME"
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes any that is free.", min=0, max=65535)] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="GERMANE_TOKEN",
            help="What requests must bring; needed where the address is not this machine alone.",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Tokens with roles: lines of 'reader|marker|admin TOKEN NAME'.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="A name that the server may be asked by, beside its address.", show_default=False),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings of sources for meta-search (TOML or JSON).", show_default=False),
    ] = None,
    workers: Annotated[int, typer.Option(metavar="N", help="Processes that share the indexes.", min=1, max=64)] = 1,
    rate: Annotated[
        int, typer.Option(metavar="N", help="Requests a minute from one address; 0 for no limit.", min=0)
    ] = 1_200,
    retain_clicks: Annotated[
        int, typer.Option(metavar="DAYS", help="Forget clicks that are older; 0 keeps them for ever.", min=0)
    ] = 365,
    min_users: Annotated[
        int, typer.Option(metavar="N", help="Show a query of the log only if so many visitors typed it.", min=1)
    ] = 5,
    trusted_proxies: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="A proxy, or a network of them, whose X-Forwarded-For is believed; repeatable.",
            show_default=False,
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    check: Annotated[bool, typer.Option("--check", help="Start, fetch the page once, and end.")] = False,
) -> None:
    """Open the search page: search, mark, refine, screen and follow topics in a browser. Ctrl+C ends it.

    Without an index, a sample of 2,600 abstracts is made at the first start. Only this machine reaches the server,
    unless another address and a token are given.

    Example: germane serve

    Example: germane serve --index my-index --port 8080 --no-browser

    Example: germane serve --index my-index --host 192.0.2.7 --token-file tokens.txt --workers 2
    """
    settings = server_settings.Settings(
        host=host, port=port, token=token, tokens=() if token_file is None else roles.read_tokens(token_file),
        hosts=tuple(name or ()), workers=workers, retain_days=retain_clicks, per_minute=rate, min_users=min_users,
        trusted_proxies=tuple(trusted_proxies or ()),
        sources=metasearch.Configuration() if sources is None else metasearch.Configuration.read(sources),
    )  # fmt: skip

    def opened(doing: "Callable[[str], None]") -> "Library":
        def progress(documents: "Iterable[Document]") -> "Iterable[Document]":
            doing("making the sample collection, once")
            tell("making the sample collection, once ...")
            return watched(documents, "indexing", total=2_600)

        return running.open_library(index or (), settings, workspace=workspace, watched=progress)

    taken = running.listening(settings)
    address = running.address_of(settings, taken)
    if check:
        server, start = running.starting_server(settings, opened, compiles=False)
        answered = running.answers_once(server, start, settings, taken)
        total = sum(answered["documents"].values())
        say(f"{address} answers: a page of {answered['page']:,} bytes, {counted(total, 'document')}")
        return

    def ready() -> None:
        tell(f"germane is at {address} (Ctrl+C ends it)")
        if not server_settings.is_loopback(host):
            tell("it can be reached from other machines: requests need the token")

    if workers > 1:
        library = opened(lambda sentence: None)
        library.close()
        server_workers.run_workers(
            server_workers.Served(tuple(index or ()), settings, workspace), library.home, taken, ready
        )
        return
    server, start = running.starting_server(settings, opened)
    running.tell_when_ready(start, ready)
    if browser:
        running.tell_when_ready(start, lambda: running.open_page(address))
    running.run(server, start, taken)
