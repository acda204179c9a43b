"""Versions: kept, promoted, taken back; a reader sees the old model or the new one, whatever dies in between."""

import json
import os
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace

import pytest

from germane import Engine
from germane.engine.models.model_store import ModelStore
from germane.engine.models.values import GateReport, GateSet, Loss, ModelVersion, TrainingData
from germane.errors import IndexLockedError, InputError, ParameterError
from germane.index.check import check_index
from germane.index.durable import WriterLock
from germane.latent import Pairs, latent_named
from germane.learning.drift import distribution_of


def record(name: str = "clicks", **changed) -> ModelVersion:
    data = TrainingData("f" * 64, "2026-01-01", "2026-01-07", 100, 50, 20, 10, "query", 3, {"an empty title": 2})
    gate = GateReport("the plain ranking", True, "better", (
        GateSet("held-out clicks", "nDCG@10", 3, 0.5, 0.4, float("nan"), 0.1, 2, 1, 0, (Loss("a b", 0.1, 0.2),)),
    ))  # fmt: skip
    distribution = distribution_of({"a": 60, "b": 40}, [30, 15, 5])
    values = {
        "model": "wtm",
        "parameters": {"n_iterations": 2},
        "mixing": {"lambda1": 0.1, "first_weight": 0.3},
        "gate": gate,
    }
    return ModelVersion(name, 0, trained_at="2026-01-08T00:00:00+00:00", data=data, file="", serving=False,
                        distribution=distribution, **{**values, **changed})  # fmt: skip


def fitted(word: str):
    return latent_named("wtm").fit(Pairs.build([(f"car {word}", f"vehicle {word}", 1.0)]))


@pytest.fixture
def index(world, tmp_path):
    return world.index(tmp_path / "index")


def test_versions_promotion_and_rollback(index):
    store = index.models
    assert (store.names(), store.versions(), store.serving()) == ([], [], None)
    first, second = (store.add("clicks", fitted(word), record()) for word in ("one", "two"))
    assert [first.version, second.version] == [1, 2]
    assert store.serving() is None
    with pytest.raises(ParameterError, match="clicks@2 has passed the gate, and does not serve now"):
        store.stage("clicks")
    assert store.promote("clicks@1").serving
    assert store.promote("clicks@2").version == 2
    assert store.rollback().version == 1
    assert store.rollback() is None
    assert store.serving() is None
    with pytest.raises(ParameterError, match="nothing to take back"):
        store.rollback()
    kept = store.versions()
    assert [each.version for each in kept] == [1, 2]
    loaded = kept[0]
    assert (loaded.data, loaded.distribution, loaded.mixing) == (first.data, first.distribution, first.mixing)
    assert loaded.gate.sets[0].worst == first.gate.sets[0].worst
    assert "distribution" not in loaded.to_dict()
    assert store.stage("clicks@2").first_weight == 0.3
    assert "one" in store.stage("clicks@1").model.vocabulary.words


def test_promoting_twice_is_once(index):
    store = index.models
    for word in ("one", "two"):
        store.add("clicks", fitted(word), record())
    for reference in ("clicks@1", "clicks@2", "clicks@2", "clicks@1"):
        store.promote(reference)
    assert store.serving().version == 1
    assert store.rollback().version == 2
    assert store.rollback() is None


def test_removing(index):
    """Never what serves, unless forced; and no number is given twice."""
    store = index.models
    for word in ("one", "two", "three"):
        store.add("clicks", fitted(word), record())
    for reference in ("clicks@1", "clicks@2", "clicks@3"):
        store.promote(reference)
    for reference in ("clicks@3", "clicks"):
        with pytest.raises(ParameterError, match="clicks@3 serves: promote another"):
            store.remove(reference)
    assert "two" in store.stage("clicks@2").model.vocabulary.words
    store.remove("clicks@2")
    with pytest.raises(ParameterError, match="no version '2'; there are: 1, 3"):
        store.stage("clicks@2")
    store.remove("clicks@3", force=True)
    assert store.serving().version == 1  # 2 is gone
    assert sorted(path.name for path in (index.folder / "models" / "clicks").iterdir()) == [
        "000001.json", "000001.model", "LOCK", "SERVING"
    ]  # fmt: skip
    assert store.add("clicks", fitted("four"), record()).version == 4
    store.remove("clicks", force=True)
    assert store.serving() is None
    store.remove("clicks@4")
    assert store.names() == []
    assert store.add("clicks", fitted("five"), record()).version == 5


def test_a_removal_that_dies_can_be_done_again(index):
    """The record goes last: while anything of a version is there, it can be named."""
    index.models.add("clicks", fitted("one"), record())
    folder = index.folder / "models" / "clicks"
    (folder / "000001.model").unlink()
    index.models.remove("clicks@1")
    assert index.models.names() == []


def test_a_damaged_record_can_be_removed(index):
    gate = replace(record().gate, passed=False)
    index.models.add("clicks", fitted("one"), record(gate=gate))
    index.models.add("clicks", fitted("two"), record())
    index.models.promote("clicks@2")
    (index.folder / "models" / "clicks" / "000002.json").write_text("{")
    (problem,) = index.models.problems()
    assert "'germane models remove" in problem
    index.remove_models(["clicks@2"], force=True)
    assert index.models.problems() == []
    with pytest.raises(ParameterError, match="none of those that are there has passed the gate"):
        index.models.version("clicks")


@pytest.mark.parametrize(
    ("held_out", "last_seen", "day", "seen"),
    [
        ("query", None, "2026-01-07", True), ("query", None, "2026-01-08", False), ("query", None, "2025-12-31", False),
        ("time", "2026-01-09", "2026-01-09", True), ("time", "2026-01-09", "2026-01-10", False),
        ("time", None, "2027-01-01", True),
    ],
)  # fmt: skip
def test_which_days_a_version_has_seen(index, held_out, last_seen, day, seen):
    """Those it was learnt from and those its gate looked at; an old record of held-out days does not tell its last."""
    data = replace(record().data, held_out=held_out, last_day_seen=last_seen)
    index.models.add("clicks", fitted("one"), replace(record(), data=data))
    assert bool(index.models.learnt_from([day])) is seen


def test_the_index_does_not_mind(index, world):
    index.models.add("clicks", fitted("one"), record())
    index.models.promote("clicks@1")
    with Engine.open(index.folder) as changing:
        changing.delete([world.documents[0].id])
        changing.merge()
    report = check_index(index.folder)
    assert (report.ok, report.notes) == (True, [])
    assert ModelStore(index.folder).serving().version == 1


def test_names_and_references(index):
    store = index.models
    for wrong in ("", "Clicks", "a/b", "../x", "bm25"):
        with pytest.raises(ParameterError):
            store.add(wrong, fitted("one"), record())
        assert wrong not in store
    with pytest.raises(ParameterError, match="germane learn makes one"):
        store.version("clicks@1")
    store.add("clicks", fitted("one"), record())
    with pytest.raises(ParameterError, match="no version '7'; there are: 1"):
        store.version("clicks@7")
    with pytest.raises(ParameterError, match="there are: clicks"):
        store.version("other")
    assert "clicks@1" in store
    assert "clicks@2" not in store


def test_damage_is_told(index):
    store = index.models
    store.add("clicks", fitted("one"), record())
    store.add("clicks", fitted("two"), record())
    folder = index.folder / "models" / "clicks"
    (folder / "000001.model").write_bytes((folder / "000002.model").read_bytes())
    with pytest.raises(InputError, match="not the one that its record tells of"):
        store.promote("clicks@1")
    (folder / "000002.model").write_bytes((folder / "000002.model").read_bytes()[:-7])
    with pytest.raises(InputError, match="damaged"):
        store.promote("clicks@2")
    assert store.serving() is None
    (folder / "000002.json").write_text("{")
    with pytest.raises(InputError, match="record of a learnt model is damaged"):
        store.versions()
    (folder / "SERVING").write_text("[]")
    with pytest.raises(InputError, match="which version serves"):
        store.serving()


def test_two_do_not_change_one_model_at_once(index):
    index.models.add("clicks", fitted("one"), record())
    lock = WriterLock(index.folder / "models" / "clicks")
    try:
        with pytest.raises(IndexLockedError):
            index.models.promote("clicks@1")
        assert index.models.version("clicks@1").version == 1  # readers need not wait
    finally:
        lock.release()


def test_a_reader_sees_the_old_model_or_the_new_one(index):
    """One thread promotes and rolls back, another reads: every look is a whole model."""
    for word in ("one", "two"):
        index.models.add("clicks", fitted(word), record())
    index.models.promote("clicks@1")
    seen: list[str] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                words = ModelStore(index.folder).stage("clicks").model.vocabulary.words
                seen.append(next(word for word in ("one", "two") if word in words))
        except BaseException as error:
            failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(10):
        index.models.promote("clicks@2")
        index.models.rollback()
    done.set()
    reader.join()
    assert failed == []
    assert {*seen} <= {"one", "two"}
    assert seen


def test_a_process_that_dies_at_the_last_moment_changes_nothing(index):
    """It is killed at the rename that would have promoted: the old version serves, and the next one can promote."""
    for word in ("one", "two"):
        index.models.add("clicks", fitted(word), record())
    index.models.promote("clicks@1")
    program = textwrap.dedent("""
        import os, sys
        from pathlib import Path
        from germane.engine.models.model_store import ModelStore
        os.replace = lambda *_: os.kill(os.getpid(), 9)
        ModelStore(Path(sys.argv[1])).promote("clicks@2")
    """)
    died = subprocess.run([sys.executable, "-c", program, str(index.folder)], env=dict(os.environ), check=False)
    assert died.returncode == -9
    fresh = ModelStore(index.folder)
    assert fresh.serving().version == 1
    assert fresh.promote("clicks@2").serving
    assert json.loads((index.folder / "models" / "clicks" / "SERVING").read_bytes()) == {"served": [1, 2], "last": 2}
