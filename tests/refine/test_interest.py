"""What is wanted, in words: the literal sums, and what dropping and adding words does to them."""

import numpy as np
import pytest

from germane import Refiner
from germane.errors import ParameterError
from germane.refine.interest import LIFT

TEXTS = [
    "jaguar cars race on the track",
    "the jaguar, a spotted cat of the forest",
    "cats of the forest hunt at night",
    "cars and engines, fast engines",
    "a forest of old trees",
    "the race was won by a car",
    "",
]


def log_odds(found):
    return {result.id: result.log_odds for result in found.results}


def amounts(found, name):
    told = found.explain(name, 1000)
    return {word.term: word.amount for word in (*told.in_favour, *told.against)}


@pytest.fixture
def refiner():
    return Refiner().fit(TEXTS, {"2": True, "4": False})


def test_the_interest_is_the_mean_amount_over_the_wanted(refiner):
    found = refiner.rank()
    wanted = [result.id for result in found.results if result.predicted]
    mean: dict[str, float] = {}
    for name in wanted:
        for term, amount in amounts(found, name).items():
            mean[term] = mean.get(term, 0.0) + amount / len(wanted)
    told = found.interest(1000)
    assert {word.term: pytest.approx(word.amount) for word in told.wanted} == {t: a for t, a in mean.items() if a > 0}
    assert {word.term: pytest.approx(word.amount) for word in told.unwanted} == {
        term: amount for term, amount in amounts(found, "4").items() if amount < 0
    }
    assert [word.amount for word in told.wanted] == sorted((word.amount for word in told.wanted), reverse=True)


def test_a_dropped_word_is_taken_out_of_every_sum(refiner):
    before = refiner.rank()
    after = refiner.edit(dropped=["forests"]).rank()
    for name, score in log_odds(before).items():
        assert log_odds(after)[name] == pytest.approx(score - amounts(before, name).get("forest", 0.0))
    assert "forest" not in [word.term for word in after.interest(1000).wanted]


def test_an_added_word_lifts_what_holds_it(refiner):
    before = refiner.rank()
    after = refiner.edit(added=["engine"]).rank()
    lift = LIFT * float(np.std(list(log_odds(before).values())))
    for name, score in log_odds(before).items():
        assert log_odds(after)[name] == pytest.approx(score + lift * ("engines" in TEXTS[int(name) - 1]))
    assert amounts(after, "4")["engin"] == pytest.approx(amounts(before, "4").get("engin", 0.0) + lift)


def test_a_weighed_word_counts_by_its_factor(refiner):
    before = refiner.rank()
    for factor in (0.0, 0.5, 3.0):
        after = refiner.edit(weighed={"forests": factor}).rank()
        for name, score in log_odds(before).items():
            amount = amounts(before, name).get("forest", 0.0)
            assert log_odds(after)[name] == pytest.approx(score + (factor - 1.0) * amount)
            assert amounts(after, name).get("forest", 0.0) == pytest.approx(factor * amount)
    assert log_odds(refiner.edit(weighed={"forests": 0.0}).rank()) == log_odds(refiner.edit(dropped=["forests"]).rank())
    for wrong in (-0.1, 10.5, float("nan")):
        with pytest.raises(ParameterError, match="factor of 'forests'"):
            refiner.edit(weighed={"forests": wrong})


def test_words_alone_order_a_list_without_marks():
    refiner = Refiner().fit(TEXTS)
    assert refiner.edit(added=["hunting"]).rank().ids[0] == "3"
    assert refiner.edit(dropped=["jaguar"]).rank().ids == [str(n) for n in range(1, 8)]


def test_edits_are_taken_back_to_the_last_bit(refiner):
    before = log_odds(refiner.rank())
    refiner.edit(dropped=["jaguar"], added=["night", "nowhere"]).rank()
    assert log_odds(refiner.edit().rank()) == before
    refiner.edit(added=["night"]).prepare(["another list", "of two"])
    assert refiner.rank().ids == ["1", "2"]


def test_changes_of_some_are_those_of_all(refiner):
    found = refiner.rank()
    every = found.changes()
    some = {every[0].id, every[-1].id}
    assert found.changes(among=some) == [change for change in every if change.id in some]
