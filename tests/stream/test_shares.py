"""Shares in words: counts of few, an interval from ten on; Wilson's interval against his equation, solved by hand."""

import pytest

from germane.stream.responses import TopicResponse
from germane.stream.shares import missed_told, share_told, wilson
from germane.track.missed import Interval

Z = 1.959963984540054


@pytest.mark.parametrize(("n", "of"), [(0, 10), (3, 10), (10, 10), (17, 60), (1, 1_000)])
def test_the_interval_holds_the_shares_from_which_the_sample_is_z_deviations_away(n, of):
    """Both ends solve (n/m - p)² = z²·p(1-p)/m, which is where Wilson's formula comes from."""
    for p in wilson(n, of):
        assert (n / of - p) ** 2 == pytest.approx(Z * Z * p * (1 - p) / of, abs=1e-12)


def test_few_are_counted_and_not_called_a_percentage():
    assert share_told(1.0, 2) == "2 of 2"
    assert share_told(0.0, 0) == "0 of 0"
    assert all("%" not in share_told(n / of, of) for of in range(1, 10) for n in range(of + 1))
    assert share_told(0.3, 10) == "3 of 10 (30%, 95% interval 11% to 60%)"


def test_what_is_missed_is_told_from_ten_judgements_on():
    def topic(on, off):
        return TopicResponse("t", "following", "germane", "", 1.0, 2.0, 9, None, None, 0, on, off, None,
                             Interval(0.25, 0.0, 0.75), None)  # fmt: skip

    assert missed_told(topic(4, 5)) == ""
    assert missed_told(topic(4, 6)) == "25% of the relevant documents (90% interval 0% to 75%)"
