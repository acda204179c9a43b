"""Whose turn it is, without threads or clocks: futures that are done, and an order that can be written down."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from germane.errors import DeadlineError
from germane.server.aside import Aside, most_costly
from germane.server.problems import ProblemError
from germane.server.requested import Requested, requested
from germane.server.turns import Turn, Turns


def running(work: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(work())  # type: ignore[arg-type]


class Asked:
    """Requests of some callers at one `Turns`; `ended` gives a turn back, and tells whose came."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.waiting: list[tuple[str, bool, Turn]] = []
        self.under_way: list[tuple[str, bool]] = []

    def ask(self, name: str, *, costly: bool = False) -> Turn:
        turn = self.turns.ask(name, costly=costly)
        self.waiting.append((name, costly, turn))
        self.come()
        return turn

    def come(self) -> list[str]:
        """Whose turn has come since."""
        new = [(name, costly) for name, costly, turn in self.waiting if turn.done()]
        self.waiting = [each for each in self.waiting if not each[2].done()]
        self.under_way += new
        return [name for name, _ in new]

    def ended(self, name: str) -> list[str]:
        at = next(i for i, (whose, _) in enumerate(self.under_way) if whose == name)
        whose, costly = self.under_way.pop(at)
        self.turns.give_back(whose, costly=costly)
        return self.come()


def test_one_worker_of_several_is_kept_for_those_who_use_little() -> None:
    async def work() -> None:
        turns = Turns(3, 1, 64)
        for _ in range(20):
            assert turns.ask("much").done()
            turns.give_back("much", costly=False, used=1.0)
        first, second, third = (turns.ask("much") for _ in range(3))
        assert (first.done(), second.done(), third.done()) == (True, True, False)
        assert turns.ask("little").done()
        assert not turns.ask("little").done()
        turns.give_back("little", costly=False, used=0.001)
        assert not third.done()
        turns.give_back("much", costly=False, used=1.0)
        turns.give_back("little", costly=False, used=0.001)
        assert third.done()

    running(work)


def test_callers_take_turns_however_many_requests_each_has() -> None:
    async def work() -> None:
        asked = Asked(Turns(2, 1, 64))
        for _ in range(10):
            asked.ask("many")
        asked.ask("few")
        asked.ask("other")
        assert asked.under_way == [("many", False), ("many", False)]
        order = [asked.ended("many")[0], asked.ended("many")[0]]
        assert sorted(order) == ["few", "other"]
        assert asked.ended(order[0]) == ["many"]

    running(work)


def test_costly_requests_hold_some_workers_and_hold_nobody_up() -> None:
    async def work() -> None:
        asked = Asked(Turns(5, 2, 64))
        for each in ("a", "b", "c"):
            asked.ask(each, costly=True)
        assert asked.under_way == [("a", True), ("b", True)]
        asked.ask("c")  # its costly one waits, its plain one does not
        asked.ask("d")
        assert asked.under_way[2:] == [("c", False), ("d", False)]
        assert asked.ended("d") == []
        assert asked.ended("a") == ["c"]

    running(work)


def test_only_so_many_wait_of_one_caller() -> None:
    async def work() -> None:
        asked = Asked(Turns(1, 1, 3))
        for _ in range(4):
            asked.ask("many")
        with pytest.raises(ProblemError) as refused:
            asked.ask("many")
        assert refused.value.status == 429
        assert refused.value.headers["retry-after"]
        asked.ask("other")
        asked.waiting[0][2].cancel()  # who leaves makes room
        asked.ask("many")

    running(work)


def test_who_has_left_gets_no_turn_and_turns_are_not_lost() -> None:
    async def work() -> None:
        turns = Turns(1, 1, 64)
        first, second, third = (turns.ask(each) for each in "abc")
        assert first.done()
        second.cancel()
        turns.give_back("a", costly=False)
        assert third.done()
        turns.give_back("c", costly=False)
        assert turns.ask("d").done()

    running(work)


def test_a_turn_that_came_as_its_caller_went_is_given_back() -> None:
    async def work() -> None:
        turns = Turns(1, 1, 64)
        first = turns.ask("a")
        entered: list[str] = []

        async def other() -> None:
            async with turns.turn("b"):
                entered.append("b")

        task = asyncio.ensure_future(other())
        await asyncio.sleep(0)
        assert first.done()
        turns.give_back("a", costly=False)  # the turn of b comes
        task.cancel()  # and b goes
        with pytest.raises(asyncio.CancelledError):
            await task
        assert entered == []
        assert turns.ask("c").done()

    running(work)


def test_half_of_the_workers_at_most() -> None:
    assert all(most_costly(workers, cores) <= max(1, workers // 2) for workers in range(1, 40) for cores in (1, 2, 64))


def test_a_request_ends_at_its_deadline_and_compiling_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now, compiled = [0.0], [0.0]
    monkeypatch.setattr("germane.server.requested.compiling_seconds", lambda: compiled[0])
    asked = Requested("a", 10.0, clock=lambda: now[0])
    now[0] = 100.0  # its body was long on its way
    asked.look()
    now[0] = 0.0
    asked = Requested("a", 10.0, clock=lambda: now[0])
    asked.look()
    now[0], compiled[0] = 30.0, 25.0
    asked.look()
    now[0] = 36.0
    with pytest.raises(DeadlineError, match="longer than 10 seconds"):
        asked.look()


def test_a_waiting_request_whose_client_has_gone_leaves_the_queue() -> None:
    async def work() -> None:
        aside = Aside(1)
        gone = asyncio.Event()
        done: list[str] = []

        async def receive() -> dict[str, str]:
            await gone.wait()
            return {"type": "http.disconnect"}

        holding = aside.searches.ask("a")
        assert holding.done()

        async def asking() -> None:
            requested.set(Requested("b", 10.0, receive))
            await aside(lambda: done.append("b"))

        task = asyncio.ensure_future(asking())
        for _ in range(3):
            await asyncio.sleep(0)
        gone.set()
        with pytest.raises(DeadlineError, match="nobody waits"):
            await task
        aside.searches.give_back("a", costly=False)
        assert done == []
        await aside(lambda: done.append("c"))
        assert done == ["c"]

    running(work)


def test_a_waiting_request_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("germane.server.aside.LOOK_SECONDS", 0.0)

    async def work() -> None:
        aside, now = Aside(1), [0.0]
        assert aside.searches.ask("a").done()
        requested.set(Requested("b", 10.0, clock=lambda: now[0]))
        task = asyncio.ensure_future(aside(lambda: None))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not task.done()
        now[0] = 11.0
        with pytest.raises(DeadlineError, match="10 seconds"):
            await task

    running(work)


def test_work_sees_its_requests_deadline_in_the_thread() -> None:
    from germane.deadline import look

    async def work() -> None:
        aside, now = Aside(1), [0.0]
        requested.set(Requested("a", 10.0, clock=lambda: now[0]))
        await aside(look)

        def late() -> None:
            now[0] = 11.0
            look()

        with pytest.raises(DeadlineError):
            await aside(late)

    running(work)
