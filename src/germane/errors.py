"""Every exception Germane raises on purpose.

GermaneError                  catch this to catch them all
├── InputError                a file, record, column or query cannot be used; says where, and what would do
│   ├── CutShortError         a record that the file ends in the middle of
│   └── QueryError            a query that cannot be parsed or names an unknown field
├── ParameterError            an argument outside its documented range (also a ValueError)
├── IndexFormatError          not an index, a newer version, or a damaged file; names the file
│   └── DamagedIndexError     a file of an index is damaged; says how to find out more and save what can be saved
├── IndexLockedError          another process is writing
├── EngineClosedError         a change through an engine that was closed
├── DocumentExistsError       an id that is already in the index, or twice in one input
├── UnknownDocumentError      an id that is not in the index
├── StorageError              the disk or a file cannot be used; what was committed before is still there
│   └── DiskFullError         no space, or no quota, is left
├── DeadlineError             the answer would come too late, or nobody waits for it any more
└── MissingExtraError         an optional package is needed; says what to install
"""

from pathlib import PurePath

_SHOWN = 24
"""Characters of a query that a message shows from the place on."""


class GermaneError(Exception):
    """Base class of all errors raised on purpose by Germane."""


class InputError(GermaneError):
    """A piece of input that cannot be used: `source` (file), `line` (1-based) and `field` say where.

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
    """The file ends before its last record does: what is there of it can be used, where somebody says so."""


class QueryError(InputError):
    """A query that cannot be understood; `at` is the place of the sign or word in question, counted from 0.

    >>> str(QueryError.at_place("the parenthesis is not closed", "heart (attack", 6))
    "the parenthesis is not closed (character 7, at '(attack')"
    """

    at: int | None = None

    @classmethod
    def at_place(cls, message: str, query: str, at: int, *, field: str | None = None) -> "QueryError":
        """The error that says where in the query it is."""
        rest = " ".join(query[at : at + _SHOWN].split())
        where = f"at '{rest}{'…' if len(query) > at + _SHOWN else ''}'" if rest else "at its end"
        error = cls(f"{message} (character {at + 1}, {where})", field=field)
        error.at = at
        return error


class ParameterError(GermaneError, ValueError):
    """A parameter outside its documented range."""


class IndexFormatError(GermaneError):
    """The files on disk are not an index this version can read."""


class DamagedIndexError(IndexFormatError):
    """A file of an index is not what was written: `path` says which, `what` is wrong with it."""

    def __init__(self, path: PurePath, what: str) -> None:
        self.path = path
        self.what = what
        folder = path.parent
        super().__init__(
            f"{path}: {what}; 'germane check {folder}' tells all that is damaged, 'germane repair {folder}' saves what "
            "can be saved"
        )


class IndexLockedError(GermaneError):
    """A second writer tried to open the index."""


class EngineClosedError(GermaneError):
    """A closed engine was asked to change its index."""


class DocumentExistsError(GermaneError):
    """An id was added that the index already holds."""


class UnknownDocumentError(GermaneError):
    """An id was named that the index does not hold."""


class StorageError(GermaneError):
    """The operating system refused a write."""


class DeadlineError(GermaneError):
    """The time that a piece of work was given is over, or nobody waits for it any more."""


class DiskFullError(StorageError):
    """There is no space left, or the quota is used up."""


class MissingExtraError(GermaneError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}': pip install 'germane[{extra}]'")
