"""Tuning on a data set: trials are remembered, on disk and in memory."""

import json

import pytest

from germane.errors import ParameterError
from germane.experiments.trials import TrialCache, content_key, tune_collection


def test_tuning_resumes(tiny, tmp_path):
    trials = tmp_path / "trials"
    grid = {"k1": [0.5, 2.0], "b": [0.3, 0.75]}
    first = tune_collection("tiny", "bm25", grid, trials=trials)
    stored = sorted(trials.iterdir())
    assert len(stored) == 4
    times = [path.stat().st_mtime_ns for path in stored]
    stored[0].unlink()  # as if interrupted
    again = tune_collection("tiny", "bm25", grid, trials=trials)
    assert again == first
    assert [path.stat().st_mtime_ns for path in stored[1:]] == times[1:]
    assert stored[0].exists()
    with pytest.raises(ParameterError, match="no parameter mu"):
        tune_collection("tiny", "bm25", {"mu": [1.0]})


def test_cache_on_disk(tmp_path):
    folder = tmp_path / "a" / "b"
    key = content_key({"model": "bm25", "k1": 1.2})
    assert key == content_key({"k1": 1.2, "model": "bm25"})
    assert key != content_key({"k1": 1.3, "model": "bm25"})
    cache = TrialCache(folder)
    assert cache.get(key) is None
    cache.put(key, {"q1": 0.1 + 0.2}, {"model": "bm25"})
    assert TrialCache(folder).get(key) == {"q1": 0.1 + 0.2}
    assert json.loads((folder / f"{key}.json").read_text())["about"] == {"model": "bm25"}
    assert [path.name for path in folder.iterdir()] == [f"{key}.json"]
    for damage in ("", "{", "[]", '{"values": 3}', '{"values": {"q": "x"}}'):
        (folder / f"{key}.json").write_text(damage)
        assert TrialCache(folder).get(key) is None


def test_cache_in_memory():
    cache = TrialCache()
    cache.put("k", {"q": 1.0}, {})
    assert cache.get("k") == {"q": 1.0}
