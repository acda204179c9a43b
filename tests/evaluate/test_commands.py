"""germane evaluate and compare, as typed."""

import json

import pytest
from typer.testing import CliRunner

from germane.cli import program
from germane.evaluate import load_qrels, load_run
from germane.evaluate.fusion import fuse_runs, learn_weights
from germane.evaluate.significance import holm

RUN_A = "q1 Q0 d1 1 2.0 a\nq1 Q0 d9 2 1.0 a\nq2 Q0 d9 1 2.0 a\nq2 Q0 d1 2 1.0 a\n"
RUN_B = "q1\td9\t2\nq1\td1\t1\nq2\td1\t2\n"
QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n"


def invoke(*words: object):
    result = CliRunner().invoke(program(), [str(word) for word in words], env={"COLUMNS": "120"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def files(write):
    return write("a.run", RUN_A), write("b.tsv", RUN_B), write("qrels.txt", QRELS)


def test_evaluate(files):
    a, _, qrels = files
    result = invoke("evaluate", a, qrels, "-m", "AP", "RR@10")
    assert result.exit_code == 0
    assert result.stdout.split() == ["query", "AP", "RR@10", "all", "0.5000", "0.5000"]
    assert "1 of 3 judged queries are not in the run" in result.stderr
    found = json.loads(invoke("evaluate", a, qrels, "-m", "AP,P@1", "--json", "--by-query").stdout)
    assert found["measures"] == {"AP": 0.5, "P@1": pytest.approx(1 / 3)}
    assert found["queries"]["q2"] == {"AP": 0.5, "P@1": 0.0}
    rows = invoke("evaluate", a, qrels, "-m", "AP", "--tsv", "--by-query").stdout.splitlines()
    assert rows == ["query_id\tAP", "q1\t1.0", "q2\t0.5", "q3\t0.0", "all\t0.5"]
    assert invoke("evaluate", a, qrels, "-m", "AP", "--trec").stdout.split() == ["AP", "all", "0.5000"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m", "Fancy"], "there is no measure 'Fancy'"),
        (["--json", "--tsv"], "choose one of --json, --tsv"),
        (["-m", "P@0"], "cutoff"),
    ],
)
def test_evaluate_refuses(files, words, message):
    result = invoke("evaluate", files[0], files[2], *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


def test_bad_files(files, write):
    a, _, qrels = files
    result = invoke("evaluate", write("empty", ""), qrels)
    assert (result.exit_code, "holds no ranked documents" in result.stderr) == (2, True)
    result = invoke("evaluate", a, write("bad", "q1 0 d1 x\n"))
    assert "line 1, field 'grade'" in result.stderr
    result = invoke("evaluate", a, write("other", "z 0 d1 1\n"))
    assert "no query of the run is judged" in result.stderr


def test_compare(files, write, tmp_path):
    a, b, qrels = files
    topics = write("queries.tsv", "q1\twing flutter\nq2\theat\n")
    drawing = tmp_path / "d.png"
    result = invoke("compare", a, b, qrels, "-m", "AP", "P@1", "--topics", topics, "--plot", drawing)
    assert result.exit_code == 0
    assert drawing.exists()
    assert "heat" in result.stdout
    assert "p wilcoxon" in result.stdout
    found = json.loads(invoke("compare", a, b, qrels, "-m", "AP", "--json").stdout)
    assert (found[0]["wins"], found[0]["losses"], found[0]["ties"]) == (1, 1, 1)
    assert found[0]["worst"][0]["query_id"] == "q2"
    header, row = invoke("compare", a, b, qrels, "-m", "AP", "--tsv").stdout.splitlines()
    assert len(header.split("\t")) == len(row.split("\t"))
    assert all(float(cell) is not None for cell in row.split("\t")[1:])  # plain numbers
    assert "alternative is one of" in invoke("compare", a, b, qrels, "--alternative", "both").stderr


def test_trec_evals_names_everywhere(files, write):
    a, b, qrels = files
    ours = json.loads(invoke("evaluate", a, qrels, "-m", "AP", "nDCG@10", "RR", "P@5", "P@10", "--json").stdout)
    theirs = json.loads(invoke("evaluate", a, qrels, "-m", "map,ndcg_cut_10", "recip_rank", "P.5,10", "--json").stdout)
    assert [*theirs["measures"]] == ["map", "ndcg_cut_10", "recip_rank", "P.5", "P.10"]
    assert [*theirs["measures"].values()] == [*ours["measures"].values()]
    official = invoke("evaluate", a, qrels, "-m", "official", "--trec").stdout.splitlines()
    assert [line.split()[0] for line in official][:6] == ["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"]
    assert official[-1].split()[:2] == ["P_1000", "all"]
    found = json.loads(invoke("compare", a, b, qrels, "-m", "map", "P_1", "--json").stdout)
    assert [one["measure"] for one in found] == ["map", "P_1"]
    learnt = invoke("fuse", a, b, "--method", "combsum", "--learn", qrels, "-m", "recip_rank", "--out", a.parent / "f")
    assert "recip_rank over queries that had no say" in learnt.stderr


@pytest.mark.parametrize(
    ("words", "beginning"),
    [
        (["--format", "latex"], r"\begin{tabular}{lrr}"),
        (["--format", "markdown"], "| query | "),
        (["--format", "tsv"], "query_id\tAP\tndcg_cut_10"),
        (["--format", "json"], '{"measures":{"AP":0.5,'),
        (["--format", "text"], "query"),
        (["--format", "TSV", "--tsv"], "query_id\tAP\t"),
    ],
)
def test_formats_of_evaluate(files, words, beginning):
    result = invoke("evaluate", files[0], files[2], "-m", "AP", "ndcg_cut_10", *words)
    assert result.exit_code == 0
    assert result.stdout.startswith(beginning)


def test_one_format(files):
    result = invoke("evaluate", files[0], files[2], "--format", "latex", "--json")
    assert (result.exit_code, "choose one of --format latex, --json" in result.stderr) == (2, True)
    assert invoke("evaluate", files[0], files[2], "--format", "html").exit_code == 2


def test_formats_of_compare(files):
    a, b, qrels = files
    lines = invoke("compare", a, b, qrels, "-m", "P_1", "--format", "latex").stdout.splitlines()
    assert lines[2].startswith(r"measure & A & B & A-B & low & high & d\_z & wins")
    assert lines[4].startswith(r"P\_1 & \textbf{0.3333} & \textbf{0.3333} & 0.0000 & ")
    lines = invoke("compare", a, b, qrels, "-m", "AP", "--format", "markdown").stdout.splitlines()
    assert lines[2].startswith("| AP      | **0.5000** | **0.5000** |")


def many(write):
    """Three runs of 20 queries: C finds the relevant document at once, A and B at random places."""
    queries = range(20)
    qrels = write("many.txt", "".join(f"q{i} 0 d0 1\n" for i in queries))
    made = []
    for name, place in {"a_1.run": lambda i: i % 7, "b.run": lambda i: i % 5 + 2, "c.run": lambda i: 0}.items():
        lines = [f"q{i} Q0 d{(j - place(i)) % 9} {j + 1} {9 - j} {name}\n" for i in queries for j in range(9)]
        made.append(write(name, "".join(lines)))
    return *made, qrels


def test_any_number_of_runs(write, tmp_path):
    a, b, c, qrels = many(write)
    drawing = tmp_path / "d.png"
    shown = invoke("compare", a, b, c, qrels, "-m", "recip_rank", "P_1", "--plot", drawing)
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[3].split() == ["c", "c.run", "1.0000*", "ab", "1.0000*", "ab"]
    assert drawing.exists()
    found = json.loads(invoke("compare", a, b, c, qrels, "-m", "RR", "--json").stdout)
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [
        ("a_1.run", "b.run"),
        ("a_1.run", "c.run"),
        ("b.run", "c.run"),
    ]
    two = {}
    for x, y in ((a, b), (a, c), (b, c)):
        (one,) = json.loads(invoke("compare", x, y, qrels, "-m", "RR", "--json").stdout)
        two[x.name, y.name] = one
    for pair in found["pairs"]:
        one = two[pair["a"], pair["b"]]
        assert pair["p_value"] == one["tests"]["t"]["p_value"]
        assert pair["difference"] == one["difference"]
    p_values = [pair["p_value"] for pair in found["pairs"]]
    assert [pair["p_holm"] for pair in found["pairs"]] == holm(p_values).tolist()
    header, *rows = invoke("compare", a, b, c, qrels, "-m", "RR", "--tsv").stdout.splitlines()
    assert [row.split("\t")[:3] for row in rows] == [["RR", pair["a"], pair["b"]] for pair in found["pairs"]]
    assert float(rows[0].split("\t")[-1]) == found["pairs"][0]["p_holm"]
    assert header.split("\t")[-2:] == ["p t", "p (Holm)"]
    latex = invoke("compare", a, b, c, qrels, "-m", "P_1", "--baseline", "a_1", "--format", "latex").stdout
    assert r"a & a\_1.run (baseline) & " in latex
    assert r"c & c.run & \textbf{1.0000}$^{a}$ \\" in latex
    assert r"letters: significantly better than those runs (p t \textless{} 0.05, Holm)" in latex.splitlines()[-1]
    against = json.loads(invoke("compare", a, b, c, qrels, "--baseline", c, "--test", "sign", "--json").stdout)
    assert (against["test"], against["baseline"]) == ("sign", "c.run")
    assert {pair["b"] for pair in against["pairs"]} == {"c.run"}
    assert [*against["runs"]] == ["a_1.run", "b.run", "c.run"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (lambda a, b, c, q: [a, b], "two runs and the judgements are wanted"),
        (lambda a, b, c, q: [a, q, "-m", "AP", "RR"], "there are 2 names of files"),
        (lambda a, b, c, q: [a, b, a, q], "none may be given twice"),
        (lambda a, b, c, q: [a, b, c, q, "--baseline", "d"], "--baseline is one of the runs: a_1.run, b.run, c.run"),
        (lambda a, b, c, q: [a, b, c, q, "--test", "z"], "there is no test 'z'"),
        (lambda a, b, c, q: [a, b, q, "-m", "AP", "Fancy"], "Fancy"),
        (lambda a, b, c, q: [a, b, q, "-m", "Fancy"], "there is no measure 'Fancy'"),
    ],
)
def test_compare_refuses(write, words, message):
    result = invoke("compare", *words(*many(write)))
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_fuse(write, tmp_path):
    a, b, c, qrels = many(write)
    out = tmp_path / "fused.run"
    result = invoke("fuse", a, b, "--method", "rrf", "--out", out, "--tag", "both")
    assert result.exit_code == 0, result.stderr
    assert "2 runs fused over 20 queries" in result.stderr
    assert load_run(out) == fuse_runs([load_run(a), load_run(b)])
    assert out.read_text().splitlines()[0].endswith(" both")
    printed = invoke(
        "fuse", a, b, c, "--method", "combmnz", "--normalise", "sum", "--weights", "1,0,0.5", "-k", "3"
    ).stdout
    expected = fuse_runs([load_run(x) for x in (a, b, c)], "combmnz", normalise="sum", weights=[1, 0, 0.5], depth=3)
    assert [tuple(line.split()[:3:2]) for line in printed.splitlines()] == [row[:2] for row in expected.rows()]
    invoke("fuse", a, b, "--rank-constant", "1", "--out", out)
    assert load_run(out) == fuse_runs([load_run(a), load_run(b)], k=1)
    learnt = invoke("fuse", b, c, "--method", "combsum", "--learn", qrels, "--folds", "4", "--seed", "3", "--out", out)
    assert learnt.exit_code == 0
    found = learn_weights([load_run(b), load_run(c)], load_qrels(qrels), folds=4, random_state=3)
    assert load_run(out) == found.run
    assert f"{found.validation.mean:.4f}" in learnt.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--weights", "1,x"], "--weights wants numbers"),
        (["--weights", "1"], "2 rankings need 2 weights"),
        (["--weights", "1,1", "--learn", "q"], "choose one of --learn and --weights"),
        (["--method", "borda"], "there is no fusion 'borda'"),
        (["--normalise", "sum"], "nothing to normalise"),
        (["-k", "0"], "-k must be at least 1"),
    ],
)
def test_fuse_refuses(files, words, message):
    result = invoke("fuse", files[0], files[1], *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "two runs at least" in invoke("fuse", files[0]).stderr
