"""The views that study how well the engine ranks: Models and Evaluate."""

from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from germane.errors import InputError
from germane.server.aside import Aside
from germane.server.budget import BUDGET
from germane.server.forms import Form, whole
from germane.server.learning import MODELS, Learning
from germane.server.library import Library
from germane.server.measuring import Evaluations, Handed, Measured, told_apart
from germane.server.problems import ProblemError, told
from germane.server.rendering import Renderer

BARS = 200
"""Queries that are drawn: the best and the worst of more."""


def routes(library: Library, renderer: Renderer, aside: Aside) -> list[BaseRoute]:
    """The pages of both views."""
    made = EvaluationPages(library, renderer, aside)
    return [
        Route("/models", made.models),
        Route("/models/train", made.train, methods=["POST"]),
        Route("/models/promote", made.promote, methods=["POST"]),
        Route("/models/rollback", made.rollback, methods=["POST"]),
        Route("/models/{reference}", made.version),
        Route("/evaluate", made.evaluate_page),
        Route("/evaluate", made.hand_in, methods=["POST"]),
        Route("/evaluate/{key}", made.evaluation),
    ]


class EvaluationPages:
    """Both views, over one library."""

    def __init__(self, library: Library, renderer: Renderer, aside: Aside) -> None:
        self.library, self.renderer, self.aside = library, renderer, aside
        self.learning = Learning(library)
        self.evaluations = Evaluations(library.home / "evaluations")

    # -- models ----------------------------------------------------------------------------------------------------

    async def models(self, request: Request) -> Response:
        """Clicks, what serves, and candidates."""
        collection = self._collection(request.query_params.get("c", ""))
        found = await self.aside(lambda: self.learning.view(collection), cost=BUDGET)
        return self.renderer.page(
            request,
            "models.html",
            view="models",
            title="Models",
            shown=found,
            kinds=list(MODELS),
            names=MODELS,
            collection=collection,
        )

    async def version(self, request: Request) -> Response:
        """One version: how it fared at the gate, and a loss opened."""
        collection = self._collection(request.query_params.get("c", ""))
        reference, loss = request.path_params["reference"], whole(request.query_params.get("loss", "1"))
        role = request.state.role
        found = await self.aside(lambda: self.learning.version(collection, reference, role, loss), cost=BUDGET)
        return self.renderer.page(
            request,
            "model.html",
            view="models",
            title=reference,
            shown=found,
            collection=collection,
            names=MODELS,
            min_users=self.library.settings.min_users,
        )

    async def train(self, request: Request) -> Response:
        """A candidate from the clicks of this page."""
        form = await Form.of(request)
        collection = self._collection(form["c"])
        users = whole(form["min_users"]) if form["min_users"] else self.library.settings.min_users
        if not 1 <= users <= 1_000:
            raise ProblemError(422, f"a query is learnt from if 1 to 1,000 people typed it, not {users}")
        await self.aside(lambda: self.learning.train(collection, form["model"] or next(iter(MODELS)), users))
        return RedirectResponse(self._address(collection), 303)

    async def promote(self, request: Request) -> Response:
        """Let a version serve, whatever the gate said."""
        form = await Form.of(request)
        collection = self._collection(form["c"])
        await self.aside(lambda: self.learning.promote(collection, form["version"]))
        return RedirectResponse(self._address(collection), 303)

    async def rollback(self, request: Request) -> Response:
        """Take the last promotion back."""
        form = await Form.of(request)
        collection = self._collection(form["c"])
        await self.aside(lambda: self.learning.rollback(collection, form["name"]))
        return RedirectResponse(self._address(collection), 303)

    def _collection(self, name: str) -> str:
        self.library.engine(name)  # complains of one that is not there
        return name or self.library.first

    def _address(self, collection: str, rest: str = "") -> str:
        return f"/models{rest}" + ("" if collection == self.library.first else f"?c={quote(collection)}")

    # -- evaluation ------------------------------------------------------------------------------------------------

    async def evaluate_page(self, request: Request) -> Response:
        """Where runs and judgements are handed in."""
        return self.renderer.page(request, "evaluate.html", view="evaluate", title="Evaluate", error="")

    async def hand_in(self, request: Request) -> Response:
        """Take files, each in its place or all in one, and measure."""
        form = await Form.of(request, files=4)
        files: dict[str, Handed] = {}
        for role in ("a", "b", "qrels"):
            file = form.file(role)
            if file is not None and file.filename:
                files[role] = Handed(file.filename[-120:], await file.read())
        loose = [Handed(str(file.filename)[-120:], await file.read()) for file in form.files("files")]
        await form.close()
        try:
            key = await self.aside(lambda: self.evaluations.keep({**told_apart(loose), **files}), cost=BUDGET)
        except InputError as error:
            return self.renderer.page(
                request, "evaluate.html", 422, view="evaluate", title="Evaluate", error=told(error).detail
            )
        return RedirectResponse(f"/evaluate/{key}", 303)

    async def evaluation(self, request: Request) -> Response:
        """Measures, curves, queries, and one query opened."""
        key, given = request.path_params["key"], request.query_params
        measure, query = given.get("measure", ""), given.get("query", "")
        if len(measure) > 60 or len(query) > 500:
            raise ProblemError(422, "the name of a measure or a query is shorter than that")
        engine = self.library.engine(None)
        found: Measured = await self.aside(lambda: self.evaluations.view(key, measure, query, engine), cost=BUDGET)

        def address(**changes: str) -> str:
            parts = {"measure": measure, "query": query, **changes}
            told = urlencode({name: value for name, value in parts.items() if value})
            return f"/evaluate/{key}" + (f"?{told}" if told else "")

        half = BARS // 2
        bars = found.bars if len(found.bars) <= BARS else (*found.bars[:half], *found.bars[-half:])
        drawn = [(f"query {bar.query}", bar.drawn, address(query=bar.query) + "#opened", bar.query == query)
                 for bar in bars]  # fmt: skip
        return self.renderer.page(
            request, "evaluation.html", view="evaluate", title="Evaluation", shown=found, address=address, drawn=drawn
        )
