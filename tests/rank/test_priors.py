"""Document priors, by values computed by hand."""

import datetime
from math import log

import pytest

from germane import Document
from germane.errors import ParameterError
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior

TODAY = datetime.date(2020, 1, 11)


@pytest.fixture(scope="module")
def engine(build):
    documents = [
        Document("one", {"text": "x", "stars": 8, "date": "2020-01-01", "year": 2019, "kind": "k"}),
        Document("four", {"text": "x y y y", "stars": 2, "date": "2019-12-22T23:59:59", "year": 2018}),
        Document("two", {"text": "x z", "stars": 0, "date": "2020-02-01", "seconds": 1578614400}),
        Document("none", {"text": "x z", "date": "unknown"}),
    ]
    return build(documents[:2], documents[2:])


def added(engine, prior) -> dict[str, float]:
    """By how much the prior lifts each document."""
    plain, with_prior = engine.search("x"), engine.search("x", priors=[prior])
    scores = dict(zip(plain.ids, plain.scores.tolist(), strict=True))
    return {doc_id: score - scores[doc_id] for doc_id, score in zip(with_prior.ids, with_prior.scores, strict=True)}


def test_length(engine) -> None:
    expected = {"one": 0.0, "four": log(4), "two": log(2), "none": log(2)}
    assert added(engine, LengthPrior()) == pytest.approx(expected, abs=1e-12)
    halved = {doc_id: -0.5 * value for doc_id, value in expected.items()}
    assert added(engine, LengthPrior(-0.5)) == pytest.approx(halved, abs=1e-12)


def test_a_positive_field(engine) -> None:
    """Zero and absent count as unknown, and the unknown get the least of the known."""
    expected = {"one": log(8), "four": log(2), "two": log(2), "none": log(2)}
    assert added(engine, FieldPrior("stars")) == pytest.approx(expected, abs=1e-12)
    assert added(engine, FieldPrior("stars", 2.0))["one"] == pytest.approx(2 * log(8), abs=1e-12)


def test_a_field_that_nobody_has(engine) -> None:
    assert added(engine, FieldPrior("nothing")) == pytest.approx(dict.fromkeys(("one", "two", "four", "none"), 0.0))


def test_freshness_of_dates(engine) -> None:
    """Half after ten days, a quarter after twenty; the future counts as today, the unknown as the oldest."""
    expected = {"one": log(1 / 2), "four": log(1 / 4), "two": 0.0, "none": log(1 / 4)}
    assert added(engine, FreshnessPrior("date", 10.0, TODAY)) == pytest.approx(expected, abs=1e-12)


def test_freshness_of_years(engine) -> None:
    """A year stands for its middle: 365.2425 days are between two of them."""
    lifts = added(engine, FreshnessPrior("year", 365.2425, TODAY))
    assert lifts["one"] - lifts["four"] == pytest.approx(log(2), abs=1e-12)
    middle = 365.2425 * 2018 + 183
    assert lifts["one"] == pytest.approx(-log(2) * (TODAY.toordinal() - middle) / 365.2425, abs=1e-12)


def test_freshness_of_seconds(engine) -> None:
    """1578614400 is 2020-01-10 00:00, one day before today."""
    assert added(engine, FreshnessPrior("seconds", 1.0, TODAY))["two"] == pytest.approx(log(1 / 2), abs=1e-12)


def test_priors_add_up_and_rank(engine) -> None:
    both = engine.search("x", priors=[LengthPrior(3.0), FieldPrior("stars", 5.0)])
    assert both.ids[0] == "one"
    scores = dict(zip(both.ids, both.scores.tolist(), strict=True))
    plain = engine.search("x")
    base = dict(zip(plain.ids, plain.scores.tolist(), strict=True))
    assert scores["four"] - base["four"] == pytest.approx(3 * log(4) + 5 * log(2), abs=1e-12)


def test_deleted_documents_do_not_set_the_least(build) -> None:
    documents = [Document(name, {"text": "x", **fields}) for name, fields in
                 {"gone": {"stars": 1}, "kept": {"stars": 4}, "lacking": {}}.items()]  # fmt: skip
    engine = build(documents, delete=["gone"])
    assert added(engine, FieldPrior("stars")) == pytest.approx({"kept": log(4), "lacking": log(4)}, abs=1e-12)


def test_what_a_prior_needs(engine) -> None:
    with pytest.raises(ParameterError, match="'kind' holds text"):
        engine.search("x", priors=[FieldPrior("kind")])
    for half_life in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ParameterError, match="half_life"):
            FreshnessPrior("date", half_life, TODAY)
