"""Score(d, q) by its formula, thresholds, k-anonymity, titles; what is written and read again."""

import math

import numpy as np
import pytest

from clicks.conftest import click, query
from germane.clicks import Pair, PairRules, PositionCurve, observe, read_pairs, write_pairs
from germane.clicks.attraction import attraction_prior
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
    return PositionCurve(np.array(THETA), 0)


@pytest.fixture
def observed(history):
    with observe(history(log()), memory_mb=256, threads=1) as found:
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


def test_the_score_by_a_learnt_prior(observed, curve, tmp_path):
    """As Bayes' rule has it in plain Python, with the same steps of examinations."""
    pairs = {("copper", "a"): (2, 6.0), ("copper", "b"): (3, 3.0), ("copper", "c"): (1, 1.5), ("liver", "c"): (1, 2.0),
             ("liver", "b"): (0, 1.0)}  # fmt: skip
    clicks, examined = (np.array(each) for each in zip(*pairs.values(), strict=True))
    stepped = np.exp((np.floor(16 * np.log(examined)) + 0.5) / 16)
    prior = attraction_prior(clicks, stepped, np.ones(5))
    posterior = prior.posterior(clicks, examined)
    expected = dict(zip(pairs, posterior @ prior.levels, strict=True))
    write_pairs(observed, tmp_path / "p.jsonl", PairRules(min_users=1, threshold=0.0), curve=curve)
    found = {(p.query, p.title[-1]): p.weight for p in read_pairs(tmp_path / "p.jsonl")}
    assert found == pytest.approx({pair: score for pair, score in expected.items() if pair != ("liver", "b")})
    # Kept is what is above the mean rate with enough probability.
    sure = posterior[:, prior.levels > clicks.sum() / examined.sum()].sum(axis=1)
    for certainty in (0.0, 0.5, 0.8, 0.99):
        rules = PairRules(min_users=1, certainty=certainty)
        write_pairs(observed, tmp_path / "p.jsonl", rules, curve=curve)
        kept = {(p.query, p.title[-1]) for p in read_pairs(tmp_path / "p.jsonl")}
        assert kept == {pair for pair, p in zip(pairs, sure, strict=True) if p > certainty and pairs[pair][0]}


def test_so_many_clicks_that_the_prior_does_not_matter(observed, curve, tmp_path):
    """No level is near enough to what ten million clicks say: the likelihoods of all are 0 in floating point."""
    observed.connection.execute("INSERT INTO coded_cells SELECT query, object, 1, 70000000, 10000000 FROM coded_cells")
    report = write_pairs(observed, tmp_path / "p.jsonl", PairRules(min_users=1, threshold=0.0), curve=curve)
    assert report.pairs == 5
    assert [pair.weight for pair in read_pairs(tmp_path / "p.jsonl")] == pytest.approx([1 / 7] * 5, rel=1e-4)


def test_the_prior_of_planted_levels():
    """Pairs of three levels, few examinations each: the shares come back, and scores are nearer to the truth."""
    rng = np.random.default_rng(3)
    gamma = rng.choice([0.1, 0.4, 0.9], size=4_000, p=[0.7, 0.2, 0.1])
    examined = rng.uniform(2.0, 30.0, size=len(gamma))
    clicks = rng.poisson(gamma * examined)
    prior = attraction_prior(clicks, examined, np.ones(len(gamma)))
    assert prior.shares.sum() == pytest.approx(1.0)
    for below, share in ((0.04, 0.0), (0.2, 0.7), (0.6, 0.9), (1.3, 1.0)):
        assert prior.shares[prior.levels < below].sum() == pytest.approx(share, abs=0.04)
    scores = prior.posterior(clicks, examined) @ prior.levels
    mean = clicks.sum() / examined.sum()
    for m in (0.0, 1.0, 3.0, 10.0, 30.0):
        smoothed = (clicks + m * mean) / (examined + m)
        assert ((scores - gamma) ** 2).mean() < ((smoothed - gamma) ** 2).mean()


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
    with observe(history([query("q", "2026-01-01", "copper", ["a"])]), memory_mb=256, threads=1) as found:
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
    for wrong in ({"min_users": 0}, {"prior_weight": -1.0}, {"certainty": 1.0}, {"threshold": math.nan}):
        with pytest.raises(ParameterError):
            PairRules(**wrong)
