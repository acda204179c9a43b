"""`MetaSearch`: one query to many sources at once, one list."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from germane.data.atomic import open_for_writing
from germane.errors import InputError, ParameterError
from germane.lazy import load, on_first_use
from germane.metasearch.answers import Failure, SourceAnswer
from germane.metasearch.merging import DEFAULT_RANKING, FoundList, Merger, merge
from germane.metasearch.sources.source import DEFAULT_K, Source, WebSource

with on_first_use(__name__):
    from germane.metasearch import registry, union

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from germane.metasearch.cache import Cache
    from germane.metasearch.union import Reference
    from germane.metasearch.web import Web

Value = TypeVar("Value")

RECORDING = "germane answers 1"
"""Format name of a file of recorded answers."""


class MetaSearch:
    """Searches several sources at the same time, each in its own time, and makes one list of what they find.

        found = MetaSearch(["pubmed", Folder(name="mine", path="papers")]).search("heart attack")

    `sources`: sources, or names of those that need no settings ("pubmed", "arxiv"). `ranking`: how lists are fused, a
    name of `merging.RANKINGS`. `reference`: the folder of an index, the background of the ranking "lm". `cache`: where
    answers are kept. `web`: further settings of `Web`, such as `agent` or, in tests, `clock`.
    """

    def __init__(
        self,
        sources: Iterable[Source | str],
        *,
        ranking: str = DEFAULT_RANKING,
        reference: str | Path | None = None,
        cache: "Cache | None" = None,
        random_state: int = 0,
        **web: Any,
    ) -> None:
        self.sources: list[Source] = []
        for source in sources:
            if isinstance(source, str):
                if source not in registry.PUBLIC:
                    raise ParameterError(
                        f"the source '{source}' is not one of {', '.join(registry.PUBLIC)}: make it by its class"
                    )
                source = registry.SOURCES[source]()
            self.sources.append(source)
        if not self.sources:
            raise ParameterError("there is no source to search")
        self.ranking = ranking
        self.cache = cache
        self._random_state, self._web = random_state, web
        self._reference: Reference | None = None
        if reference is not None:
            self._reference = union.Reference(reference)
        self._merger("")  # complains now

    def search(self, query: str, k: int = DEFAULT_K, page: int = 1, *, deadline: float | None = None) -> FoundList:
        """The list of the first `k` records of each source (or of a later page).

        `deadline`: the seconds after which the list is made of what has come. Sources that fail do not stop others:
        `FoundList.failures` has what went wrong.
        """
        return _run(self.asearch(query, k, page, deadline=deadline))

    async def asearch(
        self, query: str, k: int = DEFAULT_K, page: int = 1, *, deadline: float | None = None
    ) -> FoundList:
        """`search` for programs that run an event loop."""
        merger = self._merger(query)
        async for answer in self.stream(query, k, page, deadline=deadline):
            merger.add(answer)
        return merger.merged()

    async def stream(
        self, query: str, k: int = DEFAULT_K, page: int = 1, *, deadline: float | None = None
    ) -> AsyncGenerator[SourceAnswer, None]:
        """The answers as they come, the quickest first; `merge(query, answers)` makes a list of any of them."""
        if not query.strip():
            raise ParameterError("there is nothing to search for: the query is empty")
        if k < 1 or page < 1 or (deadline is not None and not deadline > 0):
            raise ParameterError("k and page are whole numbers of at least 1, and a deadline is above 0 seconds")
        web = await self._opened()
        tasks = [
            asyncio.create_task(_answer(source, query, k, page, web, deadline), name=source.name)
            for source in self.sources
        ]
        try:
            for ready in asyncio.as_completed(tasks):
                yield await ready
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if web is not None:
                await web.__aexit__(None, None, None)

    async def _opened(self) -> "Web | None":
        """Return the connections that web sources share; None where all sources are on this machine."""
        if not any(isinstance(source, WebSource) for source in self.sources):
            return None
        made: Web = load("germane.metasearch.Web")(cache=self.cache, random_state=self._random_state, **self._web)
        return made

    def _merger(self, query: str) -> Merger:
        weights = {source.name: source.weight for source in self.sources}
        names = [source.name for source in self.sources]
        return Merger(query, names, ranking=self.ranking, weights=weights, reference=self._reference)


async def _answer(
    source: Source, query: str, k: int, page: int, web: "Web | None", deadline: float | None
) -> SourceAnswer:
    """The source's answer, also where its own code is at fault: one source never takes the others down."""
    try:
        return await source.search(query, k, page, web=web, within=deadline)
    except Exception as error:
        return SourceAnswer(source.name, failure=Failure("error", f"{type(error).__name__} in the source's own code"))


def record(path: str | Path, found: FoundList) -> None:
    """Write the answers that a list was made of; `replay` makes it again. Keys are not in them."""
    content = {
        "format": RECORDING,
        "query": found.query,
        "ranking": found.ranking,
        "weights": dict(found.weights),
        "answers": [answer.to_dict() for answer in found.answers],
    }
    with open_for_writing(path) as file:
        file.write(orjson.dumps(content).decode() + "\n")


def replay(path: str | Path, *, ranking: str | None = None, reference: str | Path | None = None) -> FoundList:
    """The list of recorded answers, to the last bit the one that was made of them. Nothing is fetched.

    `ranking`: another than the recorded one. An index that was the background of "lm" is named again.
    """
    try:
        content = orjson.loads(Path(path).read_bytes())
    except FileNotFoundError:
        raise InputError("no such file", source=str(path)) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"not a recording of answers: {error}", source=str(path)) from None
    if not isinstance(content, dict) or content.get("format") != RECORDING:
        raise InputError("not a recording of answers: germane find --record makes one", source=str(path))
    try:
        answers = [SourceAnswer.of_dict(answer) for answer in content["answers"]]
        weights = {str(name): float(weight) for name, weight in content["weights"].items()}
        query, recorded = str(content["query"]), str(content["ranking"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"not a whole recording of answers: {error!r}", source=str(path)) from None
    background = None
    if reference is not None:
        background = union.Reference(reference)
    return merge(query, answers, ranking=ranking or recorded, weights=weights, reference=background)


def _run(work: "Coroutine[Any, Any, Value]") -> Value:
    """Run to the end, in a thread of its own where an event loop runs here already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    found: list[Value] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
