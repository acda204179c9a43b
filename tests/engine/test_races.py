"""What two threads do at once: the unlucky orders, made to happen."""

import random
import threading
from dataclasses import dataclass, field

import numpy as np
import pytest

from germane import Document, Engine
from germane.engine import open_index as module
from germane.index import segment
from germane.index.snapshot import Snapshot
from germane.lazy import load_compiler
from germane.rank.scoring.priors import LengthPrior


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


def changed_at_random(engine, rng, searched, failed):
    """Adds, replaces and deletes documents, mostly one by one; merges come of it. Between two something is found."""
    for i in range(150):
        searched.clear()
        if failed.is_set():
            return
        searched.wait()
        texts = [" ".join(f"w{int(40 * rng.random() ** 2)}" for _ in range(rng.randint(1, 12))) for _ in range(3)]
        if i % 9 == 5:
            engine.delete([rng.choice(sorted(document.id for document in engine.documents()))])
        elif i % 9 == 7:
            engine.update([Document(f"n{i - 2}", {"text": texts[0]})])
        else:
            engine.add([Document(f"n{i}-{j}" if j else f"n{i}", {"text": texts[j]}) for j in range(1 + (i % 20 == 0))])


@pytest.mark.parametrize("kept", ["dirichlet", None])
def test_what_is_found_beside_changes_is_what_an_index_built_at_once_finds(tmp_path, monkeypatch, kept):
    """By readers in threads of the writer's process, and by one that refreshes, each of which misses some commits."""
    load_compiler()
    monkeypatch.setattr(segment, "SMALL", 30)  # those of more documents are large
    rng, found, errors = random.Random(3), [], []
    with Engine.create(tmp_path / "index") as engine:
        words = [f"w{i}" for i in range(42)]
        engine.add([Document(f"a{i}", {"text": " ".join(rng.choices(words, k=9))}) for i in range(120)])
        apart, done, searched = Engine.open(tmp_path / "index"), threading.Event(), threading.Event()

        def read(reader, seed):
            own = random.Random(seed)
            try:
                while not done.is_set():
                    if reader is apart:
                        reader.refresh()
                    for _ in range(own.randint(1, 4)):
                        query = " ".join(own.sample(words, own.randint(1, 4)))
                        found.append((query, reader.search(query, k=8, model=kept)))
                        searched.set()
            except BaseException as error:
                errors.append(error)
                done.set()
                searched.set()

        threads = [threading.Thread(target=read, args=job) for job in ((engine, 1), (engine, 2), (apart, 3))]
        for thread in threads:
            thread.start()
        changed_at_random(engine, random.Random(4), searched, done)
        done.set()
        for thread in threads:
            thread.join()
    assert not errors
    by_snapshot = {}
    for query, result in found:
        by_snapshot.setdefault(result.located[1].snapshot, []).append((query, result))
    assert len(by_snapshot) > 10
    for number, snapshot in enumerate(rng.sample(sorted(by_snapshot, key=lambda s: s.manifest.generation), 10)):
        with Engine.create(tmp_path / f"at-once-{number}") as once:
            once.add(snapshot.documents())
            for query, result in rng.choices(by_snapshot[snapshot], k=10):
                expected = once.search(query, k=8, model=kept)
                assert result.ids == expected.ids
                assert result.scores.tobytes() == expected.scores.tobytes()
