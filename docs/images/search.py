"""Draw docs/images/search.svg, the picture of the tour: run `python docs/images/search.py` after changes."""

import io
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from germane import Engine
from germane.cli import hits
from germane.cli.commands.explain import show as show_explanation
from germane.cli.samples import sample_path
from germane.data import read_documents
from germane.engine import ExplainRequest, SearchRequest

QUERY = "vaccines for children year:1900.."
TARGET = Path(__file__).with_suffix(".svg")


def main() -> None:
    console = Console(record=True, width=92, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    with tempfile.TemporaryDirectory() as folder, Engine.create(Path(folder, "index")) as engine:
        engine.add(read_documents(sample_path()))
        found = engine.answer(SearchRequest(QUERY, 3))
        console.print(Text(f"$ germane search my-index '{QUERY}' -k 3", "bold green"))
        hits.show(console, engine, found)
        console.print(Text(f"\n$ germane explain my-index '{QUERY}' {found.hits[0].id}", "bold green"))
        show_explanation(console, engine.answer(ExplainRequest(QUERY, found.hits[0].id)))
    console.save_svg(str(TARGET), title="germane", unique_id="germane-search")


if __name__ == "__main__":
    main()
