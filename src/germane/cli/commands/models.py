"""germane models: the learnt models of an index; list, show, compare, promote, rollback, remove."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.click_options import Memory, MinUsers, Threads
from germane.cli.gate_tables import show_gate
from germane.cli.learnt_models import (
    Alpha,
    Depth,
    HeldOut,
    HoldOut,
    Name,
    Qrels,
    Share,
    Topics,
    judged_typed,
    tell_behind,
)
from germane.cli.opening import open_engine
from germane.cli.streams import put_json, say, tell
from germane.cli.tables import show_rows
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import clicks as click_logs
    from germane.learning import loop

if TYPE_CHECKING:
    from germane.clicks import ClickStore
    from germane.engine.models.values import ModelVersion

models = typer.Typer(no_args_is_help=True)
PLAIN = "plain"

Version = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A version, as clicks@3; clicks is the one that serves.", show_default=False),
]
Clicks = Annotated[
    Path | None,
    typer.Option("--from", metavar="STORE", help="A history of clicks, to see what has drifted.", show_default=False),
]


@models.callback()
def about() -> None:
    """Look at the learnt models of an index, compare them, promote one, take a promotion back, or remove one.

    Example: germane models list my-index

    Example: germane models rollback my-index
    """


@models.command("list")
def list_(
    folder: options.Folder,
    clicks: Clicks = None,
    memory: Memory = 2048,
    threads: Threads = None,
    json: options.Json = False,
) -> None:
    """List all versions, and the health of each model that serves.

    Example: germane models list my-index --from my-clicks
    """
    engine = open_engine(folder)
    learnt = engine.models
    versions = learnt.versions()
    if json:
        put_json(versions)
        return
    if not versions:
        tell(f"{folder} has no learnt models; germane learn makes one of clicks")
        return
    rows = [
        (f"{each.name}@{each.version}", each.model, each.trained_at[:10], f"{each.data.pairs:,}", *_judged(each),
         "serves" if each.serving else "")
        for each in versions
    ]  # fmt: skip
    show_rows(("version", "model", "trained", "pairs", "candidate", "baseline", "gate", ""), rows, whole=True)
    store = _store(clicks)
    for name in learnt.names():
        if learnt.serving(name) is not None:
            say(loop.health(engine, name, store, click_logs.ClickRules(memory_mb=memory, threads=threads)).line)


@models.command("show")
def show(folder: options.Folder, version: Version, json: options.Json = False) -> None:
    """Show what a version was learnt from, its settings, and how it fared at the gate.

    Example: germane models show my-index clicks@1
    """
    chosen = open_engine(folder).models.version(version)
    if json:
        put_json(chosen)
        return
    data = chosen.data
    rows = [
        ("model", chosen.model + "".join(f", {name} {value}" for name, value in chosen.parameters.items())),
        ("mixture", ", ".join(f"{name} {value:g}" for name, value in chosen.mixing.items())),
        ("trained", chosen.trained_at),
        ("serves", "yes" if chosen.serving else "no"),
        ("days", f"{data.first_day} to {data.last_day}"),
        ("searches, clicks", f"{data.searches:,}, {data.clicks:,}"),
        ("pairs", f"{data.pairs:,} of {data.queries:,} queries; {data.held_out_queries:,} held out by {data.held_out}"),
        ("data", data.fingerprint),
        ("file", chosen.file),
    ]
    show_rows((f"{chosen.name}@{chosen.version}", ""), rows)
    if chosen.gate is not None:
        show_gate(chosen.gate)
        say(("passed: " if chosen.gate.passed else "did not pass: ") + chosen.gate.reason)


@models.command("compare")
def compare(
    folder: options.Folder,
    candidate: Version,
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="Another version, or plain for the plain ranking.")
    ] = PLAIN,
    clicks: Clicks = None,
    topics: Topics = None,
    qrels: Qrels = None,
    hold_out: HeldOut = HoldOut.QUERY,
    share: Share = 0.2,
    depth: Depth = 1000,
    alpha: Alpha = 0.05,
    min_users: MinUsers = 5,
    memory: Memory = 2048,
    threads: Threads = None,
    json: options.Json = False,
) -> None:
    """Compare two versions as the gate does, on held-out clicks and judged queries. Nothing is promoted.

    Example: germane models compare my-index clicks@2 clicks@1 --from my-clicks

    Example: germane models compare my-index clicks plain --topics queries.tsv --qrels qrels.txt
    """
    judged = judged_typed(topics, qrels)
    report = loop.compare(
        open_engine(folder),
        _store(clicks),
        candidate,
        None if baseline == PLAIN else baseline,
        settings=loop.LearnSettings(hold_out=hold_out.value, share=share, depth=depth, alpha=alpha),
        rules=click_logs.ClickRules(pairs=click_logs.PairRules(min_users), memory_mb=memory, threads=threads),
        topics=judged[0],
        qrels=judged[1],
    )
    if json:
        put_json(report)
        return
    show_gate(report)
    say(report.reason)


@models.command("promote")
def promote(folder: options.Folder, version: Version, json: options.Json = False) -> None:
    """Let a version serve from now on, whatever the gate said.

    Example: germane models promote my-index clicks@2
    """
    with open_engine(folder) as engine:
        promoted = engine.promote(version)
    if json:
        put_json(promoted)
        return
    tell(f"{promoted.name}@{promoted.version} serves now")


@models.command("rollback")
def rollback(folder: options.Folder, name: Name = "clicks", json: options.Json = False) -> None:
    """Take the last promotion back: the version that served before serves again.

    Example: germane models rollback my-index
    """
    with open_engine(folder) as engine:
        found = engine.rollback(name)
    if json:
        put_json([] if found is None else [found])
        return
    tell(f"no version of '{name}' serves now" if found is None else f"{found.name}@{found.version} serves again")


@models.command("remove")
def remove(
    folder: options.Folder,
    versions: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="Versions, as clicks@1 clicks@2.", show_default=False)
    ],
    force: Annotated[
        bool, typer.Option("--force", help="One that serves too; what served before serves again.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Delete versions with what they were learnt from and the vectors they made. Their numbers are not given again.

    Example: germane models remove my-index clicks@1

    Example: germane models remove my-index clicks@1 clicks@2 --force
    """
    with open_engine(folder) as engine:
        learnt = engine.models
        before = {name: learnt.serving_number(name) for name in learnt.names()}
        behind = engine.remove_models(versions, force=force)
    tell_behind(folder, behind)
    if json:
        put_json(learnt.versions())
        return
    tell(f"removed: {', '.join(versions)}")
    for name, served in before.items():
        now = learnt.serving_number(name)
        if served is not None and now != served:
            tell(f"no version of '{name}' serves now" if now is None else f"{name}@{now} serves again")


def _judged(version: "ModelVersion") -> tuple[str, str, str]:
    if version.gate is None or not version.gate.sets:
        return "", "", ""
    first = version.gate.sets[0]
    return f"{first.candidate:.4f}", f"{first.baseline:.4f}", "passed" if version.gate.passed else "failed"


def _store(folder: Path | None) -> "ClickStore | None":
    if folder is None:
        return None

    return click_logs.ClickStore.open(folder)
