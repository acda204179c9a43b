"""germane add: more documents for an index."""

import warnings

from germane.cli import options
from germane.cli.documents import Holds, InputFile, documents, put_added, tell_skipped
from germane.cli.opening import open_engine
from germane.cli.streams import tell
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import data


def add(
    folder: options.Folder,
    sources: options.Sources,
    format: options.Format = None,
    mapping: options.Map = None,
    encoding: options.Encoding = "utf-8",
    id_from_number: options.IdFromNumber = False,
    on_error: options.SkipBad = options.OnError.STOP,
    on_duplicate: options.Duplicates = options.OnDuplicate.ERROR,
    memory: options.Memory = 128,
    threads: options.Threads = None,
    progress: options.Progress = False,
    json: options.Json = False,
) -> None:
    """Add documents to an index, in one atomic commit.

    Scores afterwards are those of an index built anew from all documents.

    Example: germane add my-index more.jsonl --on-duplicate replace

    Example: germane add my-index new.ris new.nbib --on-duplicate skip
    """
    read = [InputFile(name, format, mapping or (), encoding, on_error.value, id_from_number) for name in sources]
    skipped = data.SkipReport()
    with open_engine(folder) as engine, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        report = engine.add(
            documents(read, skipped, engine.text_fields, all_fields=False, progress=progress),
            on_duplicate=on_duplicate.value,
            threads=threads,
            memory_mb=memory,
        )
        holds = Holds.of(engine)
    for told in dict.fromkeys(str(each.message) for each in warned):
        tell(told)
    tell_skipped(skipped)
    put_added(report, skipped, holds, json=json)
