"""Figure experiments: SD figures 3.3, 3.4, 3.5, 5.1 and 7.1, computed when they are run and drawn when reported.

Beside what all kinds have (`experiment.py`), the file may say:

kind = "figure"
datasets = ["reuters21578"]         those that figures are drawn of, where they need one (optional)
measures = ["KL high"]              of the figures that come with numbers (optional)

[[figure]]
name = "3.3"                        its number in the source, for the file's name
draw = "smoothed-domains"           a name of `DRAWN` below
parameters = { lam = [1.0, 0.5] }   arguments of the function below, or in `count_distributions.py`
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy import special

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.evaluate.measures import Evaluation
from germane.evaluate.plots import panels
from germane.experiments.count_distributions import CATEGORIES, CountDistributions, count_distributions
from germane.experiments.experiment import Experiment
from germane.experiments.labelled_sets import load_labelled
from germane.experiments.results import OnProgress, Result
from germane.lm.distributions import DirichletDistribution, approximate_log_normaliser, exact_log_normaliser
from germane.text import Analyzer

COUNTS = "count-distributions"
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""Of the triangle that shows the simplex of three words."""


@dataclass(frozen=True)
class Drawing:
    """One figure: which function draws it, with which arguments."""

    name: str
    draw: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FigureExperiment(Experiment):
    """Figures of a source, drawn again."""

    drawings: Sequence[Drawing] = ()
    conventions: ClassVar[str] = "Data sets"


def read_figures(content: dict[str, Any], **common: Any) -> FigureExperiment:
    """The experiment; `common` is what all kinds have."""
    experiment = FigureExperiment(
        datasets=content.pop("datasets", ()),
        measures=content.pop("measures", ()),
        systems=(),
        drawings=[Drawing(**drawing) for drawing in content.pop("figure")],
        **common,
        **content,
    )
    names = [drawing.name for drawing in experiment.drawings]
    if len({*names}) < len(names):
        raise ValueError("two figures have one name")
    for drawing in experiment.drawings:
        try:
            _check_drawing(drawing)
        except (TypeError, ValueError) as error:
            raise ValueError(f"figure '{drawing.name}': {error}") from None
    return experiment


def _check_drawing(drawing: Drawing) -> None:
    """Complain of a figure that cannot be drawn, or of an argument that it does not take."""
    if drawing.draw == COUNTS:
        inspect.signature(count_distributions).bind(None, **drawing.parameters)
    elif drawing.draw in DRAWN:
        inspect.signature(DRAWN[drawing.draw]).bind(**drawing.parameters)
    else:
        raise ValueError(f"there is no drawing '{drawing.draw}'; there are: {', '.join([*DRAWN, COUNTS])}")


def run_figures(experiment: FigureExperiment, result: Result, on_progress: OnProgress) -> None:
    """Prepare every figure; that of counts is drawn of each data set, and its divergences are noted."""
    for drawing in experiment.drawings:
        on_progress("figure", drawing.name)
        if drawing.draw != COUNTS:
            result.drawings[drawing.name] = partial(DRAWN[drawing.draw], **drawing.parameters)
            continue
        for dataset in experiment.datasets:
            data = load_labelled(dataset, Analyzer(stemmer="porter", stopwords="none"), unlabelled=True)  # as SD §3.4
            found = count_distributions(data.X, **drawing.parameters)
            result.conventions[dataset] = f"{data.X.shape[0]:,} documents, {data.X.shape[1]:,} stems, stop words kept"
            result.drawings[f"{drawing.name}-{dataset}"] = partial(count_curves, found, dataset)
            _note(result, dataset, found)


def _note(result: Result, dataset: str, found: CountDistributions) -> None:
    """The divergence of the observed counts from those of each distribution, category by category."""
    measures = tuple(f"KL {category}" for category in CATEGORIES)
    for name in found.predicted:
        overall = dict(zip(measures, (found.divergence(name, category) for category in CATEGORIES), strict=True))
        result.note(dataset, name, Evaluation(measures, (), {}, overall))


# -- drawings ----------------------------------------------------------------------------------------------------------


def smoothed_documents(lam: float, n_docs: int, max_length: int, random_state: int) -> Floats:
    """θ^D = λθ̂^D + (1-λ)θ̂^GE of random documents over three words, documents × 3.

    Lengths are uniform from 1 to `max_length`, and each document's words come from a point drawn uniformly from the
    simplex: words drawn from one uniform distribution would all lie near its centre, not all over it as in figure 3.3.
    """
    if not 0.0 < lam <= 1.0:
        raise ParameterError(f"lam must be above 0 and at most 1, not {lam:g}")
    rng = np.random.default_rng(random_state)
    lengths = rng.integers(1, max_length, n_docs, endpoint=True)
    counts = rng.multinomial(lengths, rng.dirichlet(np.ones(3), n_docs)).astype(np.float64)
    return np.asarray(lam * counts / lengths[:, None] + (1 - lam) * counts.sum(axis=0) / counts.sum())


def smoothed_domains(
    lam: Sequence[float] = (1.0, 0.7, 0.4), n_docs: int = 1000, max_length: int = 100, random_state: int = 0
) -> Any:
    """Figure 3.3: smoothed documents fill only a part of the simplex, the smaller the more they are smoothed."""
    figure, axes = panels(len(lam), 3.2 * len(lam), 3.2)
    for pane, each in zip(axes, lam, strict=True):
        points = smoothed_documents(each, n_docs, max_length, random_state) @ CORNERS
        pane.fill(*CORNERS.T, fill=False, color="black", linewidth=0.8)
        pane.scatter(*points.T, s=2, color="tab:blue")
        pane.set(aspect="equal", title=f"λ = {each:g}")
        pane.axis("off")
    return figure


def approximate_gamma(alpha: Floats) -> Floats:
    """Γ_a(α) = e^-α·α^α, SD (3.23)."""
    return np.asarray(np.exp(special.xlogy(alpha, alpha) - alpha))


def normalisers(lam: float = 0.2, background: float = 0.5) -> Any:
    """Figure 3.4: (a) the normalisers of Dirichlet and SD for two words and S = 1; (b) Γ and its approximations."""
    figure, (left, right) = panels(2, 10.0, 4.0)
    p_GE = [background, 1 - background]
    alphas = [(each, 1 - each) for each in np.linspace(0.005, 0.995, 199)]
    alpha_1 = [first for first, _ in alphas]
    for label, log_normaliser in {
        "Dirichlet, (3.12)": lambda alpha: exact_log_normaliser(alpha, p_GE, 1.0),
        f"SD exact, (3.14), λ = {lam:g}": lambda alpha: exact_log_normaliser(alpha, p_GE, lam),
        "SD approximate, (3.24)": approximate_log_normaliser,
    }.items():
        left.plot(alpha_1, np.exp([log_normaliser(alpha) for alpha in alphas]), label=label)
    left.set(xlabel="α₁ = 1 - α₂", ylabel="normaliser", ylim=(0, 10), title="(a) normalisers of two words")
    alpha = np.linspace(0.01, 5.0, 500)
    stirling = np.exp(-alpha) * alpha ** (alpha - 0.5) * np.sqrt(2 * np.pi)
    right.plot(alpha, special.gamma(alpha), label="Γ")
    right.plot(alpha, stirling, linestyle="--", label="Stirling, (3.22)")
    right.plot(alpha, approximate_gamma(alpha), label="Γ_a, (3.23)")
    right.set(xlabel="α", ylabel="value", ylim=(0, 10), title="(b) Γ and its approximations")
    for pane in (left, right):
        _finish(pane)
    return figure


def dirichlet_densities(S: Sequence[float] = (2.0, 6.0, 20.0, 100.0)) -> Any:
    """Figure 5.1: the Dirichlet of two words with α = (S/2, S/2) is the narrower the larger S is."""
    figure, (axes,) = panels(1, 6.0, 4.5)
    theta = np.linspace(0.0, 1.0, 501)[1:-1]
    for each in S:
        density = np.exp(DirichletDistribution([each / 2, each / 2]).log_marginal(0, theta))
        axes.plot(theta, density, label=f"S = {each:g}")
    axes.set(xlabel="θ₁ = 1 - θ₂", ylabel="density", xlim=(0, 1), title="Dirichlet densities of two words")
    _finish(axes)
    return figure


def rounding_interval(count: int, length: int) -> tuple[float, float]:
    """The extrema θ̂_1^l and θ̂_1^r of S_MLE for a document of two words, SD (7.2), (7.7), (7.8).

    S_MLE holds the proportions (θ̂_1, 1 - θ̂_1) that times |D| round to the document's counts.
    """
    if not 0 <= count <= length or length < 1:
        raise ParameterError(f"a word occurs from 0 to |D| times and |D| is 1 or more, not {count} of {length}")
    return max((count - 0.5) / length, 0.0), min((count + 0.5) / length, 1.0)


def document_volumes(length: int = 10, counts: Sequence[int] = (0, 5, 10), lengths: Sequence[int] = (5, 10, 20)) -> Any:
    """Figure 7.1: (a) S_MLE on the simplex of two words; (b) its volume, at most 1/|D| (7.10), half that at the edges.

    The volume is θ̂_1^r - θ̂_1^l, as the text measures it, and not the length of the drawn line, √2 times as long.
    """
    figure, (left, right) = panels(2, 10.0, 4.5)
    left.plot([0, 1], [1, 0], color="black", linewidth=0.8)
    for count in counts:
        low, high = rounding_interval(count, length)
        (line,) = left.plot([low, high], [1 - low, 1 - high], linewidth=5, alpha=0.6, solid_capstyle="butt")
        left.plot(count / length, 1 - count / length, "o", color=line.get_color(), label=f"({count}, {length - count})")
    left.set(xlabel="θ̂₁", ylabel="θ̂₂", aspect="equal", title=f"(a) S_MLE of documents of {length} words")
    for each in lengths:
        volumes = [high - low for low, high in (rounding_interval(count, each) for count in range(each + 1))]
        right.plot(np.arange(each + 1) / each, volumes, ".-", label=f"|D| = {each}")
        right.axhline(1 / each, color="black", linewidth=0.5, linestyle=":")
    right.set(xlabel="θ̂₁ of the document", ylabel="volume", ylim=(0, None), title="(b) its volume; dotted: 1/|D|")
    for pane in (left, right):
        _finish(pane)
    return figure


def count_curves(found: CountDistributions, collection: str) -> Any:
    """Figure 3.5: how often words of high, medium and low frequency occur in a document, observed and predicted."""
    figure, axes = panels(len(CATEGORIES), 4.5 * len(CATEGORIES), 4.0)
    last = int(found.counts[-1])
    for pane, category in zip(axes, CATEGORIES, strict=True):
        observed = found.observed[category]
        seen = observed > 0
        pane.semilogy(found.counts[seen], observed[seen], "k.", label="observed")
        for name, predicted in found.predicted.items():
            style = "--" if name == "SD" else "-"  # it often covers the Dirichlet's
            pane.semilogy(found.counts, predicted[category], style, label=name)
        pane.set(
            xlabel="times in a document, f", ylabel=f"probability, normalised over f = 1 ... {last}",
            title=f"words of {category} frequency ({collection})", ylim=(observed[seen].min() / 30, 2),
            xticks=range(1, last + 1, max(1, last // 6)),
        )  # fmt: skip
        _finish(pane)
    return figure


def _finish(axes: Any) -> None:
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


DRAWN: dict[str, Callable[..., Any]] = {
    "smoothed-domains": smoothed_domains,
    "normalisers": normalisers,
    "dirichlet-densities": dirichlet_densities,
    "document-volumes": document_volumes,
}
"""Figures that need no data."""
