"""What visitors of the page saw and opened, in UBI's words, so that models can be learnt from it.

A list that is shown gets an id, and a row with the ids of its results in their order; a click brings that id. Lists of
later pages, and those in an order of one's own marks, get no row: nothing is learnt from them. A visitor is a random
number in a cookie that is set only where logging is on.
"""

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from germane.errors import StorageError
from germane.server.listing import Listing
from germane.server.rendering import LOGGING

if TYPE_CHECKING:
    from germane.server.library import Library

CLIENT = "germane_client"
"""The cookie with the visitor's number."""
YEAR = 365 * 24 * 3600
_POSITION = re.compile(r"[0-9]{1,7}")


@dataclass(frozen=True, slots=True)
class Seen:
    """A list that was shown; no `query_id` where it is not logged."""

    library: "Library"
    client: str = ""
    query_id: str = ""
    query: str = ""
    collection: str = ""
    ids: tuple[str, ...] = ()

    def onto(self, answer: Response) -> Response:
        """The answer, with the visitor's cookie; the row is written once it is sent."""
        if self.query_id:
            answer.set_cookie(CLIENT, self.client, max_age=YEAR, httponly=True, samesite="strict")
            row = {
                "query_id": self.query_id, "client_id": self.client, "application": self.collection,
                "user_query": self.query, "query_response_hit_ids": list(self.ids),
            }  # fmt: skip
            answer.background = BackgroundTask(_log, self.library, row)
        return answer


def _log(library: "Library", row: dict[str, Any]) -> None:
    """Keep the row of a list. A full disk keeps nobody from searching: then nothing is learnt from this list."""
    with suppress(StorageError):
        library.events.add([row])


def client_of(request: Request) -> str:
    """The visitor's number; empty where there is none."""
    given = request.state.cookies.get(CLIENT, "")
    return given if len(given) == 24 and given.isalnum() and given.isascii() else ""


def seen(library: "Library", request: Request, shown: Listing) -> Seen:
    """What is to be logged of a list."""
    place = shown.place
    if request.state.foreign:  # whose click this was, nobody here knows
        return Seen(library)
    if request.state.cookies.get(LOGGING) == "off" or not shown.rows or not place.q or place.page > 1 or place.s:
        return Seen(library)
    client = client_of(request) or secrets.token_hex(12)
    ids = tuple(row.id for row in shown.rows)
    return Seen(library, client, secrets.token_hex(12), place.effective, place.c or library.first, ids)


def click(request: Request, fields: Any, collection: str) -> dict[str, Any] | None:
    """The event of a result that was opened; None where it is not to be logged."""
    if request.state.cookies.get(LOGGING) == "off" or not fields["q"] or not fields["id"]:
        return None
    position = int(fields["position"]) if _POSITION.fullmatch(fields["position"]) else None
    search = fields["search"]
    known = len(search) == 24 and search.isalnum() and search.isascii()
    event: dict[str, Any] = {
        "action_name": "click", "query_id": search if known else f"page:{fields['q']}", "user_query": fields["q"],
        "application": collection,
        "event_attributes": {"object": {"object_id": fields["id"]}, "position": {"ordinal": position}},
    }  # fmt: skip
    client = client_of(request)
    return {**event, "client_id": client} if client else event
