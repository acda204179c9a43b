"""Settings chosen on other collections: against brute force, and what a search may not gain by being wide."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.experiments.left_out import (
    choose,
    count_chosen,
    figures_of,
    hurt_share,
    leave_one_out,
    nested,
    report_rows,
    spread_of,
    table_of,
)

FAMILIES = {"a": "one", "a titles": "one"}


def made(seed: int, n_settings: int = 4, collections: tuple[str, ...] = ("a", "a titles", "b", "c", "d")):
    rng = np.random.default_rng(seed)
    return {c: {f"s{i}": rng.random(rng.integers(1, 6)) for i in range(n_settings)} for c in collections}


def brute(table, yardstick, families):
    """The definition, written out once more with loops."""
    figures = {}
    for left in table:
        best, best_mean = "", -np.inf
        for setting in table[left]:
            groups = {}
            for other in table:
                if families.get(other, other) != families.get(left, left):
                    figure = np.mean(table[other][setting]) / yardstick[other]
                    groups.setdefault(families.get(other, other), []).append(figure)
            mean = np.mean([np.mean(group) for group in groups.values()])
            if mean > best_mean + 1e-15:
                best, best_mean = setting, mean
        figures[left] = (best, np.mean(table[left][best]) / yardstick[left])
    return figures


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_leave_one_out_is_its_definition(seed: int) -> None:
    table = made(seed)
    yardstick = {c: 0.1 + i for i, c in enumerate(table)}
    found = leave_one_out(table, families=FAMILIES, yardstick=yardstick)
    expected = brute(table, yardstick, FAMILIES)
    assert found.chosen == {c: setting for c, (setting, _) in expected.items()}
    assert found.figures == pytest.approx({c: figure for c, (_, figure) in expected.items()})


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_what_is_left_out_has_no_say(seed: int) -> None:
    """Whatever is measured on a collection, or its family, the setting chosen for it stays."""
    table = made(seed)
    before = leave_one_out(table, families=FAMILIES).chosen
    for own in ("a", "a titles"):
        changed = {**table, own: made(seed + 1)[own]}
        after = leave_one_out(changed, families=FAMILIES).chosen
        assert after["a"] == before["a"]
        assert after["a titles"] == before["a titles"]


def test_a_family_counts_once() -> None:
    """Ten variants of one collection do not outvote two others."""
    variants = {f"a{i}": {"x": [1.0], "y": [0.0]} for i in range(10)}
    table = {**variants, "b": {"x": [0.0], "y": [0.9]}, "c": {"x": [0.0], "y": [0.9]}, "d": {"x": [0.5], "y": [0.5]}}
    families = dict.fromkeys(variants, "a")
    assert leave_one_out(table, families=families).chosen["d"] == "y"
    assert leave_one_out(table).chosen["d"] == "x"
    assert spread_of({c: 1.0 if c in variants else 0.0 for c in table}, families).mean == pytest.approx(1 / 4)


@settings(max_examples=25)
@given(st.integers(0, 200))
def test_nested_is_its_definition(seed: int) -> None:
    tables = {"wide": made(seed, 6), "narrow": made(seed + 1, 1)}
    found = nested(tables, families=FAMILIES)
    for left in tables["wide"]:
        worth = {}
        for kind, table in tables.items():
            rest = {c: row for c, row in table.items() if FAMILIES.get(c, c) != FAMILIES.get(left, left)}
            worth[kind] = leave_one_out(rest, families=FAMILIES).spread.mean
        kind = max(worth, key=worth.__getitem__)
        rest = {c: row for c, row in tables[kind].items() if FAMILIES.get(c, c) != FAMILIES.get(left, left)}
        setting = choose(figures_of(rest), FAMILIES)
        assert found.chosen[left] == f"{kind}: {setting}"
        assert found.figures[left] == pytest.approx(np.mean(tables[kind][left][setting]))


def test_a_wide_search_of_noise_gains_nothing() -> None:
    """Fifty settings that are all noise: the best of all looks good where it was chosen, and is nothing left out."""
    rng = np.random.default_rng(0)
    seen, left = [], []
    for _ in range(60):
        values = rng.normal(1.0, 0.1, (6, 50))
        table = {f"c{i}": {f"s{j}": [values[i, j]] for j in range(50)} for i in range(6)}
        best = choose(figures_of(table))
        seen.append(np.mean([table[c][best] for c in table]))
        left.append(leave_one_out(table).spread.mean)
    assert np.mean(seen) > 1.07
    assert abs(np.mean(left) - 1.0) < 3 * np.std(left) / np.sqrt(len(left)) < 0.03


def test_the_spread_and_who_is_hurt() -> None:
    spread = spread_of({"a": 1.0, "b": 1.2, "c": 1.1})
    half = 4.302652729911275 * 0.1 / np.sqrt(3)  # t of 2 degrees of freedom
    assert (spread.mean, spread.low, spread.high) == pytest.approx((1.1, 1.1 - half, 1.1 + half))
    assert spread.least == 1.0
    assert spread_of({"a": 1.1}) == spread_of({"a": 1.1}, {"a": "f"})
    assert hurt_share([0.79, 0.8, 1.0, 0.0], [1.0, 1.0, 0.5, 0.0]) == 0.25
    table = {"a": {"x": [0.5, 1.0]}, "b": {"x": [1.0, 1.0]}}
    found = leave_one_out(table, before={"a": [1.0, 1.0], "b": [1.0, 1.0]})
    assert found.hurt == {"a": 0.5, "b": 0.0}
    assert found.mean_hurt == 0.25
    assert count_chosen(found) == [("x", 2)]
    rows = report_rows(found)
    assert rows[1] == ["a", "x", "0.7500", "50.0%"]
    assert rows[-1][2] == "0.7500"
    assert len({len(row) for row in rows}) == 1


def test_a_table_is_made_of_rows() -> None:
    rows = [(c, s, [float(len(c + s))]) for c, s in itertools.product(("a", "bb"), ("x", "yy"))]
    assert figures_of(table_of(rows), {"a": 2.0, "bb": 1.0}) == {
        "a": {"x": 1.0, "yy": 1.5}, "bb": {"x": 3.0, "yy": 4.0}
    }  # fmt: skip


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "no collection"),
        ({"a": {}}, "no setting"),
        ({"a": {"x": [1.0]}}, "outside the family of 'a'"),
        ({"a": {"x": [1.0]}, "b": {"y": [1.0]}}, "'b' was not measured"),
        ({"a": {"x": []}, "b": {"x": [1.0]}}, "no finite values"),
        ({"a": {"x": [float("nan")]}, "b": {"x": [1.0]}}, "no finite values"),
    ],
)
def test_what_cannot_be_chosen_from_is_told(table, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        leave_one_out(table)


def test_other_mistakes_are_told() -> None:
    table = {"a": {"x": [1.0]}, "b": {"x": [1.0]}}
    with pytest.raises(ParameterError, match="above 0"):
        leave_one_out(table, yardstick={"a": 0.0, "b": 1.0})
    with pytest.raises(ParameterError, match="same queries"):
        leave_one_out(table, before={"a": [1.0, 2.0], "b": [1.0]})
    with pytest.raises(ParameterError, match="same collections"):
        nested({"k": table, "l": {"a": {"x": [1.0]}}})
    with pytest.raises(ParameterError, match="three families"):
        nested({"k": table})
