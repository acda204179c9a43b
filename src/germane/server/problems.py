"""What went wrong, as application/problem+json (RFC 9457) or as a page: a sentence that a person can act on."""

import re
from html import escape
from typing import NamedTuple

import orjson

from germane.declare import HTTP, spellings
from germane.engine.requests import ExplainRequest, SearchRequest
from germane.errors import (
    DeadlineError,
    DiskFullError,
    DocumentExistsError,
    GermaneError,
    IndexLockedError,
    InputError,
    MissingExtraError,
    ParameterError,
    QueryError,
    RequestError,
    StorageError,
    UnknownDocumentError,
)

TITLES = {
    400: "The request cannot be understood", 401: "A token is needed", 403: "Refused", 404: "Not there",
    405: "Not done this way",
    408: "Too slow", 409: "In conflict with what is there", 413: "Too large", 415: "Not this kind of content",
    422: "A value cannot be used", 429: "Too many requests", 431: "Too large", 500: "The server failed",
    503: "Not possible now", 507: "No space left",
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
    (DeadlineError, 503),
    (DiskFullError, 507),
    (StorageError, 503),
    (MissingExtraError, 503),
    (ParameterError, 422),
)


def told(error: Exception, door: str = HTTP) -> Told:
    """What is said of an error: Germane's own in its own words, any other without them."""
    if isinstance(error, ProblemError):
        return Told(error.status, error.detail)
    if isinstance(error, RequestError):
        names = {**spellings(ExplainRequest, door), **spellings(SearchRequest, door)}
        return Told(422, " ".join(without_folders(error.spelled(names)).split()))
    if isinstance(error, GermaneError):
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        message = " ".join(without_folders(str(error)).split())
        if isinstance(error, ParameterError) and message.startswith(("there is no ", "no topic ")):
            status = 404
        return Told(status, message)
    return Told(500, "something went wrong in the server; its log says what, and nothing was changed half-way")


def without_folders(said: str) -> str:
    """Words that may leave the server: of files only their names, since where they lie is no reader's business.

    >>> without_folders("no document with id 'x' in /home/ann/library: nothing was deleted")
    "no document with id 'x' in library: nothing was deleted"
    """
    return _FOLDERS.sub("", said)


def problem_document(status: int, detail: str, instance: str = "") -> dict[str, object]:
    """The members of a problem document."""
    title = TITLES.get(status, "An error")
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, "instance": instance}


def problem_bytes(status: int, detail: str, instance: str = "") -> bytes:
    """The document as JSON."""
    return orjson.dumps(problem_document(status, detail, instance))


def problem_page(status: int, detail: str) -> bytes:
    """The problem as a page of its own, without anything that only those who signed in may see."""
    title, said = escape(TITLES.get(status, "An error")), escape(detail[:1].upper() + detail[1:])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} · germane</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="/static/page.css"><main class="narrow"><div class="state error"><h1>{title}</h1>'
        f'<p>{said}.</p><p><a href="/search">To the search</a></p></div></main></html>'
    ).encode()
