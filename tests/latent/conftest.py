"""Pairs drawn from known topics, once for all tests."""

import pytest

from latent.planted import Planted, plant


@pytest.fixture(scope="session")
def planted() -> Planted:
    return plant()
