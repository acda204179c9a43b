"""Parameters, weights and priors that no formula can bear are refused; the largest taken give finite scores."""

import datetime
from dataclasses import dataclass

import numpy as np
import pytest

from germane import Document, Engine
from germane.errors import GermaneError, ParameterError
from germane.feedback import feedback_named
from germane.lm.parameters import LARGEST, SMALLEST
from germane.rank.plan import MAX_WEIGHT
from germane.rank.registry import MODEL_NAMES, model_defaults
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior, Prior

TODAY = datetime.date(2026, 1, 1)
ENDS = [5e-324, 1e-320, 1e-300, SMALLEST, 0.5, 1.0 - SMALLEST, 1.0, LARGEST, 1e300, 1.7e308, 10**400, float("inf")]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    engine = Engine.create(tmp_path_factory.mktemp("numbers") / "index")
    texts = ["heart attack", "heart heart surgery", "a diet for the heart", "knee", ""]
    values = [1.5, 1e308, -1e308, 5e-324, None]
    engine.add([Document(str(i), {"text": t, "n": v}) for i, (t, v) in enumerate(zip(texts, values, strict=True))])
    engine.close()
    return engine


@pytest.mark.parametrize("value", ENDS)
@pytest.mark.parametrize("model", MODEL_NAMES)
def test_parameters(library, model, value):
    for name in model_defaults(model):
        try:
            result = library.search("heart attack", model=model, **{name: value})
        except ParameterError:
            continue
        zero_too = name in (
            "b",
            "ordered",
            "unordered",
            "pair_b",
            "idf",
            "burst",
        )  # what may be 0, and what is next to it
        assert SMALLEST <= value <= LARGEST or (zero_too and value <= 1.0)
        assert np.isfinite(result.scores).all()
        assert len(result) == 3


@pytest.mark.parametrize("weight", [1e308, 1.01 * MAX_WEIGHT, float("nan"), float("inf"), -1.0, 10**400, "2", None])
def test_weights(library, weight):
    for query in ({"heart": weight}, {"heart": weight, "attack": weight}):
        with pytest.raises(ParameterError, match="the weight of 'heart' is"):
            library.search(query)


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_the_largest_weights(library, model):
    result = library.search({"heart": MAX_WEIGHT, "attack": MAX_WEIGHT}, model=model)
    assert np.isfinite(result.scores).all()
    assert len(result) == 3


@dataclass(frozen=True)
class Given(Prior):
    value: float
    weight: float = 1.0

    def values(self, segment):
        return np.full(segment.n_docs, self.value)


@pytest.mark.parametrize(
    "prior",
    [
        LengthPrior(float("nan")), LengthPrior(float("inf")), LengthPrior(1e308), FieldPrior("n", float("-inf")),
        Given(float("inf")), Given(float("-inf"), 0.0), Given(1e300),
    ],
)  # fmt: skip
def test_priors_that_no_score_can_bear(library, prior):
    with pytest.raises(ParameterError, match="prior"):
        library.search("heart", priors=[prior])


@pytest.mark.parametrize(
    "prior", [LengthPrior(), FieldPrior("n", 1e6), FreshnessPrior("n", 30.0, TODAY), Given(float("nan"))]
)
def test_whatever_a_field_holds_scores_are_finite(library, prior):
    result = library.search("heart", priors=[prior])
    assert np.isfinite(result.scores).all()
    assert len(result) == 3


@pytest.mark.parametrize("half_life", [1e-320, 1e300])
def test_half_lives(half_life):
    with pytest.raises(ParameterError, match="half_life must lie between"):
        FreshnessPrior("n", half_life, TODAY)


@pytest.mark.parametrize("k", [10**4, 10**9, 10**30])
def test_a_k_beyond_the_collection(library, k):
    assert library.search("heart", k).ids == library.search("heart", 3).ids


def test_a_whole_number_of_more_than_64_bits_is_not_stored(tmp_path):
    with Engine.create(tmp_path / "index") as engine, pytest.raises(GermaneError, match="64-bit"):
        engine.add([Document("1", {"text": "x", "n": 2**64})])


@pytest.mark.parametrize("name", ["n_docs", "n_terms"])
def test_whole_parameters_of_more_than_64_bits(library, name):
    with pytest.raises(ParameterError, match=f"{name} must be a whole number of at most 64 bits"):
        library.search("heart", feedback=feedback_named("rm3", **{name: 2**63}))
