"""What cutting the estimate to its strongest words can do to a score, and what it cannot."""

import numpy as np
import pytest

from germane.feedback import RM3, SD, truncation_bound
from germane.lm import Dirichlet, JelinekMercer


def methods(n_terms: int | None, keep_background: bool):
    common = {"n_terms": n_terms, "keep_background": keep_background}
    return [RM3(smoothing=JelinekMercer(0.6), **common), SD(**common), RM3(query_weight=0.0, **common)]


@pytest.mark.parametrize("final", [Dirichlet(10.0), Dirichlet(500.0), JelinekMercer(0.3)], ids=str)
@pytest.mark.parametrize("keep_background", [True, False])
def test_no_score_moves_further_than_the_bound(worlds, final, keep_background: bool) -> None:
    """But for a constant that all documents share, Σ_w (θ' - θ)·log p_C."""
    reordered = 0
    for world in worlds:
        evidence, logs = world.evidence(), np.log(world.theta(final, range(len(world.counts))))
        length = world.counts.sum(axis=1, keepdims=True)
        a = final.mu / (length + final.mu) if isinstance(final, Dirichlet) else np.where(length > 0, 1 - final.lam, 1.0)
        ratios = logs - np.log(a * world.p_C)
        for n_terms in (1, 3, 8):
            pairs = zip(methods(None, keep_background), methods(n_terms, keep_background), strict=True)
            for whole, cut in pairs:
                full, kept = whole.expand(evidence), cut.expand(evidence)
                change = world.dense(kept.topic) - world.dense(full.topic)
                assert change.sum() == pytest.approx(0.0, abs=1e-12)
                bound = truncation_bound(kept.dropped, float(ratios.max()))
                before, after = logs @ world.dense(full.topic), logs @ world.dense(kept.topic)
                moved = after - before - change @ np.log(world.p_C)
                assert (np.abs(moved) <= bound + 1e-12).all()
                apart = before[:, None] - before[None, :] > 2 * bound + 1e-12
                assert (after[:, None] > after[None, :])[apart].all()
                reordered += int(((before[:, None] > before) & (after[:, None] < after)).sum())
    assert reordered > 0, "truncation changed no order at all: the test says nothing"


def test_the_share_dropped(worlds) -> None:
    """`dropped` is the excess of the words cut, after interpolation; the query's words are never cut by it."""
    for world in worlds:
        evidence = world.evidence()
        whole = RM3(n_terms=None, query_weight=0.0).expand(evidence).topic
        cut = RM3(n_terms=2, query_weight=0.25).expand(evidence)
        strongest = np.sort(whole.excess)[::-1]
        assert cut.dropped == pytest.approx(0.75 * strongest[2:].sum(), abs=1e-12)
        assert set(evidence.query) <= set(cut.topic.ids.tolist())
        assert len(set(cut.topic.ids.tolist()) - set(evidence.query)) <= 2


def test_nothing_to_cut(worlds) -> None:
    for world in worlds[:5]:
        assert RM3(n_terms=10_000).expand(world.evidence()).dropped == 0.0
    assert truncation_bound(0.0, 50.0) == 0.0
