import math

import pytest

from germane.errors import ParameterError
from germane.evaluate.tuning import (
    coordinate_ascent,
    cross_validate,
    folds_by_query,
    grid_search,
    tuner,
)

GRID = {"x": [0.0, 1.0, 2.0, 3.0], "y": [-1.0, 0.0, 1.0]}


def hill(parameters):
    return -((parameters["x"] - 2) ** 2) - parameters["y"] ** 2 + 0.5 * (parameters["x"] - 2) * parameters["y"]


def test_grid_tries_everything_once():
    seen = []
    found = grid_search(hill, GRID, on_trial=lambda parameters, value: seen.append(parameters))
    assert found.parameters == {"x": 2.0, "y": 0.0}
    assert found.value == 0.0
    assert len(found.trials) == len(seen) == 12
    assert len({tuple(p.items()) for p in seen}) == 12


def test_coordinate_ascent_climbs():
    found = coordinate_ascent(hill, GRID, start={"x": 0.0, "y": 1.0})
    assert found.parameters == {"x": 2.0, "y": 0.0}
    assert len({tuple(sorted(p.items())) for p, _ in found.trials}) == len(found.trials) <= 12
    flat = coordinate_ascent(lambda p: 1.0, GRID)
    assert flat.parameters == {"x": 2.0, "y": 0.0}  # the middle, and it ends


def test_bad_grids():
    with pytest.raises(ParameterError, match="no value for 'x'"):
        grid_search(hill, {"x": []})
    with pytest.raises(ParameterError, match="not a number"):
        grid_search(lambda p: math.nan, {"x": [1.0]})
    with pytest.raises(ParameterError, match="the start must give x, y"):
        coordinate_ascent(hill, GRID, start={"x": 1.0})
    with pytest.raises(ParameterError, match="grid, coordinate"):
        tuner("magic")


def test_folds():
    ids = [f"q{i}" for i in range(11)]
    parts = folds_by_query(ids, 3)
    assert sorted(query for part in parts for query in part) == sorted(ids)
    assert sorted(map(len, parts)) == [3, 4, 4]
    assert parts == folds_by_query(ids[::-1], 3)
    assert parts != folds_by_query(ids, 3, random_state=1)
    for k in (1, 12):
        with pytest.raises(ParameterError, match="cannot be split"):
            folds_by_query(ids, k)


def test_no_test_query_is_tuned_on():
    ids = [f"q{i}" for i in range(10)]
    parts = folds_by_query(ids, 2)
    # Each half likes another x; tuned on the other half, each gets the wrong one.
    best = {query: float(number) for number, part in enumerate(parts) for query in part}
    calls = []

    def per_query(parameters):
        calls.append(parameters["x"])
        return {query: 1.0 if best[query] == parameters["x"] else 0.0 for query in ids}

    found = cross_validate(per_query, {"x": [0.0, 1.0]}, ids, k=2)
    assert found.mean == 0.0
    assert list(found.values) == ids
    assert sorted(calls) == [0.0, 1.0]  # shared between the folds
    for fold in found.folds:
        assert not {*fold.train} & {*fold.test}
        assert {*fold.train} | {*fold.test} == {*ids}
        assert fold.tuned.value == 1.0
    # Changing a test query's values changes nothing about what is tuned.
    spoilt = cross_validate(
        lambda p: {q: v + (7.0 if q in parts[0] and p["x"] == 0.0 else 0.0) for q, v in per_query(p).items()},
        {"x": [0.0, 1.0]}, ids, k=2,
    )  # fmt: skip
    assert spoilt.folds[0].tuned == found.folds[0].tuned
