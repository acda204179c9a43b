"""What the doors list of methods, and that settings reach the method they name."""

import pytest

from germane.classify.text_models import TEXT_MODELS
from germane.engine.methods import (
    CLASSIFYING,
    LEARNING,
    RANKING,
    REFINING,
    methods,
    refine_settings,
    text_model_settings,
    with_settings,
)
from germane.engine.requests import FeedbackRequest, RankingRequest
from germane.errors import ParameterError
from germane.feedback import FEEDBACK_NAMES, feedback_named
from germane.rank.registry import MODELS
from germane.refine.registry import METHOD_NAMES, method_named


def test_every_method_is_listed_with_every_parameter():
    found = {(method.kind, method.name): method for method in methods()}
    assert [key for key in found if key[0] == RANKING] == [(RANKING, name) for name in MODELS]
    assert [key for key in found if key[0] == LEARNING] == [(LEARNING, name) for name in FEEDBACK_NAMES]
    assert [key for key in found if key[0] == REFINING] == [(REFINING, name) for name in METHOD_NAMES]
    assert [key for key in found if key[0] == CLASSIFYING] == [(CLASSIFYING, name) for name in TEXT_MODELS]
    assert all(method.about for method in found.values())
    for name, (_, defaults) in MODELS.items():
        told = {parameter.name: float(parameter.default) for parameter in found[RANKING, name].parameters}
        assert told == defaults
    given = {parameter.name: parameter.default for parameter in found[REFINING, "tsvm"].parameters}
    assert given == {"C": "1", "C_unmarked": "1", "relevant_share": "none", "weights": "tfidf"}
    assert [method.kind for method in methods("rocchio")] == [LEARNING, REFINING]
    with pytest.raises(ParameterError, match="there is no method 'x'; there are: dirichlet, jm"):
        methods("x")


def test_settings_go_where_they_belong():
    none = FeedbackRequest()
    ranking, feedback = with_settings(RankingRequest("jm"), none, {"lam": "0.4"})
    assert (ranking.parameters, feedback) == ({"lam": 0.4}, none)
    assert with_settings(RankingRequest(), none, {"k1": "3"})[0].parameters == {"k1": 3.0}
    assert with_settings(RankingRequest("jm"), none, {"lam": "auto"})[0].parameters == {"lam": "auto"}
    asked = FeedbackRequest("sd", {"n_docs": 3})
    ranking, feedback = with_settings(RankingRequest(), asked, {"n_terms": "none", "smoothing": "jm:0.2"})
    assert ranking.parameters == {}
    assert feedback_named("sd", **feedback.parameters).smoothing.lam == 0.2
    assert feedback.parameters["n_terms"] is None
    ranking, feedback = with_settings(RankingRequest("bm25"), FeedbackRequest("rm3"), {"b": "0", "unmarked": "2"})
    assert (ranking.parameters, feedback.parameters) == ({"b": 0.0}, {"unmarked": 2.0})


@pytest.mark.parametrize(
    ("ranking", "feedback", "settings", "message"),
    [
        (RankingRequest(), FeedbackRequest(), {"mu": "3"}, "model 'adaptive': no parameter mu; there is b, burst"),
        (RankingRequest(), FeedbackRequest("rm3"), {"k1": "3"}, "feedback method 'rm3': no parameter k1; there"),
        (RankingRequest("jm"), FeedbackRequest("rm3"), {"x": "3"}, "model 'jm' and feedback method 'rm3': no"),
        (RankingRequest("jm", {"lam": 0.1}), FeedbackRequest(), {"lam": "0.2"}, "'lam' is given twice"),
        (RankingRequest("jm"), FeedbackRequest(), {"lam": "half"}, "lam wants a number, not 'half'"),
        (RankingRequest(), FeedbackRequest("rm4"), {"lam": "1"}, "there is no feedback method 'rm4'"),
    ],
)  # fmt: skip
def test_settings_that_are_refused(ranking, feedback, settings, message):
    with pytest.raises(ParameterError, match=message):
        with_settings(ranking, feedback, settings)


def test_settings_of_refinement_and_classes():
    given = refine_settings("mmem-aib", {"components": "5", "weights": "counts"})
    assert method_named("mmem-aib", **given).components == 5
    assert refine_settings("saem", {"cooling": "geometric"}) == {"cooling": "geometric"}
    with pytest.raises(ParameterError, match="method 'tsvm' has no parameter random_state; it takes C, C_unmarked"):
        refine_settings("tsvm", {"random_state": "1"})
    with pytest.raises(ParameterError, match="there is no method 'x'"):
        refine_settings("x", {})
    assert text_model_settings("svm", {"lam": "0.2", "beta": "1e-3", "C": "3"}) == {"lam": 0.2, "beta": 1e-3, "C": 3.0}
    with pytest.raises(ParameterError, match="text model 'dcm' has no parameter lam; it takes S, delta"):
        text_model_settings("dcm", {"lam": "0.2"})
    with pytest.raises(ParameterError, match="S wants a number, not 'many'"):
        text_model_settings("dcm", {"S": "many"})
