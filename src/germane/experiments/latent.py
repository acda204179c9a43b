"""Experiments with latent models: Clicks tables 1 and 2, on query-title pairs and graded lists.

Beside what all kinds have (`experiment.py`), the file may say:

kind = "latent"
datasets = ["homedepot"]            those of `click_lists.py`
measures = ["nDCG@1", "nDCG@10"]    tied scores averaged; the gain of grade g is 2^g - 1
[lists]                             added = 50, most = 2000, seed = 0
[analysis]                          stemmer = "english", stopwords = "english"
[tuning]                            folds = 2, measure = "nDCG@10", seed = 0

[[system]]
model = "bltm-pr"                   a name of `latent/registry.py`
parameters = { n_topics = 100 }     fixed, of the model; also lambda1, lambda2, literal_weight
tune = { lambda1 = [0.1, 0.3], lambda2 = [0.0, 0.5] }     or { literal_weight = [...] }: weights of the mixture

[[system]]
model = "combination"               weights of other systems' scores, learnt on the training half of each fold
of = ["BLTM-PR + UM", "S2Net"]
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from germane.arrays import Floats
from germane.errors import ParameterError
from germane.evaluate import plots
from germane.evaluate.measures import Evaluation
from germane.evaluate.tied import tied_ndcg
from germane.evaluate.tuning import folds_by_query
from germane.experiments.click_lists import CLICK_SETS, ClickData, ListRules, load_clicks
from germane.experiments.experiment import Experiment, System, written
from germane.experiments.results import OnProgress, Result, averaged
from germane.latent.combination import Combination
from germane.latent.ensemble import EnsembleModel
from germane.latent.generative import GenerativeModel, QueryProbabilities
from germane.latent.pairs import Pairs
from germane.latent.projection import Cosines, ProjectionModel
from germane.latent.registry import Estimator, latent_named
from germane.latent.topics import BLTM
from germane.text import Analyzer

COMBINATION = "combination"
MIXING = {"lambda1": 0.3, "lambda2": 0.5, "literal_weight": 0.5}
"""The weights of mixtures, which a fitted model takes anew, and their defaults."""
BASELINES = {"um": {"lambda2": 1.0}, "vsm": {"literal_weight": 1.0}}
MEASURE = "nDCG@"
Scores = list[Floats]
"""of each list's titles, list by list"""


@dataclass(frozen=True)
class LatentSystem(System):
    """A latent model, fitted on the pairs and mixed; or a combination of others."""

    model: str = ""
    of: Sequence[str] = ()

    @property
    def fitted(self) -> dict[str, Any]:
        """The parameters that fitting depends on."""
        return {name: value for name, value in self.parameters.items() if name not in MIXING}

    @property
    def points(self) -> list[dict[str, float]]:
        """The weights of the mixture that are tried."""
        fixed = {**MIXING, **BASELINES.get(self.model, {}), **self.parameters}
        mixing = {name: fixed[name] for name in MIXING}
        return [
            {**mixing, **dict(zip(self.tune, values, strict=True))} for values in itertools.product(*self.tune.values())
        ]


@dataclass(frozen=True)
class Tuning:
    """How weights of mixtures are chosen: on the other queries."""

    folds: int = 2
    measure: str = "nDCG@10"
    seed: int = 0


@dataclass(frozen=True)
class LatentExperiment(Experiment):
    """Latent models on the same pairs and lists."""

    systems: Sequence[LatentSystem]
    lists: ListRules = field(default_factory=ListRules)
    tuning: Tuning = field(default_factory=Tuning)
    analyzer: Analyzer = field(default_factory=Analyzer)
    conventions: ClassVar[str] = "Pairs and lists"
    significant_by: ClassVar[tuple[str, ...]] = ("t",)


def read_latent(content: dict[str, Any], **common: Any) -> LatentExperiment:
    """The experiment; `common` is what all kinds have."""
    experiment = LatentExperiment(
        systems=[LatentSystem(**system) for system in content.pop("system")],
        lists=ListRules(**content.pop("lists", {})),
        tuning=Tuning(**content.pop("tuning", {})),
        analyzer=Analyzer(**content.pop("analysis", {})),
        **common,
        **content,
    )
    unknown = [name for name in experiment.datasets if name not in CLICK_SETS]
    if unknown:
        raise ValueError(f"'{unknown[0]}' has no pairs and lists; there are: {', '.join(CLICK_SETS)}")
    wrong = [name for name in (*experiment.measures, experiment.tuning.measure) if not _depth(name)]
    if wrong:
        raise ValueError(f"measures of latent models are {MEASURE}k, not '{wrong[0]}'")
    seen: list[str] = []
    for system in experiment.systems:
        _check_system(system, seen)
        seen.append(system.name)
    return experiment


def _depth(measure: str) -> int:
    """k of nDCG@k; 0 for another measure."""
    rest = measure.removeprefix(MEASURE)
    return int(rest) if rest != measure and rest.isdigit() else 0


def _check_system(system: LatentSystem, seen: Sequence[str]) -> None:
    if system.model == COMBINATION:
        missing = [name for name in system.of if name not in seen]
        if missing or len(system.of) < 2:
            raise ValueError(f"system '{system.name}' combines two or more systems above it, not {missing or 'one'}")
        return
    wrong = [name for name in system.tune if name not in MIXING]
    if wrong or system.of:
        raise ValueError(f"system '{system.name}' may tune {', '.join(MIXING)}, and 'of' is for combinations")
    latent_named(system.model, **system.fitted)


def run_latent(experiment: LatentExperiment, result: Result, on_progress: OnProgress) -> None:
    """Fit, fold in, score and judge every system on every data set."""
    for dataset in experiment.datasets:
        on_progress(dataset, "pairs")
        trial = _Trial(experiment, load_clicks(dataset, experiment.lists))
        result.conventions[dataset] = "; ".join(filter(None, [trial.described, experiment.notes.get(dataset)]))
        for system in experiment.systems:
            on_progress(dataset, system.name)
            found, chosen = trial.judged(system)
            result.note(dataset, system.name, found)
            if any(chosen):
                result.parameters.setdefault(dataset, {})[system.name] = " / ".join(chosen)
        costs = trial.projection_costs
        if costs:
            heading = f"Steps of the projection for each pair, by EM iteration, {dataset} (Clicks figure 2)"
            result.tables[heading] = [
                ["", *map(str, range(1, 1 + max(map(len, costs.values()))))],
                *([name, *(f"{steps:.1f}" for steps in own)] for name, own in costs.items()),
            ]
            result.drawings[f"figure-2-{dataset}"] = partial(plots.projection_costs, costs, collection=dataset)


class _Trial:
    """One data set: models fitted once, scores under the weights that each half of the queries chooses."""

    def __init__(self, experiment: LatentExperiment, data: ClickData) -> None:
        self._experiment, self._data = experiment, data
        self._pairs = Pairs.build(data.pairs, experiment.analyzer)
        self._parts: dict[str, list[QueryProbabilities | Cosines]] = {}
        self._steps: dict[str, list[int]] = {}
        self._held_out: dict[str, list[Scores]] = {}
        """system -> for each fold, the scores of all lists under the weights that its training queries chose"""
        names = [each.query_id for each in data.lists]
        tuning = experiment.tuning
        place = {name: number for number, name in enumerate(names)}
        folds = folds_by_query(names, tuning.folds, random_state=tuning.seed)
        self._folds = [np.array([place[name] for name in fold]) for fold in folds]
        self._names = names

    @property
    def described(self) -> str:
        """Counts of the pairs and lists."""
        titles = sum(len(each.titles) for each in self._data.lists) / len(self._data.lists)
        return (
            f"{len(self._pairs):,} pairs, {len(self._pairs.vocabulary):,} words; "
            f"{len(self._data.lists):,} lists of {titles:.0f} titles on average"
        )

    def judged(self, system: LatentSystem) -> tuple[Evaluation, list[str]]:
        """The values of each query as it was held out, and what was chosen in each fold."""
        scores, chosen = self._combined(system) if system.model == COMBINATION else self._tuned(system)
        self._held_out[system.name] = scores
        final: Scores = [np.zeros(0)] * len(self._names)
        for fold, of_fold in zip(self._folds, scores, strict=True):
            for number in fold.tolist():
                final[number] = of_fold[number]
        values = {measure: self._values(final, measure) for measure in self._experiment.measures}
        return averaged(self._names, values), chosen

    def _values(self, scores: Scores, measure: str) -> Floats:
        k = _depth(measure)
        return np.array([tied_ndcg(row, each.gains, k) for row, each in zip(scores, self._data.lists, strict=True)])

    def _tuned(self, system: LatentSystem) -> tuple[list[Scores], list[str]]:
        """For each fold all scores under the weights that are best on the other queries."""
        parts = self._parts_of(system)
        points = system.points
        tried = [self._values(_scores(parts, point), self._experiment.tuning.measure) for point in points]
        best = [points[int(np.argmax([np.delete(values, fold).mean() for values in tried]))] for fold in self._folds]
        chosen = [written({name: point[name] for name in system.tune}) for point in best]
        return [_scores(parts, point) for point in best], chosen

    def _parts_of(self, system: LatentSystem) -> list[QueryProbabilities | Cosines]:
        """What the fitted model says of each list, before it is mixed."""
        key = f"{system.model} {system.fitted}"
        if key not in self._parts:
            model = self._fitted(latent_named(system.model, **system.fitted), system.model)
            documents = model.fold_in(self._data.titles)
            ask: Callable[..., QueryProbabilities | Cosines] = (
                model.probabilities if isinstance(model, GenerativeModel) else model.cosines
            )
            self._parts[key] = [ask(each.query, documents.take(each.titles)) for each in self._data.lists]
        return self._parts[key]

    def _fitted(self, estimator: Estimator, name: str) -> GenerativeModel | ProjectionModel:
        """The model; of one with posterior regularisation the steps are noted."""
        if not (isinstance(estimator, BLTM) and estimator.regularised):
            model = estimator.fit(self._pairs)
            if isinstance(model, EnsembleModel):
                raise ParameterError(f"'{name}': an experiment combines systems that it has measured, with `of`")
            return model
        steps = self._steps.setdefault(name, [])
        return estimator.fit(self._pairs, on_iteration=lambda _, found: steps.append(found.steps))

    def _combined(self, system: LatentSystem) -> tuple[list[Scores], list[str]]:
        """Weights learnt on the other queries, over systems tuned there."""
        found, chosen = [], []
        gains = [each.gains for each in self._data.lists]
        for number, fold in enumerate(self._folds):
            columns = [self._held_out[name][number] for name in system.of]
            stacked = [np.stack(rows) for rows in zip(*columns, strict=True)]
            training = np.setdiff1d(np.arange(len(gains)), fold).tolist()
            model = Combination(**system.parameters).fit([stacked[i] for i in training], [gains[i] for i in training])
            found.append([model.score(rows) for rows in stacked])
            chosen.append(written(dict(zip(system.of, model.weights.round(2).tolist(), strict=True))))
        return found, chosen

    @property
    def projection_costs(self) -> dict[str, list[float]]:
        """Clicks figure 2: how many steps the projection of a pair takes on average, iteration by iteration."""
        return {name: [steps / len(self._pairs) for steps in own] for name, own in self._steps.items()}


def _scores(parts: Sequence[QueryProbabilities | Cosines], point: Mapping[str, float]) -> Scores:
    return [_score(each, point) for each in parts]


def _score(part: QueryProbabilities | Cosines, point: Mapping[str, float]) -> Floats:
    if isinstance(part, QueryProbabilities):
        return part.score(point["lambda1"], point["lambda2"])
    return part.score(point["literal_weight"])
