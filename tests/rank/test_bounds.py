"""No bound lies below what it bounds, nor farther above it than is allowed for, whatever the kind of impact."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.lm import AbsoluteDiscounting, Dirichlet, JelinekMercer, TwoStage
from germane.rank import BM25, MODEL_NAMES, QueryLikelihood, RankingModel, model_named
from germane.rank.kinds import SATURATION
from germane.rank.maxscore import hinted_kernels
from germane.rank.maxscore.decoding_kernels import largest_ratio, ratio_class
from germane.rank.maxscore.posting_cache import Coding, decoded_lists
from germane.rank.maxscore.records import CLASSES, CODES, Decoded
from germane.rank.models.evidence import EvidenceModel
from germane.rank.scoring import segment_search as scoring
from germane.rank.scoring.searcher import Searcher
from germane.rank.scoring.segment_search import NO_HINT, NO_MASK, _top_k_decoded, impacts_of, with_extremes

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
    """By code, with peaks apart, and by class; all together a document's bound is not above its score by more than the
    slack, by which the threshold is lowered."""
    searcher = make(seed, n, longest)
    plan = searcher.plan(dict(zip(WORDS, weights, strict=True)), model)
    segment = searcher.snapshot.segments[0].segment
    terms, values = searcher.terms_in(0, plan), searcher.parts_of(0, model).values()
    found = decoded_lists(segment, plan, terms.numbers)
    _top_k_decoded(segment, terms, values, NO_MASK, 1, -np.inf, found, None, NO_HINT)
    lists, memory = Decoded(*found.decoded), scoring._memory.decoded
    m, size = memory.model[0], segment.n_unique if plan.sized_by_unique else segment.doc_len
    sums, bounds = np.zeros(segment.n_docs), np.zeros(segment.n_docs)
    for i, number in enumerate(terms.numbers.tolist()):
        docs, counts = (part.astype(np.int64) for part in segment.postings(number))
        lone = plan._replace(weight=plan.weight[i : i + 1], scale=plan.scale[i : i + 1])
        impact = np.array(
            [impacts_of(lone, float(size[d]), np.array([float(c)]))[0] for d, c in zip(docs, counts, strict=True)]
        )
        t, row = memory.terms[i], found.rows[i]
        begins = lists.begins[row]
        codes, cut = lists.codes[begins[0] : begins[-1]].astype(int), int(lists.cuts[row])
        assert lists.least[row] == codes.min()
        units = t["units"][codes].astype(int)
        if i >= m["capped"]:
            units += np.where(codes > cut, t["excess"][codes], 0)
        if t["frequent"] >= 0:
            own = 1 + (np.minimum(codes, cut) - int(lists.least[row])) // int(t["width"])
            assert own.max() < CLASSES
            by_class = t["bytes"][own].astype(int) * int(t["coarse"]) + np.where(codes > cut, t["excess"][codes], 0)
            assert np.all(by_class >= units)
            units = by_class
        assert np.all(units * m["unit"] >= impact * (1.0 - 1e-12))
        sums[docs] += impact
        bounds[docs] += units * m["unit"]
    held = np.flatnonzero(sums)
    norm = values.norm.values[held] if len(values.norm.values) else 1.0
    assert np.all((bounds[held] - sums[held]) * norm <= m["slack"])


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


@given(st.lists(st.floats(-1e6, 1e6) | st.floats(-1e-300, 1e-300), min_size=1, max_size=40))
def test_rounded_backgrounds_are_not_below_the_true_ones(values: list[float]) -> None:
    true = np.array(values)
    part = with_extremes(true, rounded=True)
    if not len(part.rounded):
        assert part.step == 0.0
        return
    bounds = part.least + part.step * part.rounded.astype(np.float64)
    assert (bounds >= true).all()
    assert (bounds - true <= 2.0 * part.step + 1e-12 * (1.0 + np.abs(true))).all()


@pytest.mark.parametrize("values", [[-np.inf, 0.0, -1.0], [0.0, -97_000 * 5e-324, -90_000 * 5e-324]])
def test_backgrounds_without_an_end_and_all_but_equal_ones_are_not_rounded(values: list[float]) -> None:
    part = with_extremes(np.array(values), rounded=True)
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
