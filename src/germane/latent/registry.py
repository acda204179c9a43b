"""The models by the names that people write; each may be given other parameters."""

from typing import Any, Protocol

from germane.errors import ParameterError
from germane.latent.generative import GenerativeModel
from germane.latent.pairs import Pairs
from germane.latent.projection import CLLSA, LSA, OPCA, VSM, ProjectionModel
from germane.latent.s2net import S2Net
from germane.latent.topics import BLTM
from germane.latent.translation import WTM
from germane.latent.unigram import UM


class Estimator(Protocol):
    """Frozen parameters, and a fit that gives a model."""

    def fit(self, pairs: Pairs) -> GenerativeModel | ProjectionModel:
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
LATENT_NAMES = tuple(_MODELS)


def latent_named(name: str, **parameters: Any) -> Estimator:
    """The estimator of that name, with some parameters of one's own.

    >>> latent_named("bltm-pr", n_topics=50).n_topics
    50
    """
    if name not in _MODELS:
        raise ParameterError(f"there is no latent model '{name}'; there are: {', '.join(LATENT_NAMES)}")
    kind, given = _MODELS[name]
    try:
        found: Estimator = kind(**{**given, **parameters})
    except TypeError as error:
        raise ParameterError(f"'{name}': {str(error).partition(' ')[2]}") from None
    return found
