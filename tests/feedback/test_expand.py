"""The steps that all methods share: limits, marks, bad parameters, names."""

from dataclasses import replace

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.feedback import FEEDBACK_NAMES, RM1, RM3, SD, Consensus, Evidence, Expansion, feedback_named
from germane.lm import MLE, Dirichlet, JelinekMercer

METHODS = [feedback_named(name) for name in FEEDBACK_NAMES]
every_method = pytest.mark.parametrize("method", METHODS, ids=FEEDBACK_NAMES)


def without_documents(world) -> Evidence:
    return type(world)(world.counts, world.query, np.array([], int)).evidence()


def without_query(world) -> Evidence:
    """Without a query there is no first ranking: the documents are marked."""
    return type(world)(world.counts, 0 * world.query, world.chosen).evidence([1] * len(world.chosen))


def is_the_query(expansion: Expansion, method, evidence: Evidence) -> bool:
    """Whether nothing was learnt, and the topic is what the method makes of the query alone."""
    query, topic = method.query_topic(evidence), expansion.topic
    assert not isinstance(method, Consensus) or topic.ids.tolist() == sorted(evidence.query)
    same = topic.ids.tolist() == query.ids.tolist() and topic.excess.tolist() == query.excess.tolist()
    return same and topic.background == query.background and not expansion.learnt


def of_empty_documents(world, marks: list[int]) -> Evidence:
    counts = world.counts.copy()
    counts[world.chosen[: len(marks)]] = 0
    return type(world)(counts + 0, world.query * (counts.sum(axis=0) > 0), world.chosen[: len(marks)]).evidence(marks)


@every_method
def test_weights_sum_to_one(worlds, method) -> None:
    for world in worlds:
        evidence = world.evidence()
        assert len(evidence) == len(world.chosen)
        weights = method.document_weights(evidence)
        assert weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (weights >= 0).all()
        marks = [0, *[-1] * (len(world.chosen) - 1)]
        marked = method.expand(world.evidence(marks)).weights
        assert (marked[0], marked[1:].sum()) == pytest.approx((-1.0, 1.0), abs=1e-12)


@pytest.mark.parametrize(
    "method", [feedback_named(name, query_weight=0.4) for name in FEEDBACK_NAMES], ids=FEEDBACK_NAMES
)
def test_every_mark_takes_from_the_query(filled_worlds, method) -> None:
    """Odds of λ to (1-λ)·(1 + trust·m): λ without a mark, and 0 and 1 stay what they are."""
    for world in filled_worlds[:3]:
        for n in range(3):
            evidence = world.evidence([*[1] * n, *[-1] * (len(world.chosen) - n)])
            own = method.unmarked_share(evidence)
            share = replace(method, trust=2.0).query_share(evidence)
            assert share / (1 - share) == pytest.approx(own / (1 - own) / (1 + 2 * n))
            assert replace(method, trust=0.0).query_share(evidence) == pytest.approx(own)
            assert replace(method, query_weight=0.0).query_share(evidence) == 0.0
    assert RM3(query_weight=1.0).query_share(evidence) == 1.0


@pytest.mark.parametrize("name", ["rm3", "mixture", "rocchio"])
def test_documents_count_by_the_tempered_likelihood_of_the_query(worlds, name: str) -> None:
    for world in worlds[:5]:
        evidence = world.evidence()
        theta = (world.counts[world.chosen] + 7.0 * world.p_C) / (world.counts[world.chosen].sum(axis=1) + 7.0)[:, None]
        asked = world.query > 0
        likelihood = np.prod(theta[:, asked] ** world.query[asked], axis=1)
        for tempering in (0.0, 0.5, 1.0):
            method = feedback_named(name, weighting=Dirichlet(7.0), tempering=tempering)
            expected = likelihood**tempering / (likelihood**tempering).sum()
            np.testing.assert_allclose(method.document_weights(evidence), expected, rtol=1e-9)


@every_method
def test_all_marked_not_relevant(worlds, method) -> None:
    """There is nothing to learn for, so the topic is the query; and something to learn against."""
    world = worlds[1]
    evidence = world.evidence([0] * len(world.chosen))
    expansion = method.expand(evidence)
    assert not method.document_weights(evidence).any()
    assert is_the_query(expansion, method, evidence)
    assert expansion.against is not None
    assert expansion.weights == pytest.approx(np.full(len(world.chosen), -1 / len(world.chosen)))


@every_method
def test_without_documents_the_topic_is_the_query(worlds, method) -> None:
    for world in worlds[:3]:
        evidence = without_documents(world)
        expansion = method.expand(evidence)
        assert is_the_query(expansion, method, evidence)
        assert (expansion.against, expansion.weights.size, expansion.dropped) == (None, 0, 0.0)


def test_the_query_alone_is_its_maximum_likelihood_estimate(worlds) -> None:
    for world in worlds:
        evidence = world.evidence()
        np.testing.assert_allclose(world.dense(RM3().query_topic(evidence)), world.query / world.query.sum())


@every_method
def test_without_a_known_word_the_documents_speak_alone(worlds, method) -> None:
    for world in worlds[:3]:
        evidence = without_query(world)
        expansion = method.expand(evidence)
        assert expansion.topic.background == 0.0
        assert expansion.topic.excess.sum() == pytest.approx(1.0)
        assert expansion.weights == pytest.approx(np.full(len(world.chosen), 1 / len(world.chosen)))


@pytest.mark.parametrize("name", [name for name in FEEDBACK_NAMES if name != "consensus"])
def test_query_weights_of_zero_and_one(worlds, name: str) -> None:
    for world in worlds[:3]:
        evidence = world.evidence()
        assert feedback_named(name, query_weight=1.0).expand(evidence).topic is evidence.query_model
        alone = feedback_named(name, query_weight=0.0).expand(evidence).topic
        half = feedback_named(name, query_weight=0.5).expand(evidence).topic
        mixed = 0.5 * world.dense(alone) + 0.5 * world.dense(evidence.query_model)
        np.testing.assert_allclose(world.dense(half), mixed, rtol=1e-12, atol=1e-16)


@every_method
@pytest.mark.parametrize("marks", [[1], [-1], [0], [1, 0], [-1, 1, 0]])
def test_empty_documents_say_nothing(worlds, method, marks: list[int]) -> None:
    """Nothing for and nothing against: the query is left, without background."""
    evidence = of_empty_documents(worlds[3], marks[: len(worlds[3].chosen)])
    expansion = method.expand(evidence)
    assert is_the_query(expansion, method, evidence)
    assert expansion.against is None
    assert np.isfinite(expansion.weights).all()


def test_background_of_empty_documents_is_kept_where_asked_for(worlds) -> None:
    expansion = RM3(keep_background=True, query_weight=0.25, trust=0.0).expand(of_empty_documents(worlds[3], [1]))
    assert expansion.topic.background == pytest.approx(0.75)


@pytest.mark.parametrize("method", [SD(smoothing=JelinekMercer(0.0)), RM3(smoothing=JelinekMercer(0.0))])
def test_lam_of_zero_leaves_the_query(worlds, method) -> None:
    """Documents smoothed away say nothing more than the collection."""
    evidence = worlds[1].evidence()
    assert method.expand(evidence).topic is evidence.query_model


@pytest.mark.parametrize("smoothing", [JelinekMercer(0.0), JelinekMercer(1e-300)], ids=str)
def test_weighting_without_the_documents_is_uniform(worlds, smoothing) -> None:
    for method in (RM3(weighting=smoothing), SD(weighting=smoothing), SD(lam_query=0.0)):
        weights = method.document_weights(worlds[1].evidence())
        np.testing.assert_allclose(weights, 1 / len(weights), rtol=1e-12)


@pytest.mark.parametrize(
    "method",
    [
        RM3(weighting=JelinekMercer(1.0)),
        RM1(weighting=MLE()),
        SD(weighting=JelinekMercer(1.0)),
        SD(smoothing=MLE()),
        SD(iterations=2, final=JelinekMercer(1.0)),
    ],
    ids=str,
)
def test_lam_of_one_has_no_logarithm(worlds, method) -> None:
    with pytest.raises(ParameterError, match="leaves no share to the collection"):
        method.expand(worlds[1].evidence())


def test_rm1_is_rm3_without_the_query(worlds) -> None:
    for world in worlds[:3]:
        one, other = RM1().expand(world.evidence()), RM3(query_weight=0.0).expand(world.evidence())
        assert one.topic.ids.tolist() == other.topic.ids.tolist()
        assert one.topic.excess.tolist() == other.topic.excess.tolist()


def test_evidence_that_disagrees_with_itself(worlds) -> None:
    evidence = worlds[1].evidence()
    with pytest.raises(ParameterError, match="disagree"):
        Evidence(**{**vars_of(evidence), "marks": evidence.marks[:-1]})


def vars_of(evidence: Evidence) -> dict:
    return {name: getattr(evidence, name) for name in Evidence.__dataclass_fields__}


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_docs": -1}, {"n_docs": 2.5}, {"n_docs": True}, {"n_terms": 0}, {"query_weight": -0.1},
        {"query_weight": 1.1}, {"query_weight": float("nan")}, {"unmarked": -1.0}, {"unmarked": float("inf")},
        {"negative_weight": -0.5}, {"negative_weight": float("nan")},
    ],
    ids=str,
)  # fmt: skip
def test_parameters_that_are_refused(wrong) -> None:
    for name in FEEDBACK_NAMES:
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            feedback_named(name, **wrong)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("rm3", {"tempering": -0.5}), ("mixture", {"tempering": -0.5}), ("sd", {"trust": -1.0}),
        ("sd", {"precision": 0.0}),
        ("sd", {"lam_query": 1.5}), ("sd", {"iterations": 0}), ("rm3", {"weighting": "bm25"}),
        ("sd", {"smoothing": 0.3}), ("consensus", {"smoothing": "dirichlet"}),
    ],
)  # fmt: skip
def test_parameters_that_a_method_refuses(name: str, wrong) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        feedback_named(name, **wrong)


def test_names() -> None:
    assert set(FEEDBACK_NAMES) == {"consensus", "rm1", "rm3", "sd", "rocchio", "mixture"}
    assert feedback_named("rm3", n_docs=3, n_terms=None) == RM3(n_docs=3), "None keeps the default"
    with pytest.raises(ParameterError, match="no feedback method 'rm4'"):
        feedback_named("rm4")
    with pytest.raises(ParameterError, match="'rm3' has no parameter precision"):
        feedback_named("rm3", precision=2.0)
