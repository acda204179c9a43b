"""Requests as a door makes them: the same answers as the calls they stand for, and sentences for what is wrong."""

import datetime
from dataclasses import replace
from pathlib import Path

import pytest

from germane import Engine
from germane.engine import ExplainRequest, FeedbackRequest, RankingRequest, SearchRequest
from germane.engine.resolving import resolve
from germane.errors import GermaneError, ParameterError, QueryError
from germane.lm import Dirichlet
from germane.rank import MODEL_NAMES
from germane.rank.scoring.priors import FieldPrior, FreshnessPrior, LengthPrior, prior_named

TODAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_a_search(library: Engine, model: str) -> None:
    found = library.answer(SearchRequest("heart attack", 2, RankingRequest(model)))
    result = library.search("heart attack", 2, model=model)
    assert [(hit.id, hit.score) for hit in found.hits] == list(zip(result.ids, result.scores.tolist(), strict=True))
    assert (found.query, found.model, found.k) == ("heart attack", model, 2)
    assert [hit.fields for hit in found.hits] == [hit.fields for hit in result]
    assert (found.suggestion, found.reason, found.feedback, found.learnt) == (None, None, None, None)


def test_title_is_told_apart(library: Engine) -> None:
    first = library.answer(SearchRequest("heart attack")).to_dict()["hits"][0]
    assert list(first) == ["rank", "id", "score", "title", "fields"]
    assert first["title"] == first["fields"]["title"] == "Heart attack"


def test_parameters_and_priors(library: Engine) -> None:
    ranking = RankingRequest("bm25", {"k1": 0.7, "b": 0.1}, ("length^0.3", "field:year"))
    found = library.answer(SearchRequest("heart", ranking=ranking))
    priors = (LengthPrior(0.3), FieldPrior("year"))
    expected = library.search("heart", model="bm25", k1=0.7, b=0.1, priors=priors)
    assert [hit.score for hit in found.hits] == expected.scores.tolist()
    assert expected.scores.tolist() != library.search("heart").scores.tolist()


@pytest.mark.parametrize(
    ("model", "parameter"), [("dirichlet", "mu"), ("twostage", "mu"), ("dce", "mu"), ("jm", "lam")]
)
def test_auto_is_learnt_from_the_collection(library: Engine, model: str, parameter: str) -> None:
    value = (library.learn_mu() if parameter == "mu" else library.learn_lam()).value
    found = library.answer(SearchRequest("heart", ranking=RankingRequest(model, {parameter: "auto"})))
    assert found.learnt == {parameter: value}
    given = library.search("heart", model=model, **{parameter: value})
    assert [hit.score for hit in found.hits] == given.scores.tolist()


def test_feedback_and_marks(library: Engine) -> None:
    asked = FeedbackRequest("rm3", {"n_docs": 1, "n_terms": 5}, ("5",), ("3",))
    found = library.answer(SearchRequest("heart", feedback=asked, explain=True))
    assert found.feedback is not None
    assert found.feedback.method == "rm3"
    assert (found.feedback.parameters["n_docs"], found.feedback.parameters["n_terms"]) == (1, 5)
    assert {one.id: one.mark for one in found.feedback.documents if one.mark is not None} == {"5": True, "3": False}
    assert found.model == "adaptive"
    assert "feedback" not in library.answer(SearchRequest("heart", feedback=asked)).to_dict()
    marks = {"5": True}
    alone = library.answer(SearchRequest("heart", feedback=FeedbackRequest(relevant=("5",))))
    assert [hit.id for hit in alone.hits] == library.search("heart", marks=marks).ids


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("zebra", "nothing found: no document holds 'zebra'"),
        ("heart year:1..2", "nothing found: no document that holds the words meets the query's conditions"),
        ("year:1..2", "nothing found: no document meets the query's conditions"),
        ("heart +zebra", "nothing found that meets the query's conditions (no document holds 'zebra')"),
    ],
)
def test_why_nothing_was_found(library: Engine, query: str, reason: str) -> None:
    found = library.answer(SearchRequest(query))
    assert (found.hits, found.reason) == ((), reason)


def test_an_empty_index(tmp_path: Path) -> None:
    with Engine.create(tmp_path / "index") as engine:
        assert engine.answer(SearchRequest("heart")).reason == "nothing found: the index is empty"


@pytest.mark.parametrize("query", ["", " \t", "the of", "?!", "heart AND"])
def test_queries_that_nothing_can_answer(library: Engine, query: str) -> None:
    with pytest.raises(QueryError):
        library.answer(SearchRequest(query))


def test_an_explanation(library: Engine) -> None:
    found = library.answer(ExplainRequest("heart attack", "1", RankingRequest("jm", {"lam": 0.4})))
    told = library.explain("heart attack", "1", model="jm", lam=0.4)
    assert (found.score, found.parts, found.model, found.doc_id) == (told.score, told.parts, "jm", "1")
    auto = library.answer(ExplainRequest("heart", "1", RankingRequest("dirichlet", {"mu": "auto"})))
    assert auto.learnt == {"mu": library.learn_mu().value}


@pytest.mark.parametrize(
    ("ranking", "feedback", "message"),
    [
        (RankingRequest("bm52"), FeedbackRequest(), "no ranking model 'bm52'"),
        (RankingRequest("bm25", {"mu": 3.0}), FeedbackRequest(), "no parameter mu"),
        (RankingRequest("dirichlet", {"mu": "many"}), FeedbackRequest(), "'mu' wants a number or 'auto', not 'many'"),
        (
            RankingRequest("bm25", {"mu": "auto"}),
            FeedbackRequest(),
            "'mu' auto is for the model dirichlet, two",
        ),
        (RankingRequest("twostage", {"lam": "auto"}), FeedbackRequest(), "'lam' auto is for the model jm, not for"),
        (RankingRequest("bm25", {"k1": "auto"}), FeedbackRequest(), "'k1' cannot be learnt"),
        (RankingRequest(priors=("magic",)), FeedbackRequest(), "'priors' wants length"),
        (RankingRequest(priors=("field:nope",)), FeedbackRequest(), "no field 'nope' for a prior"),
        (RankingRequest(parameters={"mu": 3.0}), FeedbackRequest("rm3"), "'mu' belongs to a ranking model"),
        (RankingRequest(), FeedbackRequest(parameters={"n_docs": 3}), "'n_docs' belongs to feedback"),
        (RankingRequest(), FeedbackRequest("magic"), "no feedback method 'magic'"),
        (RankingRequest(), FeedbackRequest(relevant=("1",), not_relevant=("1",)), "at once: 1"),
    ],
)
def test_what_is_refused(library: Engine, ranking: RankingRequest, feedback: FeedbackRequest, message: str) -> None:
    with pytest.raises(GermaneError) as error:
        library.answer(SearchRequest("heart", ranking=ranking, feedback=feedback))
    assert message in str(error.value)


def test_without_feedback_there_is_always_a_model(library: Engine) -> None:
    assert resolve(library, RankingRequest()).name == "adaptive"
    assert resolve(library, RankingRequest()).model is not None
    own = resolve(library, RankingRequest(), FeedbackRequest("rocchio", {"final": "tfidf"}))
    assert (own.model, own.name) == (None, "tfidf")
    assert resolve(library, RankingRequest(), FeedbackRequest("rm3", {"final": Dirichlet(9.0)})).name == "dirichlet"
    named = resolve(library, replace(RankingRequest(), model="jm"), FeedbackRequest("rocchio"))
    assert (named.model is not None, named.name) == (True, "jm")


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("length", LengthPrior(1.0)),
        ("length^-0.5", LengthPrior(-0.5)),
        ("field:year^2", FieldPrior("year", 2.0)),
        ("fresh:year:30", FreshnessPrior("year", 30.0, TODAY)),
        ("fresh:year:30^0.1", FreshnessPrior("year", 30.0, TODAY, 0.1)),
    ],
)
def test_priors_as_text(text: str, prior: object) -> None:
    assert prior_named(text, {"year"}, TODAY) == prior


@pytest.mark.parametrize(
    "text", ["", "length^", "length^x", "length^inf", "field", "fresh:year", "fresh:year:soon", "x:y"]
)
def test_priors_that_are_none(text: str) -> None:
    with pytest.raises(ParameterError):
        prior_named(text, {"year"}, TODAY)
