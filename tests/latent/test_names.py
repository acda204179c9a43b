"""Names are told without loading what they stand for, and each stands for something."""

from germane.latent import LATENT_NAMES, latent_named
from germane.latent.names import COMBINATION
from germane.latent.registry import _MODELS


def test_names_are_those_of_the_models() -> None:
    assert (*_MODELS, COMBINATION) == LATENT_NAMES
    assert all(latent_named(name) is not None for name in LATENT_NAMES)
