"""One door to all formats: `read_documents(source)`."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, cast

from germane.data import catalog, irds
from germane.data.bad_records import OnBad, SkipReport, stop
from germane.data.fields import FieldMap, document_id
from germane.data.folder import files_in, read_folder
from germane.data.formats import FORMATS, detect_format
from germane.errors import InputError, ParameterError
from germane.lazy import load
from germane.types import Document, FieldValue


def read_documents(
    source: str | Path,
    *,
    format: str | None = None,
    mapping: Mapping[str, str] | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    report: SkipReport | None = None,
    encoding: str = "utf-8",
    number: bool = False,
) -> Iterator[Document]:
    """Documents of a file, a folder, a data set by name, or `irds:NAME`, one at a time.

    - The format is `format`, else it follows from the file's name or beginning. A folder that holds `docs.jsonl` is a
      data set; any other is one document per file, unless `format` says what its files are.
    - `mapping` is from our field to their column: `{"id": "key", "text": "abstract"}`. In a folder of texts the one
      column is `folder`, the name of the file's own folder: `{"label": "folder"}`.
    - With `on_error="skip"` bad records are passed over and noted in `report`. A file that cannot be read still stops.
    - With `number`, records of JSON Lines, CSV and TSV that have no id are numbered; other formats always do so.

    Ids are not checked for being unique; the index does that.
    """
    if on_error not in ("stop", "skip"):
        raise ParameterError(f"on_error is 'stop' or 'skip', not '{on_error}'")
    if format is not None and format not in FORMATS:
        raise ParameterError(f"no format is called '{format}'; there are: {', '.join(FORMATS)}")
    on_bad = stop if on_error == "stop" else (report or SkipReport()).note
    if isinstance(source, str) and source.startswith(irds.PREFIX):
        return _mapped(irds.read_irds(source, on_bad=on_bad), mapping, source, on_bad)
    path = catalog.resolve(source)
    if path.is_dir() and format in (None, "jsonl"):
        path = catalog.documents_in(path) or path
    read = partial(_read_file, mapping=mapping, number=number, encoding=encoding, on_bad=on_bad)
    if not path.is_dir():
        if format == "folder":
            raise InputError("a file, where the format 'folder' needs a folder", source=str(path))
        return read(path, format or detect_format(path, encoding))
    if format in (None, "folder"):
        return _read_texts(path, mapping or {}, encoding, on_bad)
    return (document for file in files_in(path) for document in read(file, format))


def _read_file(
    path: Path, format: str | None, *, mapping: Mapping[str, str] | None, number: bool, encoding: str, on_bad: OnBad
) -> Iterator[Document]:
    if format is None:
        return iter(())
    read = partial(load(FORMATS[format].reader), path, encoding=encoding, on_bad=on_bad)
    if FORMATS[format].records:
        return cast(Iterator[Document], read(mapping=mapping, number=number))
    return _mapped(read(), mapping, str(path), on_bad)


def _read_texts(folder: Path, mapping: Mapping[str, str], encoding: str, on_bad: OnBad) -> Iterator[Document]:
    if dict(mapping) not in ({}, {"label": "folder"}):
        raise InputError("of a folder of texts only {'label': 'folder'} can be mapped", source=str(folder))
    return read_folder(folder, label=bool(mapping), encoding=encoding, on_bad=on_bad)


def _mapped(
    documents: Iterator[Document], mapping: Mapping[str, str] | None, source: str, on_bad: OnBad
) -> Iterator[Document]:
    """Documents whose fields are renamed, for the readers that do not take a mapping themselves."""
    if not mapping:
        yield from documents
        return
    names: FieldMap[FieldValue] = FieldMap(mapping)
    for document in documents:
        fields = names.apply(document.fields)
        identifier = document_id(fields.pop("id", None)) if "id" in mapping else document.id
        if identifier is None:
            on_bad(InputError(f"document '{document.id}' has no such field", source=source, field=mapping["id"]))
            continue
        yield Document(identifier, fields)
    names.check(source)
