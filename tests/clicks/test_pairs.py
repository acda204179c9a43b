"""Score(d, q) by its formula, thresholds, k-anonymity, titles; what is written and read again."""

import math

import pytest

from clicks.conftest import click, query
from germane.clicks import Pair, PairRules, PositionCurve, observe, read_pairs, write_pairs
from germane.errors import InputError, ParameterError
from germane.types import Document

THETA = [1.0, 0.5, 0.25]


def log():
    """copper: six people see a, b, c; two click on a, three on b, one on c. liver: two people, one click on c."""
    rows = []
    for i in range(6):
        rows.append(query(f"q{i}", f"2026-01-0{i + 1}T10:00:00Z", "Copper", ["a", "b", "c"], f"c{i}"))
        for found, position, clicked in (("a", 1, i < 2), ("b", 2, i >= 3), ("c", 3, i == 5)):
            if clicked:
                rows.append(click(f"q{i}", f"2026-01-0{i + 1}T10:00:0{position}Z", found, position, f"c{i}"))
    for i in range(2):
        rows.append(query(f"r{i}", f"2026-01-01T1{i}:00:00Z", "liver", ["c", "b"], f"c{i}"))
    rows.append(click("r0", "2026-01-01T10:01:00Z", "c", 1, "c0"))
    return rows


@pytest.fixture
def curve():
    import numpy as np

    return PositionCurve(np.array(THETA), 0)


@pytest.fixture
def observed(history):
    with observe(history(log()), memory=256, threads=1) as found:
        yield found


def test_the_score_by_its_formula(observed, curve, tmp_path):
    examined = {("copper", "a"): 6.0, ("copper", "b"): 3.0, ("copper", "c"): 1.5, ("liver", "c"): 2.0,
                ("liver", "b"): 1.0}  # fmt: skip
    clicks = {("copper", "a"): 2, ("copper", "b"): 3, ("copper", "c"): 1, ("liver", "c"): 1}
    mean = sum(clicks.values()) / sum(examined.values())
    rules = PairRules(min_users=1, prior_weight=4.0, threshold=0.0)
    report = write_pairs(observed, tmp_path / "p.jsonl", rules, curve=curve)
    expected = {
        (words, f"Title of {found}"): (c + 4.0 * mean) / (examined[words, found] + 4.0)
        for (words, found), c in clicks.items()
    }
    assert {(p.query, p.title): p.weight for p in read_pairs(tmp_path / "p.jsonl")} == pytest.approx(expected)
    assert (report.pairs, report.queries, report.titles, report.clicks) == (4, 2, 3, 7)
    assert report.mean_rate == pytest.approx(mean)
    # As they are: clicks over impressions.
    raw = PairRules(min_users=1, prior_weight=0.0, threshold=0.0, debias=False)
    write_pairs(observed, tmp_path / "raw.jsonl", raw, curve=curve)
    found = {(p.query, p.title): p.weight for p in read_pairs(tmp_path / "raw.jsonl")}
    assert found["copper", "Title of b"] == pytest.approx(3 / 6)


def test_what_is_left_out(observed, curve, tmp_path):
    titles = [Document("a", {"title": "  Copper in \n the liver "}), Document("b", {"title": ""})]
    report = write_pairs(
        observed, tmp_path / "p.tsv", PairRules(min_users=3, threshold=0.0), curve=curve, titles=titles
    )
    assert report.dropped == {"a query of fewer than 3 users": 1, "an empty title": 1, "no title is known": 1}
    ((words, title, weight),) = read_pairs(tmp_path / "p.tsv")
    assert (words, title) == ("copper", "Copper in the liver")
    report = write_pairs(observed, tmp_path / "p.tsv", PairRules(min_users=1, min_clicks=2), curve=curve)
    assert report.dropped["fewer than 2 clicks"] == 2
    assert report.threshold == report.mean_rate
    above = write_pairs(observed, tmp_path / "p.tsv", PairRules(min_users=1, threshold=weight), curve=curve)
    assert above.dropped["a score not above the threshold"] >= 1
    assert all(pair.weight > weight for pair in read_pairs(tmp_path / "p.tsv"))


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "tsv"])
def test_written_and_read_again(observed, curve, tmp_path, ending):
    path = tmp_path / f"pairs.{ending}"
    titles = [Document(name, {"title": f'"{name}"\ttab, <b>&amp; caf\u00e9'}) for name in "abc"]
    write_pairs(observed, path, PairRules(min_users=1, threshold=0.0), curve=curve, titles=titles)
    pairs = list(read_pairs(path))
    assert [(pair.query, pair.title[1]) for pair in pairs] == [*(("copper", name) for name in "bca"), ("liver", "c")]
    assert pairs[0].title == '"b" tab, <b>&amp; caf\u00e9'
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_log_without_clicks(history, tmp_path):
    with observe(history([query("q", "2026-01-01", "copper", ["a"])]), memory=256, threads=1) as found:
        report = write_pairs(found, tmp_path / "p.tsv")
    assert (report.pairs, report.mean_rate) == (0, 0.0)
    assert list(read_pairs(tmp_path / "p.tsv")) == []


def test_files_that_are_no_pairs(observed, tmp_path):
    with pytest.raises(ParameterError, match=r"end in \.parquet"):
        write_pairs(observed, tmp_path / "p.xlsx")
    with pytest.raises(InputError, match="end in"):
        read_pairs(tmp_path / "p.txt")
    for name, text, message in (
        ("a.tsv", "query\ttitle\nx\ty\n", "no column 'weight'"),
        ("b.tsv", "query\ttitle\tweight\nx\ty\tmuch\n", "must be a number"),
        ("c.tsv", "query\ttitle\tweight\nx\t\t1\n", "needs a query and a title"),
        ("d.jsonl", '{"query": "x", "title": "y", "weight": -1}\n', "not negative"),
        ("e.jsonl", '{"query": ["x"], "title": "y", "weight": 1}\n', "needs a query"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=message):
            list(read_pairs(tmp_path / name))
    (tmp_path / "good.jsonl").write_text('{"title": "y", "weight": 1, "query": "x", "more": 2}\n')
    assert list(read_pairs(tmp_path / "good.jsonl")) == [Pair("x", "y", 1.0)]
    for wrong in ({"min_users": 0}, {"prior_weight": -1.0}, {"threshold": math.nan}):
        with pytest.raises(ParameterError):
            PairRules(**wrong)
