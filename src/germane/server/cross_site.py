"""Reading that another site asked a browser for: whatever makes the server compute is refused, unless a person clicked.

What a browser says of a request (`Sec-Fetch-*`) no page can change. A link in a wiki or a mail that a person follows
opens any page, in a tab of its own; images, frames, scripts, fetches and pages that move on by themselves get nothing
but what costs nothing. Programs and older browsers send none of these headers, and are let through as before.
"""

from collections.abc import Mapping

OWN = (None, "same-origin", "none")
"""From here, from the address bar or a bookmark, or from a program."""
ALWAYS = ("/static/", "/api/v1/health", "/sign-in")
"""What costs nothing."""
BARE = ("/", "/search", "/keys", "/import", "/evaluate")
"""What costs nothing as long as nothing is asked."""


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Whether another site asked for it."""
    return headers.get("sec-fetch-site") not in OWN


def is_refused(headers: Mapping[str, str], path: str, query: bytes) -> bool:
    """Whether a request that changes nothing is refused, since another site asked for it, and no person."""
    if not is_foreign(headers) or path.startswith(ALWAYS):
        return False
    opens = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    clicked = headers.get("sec-fetch-user") == "?1"
    return not (opens and (clicked or (path in BARE and not query)))
