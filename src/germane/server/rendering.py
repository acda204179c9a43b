"""Pages from templates: everything escaped, nothing inline."""

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from germane import __version__
from germane.data.formats import FORMAT_TITLES
from germane.metasearch.registry import SOURCE_TITLES
from germane.server import charts
from germane.server.early import EARLY, MODULES
from germane.server.roles import Role
from germane.server.view_state import ViewState, filter_label
from germane.wording import counted, people

if TYPE_CHECKING:
    from germane.server.library import Library

THEMES = ("light", "dark")
THEME, LOGGING = "germane_theme", "germane_log"
"""Cookies: the look, and whether clicks are logged."""


def ended(sentence: str) -> str:
    """A sentence with a sign at its end.

    >>> ended("It is empty"), ended("Do these belong together?")
    ('It is empty.', 'Do these belong together?')
    """
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


class Renderer:
    """Renders templates with what every page needs."""

    def __init__(self, library: "Library") -> None:
        self._library = library
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(str(files("germane") / "server" / "templates")),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(charts=charts, version=__version__, early=Markup(EARLY), modules=MODULES)
        self._environment.filters["count"] = lambda n: f"{n:,}"
        self._environment.filters["counted"] = counted
        self._environment.filters["people"] = people
        self._environment.filters["source"] = lambda name: SOURCE_TITLES.get(name, name)
        self._environment.filters["format_name"] = lambda name: FORMAT_TITLES.get(name, name)
        self._environment.filters["ended"] = ended
        self._environment.filters["filter_label"] = filter_label

    def page(
        self,
        request: Request,
        template: str,
        status_code: int = 200,
        *,
        headers: dict[str, str] | None = None,
        **content: Any,
    ) -> HTMLResponse:
        """A page, or a fragment of one."""
        theme = request.state.cookies.get(THEME, "")
        shared = {
            "csrf": request.state.csrf,
            "bound": getattr(request.state, "bound", None),
            "role": getattr(request.state, "role", Role.READER),
            "roles": Role,
            "known": getattr(request.state, "known", False),
            "theme": theme if theme in THEMES else "",
            "logging": request.state.cookies.get(LOGGING) != "off",
            "collections": list(self._library.engines),
            "sample": self._library.sample,
            "view": content.get("view", ""),
            "place": ViewState(),
            "seen": "",
            "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        }
        text = self._environment.get_template(template).render({**shared, **content})
        found = {"cache-control": "no-store", "vary": "X-Fragment", **(headers or {})}
        return HTMLResponse(text, status_code, found)
