"""The engine for asyncio: the engine's own answers, so many at once, in order, and safe when cancelled."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator

import pytest

from germane import AsyncEngine, Document, Engine, Topic
from germane.engine import ExplainRequest, RankingRequest, SearchRequest
from germane.errors import DocumentExistsError, EngineClosedError, ParameterError, QueryError
from germane.rank import BM25

TEXTS = ["heart attack", "heart surgery", "knee surgery", "diet and the heart"]
DOCUMENTS = [Document(str(i), {"text": text}) for i, text in enumerate(TEXTS)]


def test_every_answer_is_the_engines() -> None:
    async def go() -> None:
        async with await AsyncEngine.create(":memory:", threads=2) as engine:
            assert (await engine.add(DOCUMENTS, threads=1)).added == 4
            same = engine.engine
            asked = [("heart", {}), ("heart", {"model": "dirichlet", "mu": 5.0}), ("surgery", {"feedback": "rm3"})]
            found = await asyncio.gather(*(engine.search(query, 3, **options) for query, options in asked))
            for (query, options), result in zip(asked, found, strict=True):
                expected = same.search(query, 3, **options)
                assert (result.ids, result.scores.tolist()) == (expected.ids, expected.scores.tolist())
            assert (await engine.explain("heart", "0")).score == same.explain("heart", "0").score
            assert await engine.document("2") == DOCUMENTS[2]
            assert (await engine.stats()).documents == len(engine) == 4
            assert await engine.suggest("heart") is None
            asked_for = SearchRequest("heart")
            assert (await engine.answer(asked_for)).to_dict() == same.answer(asked_for).to_dict()
            why = ExplainRequest("heart", "0", RankingRequest("bm25"))
            assert (await engine.answer(why)).to_dict() == same.answer(why).to_dict()
            pipeline = same.pipeline("bm25")
            assert await engine.call(pipeline.run, {"q": "heart"}, 2) == pipeline.run({"q": "heart"}, 2)

    asyncio.run(go())


def test_changes() -> None:
    async def go() -> None:
        async def later() -> AsyncIterator[Document]:
            for document in DOCUMENTS[2:]:
                await asyncio.sleep(0)
                yield document

        async with await AsyncEngine.create(":memory:") as engine:
            await asyncio.gather(engine.add(DOCUMENTS[:2]), engine.add(later()))
            assert len(engine) == 4
            await engine.update([{"id": "0", "text": "lung"}])
            assert await engine.delete(["1"]) == 1
            assert "1" not in engine
            await engine.merge()
            await engine.refresh()
            assert (await engine.search("lung")).ids == ["0"]
            with pytest.raises(DocumentExistsError):
                await engine.add(DOCUMENTS[:1])
            with pytest.raises(QueryError):
                await engine.search("(heart")
            assert len(engine) == 3

    asyncio.run(go())


def test_a_batch_comes_in_order_and_is_not_read_ahead_of_need() -> None:
    read: list[str] = []

    def topics():
        for i in range(50):
            read.append(str(i))
            yield Topic(str(i), "heart" if i % 2 else "surgery")

    async def go() -> None:
        async with await AsyncEngine.create(":memory:", threads=2) as engine:
            await engine.add(DOCUMENTS)
            expected = list(engine.engine.batch([*topics()], 3, model="tfidf"))
            read.clear()
            found = []
            async for topic, result in engine.batch(topics(), 3, model="tfidf"):
                found.append((topic, result.ids, result.scores.tolist()))
                assert len(read) <= len(found) + 4
            assert found == [(topic, result.ids, result.scores.tolist()) for topic, result in expected]
            read.clear()
            some = engine.batch(topics(), 3, model=BM25())
            assert [(await anext(some))[0].id for _ in range(2)] == ["0", "1"]
            await some.aclose()
            assert len(read) <= 6
            with pytest.raises(ParameterError, match="no ranking model 'bm52'"):
                [pair async for pair in engine.batch(topics(), model="bm52")]

    asyncio.run(go())


class Gate:
    """A re-ranker that waits, and counts how many wait with it."""

    def __init__(self) -> None:
        self.open, self.lock = threading.Event(), threading.Lock()
        self.inside = self.most = 0

    def rerank(self, query, candidates):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        assert self.open.wait(600)
        with self.lock:
            self.inside -= 1
        return candidates.scores


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_only_so_many_at_once_and_the_loop_goes_on() -> None:
    async def go() -> None:
        gate = Gate()
        async with await AsyncEngine.create(":memory:", threads=3) as engine:
            await engine.add(DOCUMENTS)
            waiting = [asyncio.ensure_future(engine.search("heart", rerank=gate)) for _ in range(9)]
            await until(lambda: gate.inside == 3)
            assert await engine.add([{"id": "new", "text": "heart"}]), "a change waits for no search"
            gate.open.set()
            await asyncio.gather(*waiting)
            assert gate.most == 3

    asyncio.run(go())


def test_what_is_cancelled_before_its_turn_never_happens_and_what_has_begun_is_whole() -> None:
    async def go() -> None:
        begun, gate = threading.Event(), threading.Event()

        def slowly():
            for document in DOCUMENTS:
                begun.set()
                assert gate.wait(600)
                yield document

        async with await AsyncEngine.create(":memory:", threads=1) as engine:
            first = asyncio.ensure_future(engine.add(slowly()))
            await until(begun.is_set)
            second = asyncio.ensure_future(engine.add([{"id": "second", "text": "heart"}]))
            await asyncio.sleep(0)
            first.cancel()
            second.cancel()
            for cancelled in (first, second):
                with pytest.raises(asyncio.CancelledError):
                    await cancelled
            gate.set()  # the event loop tells the threads of a cancellation in its next round
            await engine.add([{"id": "third", "text": "heart"}])  # waits its turn behind the first
            assert len(engine) == 5
            assert "second" not in engine
            assert {document.id for document in engine.engine.documents()} == {"0", "1", "2", "3", "third"}

    asyncio.run(go())


def test_searches_cancelled_at_random_leave_an_engine_that_answers() -> None:
    async def go() -> None:
        async with await AsyncEngine.create(":memory:", threads=2) as engine:
            await engine.add(DOCUMENTS)
            tasks = [asyncio.ensure_future(engine.search("heart")) for _ in range(200)]
            await asyncio.sleep(0)
            for task in tasks[::3]:
                task.cancel()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            expected = engine.engine.search("heart").ids
            assert all(isinstance(one, asyncio.CancelledError) or one.ids == expected for one in found)
            assert (await engine.search("heart")).ids == expected

    asyncio.run(go())


def test_closing(tmp_path) -> None:
    async def go() -> None:
        engine = await AsyncEngine.open_or_create(tmp_path / "index")
        await engine.add(DOCUMENTS)
        await engine.close()
        await engine.close()
        for call in (engine.search("heart"), engine.add([]), engine.merge(), engine.call(len, "")):
            with pytest.raises(EngineClosedError, match=r"AsyncEngine\.open"):
                await call
        async with await AsyncEngine.open(tmp_path / "index") as again:
            assert len(again) == 4

    asyncio.run(go())


def test_signatures_are_the_engines() -> None:
    for name in ("search", "explain", "delete", "suggest", "document"):
        method = getattr(AsyncEngine, name)
        assert inspect.iscoroutinefunction(method)
        assert inspect.signature(method) == inspect.signature(getattr(Engine, name))
        assert method.__doc__ == getattr(Engine, name).__doc__
    with pytest.raises(ParameterError, match="threads"):
        AsyncEngine(Engine.create(":memory:"), threads=0)
