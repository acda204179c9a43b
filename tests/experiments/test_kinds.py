"""The experiments that come with the package; the small ones run where `GERMANE_DATA` names the collections."""

import os

import pytest

from germane.errors import InputError
from germane.experiments import (
    as_markdown,
    experiment_files,
    published_experiments,
    read_experiment,
    run_experiment,
)
from germane.experiments.tracking import JUDGED, ONLINE

PUBLISHED = published_experiments()
REAL = os.environ.get("GERMANE_DATA", "")


def test_missing_folders(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        experiment_files(tmp_path / "none")
    with pytest.raises(InputError, match="holds no experiment"):
        experiment_files(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_experiment(tmp_path / "none.toml")


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = 1" + "0" * 5000, "x ="])
def test_what_no_toml_reader_can_bear(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(InputError, match="not valid TOML"):
        read_experiment(path)


@pytest.mark.parametrize("name", sorted(experiment_files(PUBLISHED)))
def test_every_experiment_can_be_read_and_is_fully_expected(name):
    experiment = read_experiment(PUBLISHED / f"{name}.toml")
    for dataset in experiment.datasets:
        for system in experiment.systems:
            if dataset in (ONLINE, JUDGED) and not getattr(system, "live", True):
                continue
            known = [key for key in experiment.expected[dataset] if key == system.name or key.startswith(system.name)]
            assert known, (dataset, system.name)


@pytest.mark.skipif(not REAL, reason="set GERMANE_DATA to the folder of the public collections")
@pytest.mark.parametrize("name", ["small", "small-feedback", "small-classification", "small-refine", "small-tracking"])
def test_small_experiments(name, tmp_path, monkeypatch):
    experiment = read_experiment(PUBLISHED / f"{name}.toml")
    for needed in experiment.inputs:
        if not os.path.exists(os.path.join(REAL, needed)):
            pytest.skip(f"no {needed} in GERMANE_DATA")
    monkeypatch.setenv("GERMANE_CACHE", str(tmp_path))
    result = run_experiment(experiment)
    assert result.ok, as_markdown(result)
