"""What a search found, for people and for programs."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from germane.cli.snippet import marks, snippet
from germane.cli.streams import put

if TYPE_CHECKING:
    from rich.console import Console

    from germane import Analyzer, Hit
    from germane.engine import Engine, SearchResult

FACTS = 4
LONGEST_FACT = 40


def put_json(
    query: str,
    model: str,
    k: int,
    result: "SearchResult",
    suggestion: str | None,
    feedback: Mapping[str, Any] | None = None,
) -> None:
    """The result as one JSON object; with what feedback did, if that is given."""
    import orjson

    hits = []
    for hit in result:
        titled = {"title": hit.fields["title"]} if "title" in hit.fields else {}
        hits.append({"rank": hit.rank, "id": hit.id, "score": hit.score, **titled, "fields": hit.fields})
    learnt = {} if feedback is None else {"feedback": feedback}
    put(orjson.dumps({"query": query, "model": model, "k": k, "hits": hits, "suggestion": suggestion, **learnt}))


def put_tsv(result: "SearchResult") -> None:
    """Rank, id, score, title."""
    for hit in result:
        put(f"{hit.rank}\t{hit.id}\t{hit.score!r}\t{_title(hit)}".encode())


def put_trec(result: "SearchResult", tag: str, topic: str = "1") -> None:
    """The lines of a run."""
    from germane.data import write_run
    from germane.types import RunEntry

    write_run(sys.stdout, (RunEntry(topic, hit.id, hit.rank, hit.score, tag) for hit in result))


def show(console: "Console", engine: "Engine", result: "SearchResult") -> None:
    """A table for people: title, a few facts, and a snippet with the query's words in it."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="dim")
    table.add_column(ratio=1)
    table.add_column(justify="right", style="cyan")
    terms, others = set(result.query.weights), [name for name in engine.text_fields if name != "title"]
    for hit in result:
        title = Text(_title(hit) or hit.id, "bold")
        _mark(title, [span[:2] for span in marks(title.plain, terms, engine.analyzer)])
        facts = Text(" · ".join([hit.id, *_facts(hit, engine.text_fields)]), "dim")
        lines = [title, facts, _snippet(hit, others, terms, engine.analyzer)]
        table.add_row(str(hit.rank), Text("\n").join(line for line in lines if line), f"{hit.score:.4f}")
        if hit.rank < len(result):
            table.add_row()
    console.print(table)


def _snippet(hit: "Hit", names: Sequence[str], terms: set[str], analyzer: "Analyzer") -> Any:
    from rich.text import Text

    found = snippet("\n".join(_written(hit.fields.get(name)) for name in names), terms, analyzer)
    text = Text(found.text)
    _mark(text, found.marks)
    return text


def _mark(text: Any, places: Sequence[tuple[int, int]]) -> None:
    for start, end in places:
        text.stylize("bold yellow", start, end)


def _title(hit: "Hit") -> str:
    return " ".join(_written(hit.fields.get("title")).split())


def _facts(hit: "Hit", text_fields: Sequence[str]) -> list[str]:
    """The first few short fields that are not searched as text."""
    facts = []
    for name, value in hit.fields.items():
        written = " ".join(_written(value).split())
        if name not in text_fields and name != "title" and 0 < len(written) <= LONGEST_FACT:
            facts.append(f"{name} {written}")
    return facts[:FACTS]


def _written(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_written(item) for item in value)
    return "" if value is None else str(value)
