"""Figures. Matplotlib is imported by the first call, and no window is ever opened: each function returns a figure.

figure = precision_recall({"dirichlet": run}, qrels, collection="cranfield")
save(figure, "curves.png")

Every figure has a title, which ends with the name of the `collection` where it is given, and names on all axes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy import stats

from germane.errors import ParameterError, StorageError
from germane.evaluate.calibration import Reliability
from germane.evaluate.compare import LEVEL, Comparison, RunsCompared
from germane.evaluate.detection import Band, DetectionCurve, min_cost
from germane.evaluate.measures import evaluate
from germane.evaluate.rankings import Qrels, Run
from germane.lazy import optional

if TYPE_CHECKING:
    from germane.classify.explanation import ClassPart

RECALLS = tuple(i / 10 for i in range(11))
DET_TICKS = (0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99)


class WeightedWord(Protocol):
    """A word of an expanded query, as people write it: its weight, and how much of that is the query's own."""

    @property
    def word(self) -> str: ...

    @property
    def weight(self) -> float: ...

    @property
    def query_weight(self) -> float: ...


def _axes(width: float = 6.0, height: float = 4.5) -> tuple[Any, Any]:
    """A figure with one pair of axes."""
    figure, (axes,) = panels(1, width, height)
    return figure, axes


def panels(columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """A figure of its own, outside pyplot's global list, with axes side by side."""
    backend = optional("matplotlib.backends.backend_agg", "Drawing a figure")
    figure = optional("matplotlib.figure", "Drawing a figure").Figure(figsize=(width, height), layout="constrained")
    backend.FigureCanvasAgg(figure)
    return figure, [figure.add_subplot(1, columns, place) for place in range(1, columns + 1)]


def save(figure: Any, path: str | Path) -> None:
    """Write a figure; the ending (.png, .svg, .pdf) is the format."""
    try:
        figure.savefig(path, dpi=120, metadata={"Date": None} if str(path).endswith((".svg", ".svgz")) else None)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
    except ValueError as error:
        raise ParameterError(f"{path}: {error}") from None


def precision_recall(runs: Mapping[str, Run], qrels: Qrels, *, collection: str = "") -> Any:
    """Interpolated precision at recall 0, 0.1, ..., 1, averaged over queries (trec_eval's iprec_at_recall)."""
    figure, axes = _axes()
    names = [f"IPrec@{recall}" for recall in RECALLS]
    for name, run in runs.items():
        found = evaluate(run, qrels, names)
        axes.plot(RECALLS, [found[measure] for measure in names], marker="o", markersize=3, label=name)
    axes.set(xlabel="recall", ylabel="interpolated precision", xlim=(0, 1), ylim=(0, 1))
    _title(axes, "Precision over recall", collection)
    _finish(axes, len(runs))
    return figure


def detection_error_tradeoff(
    curves: Mapping[str, DetectionCurve], *, bands: Mapping[str, Band] | None = None, collection: str = ""
) -> Any:
    """P_Miss against P_FA on normal-deviate axes, with a mark where the cost is least (SD figure 6.1).

    `bands`: shaded about the curve of the same name.
    """
    figure, axes = _axes(5.5, 5.5)
    low, high = (float(stats.norm.ppf(p)) for p in (DET_TICKS[0] / 2, DET_TICKS[-1]))
    for name, curve in curves.items():
        x, y = normal_deviates(curve.p_fa), normal_deviates(curve.p_miss)
        (line,) = axes.plot(x, y, drawstyle="steps-post", label=name)
        if bands is not None and name in bands:
            band = bands[name]
            limits = normal_deviates(band.low), normal_deviates(band.high)
            axes.fill_between(normal_deviates(band.p_fa), *limits, color=line.get_color(), alpha=0.12, linewidth=0)
        best = min_cost(curve)
        axes.plot(normal_deviates(best.p_fa), normal_deviates(best.p_miss), "o", color=line.get_color())
    places = [float(stats.norm.ppf(p)) for p in DET_TICKS]
    labels = [f"{100 * p:g}" for p in DET_TICKS]
    axes.set_xticks(places, labels)
    axes.set_yticks(places, labels)
    axes.set(xlabel="false alarms (%)", ylabel="misses (%)", xlim=(low, high), ylim=(low, high))
    _title(axes, "Misses over false alarms", collection)
    _finish(axes, len(curves))
    return figure


def normal_deviates(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Φ⁻¹(p), with 0 and 1 moved off the plot's edge instead of to infinity."""
    deviates: npt.NDArray[np.float64] = stats.norm.ppf(np.clip(np.asarray(p, np.float64), 1e-6, 1 - 1e-6))
    return deviates


def sensitivity(curves: Mapping[str, Sequence[tuple[float, float]]], parameter: str, measure: str) -> Any:
    """The measure over a parameter's values, one line a collection; logarithmic where values span a factor of 50."""
    figure, axes = _axes()
    for name, points in curves.items():
        xs, ys = zip(*sorted(points), strict=True)
        axes.plot(xs, ys, marker="o", markersize=3, label=name)
    _scale(axes, [x for points in curves.values() for x, _ in points])
    axes.set(xlabel=parameter, ylabel=measure)
    _title(axes, f"{measure} over {parameter}", ", ".join(curves) if len(curves) == 1 else "")
    _finish(axes, len(curves))
    return figure


def tuning(
    trials: Sequence[tuple[Mapping[str, float], float]],
    chosen: Sequence[Mapping[str, float]],
    measure: str,
    *,
    collection: str = "",
) -> Any:
    """The measure of every trial, a panel for each parameter: the line goes through the best at each of its values.

    Dashed lines stand at what the folds chose.
    """
    if not trials:
        raise ParameterError("there is no trial to draw")
    names = list(trials[0][0])
    figure, panes = panels(len(names), 4.0 * len(names) + 1.0, 4.0)
    for axes, name in zip(panes, names, strict=True):
        best: dict[float, float] = {}
        for parameters, value in trials:
            best[parameters[name]] = max(value, best.get(parameters[name], value))
        axes.scatter([p[name] for p, _ in trials], [value for _, value in trials], color="grey", s=9, alpha=0.5)
        xs, ys = zip(*sorted(best.items()), strict=True)
        axes.plot(xs, ys, marker="o", markersize=3, color="tab:blue", label="best of its value")
        for x in sorted({parameters[name] for parameters in chosen}):
            axes.axvline(x, color="tab:orange", linestyle="--", linewidth=0.8, label="chosen by a fold")
        _scale(axes, list(best))
        axes.set(xlabel=name, ylabel=measure)
        _title(axes, f"{measure} over {name}", collection)
        axes.grid(alpha=0.3)
    handles, labels = panes[0].get_legend_handles_labels()
    known = dict(zip(labels, handles, strict=True))
    panes[0].legend(known.values(), known.keys(), fontsize=8)
    return figure


def _scale(axes: Any, values: Sequence[float]) -> None:
    """Logarithmic where the values span a factor of 50."""
    if min(values) > 0 and max(values) / min(values) >= 50:
        axes.set_xscale("log")


def run_differences(found: RunsCompared, measure: str, *, collection: str = "") -> Any:
    """The mean of the row's run less that of the column's; * where Holm's corrected p-value is below 0.05."""
    n = len(found.names)
    figure, axes = _axes(0.9 * n + 3.0, 0.7 * n + 2.0)
    differences, p_values = found.differences(measure), found.p_values(measure)
    reach = max(float(np.abs(differences).max()), 1e-12)
    axes.imshow(differences, cmap="RdBu", vmin=-reach, vmax=reach)
    for i, j in np.argwhere(~np.isnan(p_values)).tolist():
        star = "*" if p_values[i, j] < LEVEL else ""
        colour = "white" if abs(differences[i, j]) > 0.6 * reach else "black"
        axes.text(j, i, f"{differences[i, j]:+.3f}{star}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(n), found.names, rotation=45, ha="right")
    axes.set_yticks(range(n), found.names)
    axes.set(xlabel="less this run", ylabel="this run")
    _title(axes, f"{measure}: differences of means", collection)
    return figure


def query_differences(comparison: Comparison, a: str = "a", b: str = "b", *, collection: str = "") -> Any:
    """A bar for each query, from the largest gain of a to its largest loss."""
    figure, axes = _axes(7.0, 3.5)
    d = [query.difference for query in comparison.differences]
    axes.bar(range(len(d)), d, width=1.0, color=["tab:blue" if value >= 0 else "tab:red" for value in d])
    axes.axhline(0.0, color="black", linewidth=0.8)
    axes.set(xlabel="queries", ylabel=f"{comparison.measure}: {a} - {b}", xticks=[])
    _title(axes, f"{comparison.measure} by query", collection)
    return figure


def expansion(words: Sequence[WeightedWord], *, collection: str = "") -> Any:
    """A bar for each word of an expanded query, the first on top: the query's own part, and what feedback learnt."""
    figure, axes = _axes(6.0, 0.22 * len(words) + 1.2)
    weights = np.array([word.weight for word in words], np.float64)
    gained = np.maximum(weights, 0.0)
    typed = np.minimum([word.query_weight for word in words], gained)
    places = range(len(words))
    axes.barh(places, typed, color="tab:orange", label="the query's own")
    axes.barh(places, gained - typed, left=typed, color="tab:blue", label="learnt")
    if (weights < 0).any():
        axes.barh(places, np.minimum(weights, 0.0), color="tab:red", label="learnt against")
        axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(places, [word.word for word in words], fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel="weight", ylabel="word")
    _title(axes, "Words of the expanded query", collection)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8, loc="lower right")
    return figure


def explanation(part: "ClassPart", top: int = 10, *, collection: str = "") -> Any:
    """A bar for each of the words that argued most strongly for a class (blue) and against it (red)."""
    words = part.words[:top]
    amounts = [word.amount for word in words]
    figure, axes = _axes(6.0, 0.25 * len(words) + 1.4)
    places = range(len(words))
    axes.barh(places, amounts, color=["tab:blue" if amount >= 0 else "tab:red" for amount in amounts])
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(places, [word.word + (f" ×{word.count}" if word.count > 1 else "") for word in words], fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel="what the word adds to the score", ylabel="word")
    _title(axes, f"{part.label}: {part.score:.3g}", collection)
    axes.grid(axis="x", alpha=0.3)
    return figure


def confusion(labels: Sequence[str], counts: npt.ArrayLike, *, collection: str = "") -> Any:
    """The confusion matrix: rows are true classes (shade: the share of the row), columns predicted ones."""
    table = np.asarray(counts, np.float64)
    if table.shape != (len(labels), len(labels)):
        raise ParameterError(f"{len(labels)} labels need a square table of that size, not {table.shape}")
    size = max(4.0, 0.35 * len(labels) + 1.5)
    figure, axes = _axes(size, size)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1.0)
    axes.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    axes.set_xticks(range(len(labels)), labels, rotation=90)
    axes.set_yticks(range(len(labels)), labels)
    axes.set(xlabel="predicted", ylabel="true")
    _title(axes, "Confusion matrix", collection)
    if len(labels) <= 25:
        for i, j in np.argwhere(table > 0).tolist():
            colour = "white" if share[i, j] > 0.5 else "black"
            axes.text(j, i, f"{table[i, j]:g}", ha="center", va="center", fontsize=7, color=colour)
    return figure


def calibration(bins: Mapping[str, Reliability], *, collection: str = "") -> Any:
    """Plot predicted probabilities against observed frequencies; the diagonal is perfect calibration."""
    figure, axes = _axes(5.0, 5.0)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for name, found in bins.items():
        axes.plot(found.confidence, found.accuracy, marker="o", label=f"{name} (ECE {found.ece:.3f})")
    axes.set(xlabel="predicted probability", ylabel="observed share", xlim=(0, 1), ylim=(0, 1))
    _title(axes, "Calibration", collection)
    _finish(axes, len(bins))
    return figure


def recall_over_reading(hits: Sequence[npt.NDArray[np.int64]], stops: Sequence[int], *, collection: str = "") -> Any:
    """Recall against the share of the documents read: a line a simulated run, with a mark where it was to stop.

    `hits`: for each run, the relevant documents found after each one that was read.
    """
    figure, axes = _axes()
    for found, stop in zip(hits, stops, strict=True):
        n = len(found)
        read = np.arange(n + 1) / n
        recall = np.concatenate([[0.0], found / found[-1]])
        axes.plot(read, recall, color="tab:blue", linewidth=0.8, alpha=0.6)
        axes.plot(stop / n, recall[stop], "o", color="tab:red", markersize=4)
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    axes.axhline(0.95, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel="share read", ylabel="recall (dot: recommended stop)", xlim=(0, 1), ylim=(0, 1.02))
    _title(axes, "Recall over reading", collection)
    axes.grid(alpha=0.3)
    return figure


def timeline(days: Sequence[tuple[str, int]], *, collection: str = "") -> Any:
    """Plot the number of documents of each day (ISO dates, ascending) as bars over time."""
    figure, axes = _axes(7.0, 3.0)
    places = [np.datetime64(day).astype("datetime64[D]").astype(object) for day, _ in days]
    axes.bar(places, [count for _, count in days], color="tab:blue")
    axes.set(xlabel="day", ylabel="documents")
    axes.tick_params(axis="x", labelrotation=30)
    _title(axes, "Documents over time", collection)
    axes.grid(alpha=0.3)
    return figure


def position_curve(curves: Mapping[str, Sequence[float]], *, collection: str = "") -> Any:
    """Plot the probability of examining a result by its position from 1; a line each, NaN where it is unknown."""
    figure, axes = _axes()
    for name, theta in curves.items():
        axes.plot(range(1, len(theta) + 1), theta, marker="o", markersize=3, label=name)
    axes.set(xlabel="position", ylabel="examination, relative to the first", ylim=(0, None))
    _title(axes, "Examination over position", collection)
    _finish(axes, len(curves))
    return figure


def projection_costs(costs: Mapping[str, Sequence[float]], *, collection: str = "") -> Any:
    """Clicks figure 2: the mean steps that projecting a posterior takes, by EM iteration; a line a model."""
    figure, axes = _axes()
    for name, steps in costs.items():
        axes.plot(range(1, len(steps) + 1), steps, marker="o", markersize=3, label=name)
    axes.set(xlabel="EM iteration", ylabel="steps of the projection for each pair", ylim=(0, None))
    _title(axes, "Cost of posterior regularisation", collection)
    _finish(axes, len(costs))
    return figure


def _title(axes: Any, what: str, collection: str) -> None:
    axes.set_title(f"{what} ({collection})" if collection else what, fontsize=10, parse_math=False)


def _finish(axes: Any, n_lines: int) -> None:
    axes.grid(alpha=0.3)
    for i, line in enumerate(axes.get_lines()[10:n_lines], start=1):  # the colours repeat after ten
        line.set_linestyle(("--", ":", "-.")[(i - 1) // 10 % 3])
    if n_lines > 5:
        axes.figure.legend(fontsize=8, loc="outside right upper")
    elif n_lines:
        axes.legend(fontsize=8)
