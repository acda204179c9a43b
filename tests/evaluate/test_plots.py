"""Each figure draws what it was given, without pyplot's global state."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from germane.classify.explanation import ClassPart, WordPart
from germane.engine.feedback_report import ExpansionWord
from germane.errors import MissingExtraError, ParameterError, StorageError
from germane.evaluate import confusion_matrix, detection_curve, evaluate, plots, reliability
from germane.evaluate.compare import compare, compare_runs

QRELS = {"a": {"1": 1, "2": 1}, "b": {"1": 1}}
RUN = {"a": {"1": 3.0, "9": 2.0, "2": 1.0}, "b": {"9": 2.0, "1": 1.0}}


def test_precision_recall(tmp_path):
    figure = plots.precision_recall({"ours": RUN}, QRELS)
    (line,) = figure.axes[0].get_lines()
    assert list(line.get_xdata()) == list(plots.RECALLS)
    expected = evaluate(RUN, QRELS, ["IPrec@0.5"])["IPrec@0.5"]
    assert line.get_ydata()[5] == pytest.approx(expected) == pytest.approx((1 + 0.5) / 2)
    plots.save(figure, tmp_path / "pr.png")
    assert (tmp_path / "pr.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(StorageError):
        plots.save(figure, tmp_path / "nowhere" / "pr.png")
    with pytest.raises(ParameterError):
        plots.save(figure, tmp_path / "pr.nothing")


def test_det_axes_are_normal_deviates():
    rng = np.random.default_rng(0)
    labels = rng.random(400) < 0.3
    curve = detection_curve(rng.normal(size=400) + 2 * labels, labels)
    figure = plots.detection_error_tradeoff({"x": curve})
    line = figure.axes[0].get_lines()[0]
    inside = (curve.p_fa > 0.01) & (curve.p_fa < 0.99)
    assert line.get_xdata()[inside] == pytest.approx(stats.norm.ppf(curve.p_fa[inside]))
    assert np.isfinite(line.get_ydata()).all()


def test_the_others(tmp_path):
    figure = plots.sensitivity({"adi": [(1000, 0.2), (10, 0.1)]}, "mu", "AP")
    assert list(figure.axes[0].get_lines()[0].get_xdata()) == [10, 1000]
    assert figure.axes[0].get_xscale() == "log"
    (comparison,) = compare(RUN, {"a": {"2": 1.0}}, QRELS, ["AP"])
    figure = plots.query_differences(comparison)
    assert [bar.get_height() for bar in figure.axes[0].patches] == pytest.approx(
        [query.difference for query in comparison.differences]
    )
    names, counts = confusion_matrix(["x", "x", "y"], ["x", "y", "y"])
    plots.save(plots.confusion(names, counts), tmp_path / "c.svg")
    with pytest.raises(ParameterError):
        plots.confusion(["x"], counts)
    plots.save(plots.calibration({"nb": reliability([0.1, 0.9], [0, 1])}), tmp_path / "r.png")


def test_expansion(tmp_path):
    words = [
        ExpansionWord("planet", "planets", 0.3, 0.2, ()),
        ExpansionWord("mar", "mars", -0.2, 0.0, ()),
        ExpansionWord("star", "star", 0.1, 0.15, ()),  # marks took some of what the query gave
    ]
    figure = plots.expansion(words)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["planets", "mars", "star"]
    assert axes.yaxis_inverted()
    own, learnt, against = ([bar.get_width() for bar in bars] for bars in axes.containers)
    assert own == pytest.approx([0.2, 0.0, 0.1])
    assert learnt == pytest.approx([0.1, 0.0, 0.0])
    assert against == pytest.approx([0.0, -0.2, 0.0])
    assert len(plots.expansion(words[:1]).axes[0].containers) == 2
    plots.save(figure, tmp_path / "words.png")
    plots.save(plots.expansion([]), tmp_path / "none.png")


def test_explanation(tmp_path):
    words = (WordPart("goals", "goal", 2, 0.5), WordPart("law", "law", 1, -0.25))
    figure = plots.explanation(ClassPart("sport", 0.35, 0.1, words, True))
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["goals ×2", "law"]
    assert [bar.get_width() for bar in axes.patches] == [0.5, -0.25]
    assert axes.get_title() == "sport: 0.35"
    plots.save(figure, tmp_path / "words.png")
    plots.save(plots.explanation(ClassPart("sport", 0.1, 0.1, (), False)), tmp_path / "none.png")


def test_recall_over_reading(tmp_path):
    figure = plots.recall_over_reading([np.array([1, 1, 2, 2]), np.array([0, 0, 1, 2])], [3, 4])
    curve, stop, *_ = figure.axes[0].get_lines()
    assert list(curve.get_xdata()) == [0, 0.25, 0.5, 0.75, 1]
    assert list(curve.get_ydata()) == [0, 0.5, 0.5, 1, 1]
    assert (*stop.get_xdata(), *stop.get_ydata()) == (0.75, 1)
    plots.save(figure, tmp_path / "recall.png")


def test_many_lines_can_be_told_apart(tmp_path):
    figure = plots.sensitivity({str(i): [(1, i), (2, i)] for i in range(12)}, "mu", "AP")
    looks = [(line.get_color(), line.get_linestyle()) for line in figure.axes[0].get_lines()]
    assert len(set(looks)) == 12
    plots.save(figure, tmp_path / "many.png")


def curve():
    return detection_curve([0.9, 0.2, 0.4], [True, False, True])


@pytest.mark.parametrize(
    "draw",
    [
        lambda **c: plots.precision_recall({"ours": RUN}, QRELS, **c),
        lambda **c: plots.detection_error_tradeoff({"x": curve()}, **c),
        lambda **c: plots.sensitivity({c.get("collection", "adi"): [(1, 0.2), (2, 0.1)]}, "mu", "AP"),
        lambda **c: plots.tuning(
            [({"k1": 1.0, "b": 0.5}, 0.2), ({"k1": 2.0, "b": 0.5}, 0.3)], [{"k1": 2.0, "b": 0.5}], "AP", **c
        ),
        lambda **c: plots.run_differences(compare_runs({"a": RUN, "b": {"a": {"2": 1.0}}}, QRELS), "AP", **c),
        lambda **c: plots.query_differences(compare(RUN, {"a": {"2": 1.0}}, QRELS, ["AP"])[0], **c),
        lambda **c: plots.expansion([ExpansionWord("planet", "planets", 0.3, 0.2, ())], **c),
        lambda **c: plots.explanation(ClassPart("sport", 0.35, 0.1, (WordPart("goals", "goal", 2, 0.5),), True), **c),
        lambda **c: plots.confusion(*confusion_matrix(["x", "x", "y"], ["x", "y", "y"]), **c),
        lambda **c: plots.calibration({"nb": reliability([0.1, 0.9], [0, 1])}, **c),
        lambda **c: plots.recall_over_reading([np.array([1, 1, 2, 2])], [3], **c),
        lambda **c: plots.timeline([("2026-01-31", 2), ("2026-02-01", 1)], **c),
        lambda **c: plots.position_curve({"planted": [1.0, 0.5, float("nan")]}, **c),
        lambda **c: plots.projection_costs({"bltm-pr": [2.0, 3.5]}, **c),
    ],
)
def test_every_figure_has_a_title_its_collection_and_names_on_its_axes(draw, tmp_path):
    for about in ({}, {"collection": "cost $5_x^2 of $3"}):
        figure = draw(**about)
        for axes in figure.axes:
            assert axes.get_title()
            assert about.get("collection", "") in axes.get_title()
            assert axes.get_xlabel()
            assert axes.get_ylabel()
        plots.save(figure, tmp_path / "figure.png")


def test_every_figure_is_among_those():
    source = inspect.getsource(sys.modules[__name__])
    public = {
        name
        for name, value in vars(plots).items()
        if inspect.isfunction(value) and value.__module__ == plots.__name__ and not name.startswith("_")
    }
    listed = source.split("def curve()")[1].split("def test_every_figure_has")[0]
    assert public - {"panels", "save", "normal_deviates"} == set(re.findall(r"plots\.(\w+)\(", listed))


def test_trials_of_tuning():
    trials = [({"k1": k1, "b": b}, k1 * b) for k1 in (1.0, 100.0) for b in (0.2, 0.5)]
    left, right = plots.tuning(trials, [{"k1": 100.0, "b": 0.5}], "AP", collection="adi, bm25").axes
    line = left.get_lines()[0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1.0, 100.0], [0.5, 50.0])
    assert (left.get_xscale(), right.get_xscale()) == ("log", "linear")
    assert list(right.get_lines()[1].get_xdata()) == [0.5, 0.5]
    assert len(left.collections[0].get_offsets()) == 4
    with pytest.raises(ParameterError, match="no trial"):
        plots.tuning([], [], "AP")


def test_the_matrix_of_differences():
    found = compare_runs({"a": RUN, "b": {"a": {"2": 1.0}}, "c": {"b": {"1": 1.0}}}, QRELS, ["AP"])
    axes = plots.run_differences(found, "AP").axes[0]
    assert axes.images[0].get_array().tolist() == found.differences("AP").tolist()
    assert len(axes.texts) == 6
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]


def test_matplotlib_is_loaded_by_the_first_figure_only():
    code = (
        "import sys, germane.evaluate, germane.evaluate.plots;"
        "assert not {'matplotlib', 'ir_measures', 'pytrec_eval'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'germane\[plots\]'"):
        plots.sensitivity({}, "mu", "AP")
