"""The options that `learn` and `models` share, and what they and `clicks erase` say of removed versions."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from germane.cli.streams import tell
from germane.errors import ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import data
    from germane.evaluate import rankings

MODEL = "Model"
GATE = "Gate"

From = Annotated[
    Path, typer.Option("--from", metavar="STORE", help="The folder of the history of clicks.", show_default=False)
]
Name = Annotated[str, typer.Option(metavar="NAME", help="What the model is called.", rich_help_panel=MODEL)]
Topics = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Judged queries for the gate.", show_default=False, rich_help_panel=GATE),
]
Qrels = Annotated[
    str | None, typer.Option(metavar="FILE", help="Their judgements.", show_default=False, rich_help_panel=GATE)
]
Share = Annotated[
    float, typer.Option(metavar="SHARE", help="How much of the queries or days is held out.", rich_help_panel=GATE)
]
Depth = Annotated[int, typer.Option(metavar="N", help="Results that are scored again.", rich_help_panel=GATE)]
Alpha = Annotated[
    float, typer.Option(metavar="P", help="Differences of a smaller p are significant.", rich_help_panel=GATE)
]


class HoldOut(StrEnum):
    """Queries that are held out for the gate."""

    QUERY = "query"
    TIME = "time"


HeldOut = Annotated[
    HoldOut,
    typer.Option(help="Hold out queries, or the last days.", rich_help_panel=GATE, case_sensitive=False),
]


def judged_typed(topics: str | None, qrels: str | None) -> tuple[Any, Any]:
    """Topics and judgements from their files."""
    if (topics is None) != (qrels is None):
        raise ParameterError("--topics and --qrels belong together: judged queries need both")
    if topics is None or qrels is None:
        return None, None

    return list(data.read_topics(topics)), rankings.load_qrels(qrels)


def tell_behind(folder: Path, fields: Sequence[str]) -> None:
    """That vectors of removed versions are there still."""
    for name in fields:
        tell(
            f"another process is writing to {folder}: the vectors that the removed version of '{name}' made are there "
            f"until its next change, or 'germane vectors fold {folder} {name}' once it has ended"
        )
