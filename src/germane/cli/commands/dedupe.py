"""germane dedupe: records that describe the same work, found and left out."""

from pathlib import Path
from typing import Annotated

import typer

from germane.cli import options
from germane.cli.documents import InputFile, documents, tell_skipped
from germane.cli.path_conflicts import require_apart
from germane.cli.streams import put_json, tell
from germane.cli.tables import put_rows, show_rows
from germane.lazy import on_first_use
from germane.types import DEFAULT_FIELDS
from germane.wording import counted

with on_first_use(__name__):
    from germane import data
    from germane.data import duplicates as data_duplicates
    from germane.data import responses, writing


def dedupe(
    sources: options.Sources,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="FILE",
            help="Write the records without the duplicates, whole (.ris, .nbib, .bib, .csv, .tsv, .jsonl).",
            show_default=False,
        ),
    ] = None,
    duplicates: Annotated[
        Path | None,
        typer.Option("--duplicates", metavar="FILE", help="Write the duplicates likewise.", show_default=False),
    ] = None,
    similarity: Annotated[
        float, typer.Option(metavar="NUMBER", help="How much of two titles' words must be the same, up to 1.")
    ] = 0.9,
    format: options.Format = None,
    mapping: options.Map = None,
    encoding: options.Encoding = "utf-8",
    on_error: options.SkipBad = options.OnError.STOP,
    progress: options.Progress = False,
    json: options.Json = False,
    tsv: options.TabSeparated = False,
) -> None:
    """Find the records that describe the same work: by DOI, PMID or arXiv id, then by title with year and author.

    Of each group the record that says most is kept: with an abstract, then with most fields, then the first. Records
    whose DOIs or PMIDs differ are never taken for one.

    Example: germane dedupe pubmed.nbib embase.ris --to unique.ris --duplicates left-out.ris
    """
    wanted = options.one_of(json=json, tsv=tsv)

    for target in filter(None, (to, duplicates)):
        writing.format_for(target)  # complains before the work
    require_apart({"--to": to, "--duplicates": duplicates}, sources)
    report = data.SkipReport()
    read = [InputFile(name, format, mapping or (), encoding, on_error.value, True) for name in sources]
    records = list(documents(read, report, DEFAULT_FIELDS, all_fields=False, progress=progress))
    tell_skipped(report)
    found = data_duplicates.find_duplicates(records, similarity)
    dropped = {duplicate.place for duplicate in found}
    answer = responses.DedupeResponse.of(records, found)
    if to is not None:
        writing.write_documents(to, (record for place, record in enumerate(records) if place not in dropped))
        tell(f"{counted(len(records) - len(found), 'record')} written to {to}")
    if duplicates is not None:
        writing.write_documents(duplicates, (records[duplicate.place] for duplicate in found))
        tell(f"{counted(len(found), 'duplicate')} written to {duplicates}")
    header = ["duplicate", "record", "of", "record", "by", "alike", "title"]
    rows = [[d.id, d.place, d.kept, d.kept_place, d.reason, d.similarity, d.title] for d in answer.duplicates]
    if wanted == "json":
        put_json(answer)
    elif wanted == "tsv":
        put_rows(header, rows)
    else:
        if rows:
            show_rows(header, rows)
        tell(f"{counted(len(records), 'record')}, {counted(len(found), 'duplicate')}")
