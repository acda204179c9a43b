"""Rocchio against the vectors of the textbook."""

import numpy as np

from germane.feedback import Rocchio


def vectors(world) -> tuple[np.ndarray, np.ndarray]:
    """(1 + log c)·idf(w) of every document, divided by its norm; and idf."""
    idf = np.log(1 + len(world.counts) / world.df)
    logs = np.where(world.counts > 0, 1 + np.log(np.maximum(world.counts, 1)), 0.0)
    norms = np.linalg.norm(logs * idf, axis=1, keepdims=True)
    return logs * idf / np.where(norms > 0, norms, 1.0), idf


def signed(world, expansion) -> np.ndarray:
    """The weights that the ranking gets, over the whole vocabulary."""
    against = 0.0 if expansion.against is None else expansion.against_weight * world.dense(expansion.against)
    return world.dense(expansion.topic) - against


def test_the_mean_of_the_documents(worlds) -> None:
    """Ranking by our weights, which meet idf twice more, is ranking by the cosine with the mean unit vector."""
    for world in worlds:
        units, idf = vectors(world)
        mean = units[world.chosen].mean(axis=0)
        ours = signed(world, Rocchio(n_terms=None, query_weight=0.0, tempering=0.0).expand(world.evidence()))
        scores, cosines = units @ (ours * idf), units @ mean / np.linalg.norm(mean)
        np.testing.assert_allclose(scores / np.linalg.norm(ours * idf), cosines, rtol=1e-10, atol=1e-12)
        assert np.argsort(-scores.round(12), kind="stable").tolist() == np.argsort(
            -(cosines * np.linalg.norm(ours * idf)).round(12), kind="stable"
        ).tolist()  # fmt: skip


def test_the_whole_formula(filled_worlds) -> None:
    """q' = λ·q + (1-λ)·mean(relevant) - γ·mean(not relevant), each of the three divided by its sum before idf."""
    for world in filled_worlds:
        marks = np.array([0, 1, *[1] * (len(world.chosen) - 2)])
        method = Rocchio(n_terms=None, query_weight=0.4, trust=0.0, negative_weight=0.3)
        units, idf = vectors(world)
        parts = [
            world.query * idf,
            units[world.chosen][marks == 1].mean(axis=0),
            units[world.chosen][marks == 0].mean(axis=0),
        ]
        q = sum(w * part / (part / idf).sum() for w, part in zip((0.4, 0.6, -0.3), parts, strict=True))
        ours = signed(world, method.expand(world.evidence(marks.tolist())))
        np.testing.assert_allclose(units @ (ours * idf), units @ q, rtol=1e-10, atol=1e-12)
