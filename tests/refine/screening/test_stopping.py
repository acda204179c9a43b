"""The silence test against SciPy and by hand, the level it keeps, the sample, and the estimate of what remains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from germane.errors import ParameterError
from germane.refine.screening.hypergeometric import Silence, draws_needed, level, most_left, p_none, silence
from germane.refine.screening.ranking import Ranker
from germane.refine.screening.remaining import calibrated, can_calibrate, held_out, logistic, platt, remaining
from germane.refine.screening.sampling import may_be_missed, quiet_after, sample_of, shuffled
from germane.refine.screening.simulation import stopped_run
from germane.refine.screening.stopping import StoppingRule
from germane.refine.screening.weighting import tf_idf


def flags(text):
    return np.array([mark == "1" for mark in text], bool)


def test_silence_by_hand():
    assert silence(10, flags("01001")) == (5, 0, 0)
    assert silence(10, flags("01000")) == (8, 3, 0)
    assert silence(10, flags("01000"), 4) == (6, 1, 0)
    assert silence(10, flags("")) == (10, 0, 0)


def test_p_none_against_scipy():
    rng = np.random.default_rng(0)
    unread = rng.integers(5, 60, 200)
    relevant, drawn = rng.integers(0, unread + 1), rng.integers(0, unread + 1)
    assert p_none(unread, relevant, drawn) == pytest.approx(stats.hypergeom.pmf(0, unread, relevant, drawn), abs=1e-9)
    assert p_none(unread, unread + 1, drawn).tolist() == [0.0] * 200


def test_odds_against_a_simulation_of_wallenius():
    rng = np.random.default_rng(0)
    u, k, n, omega = 200, 4, 40, 3.0
    weight = np.where(np.arange(u) < k, omega, 1.0)
    arrival = rng.exponential(1.0, (4000, u)) / weight  # drawn one by one with these odds
    none = (np.argsort(arrival, axis=1)[:, :n] >= k).all(axis=1)
    assert p_none(np.array(u), np.array(k), np.array(n), omega) == pytest.approx(none.mean(), abs=0.03)


@given(st.integers(1, 60), st.floats(0.001, 0.3))
def test_all_silences_together_spend_alpha(k, alpha):
    """(1 - f)^k + (1 - f)^(k + 1) + ... = alpha where the level is (1 - f)^k."""
    f = 1.0 - level(k, alpha) ** (1 / k)
    assert sum((1.0 - f) ** (k + m) for m in range(20000)) == pytest.approx(alpha, rel=1e-6)
    assert level(k, alpha) < alpha
    assert 1.0 - level(k + 1, alpha) ** (1 / (k + 1)) < f  # the more may be left, the smaller the share to read


@given(st.integers(1, 40), st.integers(0, 40), st.integers(50, 400), st.floats(0.0, 1.0))
def test_more_left_are_ruled_out_sooner(k, m, unread, share):
    """P₀(k + m) ≤ P₀(k)^((k + m)/k), which the sum over finds rests on."""
    drawn = int(share * unread)
    one, more = p_none(np.array(unread), np.array([k, k + m]), np.array(drawn))
    assert more <= one ** ((k + m) / k) + 1e-12


def test_draws_needed_and_most_left_are_where_the_level_is_crossed():
    unread, k = np.array([400, 90, 50]), np.array([1, 3, 60])
    levels = np.array([level(int(each), 0.05) for each in k])
    needed = draws_needed(unread, k, levels)
    assert needed[2] == 0  # sixty are not among fifty
    for u, each, n, wanted in zip(unread[:2], k, needed, levels, strict=False):
        assert stats.hypergeom.pmf(0, u, each, n) <= wanted < stats.hypergeom.pmf(0, u, each, n - 1)
    past = Silence(300, 120)
    high = most_left(past, 180, 0.05)
    tests = p_none(np.array(300), np.arange(1, 181), np.array(120)) > [level(i, 0.05) for i in range(1, 181)]
    assert tests.tolist() == [i <= high for i in range(1, 181)]
    assert most_left(past, 180, 0.05, omega=2.0) < high < most_left(past._replace(drawn=20), 280, 0.05)
    assert most_left(Silence(300, 0), 300, 0.05) == 300
    assert most_left(past._replace(known=2), 180, 0.05) < high


def test_recommendations():
    rule = StoppingRule()
    assert "no relevant" in rule.recommend(100, flags("0" * 50)).reason
    assert rule.recommend(3, flags("000")).stop
    early = rule.recommend(1000, flags("1" * 10 + "0" * 30))
    assert not early.stop
    assert str(early).startswith("Go on: ")
    assert f"{early.needed:,} more" in early.reason
    late = flags("1" * 10 + "0" * (30 + early.needed))
    assert rule.recommend(1000, late).stop
    assert not rule.recommend(1000, late[:-1]).stop
    assert rule.recommend(1000, late).p_value <= early.level < 0.05
    assert "95%" in str(rule.recommend(1000, late))
    assert not rule.recommend(1000, np.append(late, True)).stop


def test_the_first_stop_is_the_first_recommendation():
    rng = np.random.default_rng(4)
    for rule in (StoppingRule(), StoppingRule(0.8, 0.9), StoppingRule(omega=2.0)):
        for _ in range(3):
            decisions = rng.random(80) < np.linspace(0.7, 0.0, 80) ** 2
            by_hand = next((t for t in range(1, 80) if rule.recommend(80, decisions[:t]).stop), 80)
            assert rule.first_stop(80, decisions) == by_hand
    assert StoppingRule().first_stop(10, flags("0" * 10)) == 10
    easy = flags("1" * 10 + "0" * 990)
    assert StoppingRule(omega=2.0).first_stop(1000, easy) < StoppingRule().first_stop(1000, easy) < 1000


@pytest.mark.parametrize(
    "bad",
    [
        {"target": 0.0},
        {"target": 1.0},
        {"confidence": 1.5},
        {"omega": 0.5},
        {"omega": float("nan")},
        {"omega": 2.0, "sample": True},
    ],
)
def test_bad_rules(bad):
    with pytest.raises(ParameterError):
        StoppingRule(**bad)


@pytest.mark.parametrize(("n_docs", "relevant"), [(400, 12), (400, 60), (3000, 600)])
@pytest.mark.parametrize("found_first", [0.0, 0.85, 0.949])
def test_the_level_holds_where_the_order_turns_random(n_docs, relevant, found_first):
    """The worst that is assumed: a share is found at once, and from then on nothing is better than random reading.

    Many relevant documents, and a turn just below the target, are where many windows and many looks go wrong.
    """
    rng = np.random.default_rng(1)
    rule = StoppingRule()
    head = int(found_first * relevant)
    runs, short = 400, 0
    for _ in range(runs):
        rest = rng.permutation(np.arange(n_docs - head) < relevant - head)
        decisions = np.concatenate([np.ones(head, bool), rest])
        stop = rule.first_stop(n_docs, decisions)
        short += decisions[:stop].sum() < 0.95 * relevant
    assert stats.binomtest(short, runs, 0.05, alternative="greater").pvalue > 0.01


def test_a_sample_needs_no_good_order():
    """A twelfth of the relevant documents comes last of all: the proposed order misses it, a sample does not."""
    y = np.zeros(1200, bool)
    y[:110] = y[-10:] = True
    order = np.arange(1200)
    assert stopped_run(0, order, y, StoppingRule()).recall_at_stop < 0.95
    runs = [stopped_run(seed, order, y, StoppingRule(sample=True)) for seed in range(200)]
    short = sum(run.recall_at_stop < 0.95 for run in runs)
    assert stats.binomtest(short, 200, 0.05, alternative="greater").pvalue > 0.01
    assert sorted(runs[0].order.tolist()) == list(range(1200))
    assert runs[0].order.tolist() != runs[1].order.tolist()
    assert stopped_run(0, np.arange(40), y[90:130], StoppingRule(sample=True)).stop == 40  # too short to go quiet


def test_quiet_by_hand():
    assert may_be_missed(19, 0.95) == 1
    assert may_be_missed(18, 0.95) == 0
    assert quiet_after(600, flags("1" * 18 + "0" * 60), 0.95) == 78  # sixty without a find, a tenth of the list
    assert quiet_after(600, flags("1" * 18 + "0" * 59), 0.95) is None
    assert quiet_after(600, flags("0" * 100), 0.95) is None
    by_hand = flags(
        "1" * 400 + "0" * 40 + "1" + "0" * 59
    )  # one of the last 60 · 500/60 = 8.3 ≤ ⌊401/0.95⌋ - 401 = 21, /2
    assert quiet_after(1000, by_hand, 0.95) == 499
    assert quiet_after(10, flags("1"), 0.95) is None


def test_the_sample_counts_what_was_drawn_in_its_order():
    decisions = np.concatenate([np.ones(5, bool), np.zeros(50, bool)])
    order = shuffled(200, 3)
    read = list(range(55))
    places = [int(i) for i in order if i >= 55]
    begun = sample_of(200, read, decisions, 0.95, 3)
    assert begun.places.tolist() == places
    assert (begun.drawn, begun.silence) == (0, (145, 0, 0))
    assert sample_of(200, read[:54], decisions[:54], 0.95, 3) is None
    out_of_turn = [*read, places[0], places[1], places[9]]
    later = sample_of(200, out_of_turn, np.append(decisions, [True, False, True]), 0.95, 3)
    assert later.found.tolist() == [True, False]
    assert later.silence == (144, 1, 1)
    rule = StoppingRule(sample=True)
    advice = rule.recommend(200, np.append(decisions, [True, False, True]), later.silence)
    assert "drawn at random" in advice.reason
    assert "quiet" in rule.before_the_sample().reason


def test_platt():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=4000)
    relevant = rng.random(4000) < logistic(-2.0 + 1.5 * scores)
    a, b = platt(scores, relevant)
    assert (a, b) == (pytest.approx(-2.0, abs=0.2), pytest.approx(1.5, abs=0.2))
    a, b = platt(np.array([-1.0, -2.0, 3.0, 4.0]), np.array([False, False, True, True]))
    assert np.isfinite([a, b]).all()
    assert logistic(np.array([-1e9, 0.0, 1e9])).tolist() == [0.0, 0.5, 1.0]


def test_calibration_learns_from_held_out_scores():
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.2, (900, 40)).astype(float)
    truth = rng.random(900) < 0.2
    counts[truth, :4] += rng.poisson(1.0, (truth.sum(), 4))
    ranker = Ranker(tf_idf(sparse.csr_array(counts)))
    labels = np.where(np.arange(900) < 500, truth, -1).astype(np.int8)
    fit = ranker.fit(labels)
    out = held_out(ranker, labels, fit)
    assert (out[500:] == fit.scores[500:]).all()
    read = labels >= 0
    assert out[read & truth].mean() < fit.scores[read & truth].mean()
    p = calibrated(ranker, labels, fit)
    assert p[~read].sum() == pytest.approx(truth[~read].sum(), rel=0.3)
    few = np.where(np.arange(900) < 2, 1, -1).astype(np.int8)
    assert not can_calibrate(few)
    assert calibrated(ranker, few, ranker.fit(few)) == pytest.approx(logistic(ranker.fit(few).scores))


def test_remaining():
    rule = StoppingRule()
    found = remaining(200, flags("11" + "0" * 80), np.full(118, 0.01), rule)
    assert found.expected == pytest.approx(1.18)
    assert (found.low, found.found, found.read, found.unread) == (0, 2, 82, 118)
    assert 1 < found.high < 20
    assert found.recall_low == pytest.approx(2 / (2 + found.high))
    assert str(found.high) in str(found)
    assert remaining(200, flags("11" + "0" * 80), np.full(118, 1.0), rule).expected == found.high
    assert remaining(2, flags("00"), np.zeros(0), rule).recall_low == 1.0
    assert "unknown" in str(remaining(9, flags("1"), None, rule))
    assert remaining(200, flags("11" + "0" * 80), None, rule, Silence(118, 0)).high == 118
