"""No bound lies below what it bounds: blocks, terms in windows, windows; for every kind of impact."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.index.blocks import BLOCK
from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, TwoStage
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood, RankingModel, hinted_kernels, model_named, scoring
from germane.rank.evidence import EvidenceModel
from germane.rank.kinds import SATURATION
from germane.rank.scoring import NO_MASK, impacts_of, top_k, with_maxima
from germane.rank.searcher import Searcher

MODELS: list[RankingModel] = [
    *(model for model in map(model_named, MODEL_NAMES) if not isinstance(model, EvidenceModel)),  # those prune nothing
    QueryLikelihood(Dirichlet(0.5)),
    QueryLikelihood(Dirichlet(1e6)),
    QueryLikelihood(JelinekMercer(0.99)),
    QueryLikelihood(TwoStage(0.1, 5.0)),
    QueryLikelihood(AbsoluteDiscounting(0.9)),
    BM25(0.01, 1.0),
]
WORDS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def make(build):
    def _make(seed: int, n: int, longest: int) -> Searcher:
        """Documents of every length, counts from 1 to beyond what the block table tells."""
        random = np.random.default_rng(seed)
        counts = np.floor(longest ** random.random((n, 3)) * (random.random((n, 3)) < 0.8)).astype(int)
        others = np.floor(longest ** random.random(n)).astype(int) - 1
        tokens = {
            f"{i:05}": [word for word, count in zip(WORDS, own, strict=True) for _ in range(count)] + ["z"] * other
            for i, (own, other) in enumerate(zip(counts.tolist(), others.tolist(), strict=True))
        }
        return build(tokens | {"all": WORDS})._searcher

    return _make


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([1, 127, 129, 600, 2500]),
    longest=st.sampled_from([2, 40, 300]),
    weights=st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3),
)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_posting_is_never_above_its_bounds(make, model, seed, n, longest, weights) -> None:
    searcher = make(seed, n, longest)
    plan = searcher.plan(dict(zip(WORDS, weights, strict=True)), model)
    segment = searcher.snapshot.segments[0].segment
    terms, values = searcher.terms_in(0, plan), searcher.document_parts(0, model).values()
    top_k(segment, terms, values, NO_MASK, 1, -np.inf, prune=False)
    query = scoring._memory.query
    m, size = query.model[0], segment.n_unique if plan.sized_by_unique else segment.doc_len
    lack = np.zeros(segment.n_docs)
    if len(values.background.values):
        turned = values.background.values * np.sign(plan.mass)
        lack = abs(plan.mass) * (turned - turned.max())
    sums = np.zeros(segment.n_docs)
    for i, number in enumerate(terms.numbers.tolist()):
        docs, counts = (part.astype(np.int64) for part in segment.postings(number))
        lone = plan._replace(weight=plan.weight[i : i + 1], scale=plan.scale[i : i + 1])
        impact = np.array(
            [impacts_of(lone, float(size[d]), np.array([float(c)]))[0] for d, c in zip(docs, counts, strict=True)]
        )
        sums[docs] += impact
        own, t = impact + query.terms[i]["share"] * lack[docs], query.terms[i]
        rows = query.bounds[t["bounds"] + t["first"] + np.arange(len(docs)) // BLOCK]
        group = np.where(counts == 1, 0, np.where(counts < 4, 1, 2))
        slack = m["slack"]
        assert np.all(rows[np.arange(len(docs)), group] >= own - slack)
        assert np.all(rows[:, 3] >= own - slack)
        cells = query.cells[(docs >> m["bits"]) * m["n_terms"] + i]
        assert np.all(cells["bound"] >= own - slack)
        assert np.all(cells["block"] <= t["first"] + np.arange(len(docs)) // BLOCK)
    held = np.flatnonzero(sums)
    norm = values.norm.values[held] if len(values.norm.values) else 1.0
    rest = plan.constant + lack[held] + float(m["mass"] * m["top"])
    rest = rest + (values.prior.values[held] if len(values.prior.values) else 0.0)
    assert np.all(query.windows["total"][held >> m["bits"]] >= sums[held] * norm + rest - m["slack"])


@given(st.lists(st.floats(-1e6, 1e6) | st.floats(-1e-300, 1e-300), min_size=1, max_size=40))
def test_rounded_backgrounds_are_not_below_the_true_ones(values: list[float]) -> None:
    true = np.array(values)
    part = with_maxima(true, np.zeros(len(true), np.uint8))
    if not len(part.rounded):
        assert part.step == 0.0
        return
    bounds = part.least + part.step * part.rounded.astype(np.float64)
    assert (bounds >= true).all()
    assert (bounds - true <= 2.0 * part.step + 1e-12 * (1.0 + np.abs(true))).all()


@pytest.mark.parametrize("values", [[-np.inf, 0.0, -1.0], [0.0, -97_000 * 5e-324, -90_000 * 5e-324]])
def test_backgrounds_without_an_end_and_all_but_equal_ones_are_not_rounded(values: list[float]) -> None:
    part = with_maxima(np.array(values), np.zeros(3, np.uint8))
    assert (len(part.rounded), part.highest) == (0, 0.0)


@given(
    held=st.lists(st.tuples(st.floats(1e-9, 60_000.0), st.integers(0, 50)), min_size=1, max_size=40),
    others=st.integers(0, 100),
    x0=st.floats(0.001, 5.0),
    x1=st.floats(0.0, 0.1),
)
def test_no_document_gets_more_than_its_length_allows(held, others: int, x0: float, x1: float) -> None:
    """`units_left` of saturations, where nothing else bounds the sum."""
    length = sum(count for _, count in held) + others + 1
    x = x0 + x1 * length
    got = sum(weight * count / (count + x) for weight, count in held)
    weights = np.array([weight for weight, _ in held])
    model = SimpleNamespace(kind=SATURATION)
    sums = SimpleNamespace(suffix=np.array([[np.inf, weights.sum(), np.sqrt(weights).sum(), len(held)]]))
    left = hinted_kernels.units_left.py_func(model, sums, 0, x / length)
    assert got <= left <= hinted_kernels.units_left.py_func(model, sums, 0, x1) + 1e-9
