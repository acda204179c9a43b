"""The models by the names that people write; each may be given other parameters."""

from dataclasses import fields
from typing import Any, Protocol, cast

from germane.errors import ParameterError
from germane.latent.ensemble import Ensemble, EnsembleModel, PartEstimator
from germane.latent.generative import GenerativeModel
from germane.latent.names import COMBINATION, LATENT_NAMES
from germane.latent.pairs import Pairs
from germane.latent.projection import CLLSA, LSA, OPCA, VSM, ProjectionModel
from germane.latent.s2net import S2Net
from germane.latent.topics import BLTM
from germane.latent.translation import WTM
from germane.latent.unigram import UM


class Estimator(Protocol):
    """Frozen parameters, and a fit that gives a model."""

    def fit(self, pairs: Pairs) -> GenerativeModel | ProjectionModel | EnsembleModel:
        """Learn from query-title pairs."""


_MODELS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "um": (UM, {}),
    "plsa": (BLTM, {"titles_only": True, "tie": 1.0}),
    "bltm": (BLTM, {}),
    "bltm-1v": (BLTM, {"tie": 1.0}),
    "bltm-pr": (BLTM, {"regularised": True}),
    "bltm-pr-1v": (BLTM, {"regularised": True, "tie": 1.0}),
    "bltm-pr-tied": (BLTM, {"regularised": True, "tie": 0.5}),
    "wtm": (WTM, {}),
    "vsm": (VSM, {}),
    "lsa": (LSA, {}),
    "cl-lsa": (CLLSA, {}),
    "opca": (OPCA, {}),
    "s2net": (S2Net, {}),
}
PARTS = "wtm,opca"
"""What a combination is made of unless others are named."""


def latent_named(name: str, **parameters: Any) -> Estimator:
    """The estimator of that name, with some parameters of one's own.

    >>> latent_named("bltm-pr", n_topics=50).n_topics
    50
    """
    if name == COMBINATION:
        return _combination(**parameters)
    if name not in _MODELS:
        raise ParameterError(f"there is no latent model '{name}'; there are: {', '.join(LATENT_NAMES)}")
    kind, given = _MODELS[name]
    known = [each.name for each in fields(kind) if each.init]
    foreign = next((each for each in parameters if each not in known), None)
    if foreign is not None:
        raise ParameterError(f"'{name}' does not know '{foreign}'; its parameters are: {', '.join(known) or 'none'}")
    try:
        found: Estimator = kind(**{**given, **parameters})
    except TypeError as error:
        raise ParameterError(f"'{name}': {str(error).partition(' ')[2]}") from None
    return found


def _combination(parts: str = PARTS, **parameters: Any) -> Ensemble:
    """Several models, named with commas between them; each takes those of the parameters that it has."""
    names = [name.strip() for name in str(parts).split(",")]
    unknown = next((name for name in names if name not in _MODELS), None)
    if unknown is not None or len(set(names)) < len(names):
        told = f"there is no latent model '{unknown}'" if unknown is not None else "a part is named twice"
        raise ParameterError(f"'{COMBINATION}': {told}; parts are some of: {', '.join(_MODELS)}")
    parameters_of = {name: {each.name for each in fields(_MODELS[name][0])} for name in names}
    foreign = next((given for given in parameters if not any(given in taken for taken in parameters_of.values())), None)
    if foreign is not None:
        known = ", ".join(
            dict.fromkeys(["parts", *(each for taken in parameters_of.values() for each in sorted(taken))])
        )
        raise ParameterError(
            f"'{COMBINATION}': none of {', '.join(names)} has a parameter '{foreign}'; there are: {known}"
        )
    return Ensemble({
        name: cast("PartEstimator", latent_named(name, **{each: x for each, x in parameters.items() if each in taken}))
        for name, taken in parameters_of.items()
    })  # fmt: skip
