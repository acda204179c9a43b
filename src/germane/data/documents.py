"""One door to all formats: `read_documents(source)`."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, cast

from germane.data import catalog, irds
from germane.data.bad_records import OnBad, SkipReport, stop
from germane.data.fields import FieldMap, document_id
from germane.data.folder import files_in, read_folder, read_text, relative_name
from germane.data.formats import FORMATS, detect_format, format_in_folder
from germane.errors import InputError, ParameterError
from germane.lazy import load
from germane.types import DEFAULT_FIELDS, Document, FieldValue

_UNMAPPED = "of a folder of texts only {'label': 'folder'} can be mapped"


def read_documents(
    source: str | Path,
    *,
    format: str | None = None,
    mapping: Mapping[str, str] | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    report: SkipReport | None = None,
    encoding: str = "utf-8",
    number: bool = False,
    keep_source: bool = False,
    distinct: bool = False,
) -> Iterator[Document]:
    """Documents of a file, a folder, a data set by name, or `irds:NAME`, one at a time.

    - The format is `format`, else it follows from the file's name or beginning. A folder that holds `docs.jsonl` is a
      data set. Of any other folder each file is looked at by itself: those whose ending or unmistakable beginning says
      that they hold records (.ris, .nbib, .bib, .jsonl, .csv, ...) are read as such, all others are texts, one document
      each. With `format="folder"` all are texts.
    - `mapping` is from our field to their column: `{"id": "key", "text": "abstract"}`. With `{"label": "folder"}` all
      files of a folder are texts, and the label is the name of the file's own folder.
    - With `on_error="skip"` bad records are passed over and noted in `report`. A file that cannot be read still stops.
    - With `number`, records of JSON Lines, CSV and TSV that have no id are numbered; other formats always do so.
    - With `keep_source`, records of RIS, MEDLINE and BibTeX have their own text with them (`data/sources.py`).
    - With `distinct`, an id that an earlier record of a file or folder has stands behind its file's name (`b.ris:7`).

    Ids are not checked for being unique otherwise; the index does that.
    """
    if on_error not in ("stop", "skip"):
        raise ParameterError(f"on_error is 'stop' or 'skip', not '{on_error}'")
    on_bad = stop if on_error == "stop" else (report or SkipReport()).note
    if isinstance(source, str) and source.startswith(irds.PREFIX):
        return _mapped(irds.read_irds(source, on_bad=on_bad), mapping, source, on_bad)
    path, whole = _located(source, format)
    read = partial(
        _read_file, mapping=mapping, number=number, encoding=encoding, on_bad=on_bad, keep_source=keep_source
    )
    apart = _Ids().apart if distinct else _unchanged
    if not path.is_dir():
        if format == "folder":
            raise InputError("a file, where the format 'folder' needs a folder", source=str(path))
        return apart(read(path, format or detect_format(path, encoding)), path.name)
    if not whole:
        read_in = ((file, read(file, format)) for file in files_in(path))
        return (document for file, found in read_in for document in apart(found, relative_name(file, path)))
    if format == "folder" or dict(mapping or {}) == {"label": "folder"}:
        return _read_texts(path, mapping or {}, encoding, on_bad)
    files = [(file, format_in_folder(file, encoding)) for file in files_in(path)]
    if mapping and any(found is None for _, found in files):
        raise InputError(_UNMAPPED, source=str(path))
    return _read_mixed(path, files, read, encoding, on_bad, apart)


def text_fields_of(source: str | Path, format: str | None = None, encoding: str = "utf-8") -> tuple[str, ...]:
    """The fields of a source that are searched unless others are named: of references, the keywords too.

    Where a folder holds files of several formats, those of all of them.
    """
    if isinstance(source, str) and source.startswith(irds.PREFIX):
        return DEFAULT_FIELDS
    path, _ = _located(source, format)
    if format is not None:
        formats: list[str | None] = [format]
    elif path.is_dir():
        formats = [format_in_folder(file, encoding) for file in files_in(path)]
    else:
        formats = [detect_format(path, encoding)]
    named = [FORMATS[name].text_fields for name in formats if name is not None]
    return tuple(dict.fromkeys(name for names in (DEFAULT_FIELDS, *named) for name in names))


def _located(source: str | Path, format: str | None) -> tuple[Path, bool]:
    """The file or folder, and whether a folder's files are to be looked at one by one."""
    if format is not None and format not in FORMATS:
        raise ParameterError(f"no format is called '{format}'; there are: {', '.join(FORMATS)}")
    path = catalog.resolve(source)
    if path.is_dir() and format in (None, "jsonl"):
        path = catalog.documents_in(path) or path
    return path, format in (None, "folder")


def _read_mixed(
    folder: Path,
    files: Sequence[tuple[Path, str | None]],
    read: Callable[[Path, str], Iterator[Document]],
    encoding: str,
    on_bad: OnBad,
    apart: Callable[[Iterator[Document], str], Iterator[Document]],
) -> Iterator[Document]:
    """The documents of each file, in the order of their paths; records without an id are named by their file's path."""
    for file, format in files:
        name = relative_name(file, folder)
        if format is None:
            found = read_text(file, folder, encoding=encoding, on_bad=on_bad)
        else:
            found = _numbered(read(file, format), f"{file.name}:", f"{name}:")
        yield from apart(found, name)


def _numbered(documents: Iterator[Document], own: str, path: str) -> Iterator[Document]:
    """Documents; of those that are the file's own name and a number, the path in place of the name."""
    for document in documents:
        number = document.id.removeprefix(own)
        if own != path and document.id.startswith(own) and number.isdigit():
            document = replace(document, id=f"{path}{number}")
        yield document


class _Ids:
    """Those that are taken."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._repeats: Counter[str] = Counter()

    def apart(self, documents: Iterator[Document], file: str) -> Iterator[Document]:
        """The documents of a file, its name before an id that is taken; a number behind it where that is taken too."""
        for document in documents:
            name = document.id
            if name in self._taken:
                name = own = f"{file}:{document.id}"
                while name in self._taken:
                    self._repeats[own] += 1
                    name = f"{own}:{self._repeats[own] + 1}"
                document = replace(document, id=name)
            self._taken.add(name)
            yield document


def _unchanged(documents: Iterator[Document], _: str) -> Iterator[Document]:
    return documents


def _read_file(
    path: Path,
    format: str | None,
    *,
    mapping: Mapping[str, str] | None,
    number: bool,
    encoding: str,
    on_bad: OnBad,
    keep_source: bool,
) -> Iterator[Document]:
    if format is None:
        return iter(())
    read = partial(load(FORMATS[format].reader), path, encoding=encoding, on_bad=on_bad)
    if FORMATS[format].sources and keep_source:
        read = partial(read, keep_source=True)
    if FORMATS[format].records:
        return cast(Iterator[Document], read(mapping=mapping, number=number))
    return _mapped(read(), mapping, str(path), on_bad)


def _read_texts(folder: Path, mapping: Mapping[str, str], encoding: str, on_bad: OnBad) -> Iterator[Document]:
    if dict(mapping) not in ({}, {"label": "folder"}):
        raise InputError(_UNMAPPED, source=str(folder))
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
