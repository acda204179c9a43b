"""An explanation adds up to the score, to the last bit."""

import pytest

from germane import Document
from germane.errors import QueryError, UnknownDocumentError
from germane.rank import MODEL_NAMES
from germane.rank.models import QueryLikelihood
from germane.rank.priors import FieldPrior, LengthPrior


@pytest.fixture(scope="module")
def engine(build):
    texts = ["a a b c", "a", "", "b b b d e e", "c c a b d", "a b c d e f g h", "f f f f f", "a a b c"]
    documents = [Document(f"d{i}", {"text": text, "stars": i + 1}) for i, text in enumerate(texts)]
    return build(documents[:3], documents[3:], delete=["d6"])


@pytest.mark.parametrize("model", MODEL_NAMES)
@pytest.mark.parametrize("query", ["a", "a b^3 c^0.001", {"a": 1e-6, "e": 1e6}, "a b c d e unknown", "a -h stars:>1"])
@pytest.mark.parametrize("priors", [(), (LengthPrior(0.3),), (LengthPrior(-1.0), FieldPrior("stars", 2.0))])
def test_the_explanation_is_the_score(engine, model, query, priors) -> None:
    result = engine.search(query, 100, model=model, priors=priors)
    assert len(result) > 1
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
