"""Incremental = rebuild: after any sequence of changes, every score equals that of a fresh index, digit by digit."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane.engine import Engine
from germane.errors import DamagedIndexError
from germane.index import merge, merge_scheduler
from germane.index.check import check_index
from germane.index.snapshot import Snapshot
from germane.lazy import load_compiler
from germane.types import Document


class Sequence:
    """Random changes to an index, and to a dictionary that says what it should hold."""

    def __init__(self, folder: Path, rng: random.Random, one_document: Callable[..., Document]) -> None:
        self.folder, self.rng, self.one_document = folder, rng, one_document
        self.expected: dict[str, Document] = {}
        self.engine = Engine.create(folder)
        self.reader = Engine.open(folder)
        """Sees each commit, and takes over from one to the next what it has learnt."""

    def step(self) -> None:
        rng = self.rng
        kind = rng.choices(("add", "update", "skip", "delete", "merge", "reopen"), (6, 4, 2, 5, 1, 1))[0]
        getattr(self, kind)(rng)
        assert len(self.engine) == len(self.expected)
        self.reader.refresh()
        for model in ("adaptive", "dirichlet", "tfidf"):
            self.reader.search("w1 w5 w9 w20", model=model)

    def add(self, rng: random.Random) -> None:
        fresh = [self.one_document(rng, f"d{rng.randrange(10_000)}") for _ in range(rng.choice((1, 2, 5, 30)))]
        new = {doc.id: doc for doc in fresh if doc.id not in self.expected}
        self.engine.add(new.values())
        self.expected |= new

    def update(self, rng: random.Random) -> None:
        known = sorted(self.expected)
        ids = rng.choices([*known, "d1", "d2"], k=rng.choice((1, 3, 8)))  # an id may come twice: the last one counts
        changed = [self.one_document(rng, doc_id) for doc_id in ids]
        self.engine.update(changed)
        self.expected |= {doc.id: doc for doc in changed}

    def skip(self, rng: random.Random) -> None:
        ids = rng.choices([*sorted(self.expected), "d3", "d4"], k=4)
        offered = [self.one_document(rng, doc_id) for doc_id in ids]
        self.engine.add(offered, on_duplicate="skip")
        for doc in offered:
            self.expected.setdefault(doc.id, doc)

    def delete(self, rng: random.Random) -> None:
        known = sorted(self.expected)
        doomed = rng.sample(known, min(len(known), rng.choice((1, 2, 10))))
        self.engine.delete([*doomed, "nowhere"], missing="ignore")
        for doc_id in doomed:
            del self.expected[doc_id]

    def merge(self, rng: random.Random) -> None:
        self.engine.merge()

    def reopen(self, rng: random.Random) -> None:
        self.engine.close()
        self.engine = Engine.open(self.folder)


@pytest.mark.parametrize("seed", range(12))
def test_incremental_equals_rebuild(
    seed: int,
    tmp_path: Path,
    one_document: Callable[..., Document],
    seen: Callable[[Engine], dict[str, Any]],
    rebuilt: Callable[..., Engine],
    content: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(merge, "FANOUT", 4)  # merge often
    if seed % 3 == 0:
        monkeypatch.setattr(merge_scheduler, "BACKGROUND_DOCS", 20)
    rng = random.Random(seed)
    sequence = Sequence(tmp_path / "index", rng, one_document)
    for step in range(40):
        sequence.step()
        if step in (14, 39):
            fresh = rebuilt(rng.sample(list(sequence.expected.values()), len(sequence.expected)))
            expected = seen(fresh)
            assert seen(sequence.engine) == expected
            sequence.engine.release()  # a merge in the background is another commit
            sequence.reader.refresh()
            assert seen(sequence.reader) == expected
    sequence.engine.close()
    assert content(sequence.folder) == {doc.id: doc.fields for doc in sequence.expected.values()}
    report = check_index(sequence.folder)
    assert report.ok, report.problems
    assert report.documents == len(sequence.expected)
    assert not report.notes


def test_statistics_grow_and_those_of_before_stay(
    tmp_path: Path, one_document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Snapshots share what they know of older segments; each asks for some words first, and for all in the end."""
    rng = random.Random(5)
    words = [f"w{i}" for i in range(30)]
    with Engine.create(tmp_path / "index") as engine:
        snapshots = []
        for i in range(20):
            engine.add([one_document(rng, f"d{i}")])
            snapshots.append(engine.search("w1").located[1].snapshot)
            for snapshot in rng.sample(snapshots, min(3, len(snapshots))):
                snapshot.term_stats(rng.sample(words, 3))
        for snapshot in snapshots:
            assert snapshot.term_stats(words) == [counted(snapshot, word) for word in words]


def counted(snapshot: Snapshot, term: str) -> tuple[int, int]:
    """df and cf of a term, counted in each segment."""
    found = [(live, live.segment.numbers_of([term])[0]) for live in snapshot.segments]
    pairs = [live.frequencies_of(np.array([number])) for live, number in found if number >= 0]
    return sum(int(df[0]) for df, _ in pairs), sum(int(cf[0]) for _, cf in pairs)


def test_deletions_of_another_small_segment_are_refused(tmp_path: Path) -> None:
    load_compiler()
    with Engine.create(tmp_path / "index") as engine:
        for name, text in (("a", "alpha beta"), ("b", "gamma gamma delta")):
            engine.add([Document(f"{name}{i}", {"text": f"{text}{i}"}) for i in range(80)])
        engine.delete(["a0", "a1", "a2"])
        engine.delete(["b3"])
    one, other = sorted(path for path in (tmp_path / "index").iterdir() if "deletions" in path.name)[-2:]
    contents = one.read_bytes(), other.read_bytes()
    other.write_bytes(contents[0])
    one.write_bytes(contents[1])
    with Engine.open(tmp_path / "index") as engine, pytest.raises(DamagedIndexError, match="deletions"):
        engine.search("beta9 delta1")
