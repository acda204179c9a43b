"""germane learn: a candidate from clicks, the gate, and what serves."""

from typing import Annotated, Any

import typer

from germane.cli import options
from germane.cli.click_options import Memory, MinDwell, MinUsers, Threads, tell_dropped
from germane.cli.gate_tables import show_gate
from germane.cli.learnt_models import (
    GATE,
    MODEL,
    Alpha,
    Depth,
    From,
    HeldOut,
    HoldOut,
    Name,
    Qrels,
    Share,
    Topics,
    judged_typed,
)
from germane.cli.opening import open_engine
from germane.cli.progress import steps
from germane.cli.streams import put_json, tell
from germane.errors import ParameterError
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane import clicks as click_logs

NOT_PROMOTED = 1


def learn(
    folder: options.Folder,
    clicks: From,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL", help="wtm, bltm-pr, opca, s2net, combination, ...: docs/latent.md.", rich_help_panel=MODEL
        ),
    ] = "wtm",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the model, as n_topics=50; repeatable. A weight of the mixture is then not tuned.",
            show_default=False,
            rich_help_panel=MODEL,
        ),
    ] = None,
    name: Name = "clicks",
    hold_out: HeldOut = HoldOut.QUERY,
    share: Share = 0.2,
    topics: Topics = None,
    qrels: Qrels = None,
    depth: Depth = 1000,
    alpha: Alpha = 0.05,
    allow_equal: Annotated[
        bool,
        typer.Option("--allow-equal", help="Pass a candidate that is not significantly worse.", rich_help_panel=GATE),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Promote the candidate whatever the gate says.", rich_help_panel=GATE)
    ] = False,
    min_users: MinUsers = 5,
    min_dwell: MinDwell = 0.0,
    raw: Annotated[
        bool, typer.Option("--raw", help="Click-through rates as they are, position and all.", rich_help_panel="Rules")
    ] = False,
    memory: Memory = 2048,
    threads: Threads = None,
    json: options.Json = False,
) -> None:
    """Learn a model from clicks, and let it serve if it ranks held-out queries better than what serves.

    Exit code 1 means that the candidate did not pass; it is kept, and does not serve.

    Example: germane learn my-index --from my-clicks

    Example: germane learn my-index --from my-clicks --model bltm-pr --set n_topics=50 --hold-out time

    Example: germane learn my-index --from my-clicks --model combination --set parts=wtm,opca
    """
    parameters = parameters_typed(set_ or ())
    rules = click_logs.ClickRules(
        click_logs.SearchRules(min_dwell=min_dwell), click_logs.PairRules(min_users, debias=not raw), memory, threads
    )
    judged = judged_typed(topics, qrels)
    with open_engine(folder) as engine, steps("learning", otherwise=lambda words: None) as step:
        report = engine.learn(
            clicks,
            name=name,
            model=model,
            hold_out=hold_out.value,
            share=share,
            depth=depth,
            alpha=alpha,
            allow_equal=allow_equal,
            topics=judged[0],
            qrels=judged[1],
            rules=rules,
            force=force,
            on_progress=step,
            **parameters,
        )
    candidate = report.candidate
    if json:
        put_json(report)
    else:
        tell_dropped("pairs", candidate.data.dropped)
        show_gate(report.gate)
        weights = ", ".join(f"{each} {value:g}" for each, value in candidate.mixing.items())
        tell(f"{candidate.name}@{candidate.version}: {candidate.model} of "
             f"{counted(candidate.data.pairs, 'pair')} ({weights})")  # fmt: skip
        tell(("passed: " if report.gate.passed else "did not pass: ") + report.gate.reason)
        if report.forced:
            tell("promoted all the same, as --force says")
        elif report.promoted:
            tell(f"{candidate.name}@{candidate.version} serves now: searches use it, and --rerank none leaves it out")
    if not report.promoted:
        raise typer.Exit(NOT_PROMOTED)


def parameters_typed(texts: list[str] | tuple[()]) -> dict[str, Any]:
    """NAME=VALUE, each once; numbers and truth values as such."""
    parameters: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip().isidentifier() or name.strip() in parameters:
            raise ParameterError(f"--set wants a parameter and its value, each once, as in n_topics=50, not '{text}'")
        parameters[name.strip()] = _value(value.strip())
    return parameters


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
