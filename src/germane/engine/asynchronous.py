"""The engine for `asyncio`: every call runs in a thread, of which there are only so many, and the event loop goes on.

The kernels release the interpreter's lock while they search, so that searches truly run side by side.
"""

import asyncio
import functools
import os
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack, overload

from germane.engine.documents import OnKnown
from germane.engine.engine import Engine
from germane.engine.filtering import AnyFilter
from germane.engine.registry import PROMOTED
from germane.engine.requests import ExplainRequest, SearchRequest
from germane.engine.rerank import Reranker
from germane.engine.responses import ExplainResponse, SearchResponse
from germane.engine.results import SearchResult
from germane.engine.searching import ranking_named
from germane.errors import EngineClosedError
from germane.feedback import FeedbackMethod
from germane.index.writer import AddReport
from germane.lm.parameters import whole
from germane.rank.models.base import RankingModel
from germane.rank.models.parameters import ModelParameters
from germane.rank.scoring.priors import Prior
from germane.types import DocId, Document, Topic

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def _reading(
    method: Callable[Concatenate[Engine, Arguments], Answer],
) -> Callable[Concatenate["AsyncEngine", Arguments], Awaitable[Answer]]:
    """A method of the engine that changes nothing, to be awaited."""

    @functools.wraps(method)
    async def called(self: "AsyncEngine", /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        return await self.call(method, self.engine, *args, **kwargs)

    return called


def _writing(
    method: Callable[Concatenate[Engine, Arguments], Answer],
) -> Callable[Concatenate["AsyncEngine", Arguments], Awaitable[Answer]]:
    """A method of the engine that changes the index, to be awaited: one after the other, in the order of the calls."""

    @functools.wraps(method)
    async def called(self: "AsyncEngine", /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        return await self._call(self._writers, method, self.engine, *args, **kwargs)

    return called


class AsyncEngine:
    """An `Engine` whose methods are awaited; their arguments and answers are the engine's.

    async with await AsyncEngine.open("my-index") as engine:
        result = await engine.search("heart attack")

    At most `threads` searches run at once (as many as there are cores), the others wait. Changes wait for one another,
    and no search waits for a change. A call that is cancelled before its turn never happens; one that has begun goes on
    to its end in its thread, so that an index is never left half changed: `add` has happened wholly or not at all.
    """

    def __init__(self, engine: Engine, *, threads: int | None = None) -> None:
        self.engine = engine
        self._threads = whole("threads", threads, least=1) if threads is not None else os.cpu_count() or 1
        self._readers = ThreadPoolExecutor(self._threads, "germane-search")
        self._writers = ThreadPoolExecutor(1, "germane-change")
        self._closed = False

    def __repr__(self) -> str:
        return f"<Async{repr(self.engine)[1:]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(AsyncEngine, threads=self._threads), (self.engine,)

    # -- opening ---------------------------------------------------------------------------------------------------

    @classmethod
    async def open(cls, path: str | os.PathLike[str], *, threads: int | None = None) -> "AsyncEngine":
        """Open an index; see `Engine.open`."""
        return cls(await asyncio.to_thread(Engine.open, path), threads=threads)

    @classmethod
    async def create(
        cls, path: str | os.PathLike[str], *, threads: int | None = None, **settings: Any
    ) -> "AsyncEngine":
        """Make an empty index; `settings` are those of `Engine.create`."""
        return cls(await asyncio.to_thread(Engine.create, path, **settings), threads=threads)

    @classmethod
    async def open_or_create(
        cls, path: str | os.PathLike[str], *, threads: int | None = None, **settings: Any
    ) -> "AsyncEngine":
        """Open the index, or make an empty one where there is none; see `Engine.open_or_create`."""
        return cls(await asyncio.to_thread(Engine.open_or_create, path, **settings), threads=threads)

    async def close(self) -> None:
        """Wait for what has begun, then close the engine. Searching is over too, unlike with a closed `Engine`."""
        self._closed = True
        await asyncio.shield(asyncio.to_thread(self._shut))

    def _shut(self) -> None:
        self._writers.shutdown()
        self._readers.shutdown()
        self.engine.close()

    async def __aenter__(self) -> "AsyncEngine":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # -- threads ---------------------------------------------------------------------------------------------------

    async def call(
        self, function: Callable[Arguments, Answer], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Answer:
        """Any function in one of the searching threads: `await engine.call(pipeline.run, topics)`."""
        return await self._call(self._readers, function, *args, **kwargs)

    async def _call(
        self,
        pool: ThreadPoolExecutor,
        function: Callable[Arguments, Answer],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Answer:
        if self._closed:
            raise EngineClosedError(
                f"this engine was closed: AsyncEngine.open('{self.engine.folder}') opens its index again"
            )
        return await asyncio.get_running_loop().run_in_executor(pool, functools.partial(function, *args, **kwargs))

    # -- changing --------------------------------------------------------------------------------------------------

    async def add(
        self,
        documents: Iterable[Document | Mapping[str, Any]] | AsyncIterable[Document | Mapping[str, Any]],
        *,
        on_duplicate: OnKnown = "error",
        **settings: Any,
    ) -> AddReport:
        """Add documents in one atomic commit; see `Engine.add`. Those of an async iterable are gathered first."""
        if isinstance(documents, AsyncIterable):
            documents = [document async for document in documents]
        adding = functools.partial(self.engine.add, documents, on_duplicate=on_duplicate, **settings)
        return await self._call(self._writers, adding)

    @overload
    async def update(self, doc_id: DocId, fields: Mapping[str, Any], /) -> AddReport: ...

    @overload
    async def update(
        self, documents: Iterable[Document | Mapping[str, Any]] | AsyncIterable[Document | Mapping[str, Any]]
    ) -> AddReport: ...

    async def update(
        self,
        documents: DocId | Iterable[Document | Mapping[str, Any]] | AsyncIterable[Document | Mapping[str, Any]],
        fields: Mapping[str, Any] | None = None,
    ) -> AddReport:
        """Change some fields of a document, or replace whole documents; see `Engine.update`."""
        if isinstance(documents, AsyncIterable):
            documents = [document async for document in documents]
        changing: Any = functools.partial(self.engine.update, documents, *(() if fields is None else (fields,)))
        changed: AddReport = await self._call(self._writers, changing)
        return changed

    delete = _writing(Engine.delete)
    merge = _writing(Engine.merge)

    # -- searching and looking -------------------------------------------------------------------------------------

    search = _reading(Engine.search)
    vector_search = _reading(Engine.vector_search)
    vector_batch = _reading(Engine.vector_batch)
    hybrid_search = _reading(Engine.hybrid_search)
    count = _reading(Engine.count)
    facet = _reading(Engine.facet)
    explain = _reading(Engine.explain)
    suggest = _reading(Engine.suggest)
    document = _reading(Engine.document)
    stats = _reading(Engine.stats)
    refresh = _reading(Engine.refresh)
    learn_mu = _reading(Engine.learn_mu)
    learn_lam = _reading(Engine.learn_lam)

    @overload
    async def answer(self, request: SearchRequest) -> SearchResponse: ...

    @overload
    async def answer(self, request: ExplainRequest) -> ExplainResponse: ...

    async def answer(self, request: SearchRequest | ExplainRequest) -> SearchResponse | ExplainResponse:
        """Answer a request as the doors make it; see `Engine.answer`."""
        found: SearchResponse | ExplainResponse = await self.call(self.engine.answer, request)
        return found

    async def batch(
        self,
        topics: Iterable[Topic],
        k: int = 1000,
        *,
        model: str | RankingModel | None = None,
        priors: Sequence[Prior] = (),
        syntax: bool = False,
        feedback: str | FeedbackMethod | None = None,
        rerank: str | Reranker | None = PROMOTED,
        depth: int | None = None,
        filter: AnyFilter | None = None,
        weights: Mapping[str, float] | None = None,
        **parameters: Unpack[ModelParameters],
    ) -> AsyncIterator[tuple[Topic, SearchResult]]:
        """Search many topics; results come in the topics' order. See `Engine.batch`.

        Topics are read as results are taken, two for each thread ahead. Whoever stops half-way stops the rest.
        """
        chosen = ranking_named(model, weights, parameters, learns=feedback is not None)
        ahead: deque[tuple[Topic, asyncio.Future[SearchResult]]] = deque()
        try:
            for topic in topics:
                searching = self.search(
                    topic.text,
                    k,
                    model=chosen,
                    priors=priors,
                    syntax=syntax,
                    feedback=feedback,
                    rerank=rerank,
                    depth=depth,
                    filter=filter,
                )
                ahead.append((topic, asyncio.ensure_future(searching)))
                if len(ahead) >= 2 * self._threads:
                    first, future = ahead.popleft()
                    yield first, await future
            while ahead:
                first, future = ahead.popleft()
                yield first, await future
        finally:
            for _, future in ahead:
                future.cancel()

    # -- at once ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.engine)

    def __contains__(self, doc_id: object) -> bool:
        return doc_id in self.engine
