"""What two threads do at once: the unlucky orders, made to happen."""

import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from germane import Document, Engine
from germane.engine import engine as module
from germane.index.snapshot import Snapshot
from germane.rank.priors import LengthPrior


@pytest.fixture
def engine(tmp_path):
    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document("0", {"text": "heart"})], threads=1)
        yield engine


@dataclass(frozen=True)
class Interrupting(LengthPrior):
    """A prior during whose every lookup the engine gets a document more."""

    weight: float = 1.0
    act: object = field(default=None, compare=False)

    def __hash__(self):
        self.act()
        return 1


def test_priors_while_the_index_changes(engine):
    def act():
        engine.add([Document(str(len(engine)), {"text": "heart"})], threads=1)

    assert engine.search("heart", priors=[Interrupting(act=act)]).ids == ["0"]
    assert len(engine) > 2


def test_a_refresh_that_began_before_an_add_does_not_hide_it(engine, monkeypatch):
    opened = Snapshot.open
    late = [Document("late", {"text": "heart"})]

    def overtaken(*arguments, **options):
        snapshot = opened(*arguments, **options)
        if late:
            engine.add([late.pop()], threads=1)
        return snapshot

    monkeypatch.setattr(module.Snapshot, "open", overtaken)
    engine.refresh()
    assert "late" in engine


def test_a_refresh_that_another_overtakes(engine, tmp_path, monkeypatch):
    engine.close()
    reader = Engine.open(tmp_path / "index")
    opened = Snapshot.open
    late = [Document("late", {"text": "heart"})]

    def overtaken(*arguments, **options):
        snapshot = opened(*arguments, **options)
        if late:
            document = late.pop()
            with Engine.open(tmp_path / "index") as writer:
                writer.add([document], threads=1)
            reader.refresh()
            assert "late" in reader
        return snapshot

    monkeypatch.setattr(module.Snapshot, "open", overtaken)
    reader.refresh()
    assert "late" in reader


def test_searching_with_priors_beside_adds_and_refreshes(engine):
    errors, seen, done = [], [], threading.Event()

    def search():
        try:
            while not done.is_set():
                result = engine.search("heart", 1000, priors=[LengthPrior()])
                assert np.isfinite(result.scores).all()
                seen.append(len(result))
        except Exception as error:
            errors.append(error)

    def refresh():
        while not done.is_set():
            engine.refresh()

    threads = [threading.Thread(target=target) for target in (search, search, refresh)]
    for thread in threads:
        thread.start()
    for i in range(1, 60):
        engine.add([Document(str(i), {"text": "heart"})], threads=1)
        assert len(engine) == i + 1
    done.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert max(seen) <= 60
