"""germane track judge: what a person says of documents."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, TopicName, WorkspaceFile, opened
from germane.cli.streams import prompt, say, tell
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.stream import health

if TYPE_CHECKING:
    from germane.stream import Watch


class Verdict(StrEnum):
    """Whether a document is on topic."""

    YES = "yes"
    NO = "no"


def judge(
    name: TopicName,
    document: Annotated[
        str | None, typer.Argument(metavar="[DOC]", help="The id of a document of the stream.", show_default=False)
    ] = None,
    verdict: Annotated[
        Verdict | None,
        typer.Argument(metavar="[yes|no]", help="Whether it is on topic.", show_default=False, case_sensitive=False),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the latest judgement back; again, the one before.")
    ] = False,
    n: Annotated[int, typer.Option("-n", metavar="N", help="Without DOC: how many to ask about.", min=1)] = 10,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who says so.", show_default=False)] = "",
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
) -> None:
    """Say whether a document is on topic: the topic learns it at once. Without a document, be asked.

    Asked are you about what was delivered and not judged yet, and about near-misses: y, n, s to skip, u to take back, q
    to end.

    Example: germane track judge quakes wire-1871 yes

    Example: germane track judge quakes --undo

    Example: germane track judge quakes -n 20
    """
    with opened(workspace, stream) as watch:
        if undo:
            if document is not None:
                raise ParameterError("--undo takes the latest judgement back, whatever its document")
            taken = watch.undo(name, by=by)
            tell(f"the judgement on {taken} is taken back" if taken else "there is nothing to take back")
        elif document is None:
            _ask(watch, name, n, by)
        elif verdict is None:
            raise ParameterError("say yes or no behind the document")
        else:
            said = watch.judge(name, document, verdict is Verdict.YES, by=by)
            word = "on topic" if verdict is Verdict.YES else "not on topic"
            tell(f"{document} is {word}" if said else f"{document} had been judged so already")
            if said and verdict is Verdict.NO and watch.topic(name).settings["method"] == "nb":
                tell("the method nb learns nothing from it; it counts in the estimate of what is missed")


def _ask(watch: "Watch", name: str, n: int, by: str) -> None:
    judged = {each.document for each in watch.judged(name)}
    hits = [
        (hit.document, hit.score, hit.title, "delivered")
        for hit in reversed(watch.hits(name))
        if hit.document not in judged
    ]
    missed = [(miss.document, miss.score, miss.title, "not delivered") for miss in health.near_misses(watch, name, n)]
    half = max(n - len(missed), n // 2)
    candidates = [*hits[:half], *missed][:n]
    done = 0
    for place, (document, score, title, what) in enumerate(candidates, start=1):
        say(f"{place}/{len(candidates)}  {what}, score {score:.2f}: {title} ({document})")
        while True:
            prompt("on topic? [y/n/s/u/q] ")
            typed = sys.stdin.readline()
            word = typed.strip().lower()[:1]
            if not typed or word == "q":
                tell(f"{counted(done, 'judgement')} made")
                return
            if word == "u":
                taken = watch.undo(name, by=by)
                say(f"taken back: {taken}" if taken else "there is nothing to take back")
            elif word in ("y", "n"):
                done += watch.judge(name, document, word == "y", by=by)
                break
            elif word == "s":
                break
    tell(f"{counted(done, 'judgement')} made")
