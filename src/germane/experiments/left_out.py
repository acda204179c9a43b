"""Settings chosen on all other collections and reported on the one left out: what to expect of a default elsewhere.

A table holds what was measured: collection -> setting -> the values of its queries (of its splits, its reviews; one
number where there is nothing to average over). A collection's figure is the mean of its values over its yardstick, or
the mean itself where there is none. Collections of one family (the same documents or queries, cut short, merged,
otherwise analysed) are left out together, and together they count as one. Higher is better.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.evaluate.significance import paired_effect

Table = Mapping[str, Mapping[str, npt.ArrayLike]]
"""collection -> setting -> values"""

MUCH = 0.2
"""A query is hurt where it loses more than this share of its value."""


@dataclass(frozen=True)
class Spread:
    """A mean over families with what it hides: its 95 % t-interval over families, and the least collection.

    low and high are the mean itself where there is one family only, or a figure is infinite.
    """

    mean: float
    low: float
    high: float
    least: float


@dataclass(frozen=True)
class LeftOut:
    """What was chosen for each collection by the others, and what it came to there.

    `hurt`: the share of a collection's queries that lose more than a fifth, where there is something to lose from.
    """

    chosen: Mapping[str, str]
    figures: Mapping[str, float]
    families: Mapping[str, str]
    hurt: Mapping[str, float] = field(default_factory=dict)

    @property
    def spread(self) -> Spread:
        """Of the figures."""
        return spread_of(self.figures, self.families)

    @property
    def mean_hurt(self) -> float:
        """The share of hurt queries, every family counting the same; NaN where it was not asked for."""
        return float(np.mean([*by_family(self.hurt, self.families).values()])) if self.hurt else float("nan")


def spread_of(figures: Mapping[str, float], families: Mapping[str, str] | None = None) -> Spread:
    """Mean and interval over families, least over collections."""
    means = np.array([*by_family(figures, families or {}).values()])
    least = min(figures.values())
    if len(means) < 2 or not np.isfinite(means).all():
        mean = float(means.mean())
        return Spread(mean, mean, mean, least)
    effect = paired_effect(means, np.zeros(len(means)))
    return Spread(float(effect.mean), float(effect.low), float(effect.high), least)


def by_family(figures: Mapping[str, float], families: Mapping[str, str]) -> dict[str, float]:
    """The mean figure of each family; a collection that has none named is its own."""
    grouped: dict[str, list[float]] = {}
    for collection, figure in figures.items():
        grouped.setdefault(families.get(collection, collection), []).append(figure)
    return {family: float(np.mean(values)) for family, values in grouped.items()}


def figures_of(table: Table, yardstick: Mapping[str, float] | None = None) -> dict[str, dict[str, float]]:
    """collection -> setting -> mean value, over the yardstick of the collection."""
    _checked(table)
    found = {}
    for collection, settings in table.items():
        by = 1.0 if yardstick is None else yardstick[collection]
        if not by > 0:
            raise ParameterError(f"the yardstick of '{collection}' must be above 0, not {by!r}")
        found[collection] = {
            setting: float(np.asarray(values, np.float64).mean()) / by for setting, values in settings.items()
        }
    return found


def choose(figures: Mapping[str, Mapping[str, float]], families: Mapping[str, str] | None = None) -> str:
    """The setting with the best mean over families; of several, the one that comes first."""
    settings = next(iter(figures.values()))
    means = {
        setting: float(np.mean([*by_family({c: row[setting] for c, row in figures.items()}, families or {}).values()]))
        for setting in settings
    }
    return max(means, key=means.__getitem__)


def leave_one_out(
    table: Table,
    *,
    families: Mapping[str, str] | None = None,
    yardstick: Mapping[str, float] | None = None,
    before: Mapping[str, npt.ArrayLike] | None = None,
) -> LeftOut:
    """For each collection the setting that is best on the other families, and its figure on this one.

    `before`: the queries' values without the method, in the same order, from which `hurt` is told.
    """
    figures, of = figures_of(table, yardstick), families or {}
    chosen = {collection: choose(_others(figures, collection, of), of) for collection in table}
    return _report(table, figures, chosen, of, before)


def nested(
    tables: Mapping[str, Table],
    *,
    families: Mapping[str, str] | None = None,
    yardstick: Mapping[str, float] | None = None,
    before: Mapping[str, npt.ArrayLike] | None = None,
) -> LeftOut:
    """The same where a kind is chosen too (a model, a method): one table for each kind, its settings inside.

    For each collection: each kind is given its own left-out mean on the other families, which is what choosing among
    its settings is worth there; the best kind is taken, then its best setting on the others. A kind with many settings
    gains nothing by their number. Chosen are "kind: setting".
    """
    of = families or {}
    if len({frozenset(table) for table in tables.values()}) != 1:
        raise ParameterError("the tables are not of the same collections")
    if len({of.get(c, c) for c in next(iter(tables.values()))}) < 3:
        raise ParameterError("to choose a kind, too, takes collections of three families: one is left out twice")
    figures = {kind: figures_of(table, yardstick) for kind, table in tables.items()}
    chosen: dict[str, tuple[str, str]] = {}
    for collection in next(iter(tables.values())):
        means = {}
        for kind, rows in figures.items():
            others = _others(rows, collection, of)
            picked = {c: others[c][choose(_others(others, c, of), of)] for c in others}
            means[kind] = float(np.mean([*by_family(picked, of).values()]))
        best = max(means, key=means.__getitem__)
        chosen[collection] = best, choose(_others(figures[best], collection, of), of)
    merged = {c: {f"{kind}: {s}": v for kind, t in tables.items() for s, v in t[c].items()} for c in chosen}
    named = {collection: f"{kind}: {setting}" for collection, (kind, setting) in chosen.items()}
    return _report(merged, figures_of(merged, yardstick), named, of, before)


def hurt_share(after: npt.ArrayLike, before: npt.ArrayLike) -> float:
    """The share of queries that lose more than a fifth of their value."""
    new, old = np.asarray(after, np.float64), np.asarray(before, np.float64)
    if new.shape != old.shape:
        raise ParameterError("the values after and before are not of the same queries")
    return float(np.mean(new < (1.0 - MUCH) * old - 1e-12))


def _report(
    table: Table,
    figures: Mapping[str, Mapping[str, float]],
    chosen: Mapping[str, str],
    families: Mapping[str, str],
    before: Mapping[str, npt.ArrayLike] | None,
) -> LeftOut:
    hurt = {c: hurt_share(table[c][chosen[c]], before[c]) for c in chosen} if before is not None else {}
    return LeftOut(chosen, {c: figures[c][chosen[c]] for c in chosen}, dict(families), hurt)


def _others(
    figures: Mapping[str, Mapping[str, float]], left_out: str, families: Mapping[str, str]
) -> dict[str, Mapping[str, float]]:
    own = families.get(left_out, left_out)
    others = {c: row for c, row in figures.items() if families.get(c, c) != own}
    if not others:
        raise ParameterError(f"there is no collection outside the family of '{left_out}' to choose on")
    return others


def _checked(table: Table) -> None:
    """Every collection has every setting, and a value for it."""
    if not table:
        raise ParameterError("the table has no collection")
    settings = [*next(iter(table.values()))]
    for collection, row in table.items():
        if [*row] != settings:
            raise ParameterError(f"'{collection}' was not measured with the settings of the other collections")
        for setting, values in row.items():
            if not _finite(values):
                raise ParameterError(f"'{collection}' has no finite values for the setting '{setting}'")
    if not settings:
        raise ParameterError("the table has no setting")


def _finite(values: npt.ArrayLike) -> bool:
    numbers: Floats = np.asarray(values, np.float64)
    return bool(numbers.size) and bool(np.isfinite(numbers).all())


def table_of(rows: Iterable[tuple[str, str, npt.ArrayLike]]) -> dict[str, dict[str, npt.ArrayLike]]:
    """A table from (collection, setting, values)."""
    table: dict[str, dict[str, npt.ArrayLike]] = {}
    for collection, setting, values in rows:
        table.setdefault(collection, {})[setting] = values
    return table


def report_rows(found: LeftOut) -> list[list[str]]:
    """A table for people: the head, a row a collection, then the mean with its interval, and the least."""
    head = ["", "chosen on the others", "left out", *(["hurt"] if found.hurt else [])]
    rows = [
        [c, found.chosen[c], f"{figure:.4f}", *([f"{found.hurt[c]:.1%}"] if found.hurt else [])]
        for c, figure in found.figures.items()
    ]
    spread = found.spread
    rows.append(["mean of families", "", f"{spread.mean:.4f}", *([f"{found.mean_hurt:.1%}"] if found.hurt else [])])
    rows.append(["95% interval", "", f"{spread.low:.4f} to {spread.high:.4f}", *([""] if found.hurt else [])])
    rows.append(["least", "", f"{spread.least:.4f}", *([""] if found.hurt else [])])
    return [head, *rows]


def count_chosen(found: LeftOut) -> Sequence[tuple[str, int]]:
    """How often each setting was chosen, most often first: a stable choice is chosen by nearly all."""
    names = [*found.chosen.values()]
    return sorted(((name, names.count(name)) for name in {*names}), key=lambda pair: (-pair[1], pair[0]))
