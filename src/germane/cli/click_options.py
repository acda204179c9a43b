"""The options that the commands about clicks share, and how they show a curve and what was left out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli.streams import tell
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import clicks

if TYPE_CHECKING:
    from germane.clicks import SearchRules

_RULES = "Rules"
_WORK = "Work"
BAR = 30
"""Signs of a bar that is as long as the first."""

Store = Annotated[
    Path, typer.Argument(metavar="STORE", help="The folder of the history of clicks.", show_default=False)
]
Memory = Annotated[
    int, typer.Option(metavar="MB", help="Memory that the work may take, at least 128.", rich_help_panel=_WORK)
]
Threads = Annotated[
    int | None,
    typer.Option(metavar="N", help="Threads to use; all cores otherwise.", show_default=False, rich_help_panel=_WORK),
]
Work = Annotated[
    Path | None,
    typer.Option(
        "--work",
        metavar="DIR",
        help="A folder for what does not fit into memory.",
        show_default="TMPDIR",
        rich_help_panel=_WORK,
    ),
]
MinUsers = Annotated[
    int, typer.Option(metavar="K", help="Queries that fewer people typed are in no pair.", rich_help_panel=_RULES)
]
SessionGap = Annotated[float, typer.Option(metavar="MINUTES", help="Rest that ends a session.", rich_help_panel=_RULES)]
ClickWindow = Annotated[
    float, typer.Option(metavar="MINUTES", help="How long after its search a click counts.", rich_help_panel=_RULES)
]
ClockSkew = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="By how much a click may precede its search.", rich_help_panel=_RULES),
]
RobotClicks = Annotated[
    int, typer.Option(metavar="N", help="More clicks on a day are a robot's.", rich_help_panel=_RULES)
]
RobotSearches = Annotated[
    int, typer.Option(metavar="N", help="More searches on a day are a robot's.", rich_help_panel=_RULES)
]
RobotShare = Annotated[
    float,
    typer.Option(
        metavar="SHARE", help="Who clicks this share of the day's results is a robot.", rich_help_panel=_RULES
    ),
]
RobotResults = Annotated[
    int, typer.Option(metavar="N", help="The same, where at least so many were shown.", rich_help_panel=_RULES)
]
MinDwell = Annotated[
    float, typer.Option(metavar="SECONDS", help="A click that held for less does not count.", rich_help_panel=_RULES)
]
MaxPosition = Annotated[
    int, typer.Option(metavar="K", help="Results below this position are not looked at.", rich_help_panel=_RULES)
]
MaxQueryWords = Annotated[
    int, typer.Option(metavar="N", help="Longer queries are not a person's.", rich_help_panel=_RULES)
]
ClickActions = Annotated[
    list[str] | None,
    typer.Option(
        "--click-action",
        metavar="NAME",
        help="An action of the log that is a click; repeatable.",
        show_default="click",
        rich_help_panel=_RULES,
    ),
]
ImpressionActions = Annotated[
    list[str] | None,
    typer.Option(
        "--impression-action",
        metavar="NAME",
        help="An action that says a result was shown; repeatable.",
        show_default="impression",
        rich_help_panel=_RULES,
    ),
]


def search_rules(
    click_actions: Sequence[str] | None, impression_actions: Sequence[str] | None, **rules: float
) -> "SearchRules":
    """The rules of the command line."""
    named = {"click_actions": click_actions, "impression_actions": impression_actions}
    actions = {name: tuple(given) for name, given in named.items() if given}
    return clicks.SearchRules(**actions, **rules)  # type: ignore[arg-type]


def tell_dropped(kind: str, dropped: Mapping[str, int]) -> None:
    """Report what was left out, the commonest reason first."""
    for reason, count in sorted(dropped.items(), key=lambda item: (-item[1], item[0])):
        noun = kind if count != 1 else kind.removesuffix("es" if kind == "searches" else "s")
        tell(f"left out: {count:,} {noun}: {reason}")


def bar(value: float) -> str:
    """A bar as long as the value says; none where it is not known."""
    return "█" * round(BAR * min(value, 1.5)) if value == value else ""
