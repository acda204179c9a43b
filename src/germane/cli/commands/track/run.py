"""germane track run: a stream through all topics."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, WorkspaceFile, opened
from germane.cli.failures import NOTHING_FOUND
from germane.cli.progress import steps
from germane.cli.streams import put_json, put_row, tell
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.tables import figure
from germane.wording import counted

with on_first_use(__name__):
    from germane.metasearch import addresses
    from germane.stream import feeds, fetching, files, responses, running
    from germane.stream import intake as stream_intake
    from germane.stream import outbox as stream_outbox
    from germane.stream import sources as stream_sources

if TYPE_CHECKING:
    from germane.stream import Sighting, Watch
    from germane.stream.fetching import Fetcher
    from germane.stream.intake import Intake
    from germane.stream.sources import ArrivalSource


def run(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SRC...]",
            help="Files and folders of any format, RSS and Atom by file or address, - for JSON Lines on stdin.",
            show_default="-",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow/--once", help="Ask again and again, or read what is there and end.")
    ] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", help="How long --follow waits between two rounds.", min=0.0)
    ] = 300.0,
    webhook: Annotated[
        str | None,
        typer.Option("--webhook", metavar="URL", help="Send every hit there, as JSON by POST.", show_default=False),
    ] = None,
    secret: Annotated[
        str,
        typer.Option(
            "--secret",
            metavar="VARIABLE",
            help="The environment variable whose value signs what is sent (HMAC-SHA256).",
            show_default=False,
        ),
    ] = "",
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
    progress: options.Progress = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for every hit.", rich_help_panel="Output")
    ] = False,
) -> None:
    """Read documents, and print what the topics deliver: topic, id, score and title, with tabs between them.

    Everything is on disk before it is printed. Whatever ends the program, run it again: it goes on where it was, a
    document that has been seen is passed over, and what was kept but not printed is printed first.

    The exit code is 1 where every source had trouble and no document was read.

    Example: germane track run news.jsonl

    Example: germane track run https://example.org/news.xml inbox/ --follow --every 600

    Example: tail -f wire.jsonl | germane track run --json --webhook https://example.org/hook --secret HOOK_KEY
    """
    if secret and webhook is None:
        raise ParameterError("--secret signs what --webhook sends: name an address")

    if webhook is not None:
        addresses.origin_of(webhook)
    posts = [] if webhook is None else [{"url": webhook, "secret": secret}]
    intake, fetcher = stream_intake.Intake(), fetching.Fetcher()
    with opened(workspace, stream) as watch:
        if not watch.topics():
            raise ParameterError("no topic is followed yet: begin one with 'germane track new'")
        followed = [_source(name, watch, fetcher) for name in sources or ["-"]]
        outbox = stream_outbox.Outbox(watch.store, fetcher)
        _print(watch.untold(), watch, json=json)
        with _ended_by_request(), steps("following", always=progress, otherwise=lambda _: None) as step:
            try:
                for done in running.run(
                    watch, followed, intake, posts=posts, outbox=outbox, follow=follow, every=every
                ):
                    _print(done.hits, watch, json=json)
                    step(f"{counted(intake.new, 'document')}, {counted(intake.hits, 'hit')}")
                    _tell_troubles(intake)
            finally:
                _tell_troubles(intake)
                _summarise(intake, outbox.waiting(), outbox.undeliverable())
    if not intake.documents and intake.troubled == {source.name for source in followed}:
        raise typer.Exit(NOTHING_FOUND)


@contextmanager
def _ended_by_request() -> Iterator[None]:
    """SIGTERM, by which services are ended, ends the program as Ctrl-C does: with its summary."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _source(name: str, watch: "Watch", fetcher: "Fetcher") -> "ArrivalSource":
    if name == "-":
        return stream_sources.Pipe.of_stream(sys.stdin.buffer)
    if name.startswith(("http://", "https://")):
        addresses.origin_of(name)
        return feeds.Feed(name, watch.store, fetcher)

    if not Path(name).exists():
        raise InputError("there is no such file, folder or address", source=name)
    return files.Files(Path(name), watch.store)


def _print(hits: "tuple[Sighting, ...] | list[Sighting]", watch: "Watch", *, json: bool) -> None:
    for hit in hits:
        if json:
            put_json(responses.HitResponse.of(hit))
        else:
            put_row([hit.topic, hit.document, figure(hit.score), hit.title])
    sys.stdout.flush()
    if hits:
        watch.tell(hits)


def _tell_troubles(intake: "Intake") -> None:
    for sentence in intake.untold():
        tell(f"passed over: {sentence}")


_ODD = {
    "no id": "without an id (one was made from what they say)",
    "no date": "without a date",
    "dates back": "older than one before",
    "markup": "with HTML in them, which was taken off",
    "encoding": "not in UTF-8 (read as Windows-1252)",
}


def _summarise(intake: "Intake", waiting: int, undeliverable: int) -> None:
    tell(f"{counted(intake.new, 'new document')}, {counted(intake.hits, 'hit')}")
    if intake.repeated:
        other = f", {intake.changed:,} of them with another text" if intake.changed else ""
        tell(f"{counted(intake.repeated, 'document')} had been seen before{other}")
    for name, count in intake.odd.items():
        tell(f"{counted(count, 'document')} {_ODD[name]}")
    if intake.n_troubles:
        tell(f"{counted(intake.n_troubles, 'trouble')}, told above" if intake.n_troubles == intake.n_told
             else f"{counted(intake.n_troubles, 'trouble')}, {intake.n_told:,} of them told above")  # fmt: skip
    if waiting:
        tell(f"{counted(waiting, 'message')} to a webhook not delivered yet: the next run tries again")
    if undeliverable:
        tell(f"{counted(undeliverable, 'message')} to a webhook refused again and again, and given up")
