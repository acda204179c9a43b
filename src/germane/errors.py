"""Every exception Germane raises on purpose.

GermaneError                  catch this to catch them all
├── InputError                a file, record, column or query cannot be used; says where, and what would do
│   └── QueryError            a query that cannot be parsed or names an unknown field
├── ParameterError            an argument outside its documented range (also a ValueError)
├── IndexFormatError          not an index, a newer version, or a damaged file; names the file
├── IndexLockedError          another process is writing
├── EngineClosedError         a change through an engine that was closed
├── DocumentExistsError       an id that is already in the index, or twice in one input
├── UnknownDocumentError      an id that is not in the index
├── StorageError              the disk is full or read-only; what was committed before is still there
└── MissingExtraError         an optional package is needed; says what to install
"""


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


class QueryError(InputError):
    """A query that cannot be understood."""


class ParameterError(GermaneError, ValueError):
    """A parameter outside its documented range."""


class IndexFormatError(GermaneError):
    """The files on disk are not an index this version can read."""


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


class MissingExtraError(GermaneError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}': pip install 'germane[{extra}]'")
