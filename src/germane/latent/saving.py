"""A fitted model as one file (`data/model_file.py`): its class, its settings, its words and its arrays."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from germane.arrays import AnyArray
from germane.data.model_file import Arrays, ModelFile
from germane.errors import InputError
from germane.latent.ensemble import EnsembleModel, PartModel
from germane.latent.generative import GenerativeModel
from germane.latent.pairs import WordIds
from germane.latent.projection import ProjectionModel
from germane.latent.topics import BLTM, TopicModel
from germane.latent.translation import TranslationModel
from germane.latent.unigram import UnigramModel
from germane.text import analyzer_from_dict

LatentModel: TypeAlias = GenerativeModel | ProjectionModel | EnsembleModel
FILE = ModelFile(b"GERMANE LATENT MODEL", 1, "saved latent model", "germane.latent.save writes one")
_CLASSES: Mapping[str, Callable[..., PartModel]] = {
    kind.__name__: kind for kind in (UnigramModel, TopicModel, TranslationModel, ProjectionModel)
}
_WORDS = "words"
_ENSEMBLE = EnsembleModel.__name__


def save(model: LatentModel, path: str | Path) -> None:
    """Write the model, all or nothing; equal models give equal bytes."""
    words = np.frombuffer("\n".join(model.vocabulary.words).encode(), np.uint8)
    settings: dict[str, Any] = {"analyzer": model.vocabulary.analyzer.to_dict()}
    if isinstance(model, EnsembleModel):
        parts = [_described(part) for part in model.parts]
        settings |= {"model": _ENSEMBLE, "names": list(model.names), "parts": [told for told, _ in parts]}
        arrays = {f"{i}.{name}": array for i, (_, own) in enumerate(parts) for name, array in own.items()}
        arrays["weights"] = model.weights
    else:
        told, arrays = _described(model)
        settings |= told
    FILE.write(path, settings, {_WORDS: words, **arrays})


def _described(model: PartModel) -> tuple[dict[str, Any], Arrays]:
    """The settings and the arrays of a model, all but its vocabulary."""
    settings: dict[str, Any] = {"model": type(model).__name__}
    arrays: Arrays = {}
    for each in fields(model):
        value = getattr(model, each.name)
        if isinstance(value, np.ndarray):
            arrays[each.name] = value
        elif isinstance(value, BLTM):
            settings[each.name] = {members.name: getattr(value, members.name) for members in fields(value)}
        elif not isinstance(value, WordIds):
            settings[each.name] = value
    return settings, arrays


def is_latent_model(value: object) -> TypeGuard[LatentModel]:
    """Whether it is a fitted model that `save` takes."""
    return isinstance(value, GenerativeModel | ProjectionModel | EnsembleModel)


def load(path: str | Path, content: bytes | None = None) -> LatentModel:
    """Load a model that `save` wrote. `content`: what the file holds, if it was read already.

    Raise `InputError` for a file that is missing, damaged, of a newer version or something else.
    """
    with FILE.reading(path, content) as (settings, arrays, _):
        words = tuple(arrays.pop(_WORDS).tobytes().decode().split("\n"))
        vocabulary = WordIds(words, analyzer_from_dict(settings.pop("analyzer")))
        if settings["model"] != _ENSEMBLE:
            return _rebuilt(vocabulary, settings, arrays)
        parts = [
            _rebuilt(vocabulary, told, {key[len(f"{i}.") :]: array for key, array in arrays.items()
                                        if key.startswith(f"{i}.")})
            for i, told in enumerate(settings["parts"])
        ]  # fmt: skip
        return EnsembleModel(vocabulary, tuple(settings["names"]), tuple(parts), arrays["weights"])
    raise InputError("cannot be read", source=str(path))  # not reached: whatever fails above raises


def _rebuilt(vocabulary: WordIds, settings: dict[str, Any], arrays: Arrays) -> PartModel:
    kind = _CLASSES[settings.pop("model")]
    if "settings" in settings:
        settings["settings"] = BLTM(**settings["settings"])
    model = kind(vocabulary=vocabulary, **settings, **arrays)
    _check(model)
    return model


def _check(model: PartModel) -> None:
    """Raise where the parts do not fit together: kernels trust them."""
    n = len(model.vocabulary)
    shapes: list[tuple[AnyArray, tuple[int, ...]]]
    if isinstance(model, ProjectionModel):
        shapes = [(model.idf, (n + 1,)), (model.matrix, (n, *model.matrix.shape[1:2]))]
    else:
        shapes = [(model.background, (n + 1,))]
    if isinstance(model, TopicModel):
        k, tie = model.settings.n_topics, model.settings.tie
        own, shared = ((n, k) if tie < 1 else (0, 0)), ((n, k) if tie > 0 else (0, 0))
        shapes += [(model.own_q, own), (model.own_d, own), (model.shared, shared)]
        shapes += [(model.query_words, (n,)), (model.title_words, (n,))]
    if isinstance(model, TranslationModel):
        shapes += [(model.starts, (n + 1,)), (model.probability, model.title_words.shape)]
        starts, words = model.starts, model.title_words
        if starts[0] != 0 or starts[-1] != len(words) or (np.diff(starts) < 0).any() or not _within(words, n):
            raise ValueError
    if any(array.shape != shape or not np.isfinite(array).all() for array, shape in shapes):
        raise ValueError


def _within(words: AnyArray, n: int) -> bool:
    return not len(words) or (int(words.min()) >= 0 and int(words.max()) < n)
