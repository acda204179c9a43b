"""germane import-ciff: an index that another program has built."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.analysis import analyzer_named
from germane.cli.streams import tell
from germane.lazy import on_first_use
from germane.wording import counted

with on_first_use(__name__):
    from germane.engine import announcing
    from germane.index import ciff


class Lengths(StrEnum):
    """Which document lengths count."""

    EXACT = "exact"
    RECOMPUTE = "recompute"


def import_ciff(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file in CIFF.", show_default=False)],
    into: options.Into,
    stemmer: options.Stemmer = "none",
    stopwords: options.Stopwords = "none",
    lengths: Annotated[
        Lengths,
        typer.Option(help="Refuse a file whose document lengths are not the sums of its counts, or recompute them."),
    ] = Lengths.EXACT,
) -> None:
    """Make an index from a file in the Common Index File Format (CIFF).

    Lucene (Anserini), PISA and others write such files. Name the stemmer and the
    stop words that made its terms: queries must be cut in the same way.

    Example: germane import-ciff robust04.ciff --into robust04 --stemmer porter
    """
    announcing.announce_compiling()
    report = ciff.import_ciff(file, into, analyzer=analyzer_named(stemmer, stopwords), lengths=lengths.value)
    if report.lengths_changed:
        tell(f"{counted(report.lengths_changed, 'document has', 'documents have')} another length than the file says")
    tell(f"the index holds {counted(report.documents, 'document')} and {counted(report.terms, 'term')}")
