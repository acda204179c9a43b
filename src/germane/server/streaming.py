"""Meta-search for the page: fragments of HTML as server-sent events, while the sources answer."""

from collections.abc import AsyncIterator
from dataclasses import replace

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from germane.metasearch.merging import FoundList
from germane.server import finding
from germane.server.aside import Aside
from germane.server.library import Library
from germane.server.listing import Listing, Row, about, pieces, safe_link, sources_of
from germane.server.problems import ProblemError
from germane.server.rendering import Renderer
from germane.server.sending import EventStream, event
from germane.server.view_state import PAGE, ViewState
from germane.workspace.values import Result


async def find_stream(library: Library, renderer: Renderer, aside: Aside, request: Request) -> Response:
    """Events `list` with the results so far, and `done` with the address of the saved list."""
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise ProblemError(403, "sources are asked from this page only")
    place = ViewState.of(request.url.query, library.settings)
    if not place.q:
        raise ProblemError(422, "the query is empty")
    finding.sources_named(library, place.source)  # complain before anything streams
    library.engine(place.c)
    return EventStream(aside.streamed(_events(library, renderer, request, place)))


async def _events(library: Library, renderer: Renderer, request: Request, place: ViewState) -> AsyncIterator[bytes]:
    found: FoundList | None = None
    async for _, found in finding.answers(library, place.q, place.source):
        shown = _listing(library, place, found)
        page = renderer.page(
            request, "parts/results.html", view="search", title=place.q, shown=shown, place=place, kept=[], methods=(),
            sources=(), first=library.first, size=0,
        )  # fmt: skip
        yield event("list", {"html": bytes(page.body).decode()})
    if found is None or not len(found):
        yield event("done", {})
        return
    whole = found
    kept = await anyio.to_thread.run_sync(lambda: finding.save_found(library, whole))
    address = replace(place, s=kept.id).url()
    yield event("done", {"address": address})


def _listing(library: Library, place: ViewState, found: FoundList) -> Listing:
    analyzer = library.engine(place.c).analyzer
    terms = set(analyzer.terms(place.q))
    rows = []
    for one in found.results[:PAGE]:
        result = Result(one.id, one.fields, one.score, [{"source": each.source, "link": each.link}
                                                        for each in one.provenance])  # fmt: skip
        title = str(one.fields.get("title") or one.id)
        text = str(one.fields.get("text") or one.fields.get("abstract") or "")[:300]
        rows.append(
            Row(one.id, one.rank, pieces(title, terms, analyzer), about(one.fields), pieces(text, terms, analyzer),
                safe_link(one.fields, result), sources=sources_of(result))
        )  # fmt: skip
    told = tuple(finding.answer_summary(answer) for answer in found.answers)
    return Listing(place, tuple(rows), len(found), True, 1, 0.0, sources=told)
