"""germane track: topics followed through streams, from one example."""

import typer

from germane.cli.commands.track.digest import digest, feed
from germane.cli.commands.track.inspect import list_, show, stories
from germane.cli.commands.track.judge import judge
from germane.cli.commands.track.managing import pause, remove, resume
from germane.cli.commands.track.new import new
from germane.cli.commands.track.report import report
from germane.cli.commands.track.run import run

track = typer.Typer(no_args_is_help=True)
track.command("new")(new)
track.command("run")(run)
track.command("judge")(judge)
track.command("report")(report)
track.command("list")(list_)
track.command("show")(show)
track.command("pause")(pause)
track.command("resume")(resume)
track.command("remove")(remove)
track.command("digest")(digest)
track.command("feed")(feed)
track.command("stories")(stories)


@track.callback()
def about() -> None:
    """Follow topics through a live stream, each from one example, and know what is missed.

    All is kept in a workspace: what came in, what was delivered, what was judged. Needs the extra `workspace`; feeds
    and webhooks need the extra `metasearch`.

    Example: germane track new quakes --seed story.txt

    Example: germane track run news.jsonl
    """
