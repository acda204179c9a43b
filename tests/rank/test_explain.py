"""An explanation adds up to the score, to the last bit."""

import math

import pytest

from germane import Document, lazy
from germane.errors import ParameterError, QueryError, UnknownDocumentError
from germane.rank import MODEL_NAMES
from germane.rank.models.likelihood import QueryLikelihood
from germane.rank.scoring.priors import FieldPrior, LengthPrior


@pytest.fixture(scope="module")
def engine(build):
    texts = ["a a b c", "a", "", "b b b d e e", "c c a b d", "a b c d e f g h", "f f f f f", "a a b c"]
    documents = [Document(f"d{i}", {"text": text, "stars": i + 1}) for i, text in enumerate(texts)]
    return build(documents[:3], documents[3:], delete=["d6"])


@pytest.mark.parametrize("model", MODEL_NAMES)
@pytest.mark.parametrize("query", ["a", "a b^3 c^0.001", {"a": 1e-6, "e": 1e6}, "a b c d e unknown", "a -h stars:>1"])
@pytest.mark.parametrize("priors", [(), (LengthPrior(0.3),), (LengthPrior(-1.0), FieldPrior("stars", 2.0))])
def test_the_explanation_is_the_score(engine, model, query, priors, monkeypatch) -> None:
    """By kernels, and where none is loaded without them."""
    result = engine.search(query, 100, model=model, priors=priors)
    assert len(result) > 1
    for compiled in (False, True):
        monkeypatch.setattr(lazy, "compiler_is_loaded", lambda compiled=compiled: compiled)
        for doc_id, score in zip(result.ids, result.scores.tolist(), strict=True):
            assert engine.explain(query, doc_id, model=model, priors=priors).score == score


@pytest.mark.parametrize("model", MODEL_NAMES)
def test_parts_are_named_and_absent_words_give_nothing(engine, model) -> None:
    explanation = engine.explain("a b^2 e", "d0", model=model)
    parts = {part.term: part for part in explanation.parts if not part.term.startswith("#")}  # pairs of words
    share = 0.85 if model.startswith("sdm") else 1.0
    assert parts.keys() == {"a", "b", "e"}
    assert (parts["a"].count, parts["a"].weight, parts["a"].df) == (2, share, 5)
    assert (parts["b"].count, parts["b"].weight) == (1, 2.0 * share)
    assert (parts["e"].count, parts["e"].impact) == (0, 0.0)
    assert parts["a"].impact > 0
    assert parts["a"].word == "a"
    assert (explanation.doc_id, explanation.length) == ("d0", 4)


def test_unknown_words_are_left_out(engine) -> None:
    assert [part.term for part in engine.explain("a unknown", "d0").parts] == ["a"]


def test_a_document_without_the_words_has_a_score_too(engine) -> None:
    """Query likelihood gives every document a probability; d2 is empty, so each word comes from the collection."""
    explanation = engine.explain("a", "d2", model="jm", lam=0.5)
    assert [part.impact for part in explanation.parts] == [0.0]
    assert explanation.length == 0


def test_no_word_is_known(engine) -> None:
    with pytest.raises(QueryError, match="no word of the query"):
        engine.explain("unknown", "d0")


@pytest.mark.parametrize("doc_id", ["d6", "nobody"])
def test_no_such_document(engine, doc_id) -> None:
    with pytest.raises(UnknownDocumentError, match=doc_id):
        engine.explain("a", doc_id)


def test_parameters_reach_the_explanation(engine) -> None:
    score = engine.explain("a", "d0", model="dirichlet", mu=7).score
    result = engine.search("a", 10, model="dirichlet", mu=7)
    assert score == result.scores[result.ids.index("d0")]
    assert score != engine.explain("a", "d0", model=QueryLikelihood()).score


# -- probabilities -----------------------------------------------------------------------------------------------------

SMOOTHED = {
    "dirichlet": ({"mu": 3.0}, lambda c, n, u, p: (c + 3.0 * p) / (n + 3.0)),
    "jm": ({"lam": 0.6}, lambda c, n, u, p: 0.6 * c / n + 0.4 * p),
    "twostage": ({"lam": 0.7, "mu": 2.0}, lambda c, n, u, p: 0.7 * (c + 2.0 * p) / (n + 2.0) + 0.3 * p),
    "absolute": ({"delta": 0.5}, lambda c, n, u, p: max(c - 0.5, 0.0) / n + 0.5 * u / n * p),
}
"""θ_D(w) once more, from the README's table: count, length, distinct words, p_C."""


@pytest.mark.parametrize("model", SMOOTHED)
def test_probabilities_are_those_of_the_counts(engine, model) -> None:
    parameters, theta = SMOOTHED[model]
    live = [document.fields["text"].split() for document in engine.documents()]
    everything = [word for words in live for word in words]
    words = ["c", "c", "a", "b", "d"]
    found = engine.explain("a^2 d e f unknown", "d4", model=model, probabilities=True, **parameters)
    assert found.probabilities is not None
    assert {one.term for one in found.probabilities} == {"a", "d", "e", "f"}
    for one in found.probabilities:
        p_C = everything.count(one.term) / len(everything)
        count = words.count(one.term)
        assert (one.word, one.count, one.weight) == (one.term, count, 2.0 if one.term == "a" else 1.0)
        assert one.p_d == count / 5
        assert one.p_C == pytest.approx(p_C, rel=1e-15)
        assert one.theta_D == pytest.approx(theta(count, 5, 4, p_C), rel=1e-14)
        assert one.log_likelihood == pytest.approx(one.weight * math.log(one.theta_D), rel=1e-15)
    assert sum(one.log_likelihood for one in found.probabilities) == pytest.approx(found.score, rel=1e-12)


def test_an_empty_document_is_pure_background(engine) -> None:
    (one,) = engine.explain("a", "d2", model="jm", lam=0.5, probabilities=True).probabilities
    assert (one.p_d, one.count) == (0.0, 0)
    assert one.theta_D == one.p_C


def test_priors_stand_beside_the_probabilities(engine) -> None:
    found = engine.explain("a b", "d0", model="dirichlet", priors=[LengthPrior(0.3)], probabilities=True)
    assert sum(one.log_likelihood for one in found.probabilities) + found.prior == pytest.approx(found.score)


@pytest.mark.parametrize("model", ["bm25", "tfidf", "dce", "ratio"])
def test_other_models_have_no_probabilities_of_words(engine, model) -> None:
    with pytest.raises(ParameterError, match="language models: dirichlet, jm, twostage, absolute"):
        engine.explain("a", "d0", model=model, probabilities=True)
    assert engine.explain("a", "d0", model=model).probabilities is None


def test_the_lecture_probabilities(build) -> None:
    """Lecture, smoothing of "click go the shears boys ...": P(shears|d) = 1/8, P(shears|C) = 4/100, λ = 0.8: 0.108."""
    engine = build(
        {
            "song": ["click", "go", "the", "shears", "boys", "click", "click", "click"],
            "rest": ["shears"] * 3 + ["x"] * 89,
        }
    )
    (one,) = engine.explain("shears", "song", model="jm", lam=0.8, probabilities=True).probabilities
    assert (one.p_d, one.p_C) == (0.125, 0.04)
    assert one.theta_D == pytest.approx(0.108)
