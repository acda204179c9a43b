"""The hits of a search: a table for people, lines for programs."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from germane.cli.streams import put_row
from germane.lazy import on_first_use
from germane.tables import figure
from germane.types import RunEntry
from germane.wording import counted, people

with on_first_use(__name__):
    from rich import table as rich_table
    from rich import text as rich_text

    from germane import data
    from germane.data import writing
    from germane.rank import snippets

if TYPE_CHECKING:
    from rich.console import Console

    from germane import Analyzer
    from germane.engine import Engine, SearchResponse
    from germane.engine.responses import HitResponse

FACTS = 4
LONGEST_FACT = 40
AUTHORS = ("author", "authors")
RANKS = 5
"""Results of a group that are told."""


def put_tsv(found: "SearchResponse") -> None:
    """Rank, id, score (nothing where a field orders the hits), title."""
    for hit in found.hits:
        put_row((hit.rank, hit.id, "" if hit.score is None else figure(hit.score), _title(hit)))


def put_trec(found: "SearchResponse", tag: str, topic: str = "1") -> None:
    """The lines of a run."""
    data.write_run(sys.stdout, (RunEntry(topic, hit.id, hit.rank, hit.score or 0.0, tag) for hit in found.hits))


def put_records(engine: "Engine", found: "SearchResponse", format: str | None) -> None:
    """The documents found, whole, best first."""
    writing.write_documents(sys.stdout, (engine.document(hit.id) for hit in found.hits), format)


def show(console: "Console", engine: "Engine", found: "SearchResponse") -> None:
    """A table for people: title, a few facts, and a snippet with the query's words in it."""
    table = rich_table.Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim")
    table.add_column(ratio=1)
    table.add_column(justify="right", style="cyan")
    terms = set(found.result.query.weights) if found.result is not None else set[str]()
    others = [name for name in engine.text_fields if name != "title"]
    for hit in found.hits:
        title = rich_text.Text(_title(hit) or hit.id, "bold")
        _mark(title, [span[:2] for span in snippets.marks(title.plain, terms, engine.analyzer)])
        facts = rich_text.Text(" · ".join([hit.id, *_facts(hit, engine.text_fields)]), "dim")
        lines = [title, facts, _snippet(hit, others, terms, engine.analyzer)]
        score = "" if hit.score is None else f"{hit.score:.4f}"
        table.add_row(str(hit.rank), rich_text.Text("\n").join(line for line in lines if line), score)
        if hit is not found.hits[-1]:
            table.add_row()
    console.print(table)


def show_page(console: "Console", found: "SearchResponse") -> None:
    """Which of how many documents these are, and their values in the fields that were asked for."""
    for facet in found.facets or ():
        table = rich_table.Table(title=rich_text.Text(facet.field), box=None, title_justify="left", show_header=False)
        table.add_column(justify="right")
        table.add_column()
        for value in facet.values:
            name = f"{value.value:g}" if isinstance(value.value, float) else str(value.value)
            table.add_row(str(value.count), rich_text.Text(name if value.high is None else f"{name} .. {value.high:g}"))
        for name, n in (("(other values)", facet.other), ("(no value)", facet.missing)):
            if n:
                table.add_row(str(n), rich_text.Text(name, "dim"))
        console.print(table)
    first, last = found.hits[0].rank, found.hits[-1].rank
    total = f"{'' if found.total_is_exact else 'at least '}{counted(found.total, 'document')}"
    console.print(rich_text.Text(f"{first}-{last} of {total}", "dim"))


def show_groups(console: "Console", found: "SearchResponse") -> None:
    """The groups: how many results, the words that name them, and the ranks of the first."""
    if not found.groups:
        return
    table = rich_table.Table(title=rich_text.Text("groups"), box=None, title_justify="left", show_header=False)
    table.add_column(justify="right")
    table.add_column()
    table.add_column(style="dim")
    for group in found.groups:
        ranks = ", ".join(map(str, group.ranks[:RANKS])) + (" ..." if len(group.ranks) > RANKS else "")
        table.add_row(str(len(group.ids)), rich_text.Text(" · ".join(group.words)), f"ranks {ranks}")
    console.print(table)


def _snippet(hit: "HitResponse", names: Sequence[str], terms: set[str], analyzer: "Analyzer") -> Any:
    piece = snippets.snippet("\n".join(_written(hit.fields.get(name)) for name in names), terms, analyzer)
    text = rich_text.Text(piece.text)
    _mark(text, piece.marks)
    return text


def _mark(text: Any, places: Sequence[tuple[int, int]]) -> None:
    for start, end in places:
        text.stylize("bold yellow", start, end)


def _title(hit: "HitResponse") -> str:
    return " ".join(_written(hit.fields.get("title")).split())


def _facts(hit: "HitResponse", text_fields: Sequence[str]) -> list[str]:
    """The first few short fields that are not searched as text."""
    facts = []
    for name, value in hit.fields.items():
        written = " ".join(_written(people(value) if name in AUTHORS else value).split())
        if name not in text_fields and name != "title" and 0 < len(written) <= LONGEST_FACT:
            facts.append(f"{name} {written}")
    return facts[:FACTS]


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_written(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
