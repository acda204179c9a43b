"""Tuning a model on a data set, each trial remembered by what it was made of."""

from collections.abc import Mapping
from pathlib import Path

from germane import __version__
from germane.evaluate.experiments.collections import Collection
from germane.evaluate.measures import evaluate, parse_measure
from germane.evaluate.rankings import judgements
from germane.evaluate.tuning import CrossValidation, Grid, TrialCache, content_key, cross_validate
from germane.evaluate.tuning.cache import fingerprint
from germane.evaluate.tuning.search import OnTrial
from germane.rank.registry import model_named


def tune_collection(
    dataset: str,
    model: str,
    grid: Grid,
    *,
    measure: str = "AP",
    k: int = 1000,
    folds: int = 2,
    method: str = "grid",
    seed: int = 0,
    cache: Path | None = None,
    trials: Path | None = None,
    on_trial: OnTrial | None = None,
) -> CrossValidation:
    """Cross-validate a model's parameters over the judged queries of a data set.

    A trial's key holds the documents' digest, the analyser, topics, judgements, model, parameters, measure and our
    version; with the folder `trials`, those tried before are not tried again.
    """
    model_named(model, **{name: values[0] for name, values in grid.items()})  # complain before the work
    parse_measure(measure)
    collection = Collection.open(dataset, cache=cache)
    memory = TrialCache(trials)
    about = {
        "version": __version__,
        "index": collection.engine.folder.name,
        "topics": fingerprint(collection.topics),
        "qrels": fingerprint(list(judgements(collection.qrels))),
        "model": model,
        "measure": measure,
        "k": k,
    }

    def per_query(parameters: Mapping[str, float]) -> Mapping[str, float]:
        parts = {**about, "parameters": dict(parameters)}
        key = content_key(parts)
        known = memory.get(key)
        if known is None or known.keys() != collection.qrels.keys():
            run = collection.run(model_named(model, **parameters), k)
            known = evaluate(run, collection.qrels, [measure]).per_query(measure)
            memory.put(key, known, parts)
        return known

    return cross_validate(
        per_query, grid, tuple(collection.qrels), k=folds, method=method, random_state=seed, on_trial=on_trial
    )
