"""Consensus against its formulas over the whole vocabulary."""

from dataclasses import replace

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.feedback import Consensus
from germane.lm import Dirichlet


def softmax(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


def rarity(world) -> np.ndarray:
    """√idf, idf as in BM25."""
    return np.sqrt(np.log(1 + (len(world.counts) - world.df + 0.5) / (world.df + 0.5)))


def test_weights_are_half_of_each_ranking(worlds) -> None:
    for world in worlds:
        first, second = world.scores()
        expected = 0.5 * softmax(0.4 * first) + 0.5 * softmax(0.3 * second)
        method = Consensus(tempering=0.4, second_tempering=0.3)
        np.testing.assert_allclose(method.document_weights(world.evidence()), expected, rtol=1e-10)


def test_the_topic_as_written(worlds) -> None:
    for world in worlds:
        method = Consensus(n_terms=None, query_weight=0.2, smoothing=Dirichlet(20.0), most_query_weight=0.6)
        counts, weights = world.counts[world.chosen], method.document_weights(world.evidence())
        estimate = rarity(world) * (weights @ (counts / (counts.sum(axis=1, keepdims=True) + 20)))
        query = rarity(world) * world.query
        b = min(0.2 * np.sqrt(world.query.sum()), 0.6)
        expected = b * query / query.sum() + (1 - b) * estimate / estimate.sum()
        expansion = method.expand(world.evidence())
        np.testing.assert_allclose(world.dense(expansion.topic), expected, rtol=1e-10, atol=1e-15)
        assert expansion.topic.background == 0.0


def test_the_query_never_has_more_than_its_most(worlds) -> None:
    evidence = worlds[1].evidence()
    assert Consensus(query_weight=1.0, most_query_weight=0.35).query_share(evidence) == 0.35
    assert Consensus(query_weight=1.0, most_query_weight=1.0).expand(evidence).learnt is False


def test_marks(worlds) -> None:
    """One relevant, one not; the rest, which together count as one more, in proportion to the rankings."""
    for world in worlds:
        marks = [1, 0, *[-1] * (len(world.chosen) - 2)]
        expansion = Consensus().expand(world.evidence(marks))
        assert expansion.weights[1] == -1.0
        guessed = expansion.weights[2:].sum()
        assert (expansion.weights[0], guessed) == pytest.approx((0.5, 0.5) if len(marks) > 2 else (1.0, 0.0))


def test_scores_far_apart(worlds) -> None:
    """Weights that are next to nothing stay numbers."""
    world = worlds[1]
    evidence = replace(world.evidence(), scores=1e6 * world.scores())
    weights = Consensus().document_weights(evidence)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()


def test_what_is_refused(worlds) -> None:
    for scores in (None, worlds[1].scores()[:1]):
        with pytest.raises(ParameterError, match="both first rankings"):
            Consensus().expand(replace(worlds[1].evidence(), scores=scores))
    for wrong in ({"tempering": 0.0}, {"second_tempering": -1.0}, {"most_query_weight": 1.5}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            Consensus(**wrong)
