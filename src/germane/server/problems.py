"""What went wrong, as application/problem+json (RFC 9457) or as a page: a sentence that a person can act on."""

import re
from pathlib import PurePath
from typing import NamedTuple

import orjson

from germane.errors import (
    DocumentExistsError,
    GermaneError,
    IndexFormatError,
    IndexLockedError,
    InputError,
    MissingExtraError,
    ParameterError,
    QueryError,
    StorageError,
    UnknownDocumentError,
)

TITLES = {
    400: "The request cannot be understood", 401: "A token is needed", 403: "Refused", 404: "Not there",
    405: "Not done this way",
    408: "Too slow", 409: "In conflict with what is there", 413: "Too large", 415: "Not this kind of content",
    422: "A value cannot be used", 429: "Too many requests", 431: "Too large", 500: "The server failed",
    503: "Not possible now",
}  # fmt: skip


_FOLDERS = re.compile(r"(?<![\w./:])/(?:[^\s/'\",;:]+/)+")
"""The folders of an absolute path."""


class ProblemError(Exception):
    """Ends a request with a status and a sentence."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Told(NamedTuple):
    """A status and a sentence."""

    status: int
    detail: str


_STATUS: tuple[tuple[type[GermaneError], int], ...] = (
    (UnknownDocumentError, 404),
    (QueryError, 422),
    (InputError, 422),
    (DocumentExistsError, 409),
    (IndexLockedError, 503),
    (StorageError, 503),
    (MissingExtraError, 503),
    (ParameterError, 422),
)


def told(error: Exception) -> Told:
    """What is said of an error: Germane's own in its own words, any other without them."""
    if isinstance(error, ProblemError):
        return Told(error.status, error.detail)
    if isinstance(error, GermaneError):
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        message = " ".join(_without_folders(error).split())
        if isinstance(error, ParameterError) and message.startswith(("there is no ", "no topic ")):
            status = 404
        return Told(status, message)
    return Told(500, "something went wrong in the server; its log says what, and nothing was changed half-way")


def _without_folders(error: GermaneError) -> str:
    """The error's words; of files of the server only their names, since where they lie is no reader's business."""
    said = str(error)
    if isinstance(error, InputError) and error.source and error.source.startswith("/"):
        return said.replace(error.source, PurePath(error.source).name)
    if isinstance(error, StorageError | IndexFormatError | IndexLockedError):
        return _FOLDERS.sub("", said)
    return said


def problem_document(status: int, detail: str, instance: str = "") -> dict[str, object]:
    """The members of a problem document."""
    title = TITLES.get(status, "An error")
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, "instance": instance}


def problem_bytes(status: int, detail: str, instance: str = "") -> bytes:
    """The document as JSON."""
    return orjson.dumps(problem_document(status, detail, instance))
