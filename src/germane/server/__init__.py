"""The HTTP server: a JSON API under /api/v1 and the web page. Names are imported on first use."""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.server.app import create_app
    from germane.server.library import Library
    from germane.server.settings import Settings

__all__ = ["Library", "Settings", "create_app"]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {"app": ["create_app"], "library": ["Library"], "settings": ["Settings"]},
    "The server",
)
