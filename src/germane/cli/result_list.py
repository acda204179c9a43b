"""A list of results and the marks of a person, as the command line has them."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from germane.cli.documents import tell_skipped
from germane.errors import InputError, ParameterError, UnknownDocumentError
from germane.lazy import on_first_use
from germane.types import RESULT_FIELDS, text_of
from germane.wording import counted

with on_first_use(__name__):
    import orjson

    from germane import data as data_files
    from germane.data import columns as data_columns
    from germane.data import compression, long_numbers
    from germane.data import lines as data_lines

STDIN = "-"
RANKED = ("rank", "score")
"""Fields, in any case, that only a ranking has."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Results in their order: ids, the texts whose words count, titles for people ("" for none), and whether the list
    says that its order is a ranking: results of a search do, and records that have each a rank or a score. `fields` are
    those of the records."""

    ids: list[str]
    texts: list[str]
    titles: list[str]
    ranking: bool
    fields: list[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ResultSource:
    """Source of the list: a file of documents, or what `germane search --json` printed (- for stdin)."""

    name: str
    columns: Sequence[str]
    format: str | None
    encoding: str
    on_error: Literal["stop", "skip"]
    keep_source: bool = False

    def read(self) -> Listed:
        """The list; `InputError` if it is empty, or none of the columns is in it."""
        hits = self._hits()
        documents = self._documents() if hits is None else hits
        if not documents:
            raise InputError("there are no results in it", source=self._source)
        columns = tuple(self.columns) or RESULT_FIELDS
        known = {name for _, fields in documents for name in fields}
        missing = [name for name in columns if name not in known]
        if missing and (self.columns or len(missing) == len(columns)):
            found = ", ".join(f"'{name}'" for name in documents[0][1]) or "none"
            wanted = f"'{missing[0]}'" if self.columns else "'title', 'abstract' or 'text'"
            raise InputError(f"there is no column {wanted}; name those of the words with --text; found: {found}",
                             source=self._source)  # fmt: skip
        return Listed(
            [doc_id for doc_id, _ in documents],
            [text_of(fields, columns) for _, fields in documents],
            [" ".join(text_of(fields, ("title",)).split()) for _, fields in documents],
            hits is not None or all(any(name.lower() in RANKED for name in fields) for _, fields in documents),
            [fields for _, fields in documents],
        )

    @property
    def _source(self) -> str:
        return "stdin" if self.name == STDIN else self.name

    def _hits(self) -> list[tuple[str, Mapping[str, Any]]] | None:
        """The hits of a search's JSON; None if the file is something else."""
        if self.name == STDIN:
            data = sys.stdin.buffer.read()
        elif self.format is None and Path(self.name).is_file():
            with compression.open_binary(self.name, self.encoding) as stream:
                data = stream.read(data_lines.MAX_RECORD_BYTES + 1) if stream.peek(1).lstrip()[:1] == b"{" else b""
                if len(data) > data_lines.MAX_RECORD_BYTES:  # too long for one object: its lines may be documents
                    return None
        else:
            return None
        try:
            found = orjson.loads(data) if data else None
        except orjson.JSONDecodeError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("hits"), list):
            if lost := long_numbers.lost_digits(found, data):
                raise InputError(lost, source=self._source)
            return [_hit(hit, number, self._source) for number, hit in enumerate(found["hits"], start=1)]
        if self.name == STDIN:
            raise InputError("stdin must be the JSON object that germane search --json prints", source="stdin")
        return None

    def _documents(self) -> list[tuple[str, Mapping[str, Any]]]:
        report = data_files.SkipReport()
        documents = data_files.read_documents(
            self.name,
            format=self.format,
            on_error=self.on_error,
            report=report,
            encoding=self.encoding,
            number=True,
            keep_source=self.keep_source,
        )
        found = [(document.id, document.fields) for document in documents]
        tell_skipped(report)
        return found


def _hit(hit: Any, number: int, source: str) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(hit, dict) or not isinstance(hit.get("id"), str) or not isinstance(hit.get("fields"), dict):
        raise InputError(f"hit {number} has no id or no fields; is this the JSON of germane search?", source=source)
    return hit["id"], hit["fields"]


def marked(option: str, texts: Sequence[str], ids: Sequence[str]) -> list[str]:
    """The ids that a person typed: each with commas between them, an id before a place in the list, from 1."""
    known = set(ids)
    found: list[str] = []
    for text in texts:
        parts = [text] if text in known else [part.strip() for part in text.split(",") if part.strip()]
        if not parts:
            raise ParameterError(f"{option} wants ids or places in the list, with commas between them, not '{text}'")
        found += [_named(option, part, known, ids) for part in parts]
    return found


def _named(option: str, part: str, known: set[str], ids: Sequence[str]) -> str:
    if part in known:
        return part
    place = data_columns.whole_number(part)
    if place is not None and 1 <= place <= len(ids):
        return ids[place - 1]
    raise UnknownDocumentError(
        f"{option} '{part}' is neither an id nor a place among {counted(len(ids), 'result')} (1 to {len(ids)})"
    )


def threshold_of(text: str | None) -> float | str | None:
    """--threshold: f1, odds, or a number."""
    if text is None or text in ("f1", "odds"):
        return text
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"--threshold wants f1, odds or a number between 0 and 1, not '{text}'") from None


def ids_in(path: Path, listed: Sequence[str]) -> set[str]:
    """The ids of a file, one a line, that are in the list; `InputError` where none is."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
    except UnicodeDecodeError:
        raise InputError("the ids must be UTF-8 text, one a line", source=str(path)) from None
    found = {line.strip() for line in lines if line.strip()} & set(listed)
    if not found:
        raise InputError("no id of the file, one a line, is in the list", source=str(path))
    return found
