"""Incremental = rebuild: after any sequence of changes, every score equals that of a fresh index, digit by digit."""

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane.engine import Engine
from germane.errors import DamagedIndexError
from germane.index import merge, merge_scheduler, recent
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
    monkeypatch.setattr("germane.index.snapshot.RECENT_DOCS", (50, 4096)[seed // 2 % 2])
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


def test_recent_documents_grow_from_commit_to_commit(
    tmp_path: Path, one_document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that misses some commits extends what it has too; after merges it keeps what came before them."""
    load_compiler()
    rng = random.Random(7)
    words = [f"w{i}" for i in range(30)]
    with Engine.create(tmp_path / "index") as engine:
        engine.add([one_document(rng, f"a{i}") for i in range(20)])
        engine.add([one_document(rng, "b")])
        reader = Engine.open(tmp_path / "index")
        extended, kept, seen_before = [], [], []
        for step in range(12):
            for i in range(step % 4 + 1):
                engine.add([one_document(rng, f"c{step}-{i}")])
            if step in (5, 9):  # of the newest segment, and of an older one
                engine.delete([f"c{step}-0" if step == 5 else "a3"])
            before = snapshot_of(reader).recent
            segments = [live.segment for live in snapshot_of(reader).segments]
            reader.refresh()
            snapshot = snapshot_of(reader)
            assert before is not None
            assert snapshot.recent is not None
            extended.append(snapshot.recent.postings is before.postings)
            kept.append([live.segment for live in snapshot.segments][: len(segments)] == segments)
            assert snapshot.recent.terms is before.terms
            seen_before.append((snapshot, snapshot.term_stats(words)))
            assert seen_before[-1][1] == [counted(snapshot, word) for word in words]
        for snapshot, stats in seen_before:
            assert snapshot.term_stats(words) == stats
        found = [Engine.open(tmp_path / "index").search(query).ids for query in words]
        assert [reader.search(query).ids for query in words] == found
    assert extended == kept
    assert {*extended} == {True, False}


def test_commits_that_come_while_recent_documents_are_made_do_not_begin_anew(
    tmp_path: Path, one_document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    load_compiler()
    rng, words = random.Random(8), [f"w{i}" for i in range(30)]
    with Engine.create(tmp_path / "index") as engine:
        engine.add([one_document(rng, f"a{i}") for i in range(100)])
        engine.add([one_document(rng, f"b{i}") for i in range(40)])
        snapshots = [Snapshot.open(tmp_path / "index")]
        assert snapshots[0].recent is not None
        for i in range(6):
            engine.add([one_document(rng, f"c{i}")])
            snapshots.append(Snapshot.open(tmp_path / "index", snapshots[-1]))  # nobody has asked the one before
    for snapshot in (snapshots[2], snapshots[4], snapshots[1], snapshots[6]):
        assert snapshot.term_stats(words) == [counted(snapshot, word) for word in words]
    first, older, *_ = snapshots
    postings = [snapshots[i].recent.postings is first.recent.postings for i in (2, 4, 6)]  # type: ignore[union-attr]
    assert postings == [True, True, True]
    assert older.recent is not None
    assert older.recent.postings is not first.recent.postings


def snapshot_of(engine: Engine) -> Snapshot:
    return engine.search("w1").located[1].snapshot


def test_threads_that_ask_at_once_get_the_same_recent_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_compiler()
    with Engine.create(tmp_path / "index", fields=("text",)) as engine:
        for i in range(3):
            engine.add([Document(f"{i}", {"text": f"w{i}"})])
    snapshot = Snapshot.open(tmp_path / "index")
    assert snapshot.small
    entered, finish, made = threading.Event(), threading.Event(), []

    def slowly(*given: Any) -> Any:
        entered.set()
        finish.wait()
        made.append(real(*given))
        return made[-1]

    real = recent.Recent
    monkeypatch.setattr(recent, "Recent", slowly)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(snapshot.recent)) for _ in range(2)]
    threads[0].start()
    entered.wait()
    threads[1].start()
    finish.set()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert found == 2 * made


def test_documents_that_were_taken_in_by_half_spoil_nothing(
    tmp_path: Path, one_document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is interrupted while a commit's documents are added, and whoever sees older ones, finds what is there."""
    load_compiler()
    rng, words = random.Random(9), [f"w{i}" for i in range(30)]
    with Engine.create(tmp_path / "index") as engine:
        engine.add([one_document(rng, f"a{i}") for i in range(20)])
        engine.add([one_document(rng, "b")])
        reader = Engine.open(tmp_path / "index")
        older = snapshot_of(reader)
        before = older.term_stats(words)
        engine.add([one_document(rng, f"c{i}") for i in range(3)])
        real = recent.recent_kernels.add

        def interrupted(*arguments: object) -> None:
            real(*arguments)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(recent.recent_kernels, "add", interrupted)
            with pytest.raises(KeyboardInterrupt):
                reader.refresh()
        assert snapshot_of(reader) is older
        reader.refresh()
        found = [Engine.open(tmp_path / "index").search(query).ids for query in words]
        assert [reader.search(query).ids for query in words] == found
        assert older.term_stats(words) == before


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
