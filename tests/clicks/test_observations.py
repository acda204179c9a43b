"""What counts as a search, a session, a robot and a click: against plain Python over all rows, and case by case."""

import random
from datetime import datetime, timedelta

import pytest

from clicks.conftest import click, query
from clicks.oracle import seen_in
from germane.clicks import SearchRules, observe

RULES = SearchRules(
    session_gap=20, click_window=40, robot_clicks=9, robot_searches=12, robot_results=15, max_position=6,
    max_query_words=4, min_dwell=3,
)  # fmt: skip
SEEDS = range(8)
WORDS = ["Copper", "liver  brain", "wilson disease", "a b c d e", "caf\u00e9", "cafe\u0301"]


def stamp(time: datetime) -> str:
    return time.isoformat(timespec="microseconds") + "Z"


def random_log(seed: int) -> list[dict]:
    """Searches around two midnights with everything that can be wrong with them. No two rows have one time."""
    rng = random.Random(seed)
    rows: list[dict] = []
    used = set()

    def at(time: datetime) -> str:
        while time in used:
            time += timedelta(microseconds=1)
        used.add(time)
        return stamp(time)

    start = datetime(2026, 3, 1, 20)
    for i in range(60):
        time = start + timedelta(seconds=rng.randrange(52 * 3600))
        if rng.random() < 0.5:  # near midnight
            time = datetime(2026, 3, rng.choice([2, 3])) + timedelta(seconds=rng.randrange(-3000, 3000))
        client = f"c{rng.randrange(6)}"
        hits = rng.sample([f"d{n}" for n in range(9)], rng.randrange(1, 9))
        listed = rng.random() < 0.7
        if rng.random() < 0.05:
            hits.append(hits[0])
        words = rng.choice([*WORDS, *WORDS, "", None])
        rows.append(query(f"q{i}", at(time), words, hits if listed else None, client))
        if rng.random() < 0.05:
            rows.append(query(f"q{i}", at(time + timedelta(seconds=1)), "later words", ["d1"], client))
        session = rng.choice(["", "s1", "s2"])
        logged = rng.random() < 0.4
        if logged:
            for k, hit in enumerate(hits, start=1):
                moment = at(time + timedelta(seconds=rng.random()))
                rows.append(click(f"q{i}", moment, hit, k, client, "impression", session_id=session))
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            k = rng.randrange(len(hits))
            found: str | None = rng.choice([hits[k], hits[k], hits[k], "elsewhere", None])
            position = rng.choice([k + 1, k + 1, k + 1, k + 1, None, 0, -2, k + 2])
            later = timedelta(seconds=rng.choice([rng.random() * 4, rng.random() * 600, 2399, 2401, -3, -60]))
            named = f"q{i}" if rng.random() < 0.93 else f"nowhere{i}"
            action = rng.choice(["click"] * 9 + ["add_to_cart"])
            rows.append(click(named, at(time + later), found, position, client, action, session_id=session))
    rng.shuffle(rows)
    return rows


@pytest.mark.parametrize("seed", SEEDS)
def test_as_plain_python_counts(history, seed):
    rows = random_log(seed)
    expected = seen_in(rows, RULES)
    with observe(history(rows, redact_digits=0), RULES, memory_mb=256, threads=1) as found:
        rows_of = found.connection.execute("SELECT query, object, position, shown, clicked FROM cells").fetchall()
        cells = {tuple(row[:3]): tuple(map(int, row[3:])) for row in rows_of}
        users = dict(found.connection.execute("SELECT query, users FROM query_users").fetchall())
        counts = found.counts
    assert cells == expected.cells
    assert users == {words: len(people) for words, people in expected.users.items()}
    assert counts.searches == sum(expected.searches.values())
    assert counts.kept_searches == expected.searches.pop(None, 0)
    again = counts.dropped_searches.pop("a query id that was there before", 0)
    told = [row["query_id"] for row in rows if "user_query" in row or "query_response_hit_ids" in row]
    assert again == len(told) - len(set(told))
    assert counts.dropped_searches == expected.searches
    assert counts.kept_clicks == expected.clicks.pop(None, 0)
    assert counts.dropped_clicks == expected.clicks
    assert counts.sessions == expected.sessions


def test_the_random_logs_hold_every_case():
    searches, clicks = set(), set()
    for seed in SEEDS:
        found = seen_in(random_log(seed), RULES)
        searches |= found.searches.keys()
        clicks |= found.clicks.keys()
    assert {"a robot", "an empty query", "too many words", "nothing says what was shown"} <= searches
    assert "a list that names a result twice" in searches
    assert {"no search that it belongs to", "before its search", "long after its search", "no object", "no position",
            "not among the results", "position zero or below", "below the last position counted", "left at once",
            "a position that the list of results contradicts", "clicked again"} <= clicks  # fmt: skip


def counted(store, **rules):
    with observe(store, SearchRules(**rules), memory_mb=256, threads=1) as found:
        return found.counts


def test_lists_that_come_again(history):
    """A list is looked through once: on later days, and for other queries, it counts as on the first."""
    rows = [
        query("q1", "2026-01-01T10:00:00Z", "copper", ["a", "b", "c"]),
        query("q2", "2026-01-02T10:00:00Z", "copper", ["a", "b", "c"]),
        query("q3", "2026-01-02T11:00:00Z", "liver", ["a", "b", "c"]),
        query("q4", "2026-01-02T12:00:00Z", "liver", ["b", "a", "c"]),
        query("q5", "2026-01-01T13:00:00Z", "liver", ["a", "a"]),
        query("q6", "2026-01-02T13:00:00Z", "liver", ["a", "a"]),
        click("q2", "2026-01-02T10:00:05Z", "b", 2),
    ]
    with observe(history(rows), SearchRules(max_position=2), memory_mb=256, threads=1) as found:
        cells = found.connection.execute("SELECT * FROM cells ORDER BY ALL").fetchall()
        assert found.counts.dropped_searches == {"a list that names a result twice": 2}
    assert cells == [
        ("copper", "a", 1, 2, 0), ("copper", "b", 2, 2, 1),
        ("liver", "a", 1, 1, 0), ("liver", "a", 2, 1, 0), ("liver", "b", 1, 1, 0), ("liver", "b", 2, 1, 0),
    ]  # fmt: skip


def test_a_user_with_a_great_many_clicks(history):
    """The robot's searches and clicks go, on that day alone; others stay."""
    rows = [query("q1", "2026-01-01T10:00:00Z", "copper", ["a", "b"], "machine")]
    rows += [click("q1", f"2026-01-01T10:{i // 60:02d}:{i % 60:02d}Z", "a", 1, "machine") for i in range(1, 1500)]
    rows += [query("q2", "2026-01-01T11:00:00Z", "copper", ["a", "b"], "person")]
    rows += [click("q2", "2026-01-01T11:00:09Z", "b", 2, "person")]
    rows += [query("q3", "2026-01-02T11:00:00Z", "copper", ["a", "b"], "machine")]
    counts = counted(history(rows))
    assert (counts.robots, counts.kept_searches, counts.kept_clicks) == (1, 2, 1)
    assert counts.dropped_clicks == {"a robot": 1499}


def test_a_flat_log_without_query_ids(tmp_path):
    """The rows of one user, query and day are one search; the results shown are those of the rows."""
    from germane.clicks import ClickStore

    lines = ["when,who,words,item,rank,clicked"]
    for day, who in (("2026-01-01", "u1"), ("2026-01-02", "u1"), ("2026-01-01", "u2")):
        lines += [f"{day} 10:00:0{k},{who},Copper,d{k},{k},{int(k == 2)}" for k in (1, 2, 3)]
    (tmp_path / "flat.csv").write_text("\n".join(lines), encoding="utf-8")
    store = ClickStore.create(tmp_path / "history")
    names = {"time": "when", "user": "who", "query": "words", "object": "item", "position": "rank"}
    report = store.add([tmp_path / "flat.csv"], mapping=names, memory_mb=256, threads=1)
    assert (report.rows, report.events, report.dropped) == (9, 9, {})
    with observe(store, memory_mb=256, threads=1) as found:
        cells = found.connection.execute("SELECT * FROM cells ORDER BY position").fetchall()
        assert cells == [("copper", "d1", 1, 3, 0), ("copper", "d2", 2, 3, 3), ("copper", "d3", 3, 3, 0)]
        assert found.counts.kept_searches == 3
        assert found.one("SELECT users FROM query_users") == (2,)


def test_an_empty_history(tmp_path):
    from germane.clicks import ClickStore, click_stats

    store = ClickStore.create(tmp_path / "history")
    with observe(store, memory_mb=256, threads=1) as found:
        stats = click_stats(store, found)
    assert (stats.days, stats.searches, stats.curve, stats.median_dwell_seconds) == (0, 0, (), None)
    assert stats.to_dict()["coverage"]["searches_with_clicks"] is None


def test_dwell(history):
    rows = [
        query("q1", "2026-01-01T10:00:00Z", "copper", ["a", "b", "c"]),
        click("q1", "2026-01-01T10:00:10Z", "a", 1),
        click("q1", "2026-01-01T10:00:40Z", "b", 2),
        click("q1", "2026-01-01T10:00:41Z", "c", 3),
    ]
    store = history(rows)
    with observe(store, memory_mb=256, threads=1) as found:
        assert found.median_dwell() == 1.0  # of 30 and 1 second; of the last click it is not known
    assert counted(store, min_dwell=2).dropped_clicks == {"left at once": 1}
    assert counted(store, min_dwell=31).dropped_clicks == {"left at once": 2}
