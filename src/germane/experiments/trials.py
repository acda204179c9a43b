"""Tuning a model on a data set, each trial remembered on disk: an interrupted search goes on where it stopped."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from germane import __version__
from germane.data.atomic import open_for_writing
from germane.errors import ParameterError, StorageError
from germane.evaluate.measures import evaluate, parse_measure
from germane.evaluate.rankings import judgements
from germane.evaluate.tuning import CrossValidation, Grid, OnTrial, cross_validate
from germane.experiments.collections import Collection
from germane.experiments.feedback import ranking_of


def tune_collection(
    dataset: str,
    model: str,
    grid: Grid,
    *,
    feedback: str = "",
    fixed: Mapping[str, float] | None = None,
    measure: str = "AP",
    k: int = 1000,
    folds: int = 2,
    method: str = "grid",
    random_state: int = 0,
    trials: Path | None = None,
    on_trial: OnTrial | None = None,
) -> CrossValidation:
    """Cross-validate the parameters of a model, a feedback method or both over the judged queries of a data set.

    Either name may be empty; `fixed` parameters are not tuned. Numbers mean what they mean in `experiments.feedback`.
    A trial's key holds the documents' digest, the analyser, topics, judgements, model, parameters, measure and our
    version; with the folder `trials`, those tried before are not tried again.
    """
    rest = dict(fixed or {})
    both = sorted(rest.keys() & grid.keys())
    if both:
        raise ParameterError(f"'{both[0]}' is both fixed and tuned")
    first = {name: values[0] for name, values in grid.items()}
    ranking_of(model, feedback, _whole({**rest, **first}))  # complain before the work
    parse_measure(measure)
    collection = Collection.open(dataset)
    memory = TrialCache(trials)
    about = {
        "version": __version__,
        "index": collection.engine.folder.name,
        "topics": fingerprint(collection.topics),
        "qrels": fingerprint(list(judgements(collection.qrels))),
        "model": model,
        "measure": measure,
        "k": k,
    } | ({"feedback": feedback} if feedback else {})

    def per_query(parameters: Mapping[str, float]) -> Mapping[str, float]:
        parts = {**about, "parameters": {**rest, **parameters}}
        key = content_key(parts)
        known = memory.get(key)
        if known is None or known.keys() != collection.qrels.keys():
            ranking = ranking_of(model, feedback, _whole({**rest, **parameters}))
            run = collection.run(ranking.model, k, feedback=ranking.feedback)
            known = evaluate(run, collection.qrels, [measure]).per_query(measure)
            memory.put(key, known, parts)
        return known

    return cross_validate(
        per_query, grid, tuple(collection.qrels), k=folds, method=method, random_state=random_state, on_trial=on_trial
    )


def _whole(parameters: Mapping[str, float]) -> dict[str, float]:
    """Numbers without a fraction as whole numbers: what counts documents or words takes no other."""
    return {name: int(value) if float(value).is_integer() else value for name, value in parameters.items()}


class TrialCache:
    """Per-query values by content, one JSON file each, written whole or not at all. Without a folder: in memory."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._memory: dict[str, dict[str, float]] = {}
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StorageError(f"{folder} cannot be made: {error.strerror or error}") from error

    def get(self, key: str) -> dict[str, float] | None:
        """The values, or None; a file that cannot be read counts as missing."""
        if key not in self._memory and self._folder is not None:
            try:
                stored = json.loads((self._folder / f"{key}.json").read_bytes())
                self._memory[key] = {str(query): float(value) for query, value in stored["values"].items()}
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                return None
        return self._memory.get(key)

    def put(self, key: str, values: Mapping[str, float], about: Mapping[str, Any]) -> None:
        """Remember the values; `about` is for people who look into the file."""
        self._memory[key] = dict(values)
        if self._folder is not None:
            with open_for_writing(self._folder / f"{key}.json") as file:
                json.dump({"about": dict(about), "values": dict(values)}, file, indent=1)


def content_key(parts: Mapping[str, Any]) -> str:
    """32 hex digits that change with anything in the parts, and with nothing else."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


def fingerprint(rows: Sequence[Sequence[Any]]) -> str:
    """A digest of topics or judgements, in any order."""
    return content_key({"rows": sorted([str(cell) for cell in row] for row in rows)})
