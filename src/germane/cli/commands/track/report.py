"""germane track report: how well a topic is followed, as far as judgements tell."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.commands.track.inspect import health_line
from germane.cli.commands.track.parts import MAIN, WORKSPACE, StreamName, TopicName, WorkspaceFile, opened
from germane.cli.path_conflicts import require_apart
from germane.cli.streams import put_json, say, tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.evaluate import plots
    from germane.stream import reports, shares

if TYPE_CHECKING:
    from germane.stream.reports import TrackReport


def report(
    name: TopicName,
    qrels: Annotated[
        Path | None,
        typer.Option(
            "--qrels",
            metavar="FILE",
            help="Judgements of TREC's kind, with the topic's name as the query: who is not in it is off topic.",
            show_default=False,
        ),
    ] = None,
    det: Annotated[
        Path | None,
        typer.Option(
            "--det", metavar="FILE", help="Draw misses over false alarms (.png, .svg, .pdf).", show_default=False
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw hits over time (.png, .svg, .pdf).", show_default=False),
    ] = None,
    workspace: WorkspaceFile = WORKSPACE,
    stream: StreamName = MAIN,
    json: options.Json = False,
) -> None:
    """Report on a topic: its health, its hits over time and, where there are judgements, misses and false alarms.

    For these the stream is gone through once more from the seeds, each document scored before anything is learnt from
    it. What people judged with 'germane track judge' is a small and chosen part; with --qrels every document counts.

    Example: germane track report quakes --plot timeline.svg

    Example: germane track report quakes --qrels judged.txt --det det.svg --json
    """
    require_apart({"--det": det, "--plot": plot}, [path for path in (qrels,) if path is not None])

    with opened(workspace, stream) as watch:
        found = reports.report_of(watch, name, qrels)
    if plot is not None:
        plots.save(plots.timeline([(day.day, day.hits) for day in found.timeline], collection=name), plot)
        tell(f"written: {plot}")
    if det is not None:
        plots.save(plots.detection_error_tradeoff({name: found.curve}, collection=name), det)
        tell(f"written: {det}")
    if json:
        put_json(found.response)
    else:
        _show(found)


def _show(found: "TrackReport") -> None:
    answer = found.response
    say(f"{answer.topic.name}: {health_line(answer.topic)}")
    if answer.detection is None:
        say("no misses and false alarms to tell of: judge documents that are on topic and others, or name --qrels")
    else:
        told = answer.detection
        say(f"{counted(told.on_topic, 'document')} on topic and {told.off_topic} off it, by {told.judged_by}")
        missed = shares.share_told(told.p_miss, told.on_topic)
        alarms = shares.share_told(told.p_false_alarm, told.off_topic)
        say(f"as delivered: {missed} on topic missed, {alarms} off topic delivered, cost {told.cost:.3f}")
        say(f"at the best threshold ({told.best_threshold:.2f}): cost {told.min_cost:.3f}")
    most = max((day.hits for day in answer.timeline), default=1)
    for day in answer.timeline:
        say(f"{day.day}  {'#' * max(round(40 * day.hits / most), 1)} {day.hits}")
