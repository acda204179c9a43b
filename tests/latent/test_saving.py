"""Models come back from their files bit for bit, and damaged files are refused."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from germane.errors import InputError
from germane.latent import LATENT_NAMES, latent_named, load, save
from latent.planted import Planted

SMALL = {"n_topics": 3, "n_iterations": 2}
FEW = {"n_dimensions": 3}
PARAMETERS = {name: SMALL for name in LATENT_NAMES if name.startswith(("bltm", "plsa"))} | {
    "lsa": FEW, "cl-lsa": FEW, "opca": FEW, "s2net": {**FEW, "n_epochs": 1},
    "combination": {"parts": "wtm,bltm-pr-tied,opca,um", **FEW, **SMALL},
}  # fmt: skip


def assert_alike(model: Any, found: Any) -> None:
    assert type(found) is type(model)
    for each in fields(model):
        ours, theirs = getattr(model, each.name), getattr(found, each.name)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype
            assert np.array_equal(ours, theirs)
        elif each.name == "vocabulary":
            assert (ours.words, ours.analyzer) == (theirs.words, theirs.analyzer)
        elif each.name == "parts":
            for part, other in zip(ours, theirs, strict=True):
                assert_alike(part, other)
        else:
            assert ours == theirs


@pytest.mark.parametrize("name", LATENT_NAMES)
def test_what_was_saved_comes_back(planted: Planted, tmp_path: Path, name: str) -> None:
    model = latent_named(name, **PARAMETERS.get(name, {})).fit(planted.pairs)
    save(model, tmp_path / "model")
    found = load(tmp_path / "model")
    assert_alike(model, found)
    titles = ["d0x1 d0x2 new", "", "d3x0"]
    query = "q0x1 d0x1 new"
    assert np.array_equal(
        model.score(query, model.fold_in(titles)), found.score(query, found.fold_in(titles)), equal_nan=True
    )
    save(found, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_damage_is_noticed(planted: Planted, tmp_path: Path) -> None:
    path = tmp_path / "model"
    save(latent_named("um").fit(planted.pairs), path)
    whole = path.read_bytes()
    for damaged, message in (
        (whole[:-1], "checksum differs"),
        (whole[:200] + bytes([whole[200] ^ 1]) + whole[201:], "checksum differs"),
        (whole[:30], "cut off at its beginning"),
        (b"something else", "not a saved latent model"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=message):
            load(path)
