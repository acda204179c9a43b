"""germane index: make an index from a collection."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from germane.cli import options
from germane.cli.analysis import analyzer_named
from germane.cli.documents import Holds, InputFile, documents, put_added, tell_skipped
from germane.cli.opening import new_engine
from germane.cli.streams import tell
from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use
from germane.types import DEFAULT_FIELDS

with on_first_use(__name__):
    from germane import data
    from germane.data import documents as document_files
    from germane.index import vector_fields

if TYPE_CHECKING:
    from germane.index.vector_fields import VectorField

LOOKED_AT = 100
"""Records in which a column of abstracts is looked for."""

CIFF_ENDINGS = (".ciff", ".ciff.gz")


def index(
    sources: options.Sources,
    into: options.Into,
    fields: Annotated[
        str | None,
        typer.Option(
            help="The fields to search as text, with commas between them; all others can be filtered on. "
            f"Otherwise {','.join(DEFAULT_FIELDS)}, and of references (RIS, NBIB, PubMed XML, BibTeX) keywords too.",
            show_default=False,
        ),
    ] = None,
    stemmer: options.Stemmer = "english",
    stopwords: options.Stopwords = "english",
    synonyms: options.Synonyms = None,
    positions: Annotated[
        bool,
        typer.Option(
            "--positions/--no-positions", help="Keep the order of words, for phrases and for words in one field."
        ),
    ] = True,
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            "--vectors",
            metavar="NAME:DIMENSION[:TYPE[:SIMILARITY]]",
            help="A vector field that records bring under 'vectors'; may be repeated. TYPE: float32, float16, int8; "
            "SIMILARITY: cosine, dot.",
            show_default=False,
        ),
    ] = None,
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
    """Make an index from a collection of documents: one file or folder, or several.

    All or nothing: if it fails, the folder is as it was before.

    Example: germane index docs.jsonl --into my-index

    Example: germane index pubmed.nbib embase.ris more/ --into review --on-duplicate skip

    Example: germane index papers.csv --into papers --map id=doi --map text=abstract --on-error skip

    Example: germane index references.nbib --into review --synonyms desc2026.xml

    Example: germane index embedded.jsonl --into my-index --vectors title:384:int8
    """
    for source in sources:
        if source.endswith(CIFF_ENDINGS):
            raise InputError(f"a CIFF file is an index already: germane import-ciff {source} --into {into}")
        if Path(source).resolve() == into.resolve():  # made first, it would be what is read
            raise InputError(f"--into {into} is what is to be indexed; name another folder", source=source)

    if fields is not None:
        names = _field_names(fields)
    else:
        names = list(
            dict.fromkeys(
                name for source in sources for name in document_files.text_fields_of(source, format, encoding)
            )
        )
    read = [InputFile(name, format, mapping or (), encoding, on_error.value, id_from_number) for name in sources]
    if fields is None:
        names += _abstracts(read, names)
    skipped = data.SkipReport()
    declared = _vector_fields(vectors or [])
    analyzer = analyzer_named(stemmer, stopwords, synonyms)
    with new_engine(into, analyzer, names, positions=positions, vectors=declared) as engine:
        report = engine.add(
            documents(read, skipped, names, all_fields=fields is not None, progress=progress),
            on_duplicate=on_duplicate.value,
            threads=threads,
            memory_mb=memory,
        )
        holds = Holds.of(engine)
    tell_skipped(skipped)
    put_added(report, skipped, holds, json=json)


def _abstracts(sources: Sequence[InputFile], names: Sequence[str]) -> list[str]:
    """The column of abstracts, where records have one and no text: searched too, and said so."""
    found: list[str] = []
    for source in sources:
        if Path(source.name).exists() and not (Path(source.name).is_file() or Path(source.name).is_dir()):
            continue  # a pipe is read once
        for document in islice(replace(source, on_error="skip").read(data.SkipReport()), LOOKED_AT):
            if "text" not in document.fields:
                found += [name for name in document.fields if name.lower() == "abstract" and name not in names]
    found = list(dict.fromkeys(found))
    for name in found:
        tell(f"the column '{name}' is searched too; --fields title leaves it out, --map text={name} makes it the text")
    return found


def _vector_fields(texts: Sequence[str]) -> "dict[str, VectorField]":
    """The vector fields that were declared."""
    parts = [text.partition(":") for text in texts]
    if len({name for name, _, _ in parts}) < len(parts):
        raise ParameterError("--vectors declares a field twice")
    return vector_fields.fields_of({name: field for name, _, field in parts})


def _field_names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise ParameterError(f"--fields wants different names with commas between them, not '{text}'")
    return names
