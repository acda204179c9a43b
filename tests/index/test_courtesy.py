"""Who changes an index stops for others who search, and for nobody else."""

import threading

import pytest

from germane.index import courtesy


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long this thread has rested; it has given way once before, and all that was searched by then is past."""
    found: list[float] = []
    monkeypatch.setattr("time.sleep", found.append)
    monkeypatch.setattr(courtesy, "LEAST_WORK", 0.0)
    courtesy.give_way()
    found.clear()
    return found


def searched_elsewhere() -> None:
    thread = threading.Thread(target=courtesy.note_search)
    thread.start()
    thread.join()


def test_nobody_rests_while_nobody_searches(rests: list[float]) -> None:
    courtesy.give_way()
    assert rests == []


def test_own_searches_are_not_waited_for(rests: list[float]) -> None:
    courtesy.note_search()
    courtesy.give_way()
    assert rests == []


def test_searches_of_others_are_given_way_to_once(rests: list[float]) -> None:
    searched_elsewhere()
    courtesy.give_way()
    courtesy.give_way()
    assert len(rests) == 1
    assert 0.0 <= rests[0] <= courtesy.LONGEST_REST
    searched_elsewhere()
    courtesy.give_way()
    assert len(rests) == 2


def test_rests_are_shorter_for_readers_of_other_processes(rests: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    worked = iter(range(10))
    monkeypatch.setattr("time.thread_time", lambda: float(next(worked)))
    monkeypatch.setattr(courtesy, "LONGEST_REST", 100.0)
    monkeypatch.setattr(courtesy._work, "seconds", -1.0)
    courtesy.note_reader()
    assert courtesy.others_search()
    courtesy.give_way()
    assert not courtesy.others_search()
    searched_elsewhere()
    courtesy.give_way()
    assert rests == [courtesy.SHARE_ELSEWHERE, courtesy.SHARE]


def test_little_work_is_not_worth_a_rest(rests: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courtesy, "LEAST_WORK", 3600.0)
    searched_elsewhere()
    courtesy.give_way()
    assert rests == []
