"""The page: routes that answer with HTML. Forms work without JavaScript; with it, the same routes answer fragments."""

import functools
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from germane.engine.requests import SearchRequest
from germane.errors import InputError
from germane.rank.registry import DEFAULT_MODEL, MODEL_TITLES
from germane.refine.registry import METHOD_TITLES
from germane.server import behaviour, evaluation_pages, finding, topics
from germane.server.api import search_documents, taken_in
from germane.server.aside import Aside
from germane.server.budget import BUDGET, MOST_K, cost_of, cost_of_order
from germane.server.exports import Attachment, attachment, chosen
from germane.server.forms import Form, inside, whole
from germane.server.histories import remove_left
from germane.server.jobs import has_ended
from germane.server.library import Library
from germane.server.listing import Listing, group_hits, groups_of, listing, request_of, save_search, title_of
from germane.server.problems import ProblemError, told
from germane.server.reading import document_view, why
from germane.server.rendering import LOGGING, THEME, THEMES, Renderer
from germane.server.roles import identified
from germane.server.safety import TOKEN
from germane.server.sample import SCREENED, SEARCHES
from germane.server.screens import REASONS, ScreenState
from germane.server.sending import Sender
from germane.server.streaming import find_stream
from germane.server.view_state import PAGE, ViewState
from germane.track.registry import METHOD_TITLES as TRACKED_BY
from germane.types import Document

YEAR = 365 * 24 * 3600
MOST_DAYS = 10_000


def routes(library: Library, renderer: Renderer, aside: Aside, sender: Sender) -> list[BaseRoute]:
    """All pages."""
    made = Pages(library, renderer, aside, sender)
    return [
        Route("/", made.search),
        Route("/search", made.search),
        Route("/mark", made.mark, methods=["POST"]),
        Route("/groups", made.groups),
        Route("/undo", made.undo, methods=["POST"]),
        Route("/redo", made.redo, methods=["POST"]),
        Route("/why", made.why),
        Route("/document", made.document),
        Route("/export", made.export),
        Route("/find", made.find, methods=["POST"]),
        Route("/find/stream", functools.partial(find_stream, library, renderer, aside)),
        Route("/click", made.click, methods=["POST"]),
        Route("/forget", made.forget, methods=["POST"]),
        Route("/screen", made.screens),
        Route("/screen", made.new_screen, methods=["POST"]),
        Route("/screen/{name}", made.screen),
        Route("/screen/{name}/join", made.join, methods=["POST"]),
        Route("/screen/{name}/act", made.act, methods=["POST"]),
        Route("/screen/{name}/reveal", made.reveal, methods=["POST"]),
        Route("/screen/{name}/settle", made.settle, methods=["POST"]),
        Route("/screen/{name}/export", made.export_screen),
        Route("/topics", made.topics),
        Route("/topics", made.new_topic, methods=["POST"]),
        Route("/topics/feed", made.feed, methods=["POST"]),
        Route("/topics/{name}", made.topic),
        Route("/topics/{name}/dial", made.dial),
        Route("/topics/{name}/dial", made.turn, methods=["POST"]),
        Route("/topics/{name}/digest", made.digest),
        Route("/topics/{name}/judge", made.judge, methods=["POST"]),
        Route("/topics/{name}/{action}", made.topic_action, methods=["POST"]),
        *evaluation_pages.routes(library, renderer, aside),
        Route("/import", made.import_page),
        Route("/import", made.preview, methods=["POST"]),
        Route("/import/{key}", made.take_in, methods=["POST"]),
        Route("/sign-in", made.sign_in_page),
        Route("/sign-in", made.sign_in, methods=["POST"]),
        Route("/settings", made.settings, methods=["POST"]),
        Route("/keys", made.keys),
    ]


class Pages:
    """The views, over one library."""

    def __init__(self, library: Library, renderer: Renderer, aside: Aside, sender: Sender) -> None:
        self.library, self.renderer, self.aside, self.sender = library, renderer, aside, sender

    # -- search ----------------------------------------------------------------------------------------------------

    async def search(self, request: Request) -> Response:
        """The list, with facets to its left and what is wanted to its right."""
        place = ViewState.of(request.url.query, self.library.settings)
        return await self._shown(request, place)

    async def _shown(self, request: Request, place: ViewState) -> Response:
        asked = SearchRequest(place.effective, PAGE, filter=place.filter)
        cost = _cost_of_saved(place) if place.s else BUDGET if place.g else cost_of(asked)
        shown: Listing = await self.aside(lambda: listing(self.library, place), cost=cost)
        template = "parts/results.html" if "x-fragment" in request.headers else "search.html"
        kept = await self.aside(lambda: self.library.workspace.searches.all()[::-1][:5]) if not place.q else []
        headers = {"x-place": shown.place.url(page=shown.place.page)}
        seen = behaviour.seen(self.library, request, shown)
        answer = self.renderer.page(
            request, template, view="search", seen=seen.query_id, title=shown.place.q, shown=shown,
            place=shown.place, kept=kept, sources=finding.source_names(self.library), methods=METHOD_TITLES,
            models=MODEL_TITLES, default_model=shown.reranked_by or DEFAULT_MODEL,
            first=self.library.first, tries=SEARCHES,
            learnt=self.library.learnt_models(place.c),
            headers=headers, size=len(self.library.engine(place.c)),
        )  # fmt: skip
        return seen.onto(answer)

    async def mark(self, request: Request) -> Response:
        """Mark a result; the search is kept with its first mark."""
        form = await Form.of(request)
        place = ViewState.of(form["state"], self.library.settings)

        def work() -> ViewState:
            number = place.s or save_search(self.library, place, form["id"]).id
            self.library.saved_searches.mark(number, form["id"], form["mark"])
            return _at(place, number)

        return await self._after(request, await self.aside(work), form["id"])

    async def groups(self, request: Request) -> Response:
        """The groups of the results, or of a saved list in what is not wanted: found after the list is shown, since
        that takes longer."""
        place = ViewState.of(request.url.query, self.library.settings)
        groups = await self.aside(lambda: groups_of(self.library, place), cost=BUDGET)
        template = "parts/groups.html" if "x-fragment" in request.headers else "groups.html"
        return self.renderer.page(request, template, view="search", title="Groups", groups=groups, place=place)

    async def undo(self, request: Request) -> Response:
        """Take the latest mark back."""
        return await self._step(request, self.library.saved_searches.undo)

    async def redo(self, request: Request) -> Response:
        """Make it again."""
        return await self._step(request, self.library.saved_searches.redo)

    async def _step(self, request: Request, step: Callable[[int], bool]) -> Response:
        form = await Form.of(request)
        place = ViewState.of(form["state"], self.library.settings)
        await self.aside(lambda: step(place.s))
        return await self._after(request, place, "")

    async def _after(self, request: Request, place: ViewState, document: str) -> Response:
        if "x-fragment" in request.headers:
            return await self._shown(request, place)
        anchor = f"#r-{quote(document)}" if document else ""
        return RedirectResponse(place.url(page=place.page) + anchor, 303)

    async def why(self, request: Request) -> Response:
        """Why a result stands where it does: a bar for each word, the rest, and the sum."""
        place = ViewState.of(request.url.query, self.library.settings)
        document = request.query_params.get("id", "")
        told = await self.aside(lambda: why(self.library, place, document), cost=_cost_of_saved(place))
        template = "parts/why.html" if "x-fragment" in request.headers else "why.html"
        return self.renderer.page(request, template, view="search", title="Why here", told=told, place=place)

    async def document(self, request: Request) -> Response:
        """A document, whole."""
        place = ViewState.of(request.url.query, self.library.settings)
        name = request.query_params.get("id", "")
        shown = await self.aside(lambda: document_view(self.library, place, name), cost=_cost_of_saved(place))
        return self.renderer.page(request, "document.html", view="search", title=shown.title, shown=shown, place=place)

    async def export(self, request: Request) -> Response:
        """The list as a file."""
        place = ViewState.of(request.url.query, self.library.settings)
        format, which = request.query_params.get("format", "ris"), request.query_params.get("which", "all")

        def work() -> Attachment:
            if place.s:
                return attachment(search_documents(self.library, place.s, which, format), format, "results")
            engine = self.library.engine(place.c)
            answer = self.library.answer(place.c, request_of(engine, place, MOST_K, 0))
            ids = [hit.id for hit in group_hits(answer, place)]
            return attachment(chosen(engine, ids), format, "results")

        return await self.sender(await self.aside(work, cost=BUDGET))

    async def find(self, request: Request) -> Response:
        """Ask several sources, and keep the list."""
        form = await Form.of(request)
        query, names = form["q"].strip(), form.all("source")
        if not query:
            return RedirectResponse("/search", 303)
        if not names or names == [self.library.first]:
            return RedirectResponse(ViewState(q=query).url(), 303)
        found = None
        async for answered in finding.answers(self.library, query, names):
            found = answered[1]
        if found is None or not len(found):
            return RedirectResponse(ViewState(q=query, source=tuple(names)).url(), 303)
        kept = await self.aside(lambda: finding.save_found(self.library, found))
        return RedirectResponse(ViewState(q=query, s=kept.id, source=tuple(names)).url(), 303)

    async def click(self, request: Request) -> Response:
        """Log that a result was opened, unless it was switched off."""
        form = await Form.of(request)
        event = behaviour.click(request, form, form["c"] or self.library.first)
        if event is not None:
            await self.aside(lambda: self.library.events.add([event]))
        return Response(status_code=204)

    async def forget(self, request: Request) -> Response:
        """Take what was logged of this visitor out of the log."""
        form = await Form.of(request)
        client = behaviour.client_of(request)
        if client:

            def work() -> None:
                remove_left(self.library.home)
                self.library.events.erase_user(client)

            await self.aside(work)
        answer = RedirectResponse(inside(form["to"], "/search"), 303)
        answer.delete_cookie(behaviour.CLIENT)
        return answer

    # -- screening -------------------------------------------------------------------------------------------------

    async def screens(self, request: Request) -> Response:
        """The projects."""
        projects = await self.aside(self.library.screens.projects)
        kept = await self.aside(lambda: self.library.workspace.searches.all()[::-1][:10])
        return self.renderer.page(
            request, "screens.html", view="screen", title="Screen", projects=projects, kept=kept,
            example=SCREENED if self.library.sample else "two words, or word AND word",
        )  # fmt: skip

    async def new_screen(self, request: Request) -> Response:
        """A project over a saved search, or over what a query finds."""
        form = await Form.of(request)
        name = form["name"].strip()

        def work() -> None:
            if form["search"]:
                documents = search_documents(self.library, whole(form["search"]), "all")
            else:
                place = ViewState.of("", self.library.settings)
                place = ViewState(q=form["q"].strip(), c=place.c)
                engine = self.library.engine(None)
                answer = self.library.answer(place.c, request_of(engine, place, MOST_K, 0))
                documents = [Document(hit.id, hit.fields) for hit in answer.hits]
                if not documents:
                    raise ProblemError(422, f"{answer.reason or 'nothing found'}; so there is nothing to screen")
            self.library.screens.check_act(form["reviewer"].strip(), request.state.bound)
            self.library.screens.create(name, documents, blind=form["blind"] != "no")
            self.library.screens.join(name, form["reviewer"].strip())

        await self.aside(work, changing=True)
        return RedirectResponse(f"/screen/{quote(name, safe='')}?reviewer={quote(form['reviewer'].strip())}", 303)

    async def screen(self, request: Request) -> Response:
        """One record at a time."""
        name, reviewer = request.path_params["name"], request.query_params.get("reviewer", "")
        screens, bound = self.library.screens, request.state.bound

        def work() -> ScreenState | None:
            if not screens.has(name, reviewer):
                return None
            screens.check_sight(name, reviewer, bound)
            return screens.state(name, reviewer)

        state = await self.aside(work)
        if state is None:
            return self.renderer.page(
                request, "join.html", 404, view="screen", title=name, name=name, reviewer=reviewer
            )
        template = "parts/record.html" if "x-fragment" in request.headers else "screen.html"
        return self.renderer.page(
            request, template, view="screen", title=name, state=state, reasons=REASONS, heading=_heading(state.record)
        )

    async def join(self, request: Request) -> Response:
        """Become a reviewer."""
        form = await Form.of(request)
        name, reviewer = request.path_params["name"], form["reviewer"].strip()
        self.library.screens.check_act(reviewer, request.state.bound)
        await self.aside(lambda: self.library.screens.join(name, reviewer))
        return RedirectResponse(f"/screen/{quote(name, safe='')}?reviewer={quote(reviewer)}", 303)

    async def act(self, request: Request) -> Response:
        """Decide on the record."""
        form = await Form.of(request)
        name, reviewer = request.path_params["name"], form["reviewer"]
        self.library.screens.check_act(reviewer, request.state.bound)
        done = functools.partial(
            self.library.screens.act, name, reviewer, form["action"], form["id"], form["reason"], form["note"]
        )
        state = await self.aside(done)
        if "x-fragment" in request.headers:
            return self.renderer.page(
                request, "parts/record.html", view="screen", title=name, state=state, reasons=REASONS,
                heading=_heading(state.record),
            )  # fmt: skip
        return RedirectResponse(f"/screen/{quote(name, safe='')}?reviewer={quote(reviewer)}", 303)

    async def reveal(self, request: Request) -> Response:
        """End the blindness."""
        form = await Form.of(request)
        name = request.path_params["name"]

        def work() -> None:
            self.library.screens.check_reveal(name, request.state.bound)
            self.library.screens.reveal(name)

        await self.aside(work)
        return RedirectResponse(f"/screen/{quote(name, safe='')}?reviewer={quote(form['reviewer'])}", 303)

    async def settle(self, request: Request) -> Response:
        """Settle a conflict between reviewers."""
        form = await Form.of(request)
        name, reviewer = request.path_params["name"], form["reviewer"]
        self.library.screens.check_act(reviewer, request.state.bound)
        done = functools.partial(self.library.screens.settle, by=reviewer, reason=form["reason"])
        await self.aside(lambda: done(name, form["id"], form["included"] == "yes"))
        return RedirectResponse(f"/screen/{quote(name, safe='')}?reviewer={quote(reviewer)}#conflicts", 303)

    async def export_screen(self, request: Request) -> Response:
        """The records of a reviewer as a file."""
        name, query = request.path_params["name"], request.query_params
        format, which = query.get("format", "ris"), query.get("which", "included")
        reviewer, bound, screens = query.get("reviewer", ""), request.state.bound, self.library.screens

        def work() -> Attachment:
            screens.check_sight(name, reviewer, bound)
            return attachment(screens.documents(name, reviewer, which, format), format, which)

        return await self.sender(await self.aside(work))

    # -- topics ----------------------------------------------------------------------------------------------------

    async def topics(self, request: Request) -> Response:
        """The topics that are followed."""
        found = await self.aside(lambda: topics.topics_of(self.library))
        removed = request.query_params.get("removed", "")[:100]
        number = whole(request.query_params.get("job", "0"))
        job = await self.aside(lambda: self.library.workspace.jobs.get(number)) if number else None
        return self.renderer.page(
            request, "topics.html", view="topics", title="Topics", topics=found,
            removed="" if removed in {topic.name for topic, _ in found} else removed,
            checking=None if job is None or has_ended(job) else job.id,
        )  # fmt: skip

    async def new_topic(self, request: Request) -> Response:
        """Follow what was marked relevant in a saved search."""
        form = await Form.of(request)
        place = ViewState.of(form["state"], self.library.settings)
        name = form["name"].strip()

        def work() -> None:
            seeds = search_documents(self.library, place.s, "relevant")
            topics.follow(self.library, name, seeds, self.library.engine(place.c))

        await self.aside(work, changing=True)
        return RedirectResponse(f"/topics/{quote(name, safe='')}", 303)

    async def feed(self, request: Request) -> Response:
        """Show the collection to all topics, a large one in the background."""
        form = await Form.of(request)
        engine = self.library.engine(None)
        if not topics.is_shown_at_once(engine):
            job = await self.aside(lambda: self.library.jobs.add("feed", {}), changing=True)
            return RedirectResponse(f"/topics?job={job.id}", 303)
        await self.aside(lambda: topics.feed(self.library, engine.documents()), changing=True)
        return RedirectResponse(inside(form["to"], "/topics"), 303)

    async def topic(self, request: Request) -> Response:
        """One topic."""
        name = request.path_params["name"]
        shift = whole(request.query_params.get("shift", "0"))
        shown = await self.aside(lambda: topics.topic_view(self.library, name, shift))
        address = f"{request.url.scheme}://{request.url.netloc}{topics.feed_address(self.library, name)}"
        return self.renderer.page(
            request, "topic.html", view="topics", title=name, shown=shown, dial=shown.dial, topic=shown.topic,
            feed=address, methods=TRACKED_BY,
        )  # fmt: skip

    async def dial(self, request: Request) -> Response:
        """The threshold and its curve after a shift; a fragment, and without one the topic itself."""
        name, shift = request.path_params["name"], whole(request.query_params.get("shift", "0"))
        if "x-fragment" not in request.headers:
            return RedirectResponse(f"/topics/{quote(name, safe='')}?shift={shift}#dial", 303)
        dial = await self.aside(lambda: topics.dial_view(self.library, name, shift))
        return self.renderer.page(request, "parts/dial.html", view="topics", title=name, dial=dial)

    async def turn(self, request: Request) -> Response:
        """Move the threshold."""
        form = await Form.of(request)
        name, shift = request.path_params["name"], whole(form["shift"])
        await self.aside(lambda: topics.shift_threshold(self.library, name, shift))
        return RedirectResponse(f"/topics/{quote(name, safe='')}#dial", 303)

    async def digest(self, request: Request) -> Response:
        """Show the digest of a topic."""
        name, days = request.path_params["name"], request.query_params.get("days", "")
        since = None
        if days:
            since = (datetime.now(UTC) - timedelta(days=min(abs(whole(days)), MOST_DAYS))).isoformat(timespec="seconds")
        found = await self.aside(lambda: topics.digest_view(self.library, name, since))
        return self.renderer.page(request, "digest.html", view="topics", title=name, digest=found, days=days)

    async def judge(self, request: Request) -> Response:
        """Say whether a hit is on the topic."""
        form = await Form.of(request)
        name = request.path_params["name"]
        await self.aside(lambda: topics.judge(self.library, name, form["id"], form["on_topic"] == "yes"))
        return RedirectResponse(f"/topics/{quote(name, safe='')}", 303)

    async def topic_action(self, request: Request) -> Response:
        """Pause, resume or remove a topic, or take the latest judgement back."""
        await Form.of(request)
        name, action = request.path_params["name"], request.path_params["action"]
        if action == "undo":
            await self.aside(lambda: topics.undo_judgement(self.library, name))
        else:
            await self.aside(lambda: topics.set_following(self.library, name, action))
        there = f"?removed={quote(name, safe='')}" if action == "remove" else f"/{quote(name, safe='')}"
        return RedirectResponse(f"/topics{there}", 303)

    # -- import ----------------------------------------------------------------------------------------------------

    async def import_page(self, request: Request) -> Response:
        """Show the form that uploads a file."""
        return self.renderer.page(
            request, "import.html", view="import", title="Import", preview=None, done=None, error=""
        )

    async def preview(self, request: Request) -> Response:
        """Preview the file before anything is stored."""
        form = await Form.of(request)
        file = form.file("file")
        if file is None or not file.filename:
            raise ProblemError(422, "choose a file first")
        content, name = await file.read(), file.filename
        await file.close()
        found, error = None, ""
        try:
            found = await self.aside(lambda: self.library.uploads.keep(name, content), changing=True)
        except InputError as wrong:
            error = told(wrong).detail
        return self.renderer.page(
            request, "import.html", 422 if error else 200, view="import", title="Import", preview=found, done=None,
            error=error,
        )  # fmt: skip

    async def take_in(self, request: Request) -> Response:
        """Store the records: in a collection, or as a screening project."""
        form = await Form.of(request)
        key, incomplete = request.path_params["key"], form["incomplete"] == "yes"
        if form["to"] == "project":
            name, reviewer = form["name"].strip(), form["reviewer"].strip() or "me"

            def work() -> None:
                uploads = self.library.uploads
                decided = uploads.verdicts(key) if form["decided"] == "yes" else {}
                records = uploads.documents(key, incomplete=incomplete)
                self.library.screens.create(name, records, decided=decided, reviewer=reviewer)
                self.library.screens.join(name, reviewer)
                self.library.uploads.drop(key)

            await self.aside(work, changing=True)
            return RedirectResponse(f"/screen/{quote(name, safe='')}?reviewer={quote(reviewer)}", 303)
        if form["to"] == "nowhere":
            await self.aside(lambda: self.library.uploads.drop(key))
            return RedirectResponse("/import", 303)
        how = "replace" if form["on_duplicate"] == "replace" else "skip"
        collection = form["collection"] or None
        done = await self.aside(lambda: taken_in(self.library, key, collection, how, incomplete), changing=True)
        return self.renderer.page(
            request, "import.html", view="import", title="Import", preview=None, done=done.report, error=""
        )

    # -- the rest --------------------------------------------------------------------------------------------------

    async def keys(self, request: Request) -> Response:
        """The list of keys."""
        return self.renderer.page(request, "keys.html", view="keys", title="Keys")

    async def settings(self, request: Request) -> Response:
        """The look, and whether clicks are logged: two cookies."""
        form = await Form.of(request)
        answer = RedirectResponse(inside(form["to"], "/search"), 303)
        if form["theme"] in (*THEMES, "auto"):
            answer.set_cookie(THEME, form["theme"], max_age=YEAR, samesite="strict")
        if form["log"] in ("on", "off"):
            answer.set_cookie(LOGGING, form["log"], max_age=YEAR, samesite="strict")
        return answer

    async def sign_in_page(self, request: Request) -> Response:
        """Show the form for the token."""
        there = inside(request.query_params.get("next", ""), "")
        return self.renderer.page(request, "sign-in.html", view="", title="Sign in", wrong=False, next=there)

    async def sign_in(self, request: Request) -> Response:
        """Take the token, and keep it in a cookie."""
        form = await Form.of(request)
        there = inside(form["next"], "")
        token = identified(self.library.settings.all_tokens, form["token"])
        if token is None:
            return self.renderer.page(request, "sign-in.html", 401, view="", title="Sign in", wrong=True, next=there)
        answer = RedirectResponse(there or "/search", 303)
        answer.set_cookie(TOKEN, token.value, max_age=30 * 24 * 3600, httponly=True, samesite="strict")
        return answer


def _cost_of_saved(place: ViewState) -> float:
    """Return the cost of the order of its saved search, where it has one."""
    return cost_of_order(place.method) if place.s else 0.0


def _at(place: ViewState, number: int) -> ViewState:
    return replace(place, s=number, g=0, page=1 if not place.s else place.page)


def _heading(record: Document | None) -> str:
    return "" if record is None else title_of(record)
