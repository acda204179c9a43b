"""Exceptions that Germane raises deliberately, in one hierarchy.

GermaneError                  base class: catch it to catch all of them
├── InputError                unusable file, record, column or query; the message says where, and what is accepted
│   ├── CutShortError         the file ends in the middle of a record
│   └── QueryError            a query that cannot be parsed, or that names an unknown field
├── ParameterError            an argument outside its documented range; also a ValueError
│   └── RequestError          a request that is wrong; each door spells the fields in its message
├── IndexFormatError          not an index, an index of a newer version, or a damaged one; names the file
│   └── DamagedIndexError     a damaged index file; names the commands that check and repair the index
├── IndexLockedError          another process is writing to the index
├── EngineClosedError         a change through a closed engine
├── DocumentExistsError       an id that is already in the index, or twice in one input
├── UnknownDocumentError      an id that is not in the index
├── StorageError              the disk or a file cannot be used; earlier commits are intact
│   └── DiskFullError         no disk space, or no quota, is left
├── DeadlineError             the deadline has passed, or the client has gone
└── MissingExtraError         an optional package is not installed; names the extra to install
"""

from collections.abc import Mapping
from pathlib import PurePath

from germane.wording import Name

_SHOWN = 24
"""Number of characters of a query that a message shows, from the position of the error."""


class GermaneError(Exception):
    """Base class of all errors that Germane raises deliberately."""


class InputError(GermaneError):
    """Input that cannot be used; `source` (a file), `line` (from 1) and `field` locate it.

    >>> str(InputError("not valid JSON", source="docs.jsonl", line=7))
    'docs.jsonl, line 7: not valid JSON'
    """

    def __init__(
        self, message: str, *, source: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.message = message
        self.source = source
        self.line = line
        self.field = field
        places = [
            source,
            f"line {line}" if line is not None else None,
            f"field '{field}'" if field is not None else None,
        ]
        where = ", ".join(place for place in places if place)
        super().__init__(f"{where}: {message}" if where else message)


class CutShortError(InputError):
    """The file ends in the middle of its last record; the complete records can be used if the caller allows it."""


class QueryError(InputError):
    """A query that cannot be parsed; `at` is the position (from 0) of the character or word that is wrong.

    >>> str(QueryError.at_place("the parenthesis is not closed", "heart (attack", 6))
    "the parenthesis is not closed (character 7, at '(attack')"
    """

    at: int | None = None

    @classmethod
    def at_place(cls, message: str, query: str, at: int, *, field: str | None = None) -> "QueryError":
        """Return the error with its position in the query added to the message."""
        rest = " ".join(query[at : at + _SHOWN].split())
        where = f"at '{rest}{'…' if len(query) > at + _SHOWN else ''}'" if rest else "at its end"
        error = cls(f"{message} (character {at + 1}, {where})", field=field)
        error.at = at
        return error


class ParameterError(GermaneError, ValueError):
    """A parameter outside its documented range."""


class RequestError(ParameterError):
    """A request that is wrong: the parts of the sentence that says so, the names of fields among them.

    >>> error = RequestError(Name("k"), " must be at least 1")
    >>> str(error), error.spelled({"k": "-k"})
    ("'k' must be at least 1", '-k must be at least 1')
    """

    def __init__(self, *parts: str) -> None:
        self.parts = parts
        super().__init__(self.spelled({}))

    def spelled(self, names: Mapping[str, str]) -> str:
        """Return the message with these spellings of fields; the others stand in quotation marks."""
        return "".join(names.get(part, f"'{part}'") if isinstance(part, Name) else part for part in self.parts)


class IndexFormatError(GermaneError):
    """The files on disk are not an index this version can read."""


class DamagedIndexError(IndexFormatError):
    """An index file whose content is damaged; `path` names the file, `what` describes the damage."""

    def __init__(self, path: PurePath, what: str) -> None:
        self.path = path
        self.what = what
        folder = path.parent
        super().__init__(
            f"{path}: {what}; 'germane check {folder}' tells all that is damaged, 'germane repair {folder}' saves what "
            "can be saved"
        )


class IndexLockedError(GermaneError):
    """Another process holds the write lock of the index."""


class EngineClosedError(GermaneError):
    """A closed engine was used to change its index."""


class DocumentExistsError(GermaneError):
    """A document was added whose id is already in the index, or twice in the input."""


class UnknownDocumentError(GermaneError):
    """An id that is not in the index."""


class StorageError(GermaneError):
    """The operating system refused to write a file."""


class DeadlineError(GermaneError):
    """The deadline of a request has passed, or its client has disconnected."""


class DiskFullError(StorageError):
    """No disk space is left, or the quota is used up."""


class MissingExtraError(GermaneError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}': pip install 'germane[{extra}]'")
