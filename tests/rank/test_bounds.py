"""No bound lies below what it bounds, nor farther above it than is allowed for, whatever the kind of impact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, TwoStage
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood, RankingModel, model_named
from germane.rank.maxscore import search
from germane.rank.maxscore.decoding_kernels import largest_ratio, ratio_class
from germane.rank.maxscore.posting_cache import Coding, PostingCache
from germane.rank.maxscore.records import CODES, Decoded
from germane.rank.models.evidence import EvidenceModel
from germane.rank.scoring.arguments import NO_MASK
from germane.rank.scoring.exact import impacts, size_of
from germane.rank.scoring.searcher import Searcher

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
        """Documents of every length, counts from 1 to beyond what has a code."""
        random = np.random.default_rng(seed)
        counts = np.floor(longest ** random.random((n, 3)) * (random.random((n, 3)) < 0.8)).astype(int)
        others = np.floor(longest ** random.random(n)).astype(int) - 1
        tokens = {
            f"{i:05}": [word for word, count in zip(WORDS, own, strict=True) for _ in range(count)] + ["z"] * other
            for i, (own, other) in enumerate(zip(counts.tolist(), others.tolist(), strict=True))
        }
        return build(tokens | {"all": WORDS}).retriever._searcher

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
    """Nor is a document's bound above its score by more than the slack, by which the threshold is lowered."""
    searcher = make(seed, n, longest)
    plan = searcher.plan(dict(zip(WORDS, weights, strict=True)), model)
    segment = searcher.snapshot.segments[0].segment
    terms, values = searcher.terms_in(0, plan), searcher.parts_of(0, model).values()
    cache = PostingCache()
    search.top_k(cache, segment, terms, values, NO_MASK, 1, -np.inf)
    postings = cache.postings(segment, plan, terms.numbers)
    lists, m, size = Decoded(*postings.decoded), search._memory.search[0], size_of(segment, plan)
    sums, bounds = np.zeros(segment.n_docs), np.zeros(segment.n_docs)
    for i, number in enumerate(terms.numbers.tolist()):
        docs, counts = segment.postings(number)
        impact = impacts(plan, plan.weight[i], plan.scale[i], counts, size[docs])
        t, begins = search._memory.terms[i], lists.begins[postings.rows[i]]
        codes = lists.codes[begins[0] : begins[-1]].astype(int)
        assert lists.least[postings.rows[i]] == codes.min()
        units = t["units"][codes].astype(int)
        assert np.all(units * m["unit"] >= impact * (1.0 - 1e-12))
        sums[docs] += impact
        bounds[docs] += units * m["unit"]
    matching = np.flatnonzero(sums)
    norm = values.norm.values[matching] if len(values.norm.values) else 1.0
    assert np.all((bounds[matching] - sums[matching]) * norm <= m["slack"])


@given(st.floats(1e-9, 1e9), st.integers(0, 1000))
def test_a_class_holds_ratios_that_are_nearly_alike(ratio: float, lowest: int) -> None:
    code = ratio_class.py_func(ratio, lowest)
    largest = largest_ratio.py_func(code, lowest)
    assert ratio <= largest
    assert largest <= ratio * 17 / 16 or code == 0
    assert ratio_class.py_func(largest, lowest) == code


@pytest.mark.parametrize("smoothing", [JelinekMercer(0.3), AbsoluteDiscounting(0.7), TwoStage(0.9, 400.0)], ids=str)
def test_usual_ratios_have_classes_of_their_own(build, smoothing) -> None:
    searcher = build({"1": ["a"]}).retriever._searcher
    plan = searcher.plan({"a": 1.0}, QueryLikelihood(smoothing))
    lowest = Coding.of(plan).lowest
    for count, size in ((1, 5000), (1, 100), (5, 100), (3, 3)):
        ratio = (count - plan.delta) / (plan.x0 + plan.x1 * size)
        assert 0 < ratio_class.py_func(ratio, lowest) < CODES
