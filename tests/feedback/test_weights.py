"""How much documents count: alike what is alike, to the last bit, and nothing what is not likely at all."""

import numpy as np
import pytest

from feedback.conftest import World
from germane.errors import ParameterError
from germane.feedback import RM3, SD, Evidence
from germane.feedback.weights import log_likelihoods, share_out, weigh
from germane.lm import Dirichlet, JelinekMercer, Smoothing


def alike(n_docs: int, n_words: int, seed: int) -> Evidence:
    """So many documents, all with the same words, which are those of the query."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, n_words).astype(np.float64)
    return Evidence(
        query=dict(enumerate(rng.random(n_words).tolist())),
        starts=np.arange(n_docs + 1) * n_words,
        ids=np.tile(np.arange(n_words), n_docs),
        counts=np.tile(counts, n_docs),
        lengths=np.full(n_docs, counts.sum()),
        marks=np.full(n_docs, -1, np.int8),
        p_C=rng.dirichlet(np.ones(n_words)) / 2,
        df=np.full(n_words, n_docs),
        n_docs=100,
    )


@pytest.mark.parametrize("n_words", [1, 3, 8, 9, 12, 40])
@pytest.mark.parametrize("smoothing", [Dirichlet(300.0), JelinekMercer(0.4)], ids=str)
def test_documents_that_are_alike_weigh_alike(n_words: int, smoothing: Smoothing) -> None:
    for seed in range(10):
        for n_docs in (2, 7, 15, 26):
            assert len(set(log_likelihoods(alike(n_docs, n_words, seed), smoothing).tolist())) == 1


def test_counts_of_some_words(worlds: list[World]) -> None:
    for world in worlds:
        evidence = world.evidence()
        words = [*range(0, evidence.n_words, 3)][::-1]
        assert evidence.counts_of(words).tolist() == world.counts[world.chosen][:, world.words[words]].tolist()
        assert evidence.counts_of([]).shape == (len(evidence), 0)


class Half(Smoothing):
    """A smoothing whose share is the same for all documents, and told as one number."""

    def split(self, c_wd, len_d, n_unique_d):
        return 0.5 * np.asarray(c_wd) / np.maximum(len_d, 1.0), 0.5


def test_a_share_may_be_one_number() -> None:
    evidence = alike(15, 9, 1)
    for method in (RM3(weighting=Half()), RM3(smoothing=Half(), keep_background=True), SD(smoothing=Half())):
        assert method.expand(evidence).learnt


@pytest.mark.parametrize("marks", [[-1, -1, -1], [-1, 0, -1]])
def test_what_is_not_likely_at_all_weighs_nothing(marks: list[int]) -> None:
    evidence = alike(3, 2, 1)
    evidence.marks[:] = marks
    assert weigh(evidence, np.full(3, -np.inf), 1.0).tolist() == [0.0, 0.0, 0.0]
    assert share_out(evidence, np.zeros(3), 1.0).tolist() == [0.0, 0.0, 0.0]
    assert weigh(evidence, np.array([0.0, -np.inf, -np.inf]), 1.0).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("marks", [[-1, -1], [-1, 1]])
def test_what_is_no_number_is_refused(marks: list[int]) -> None:
    evidence = alike(2, 2, 1)
    evidence.marks[:] = marks
    weights = weigh(evidence, np.array([np.nan, -1.0]), 1.0)
    assert np.isnan(weights).any()
    with pytest.raises(ParameterError, match="nan"):
        RM3().estimate(evidence, weights)


def test_a_mark_counts_though_no_other_document_is_likely() -> None:
    evidence = alike(3, 2, 1)
    evidence.marks[:] = [-1, 1, 0]
    assert weigh(evidence, np.full(3, -np.inf), 1.0).tolist() == [0.0, 1.0, 0.0]
    assert weigh(evidence, np.zeros(3), 0.5).tolist() == [1 / 3, 2 / 3, 0.0]
