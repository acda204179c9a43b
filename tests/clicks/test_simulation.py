"""The simulator's log has the truth that it tells, and the whole road from it to pairs finds that truth again."""

import json
from collections import Counter

import numpy as np
import pytest

from germane.clicks import (
    ClickModel,
    ClickStore,
    PairRules,
    click_stats,
    observe,
    read_pairs,
    simulate_log,
    write_pairs,
)
from germane.errors import InputError, ParameterError
from germane.types import Document, Judgement, Topic

DOCUMENTS = [Document(f"d{i}", {"title": f"Title {i}", "text": "words"}) for i in range(120)]
TOPICS = [Topic(f"t{i}", f"query number {'abcdefghijkl'[i]}") for i in range(12)]
JUDGEMENTS = [Judgement(f"t{i}", f"d{10 * i + j}", j % 4) for i in range(12) for j in range(10)]


def simulated(folder, **settings):
    return simulate_log(DOCUMENTS, TOPICS, JUDGEMENTS, folder, **settings)


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_log_is_what_it_is_said_to_be(tmp_path):
    found = simulated(tmp_path, searches=3000, users=60, robots=0.05, repeats=0.1, days=3)
    queries, events = rows(tmp_path / "ubi_queries.jsonl"), rows(tmp_path / "ubi_events.jsonl")
    assert (len(queries), len(events)) == (found.searches, found.clicks) == (3000 + 3 * 20, found.clicks)
    hits = {row["query_id"]: row for row in queries}
    for event in events:
        row = hits[event["query_id"]]
        place = event["event_attributes"]["position"]["ordinal"]
        assert row["query_response_hit_ids"][place - 1] == event["event_attributes"]["object"]["object_id"]
        assert event["timestamp"] > row["timestamp"]
        assert event["client_id"] == row["client_id"]
    assert all(len(set(row["query_response_hit_ids"])) == 10 for row in queries)
    often = sorted(Counter(row["user_query"] for row in queries).values(), reverse=True)
    ranks = np.arange(1, 13)
    assert np.array(often) / len(queries) == pytest.approx((1 / ranks) / (1 / ranks).sum(), abs=0.03)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["curve"] == pytest.approx(1 / np.arange(1, 11))
    assert len(truth["robot_names"]) == 3


def test_the_same_state_makes_the_same_bytes(tmp_path):
    for name, state in (("a", 1), ("b", 1), ("c", 2)):
        simulated(tmp_path / name, searches=200, users=20, random_state=state)
    texts = [(tmp_path / name / "ubi_events.jsonl").read_bytes() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_clicks_are_as_likely_as_the_model_says():
    rng = np.random.default_rng(0)
    attraction = np.tile([0.9, 0.3, 0.6], (60_000, 1))
    clicked, examined = ClickModel(eta=0.5).clicks(attraction, rng)
    theta = np.arange(1, 4) ** -0.5
    assert examined.mean(axis=0) == pytest.approx(theta, abs=0.01)
    assert clicked.mean(axis=0) == pytest.approx(theta * attraction[0], abs=0.01)
    clicked, examined = ClickModel("cascade", satisfaction=0.5, persistence=0.8).clicks(attraction, rng)
    expected = [1.0]
    for gamma in (0.9, 0.3):
        expected.append(expected[-1] * (1 - gamma * 0.5 * gamma) * 0.8)
    assert examined.mean(axis=0) == pytest.approx(expected, abs=0.01)
    assert clicked.mean(axis=0) == pytest.approx(np.array(expected) * attraction[0], abs=0.01)
    assert (clicked <= examined).all()


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """A log of many searches, its history, and the truth.

    θ_k = k^-0.5 leaves some thousand clicks at every position: a steeper curve is known no better than 3 % at the tenth
    from so many searches, by chance alone.
    """
    folder = tmp_path_factory.mktemp("known")
    settings = {"searches": 80_000, "users": 2000, "robots": 0.01, "ranker": 2.0, "format": "parquet"}
    truth = simulated(folder / "log", model=ClickModel(eta=0.5), **settings)
    store = ClickStore.create(folder / "history")
    store.add(truth.files, memory_mb=512, threads=2)
    return store, truth, folder


@pytest.mark.slow
def test_the_truth_is_found_again(known):
    """Every robot and repetition is removed, nothing else, and both curves are within 5 % of the planted one."""
    store, truth, _ = known
    with observe(store, memory_mb=512, threads=2) as found:
        stats = click_stats(store, found)
    assert stats.searches == truth.searches
    assert stats.dropped["searches"] == {"a robot": truth.robot_searches}
    assert stats.robots == truth.robots
    assert stats.dropped["clicks"] == {"a robot": 10 * truth.robot_searches, "clicked again": truth.repeated_clicks}
    assert stats.users == truth.users
    for name in ("theta", "theta_by_ratios"):
        theta = np.array([getattr(point, name) for point in stats.curve])
        assert np.abs(theta / np.array(truth.curve) - 1).max() < 0.05


@pytest.mark.slow
def test_debiased_weights_are_the_attraction(known):
    """The weights of debiased pairs order results as the truth does, and better than raw click-through does."""
    store, truth, folder = known
    gains = {}
    with observe(store, memory_mb=512, threads=2) as found:
        for debias in (True, False):
            path = folder / f"{debias}.tsv"
            write_pairs(found, path, PairRules(threshold=0.0, debias=debias))
            pairs = list(read_pairs(path))
            title = {document.id: document.fields["title"] for document in DOCUMENTS}
            gamma = {(words, title[name]): value for (words, name), value in truth.attraction.items()}
            error = [abs(pair.weight - gamma[pair.query, pair.title]) for pair in pairs]
            gains[debias] = float(np.mean(error))
    assert gains[True] < 0.06
    assert gains[False] > 3 * gains[True]


def test_what_cannot_be_simulated(tmp_path):
    with pytest.raises(InputError, match="no topic has a relevant document"):
        simulate_log(DOCUMENTS, TOPICS, [], tmp_path)
    with pytest.raises(InputError, match="no documents"):
        simulate_log([], TOPICS, JUDGEMENTS, tmp_path)
    for wrong in ({"searches": 0}, {"robots": 2.0}, {"zipf": -1.0}, {"format": "xml"}):
        with pytest.raises(ParameterError):
            simulated(tmp_path, **wrong)
    for wrong in ({"kind": "random"}, {"noise": 2.0}, {"eta": -1.0}, {"curve": (1.0, 0.0)}):
        with pytest.raises(ParameterError):
            ClickModel(**wrong)
    with pytest.raises(ParameterError, match="has 2 positions"):
        simulated(tmp_path, model=ClickModel(curve=(1.0, 0.5)))
