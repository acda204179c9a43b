"""Fusion against ranx's figures, against the formulas written out, and the laws that hold for every ranking."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.rank.fusion import (
    FUSIONS,
    NORMALISATIONS,
    comb_mnz,
    comb_sum,
    fusion_named,
    inverse_square_rank,
    normalisation_named,
    reciprocal_rank,
)

GOLDEN = json.loads((Path(__file__).parent / "fixtures" / "fusion-ranx.json").read_text(encoding="utf-8"))
WEIGHTS = (0.5, 0.2, 0.3)

scores = st.integers(-50, 50).map(lambda n: n / 4)


@st.composite
def rankings(draw: st.DrawFn) -> list[list[tuple[str, float]]]:
    """A few rankings with ties, empty ones and single documents among them."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        held = draw(st.dictionaries(st.sampled_from("abcdefgh"), scores))
        made.append(sorted(held.items(), key=lambda row: (-row[1], row[0])))
    return made


@pytest.mark.parametrize("name", GOLDEN["fused"])
def test_ranx_has_the_same_figures(name: str) -> None:
    method, _, normalise = name.partition(" ")
    weights = WEIGHTS if method == "weighted" else None
    fuse = fusion_named("combsum" if weights else method, normalise=normalise or None)
    for query, expected in GOLDEN["fused"][name].items():
        fused = fuse([list(run[query].items()) for run in GOLDEN["runs"]], weights=weights)
        assert dict(fused) == pytest.approx(expected, rel=0, abs=1e-12)
        assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


@given(rankings(), st.sampled_from(["combsum", "combmnz"]), st.sampled_from(list(NORMALISATIONS)))
def test_scores_by_the_formula(given_rankings: list, method: str, normalise: str) -> None:
    """The formulas once more, a document at a time, with NumPy's means and deviations."""

    def normalised(ranking: list) -> Mapping[str, float]:
        if not ranking:
            return {}
        s = np.array([score for _, score in ranking])
        if normalise == "min-max":
            made = (s - s.min()) / np.ptp(s) if np.ptp(s) else np.ones(len(s))
        elif normalise == "z-score":
            made = (s - s.mean()) / s.std() if np.ptp(s) else np.zeros(len(s))
        elif normalise == "sum":
            made = (s - s.min()) / (s - s.min()).sum() if np.ptp(s) else np.full(len(s), 1 / len(s))
        else:
            made = s
        return dict(zip((doc for doc, _ in ranking), made.tolist(), strict=True))

    tables = [normalised(ranking) for ranking in given_rankings]
    expected = {}
    for doc in {doc for table in tables for doc in table}:
        held = [table[doc] for table in tables if doc in table]
        expected[doc] = sum(held) * (len(held) if method == "combmnz" else 1)
    fused = fusion_named(method, normalise=normalise)(given_rankings)
    assert dict(fused) == pytest.approx(expected, abs=1e-9)


@given(rankings(), st.sampled_from(list(FUSIONS)), st.randoms(use_true_random=False))
def test_laws(given_rankings: list, method: str, random) -> None:
    fuse = FUSIONS[method]
    fused = fuse(given_rankings)
    assert fused == sorted(fused, key=lambda row: (-row[1], row[0])), "best first, ties by id"
    shuffled = random.sample(given_rankings, len(given_rankings))
    assert fuse(shuffled) == fused, "the order of the rankings does not matter"
    assert fuse(given_rankings, weights=[1.0] * len(given_rankings)) == fused
    beside = [*given_rankings, [("z", 1.0), ("a", 0.5)]]
    assert fuse(beside, weights=[1.0] * len(given_rankings) + [0.0]) == fused, "weight 0 is left out"
    doubled = fuse(given_rankings, weights=[2.0] * len(given_rankings))
    assert [doc for doc, _ in doubled] == [doc for doc, _ in fused]
    assert [score for _, score in doubled] == [2 * score for _, score in fused]


def test_worked_example() -> None:
    a, b = [("x", 3.0), ("y", 2.0), ("z", 1.0)], [("y", 10.0), ("w", 0.0)]
    assert reciprocal_rank([a, b], k=1) == [("y", 1 / 3 + 1 / 2), ("x", 1 / 2), ("w", 1 / 3), ("z", 1 / 4)]
    assert inverse_square_rank([a, b]) == [("y", 2 * (1 / 4 + 1)), ("x", 1.0), ("w", 1 / 4), ("z", 1 / 9)]
    assert comb_sum([a, b]) == [("y", 1.5), ("x", 1.0), ("w", 0.0), ("z", 0.0)]
    assert comb_mnz([a, b]) == [("y", 3.0), ("x", 1.0), ("w", 0.0), ("z", 0.0)]
    assert comb_sum([a, b], "none", weights=[1.0, 0.1]) == [("x", 3.0), ("y", 3.0), ("z", 1.0), ("w", 0.0)]


def test_nothing_to_fuse() -> None:
    assert [fuse([]) for fuse in FUSIONS.values()] == [[]] * len(FUSIONS)
    assert [fuse([[], []]) for fuse in FUSIONS.values()] == [[]] * len(FUSIONS)


def test_one_document_alone_is_the_best_of_its_ranking() -> None:
    assert comb_sum([[("only", 0.2)]]) == [("only", 1.0)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reciprocal_rank([[("a", 1.0)]], k=-1), "k must be 0 or more"),
        (lambda: reciprocal_rank([[("a", 1.0), ("a", 0.5)]]), "'a' stands twice"),
        (lambda: comb_sum([[("a", float("inf"))]]), "the score of 'a' is inf"),
        (lambda: comb_sum([[("a", float("nan"))]], "z-score"), "the score of 'a' is nan"),
        (lambda: comb_sum([[("a", 1.0)]], "max"), "no normalisation 'max'; choose one of min-max"),
        (lambda: comb_mnz([[("a", 1.0)]], weights=[1.0, 2.0]), "1 rankings need 1 weights, not 2"),
        (lambda: comb_mnz([[("a", 1.0)]], weights=[-1.0]), "weights must be 0 or more"),
        (lambda: comb_mnz([[("a", 1.0)]], weights=[0.0]), "one weight at least"),
        (lambda: fusion_named("borda"), "no fusion 'borda'; choose one of rrf"),
        (lambda: fusion_named("isr", k=3), "isr has no k"),
        (lambda: fusion_named("rrf", normalise="sum"), "nothing to normalise"),
        (lambda: fusion_named("combsum", normalise="sums"), "no normalisation 'sums'"),
        (lambda: normalisation_named(""), "no normalisation ''"),
    ],
)
def test_bad_input(call, message: str) -> None:
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        call()
