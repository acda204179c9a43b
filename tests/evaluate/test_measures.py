"""Against trec_eval's own values, against each formula written out on small rankings, and what names are taken."""

import gzip
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from germane.errors import InputError, ParameterError
from germane.evaluate import evaluate
from germane.evaluate.measures import parse_measure
from germane.evaluate.measures.names import FAMILIES

GOLDEN = Path(__file__).parent / "fixtures" / "trec_eval" / "cases.jsonl.gz"


def test_equals_trec_eval_on_1000_cases():
    seen = set()
    with gzip.open(GOLDEN, "rt") as lines:
        next(lines)
        cases = [json.loads(line) for line in lines]
    assert len(cases) == 1000
    for number, case in enumerate(cases):
        run = {query: dict(ranking) for query, ranking in case["run"].items()}
        if not case["values"]:
            with pytest.raises(InputError, match="no query of the run is judged"):
                evaluate(run, case["qrels"], ["AP"])
            continue
        names = list(next(iter(case["values"].values())))
        seen.update(names)
        found = evaluate(run, case["qrels"], names)
        for query, expected in case["values"].items():
            at = found.query_ids.index(query)
            wrong = {name for name, value in expected.items() if not abs(found.values[name][at] - value) <= 1e-9}
            assert not wrong, f"case {number}, query {query}"
    assert len(seen) == 64


def _ranked(scores):
    """trec_eval's order: score descending, then id descending."""
    with np.errstate(over="ignore"):
        return [doc for _, doc in sorted(((np.float32(score), doc) for doc, score in scores.items()), reverse=True)]


def test_literal_formulas(random_case):
    for seed in range(100):
        run, qrels = random_case(seed)
        names = [
            "AP", "nDCG@5", "RR", "RR@3", "P@3", "Rprec", "BEP", "RBP", "RBP(p=0.5,rel=2)@4", "ERR", "ERR@4", "Judged",
            "Judged@4", "nDCG(dcg='exp-log2')@5", "nDCG(gains={0: 1, 1: 5})", "NumRel(rel=2)",
        ]  # fmt: skip
        found = evaluate(run, qrels, names)
        for query, grades in qrels.items():
            ranking = _ranked(run.get(query, {}))
            relevant = [grades.get(doc, 0) > 0 for doc in ranking]
            n_rel = sum(grade > 0 for grade in grades.values())
            precision = [sum(relevant[: r + 1]) / (r + 1) for r in range(len(ranking))]
            ap = sum(p for p, rel in zip(precision, relevant, strict=True) if rel) / n_rel if n_rel else 0.0
            first = relevant.index(True) + 1 if True in relevant else math.inf
            bep = sum(relevant[:n_rel]) / n_rel if n_rel else 0.0
            judged = [doc in grades for doc in ranking]
            expected = {
                "AP": ap,
                "nDCG@5": _ndcg(ranking, grades, 5, lambda grade: grade),
                "RR": 1 / first,
                "RR@3": 1 / first if first <= 3 else 0.0,
                "P@3": sum(relevant[:3]) / 3,
                "Rprec": bep,
                "BEP": bep,
                "RBP": 0.2 * sum(0.8**i for i, rel in enumerate(relevant) if rel),
                "RBP(p=0.5,rel=2)@4": 0.5 * sum(0.5**i for i, doc in enumerate(ranking[:4]) if grades.get(doc, 0) > 1),
                "ERR": _err(ranking, grades),
                "ERR@4": _err(ranking[:4], grades),
                "nDCG(dcg='exp-log2')@5": _ndcg(ranking, grades, 5, lambda grade: 2**grade - 1),
                "nDCG(gains={0: 1, 1: 5})": _ndcg(ranking, grades, None, lambda grade: {0: 1, 1: 5}.get(grade, grade)),
                "Judged": sum(judged) / len(judged) if judged else 0.0,
                "Judged@4": sum(judged[:4]) / len(judged[:4]) if judged else 0.0,
                "NumRel(rel=2)": sum(grade >= 2 for grade in grades.values()),
            }
            assert {name: found.per_query(name)[query] for name in names} == pytest.approx(expected, abs=1e-9)


def _ndcg(ranking, grades, depth, gain):
    gains = [max(gain(grades[doc]), 0) if doc in grades else 0 for doc in ranking]
    ideal = sorted((max(gain(grade), 0) for grade in grades.values()), reverse=True)
    dcg, best = (sum(g / math.log2(i + 2) for i, g in enumerate(row[:depth])) for row in (gains, ideal))
    return dcg / best if best else 0.0


def _err(ranking, grades):
    total, arrives = 0.0, 1.0
    for rank, doc in enumerate(ranking, 1):
        stops = (2 ** max(grades.get(doc, 0), 0) - 1) / 16
        total += arrives * stops / rank
        arrives *= 1 - stops
    return total


def test_leaving_out_unjudged_documents_is_ranking_the_judged_ones(random_case):
    names = [
        "AP", "AP@3", "P@3", "R@3", "RR", "Rprec", "Success@1", "nDCG", "nDCG@3", "SetP", "SetF", "SetAP", "SetRelP",
        "IPrec@0.5",
    ]  # fmt: skip
    for seed in range(50):
        run, qrels = random_case(seed)
        judged = {q: {d: s for d, s in run[q].items() if qrels[q].get(d, -1) >= 0} for q in run if q in qrels}
        only = [f"{base}(judged_only=True){at}" for base, at in (_split(name) for name in names)]
        whole, left = evaluate(run, qrels, only), evaluate(judged, qrels, names)
        for a, b in zip(only, names, strict=True):
            np.testing.assert_allclose(whole.values[a], left.values[b], rtol=0, atol=1e-12, err_msg=b)


def _split(name):
    base, at, value = name.partition("@")
    return base, at + value


def test_equal_scores_go_by_name_descending():
    qrels = {"q": {"b": 1}}
    assert evaluate({"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, qrels, ["RR"])["RR"] == 1 / 2
    assert evaluate({"q": {"a": 1.0, "b": 1.0 + 1e-12, "c": 1.0}}, qrels, ["RR"])["RR"] == 1 / 2  # single precision
    assert evaluate({"q": {"b": 0.0, "c": -0.0}}, qrels, ["RR"])["RR"] == 1 / 2
    assert evaluate({"q": {"b": 1e300, "c": math.inf}}, qrels, ["RR"])["RR"] == 1 / 2
    assert evaluate({"q": {"b": -1.0, "c": -2.0, "é": -1.0}}, qrels, ["RR"])["RR"] == 1 / 2
    assert evaluate({"p": {"b": 1.0}, "q": {"b": 1}}, {"p": {"b": 1}, **qrels}, ["RR"])["RR"] == 1  # not across queries


def test_micro_break_even_weighs_by_relevant_documents():
    qrels = {"a": {"1": 1, "2": 1, "3": 1}, "b": {"1": 1}}
    run = {"a": {"1": 3.0, "2": 2.0, "9": 1.0}, "b": {"2": 1.0}}
    found = evaluate(run, qrels, ["BEP", "macroBEP", "microBEP"])
    assert found["BEP"] == found["macroBEP"] == pytest.approx((2 / 3 + 0) / 2)
    assert found["microBEP"] == pytest.approx((3 * 2 / 3 + 1 * 0) / 4)


def test_geometric_means():
    found = evaluate({"a": {"1": 1.0}, "b": {"2": 1.0}}, {"a": {"1": 1}, "b": {"1": 1}}, ["gm_map", "gm_bpref", "map"])
    assert found["gm_map"] == found["gm_bpref"] == pytest.approx(math.sqrt(1.0 * 0.00001))
    assert found["map"] == 0.5


def test_work_saved_of_a_run():
    qrels = {"a": {"1": 1, "4": 1}, "b": {"1": 0}}
    run = {"a": {"1": 4.0, "2": 3.0, "3": 2.0}}
    found = evaluate(run, qrels, ["WSS@95", "WSS@50"])
    assert found.per_query("WSS@95")["a"] == pytest.approx(0 - 0.05)  # document 4 is not ranked: read last
    assert found.per_query("WSS@50")["a"] == pytest.approx(3 / 4 - 0.5)
    assert math.isnan(found.per_query("WSS@95")["b"])
    assert found["WSS@50"] == pytest.approx(0.25)


def test_a_missing_query_counts_as_an_empty_ranking():
    found = evaluate(
        {"a": {"1": 1.0}}, {"a": {"1": 1}, "b": {"1": 1, "2": 1}, "c": {}}, ["AP", "NumRel", "NumQ", "P@1"]
    )
    assert found["AP"] == found["P@1"] == pytest.approx(1 / 3)
    assert found["NumRel"] == 3
    assert found["NumQ"] == 3


def test_only_negative_grades():
    names = ["nDCG", "nDCG@5", "AP", "Bpref", "P@1", "infAP", "IPrec@0.0", "SetF", "ERR", "nDCG(gains={-1: -2})"]
    found = evaluate({"a": {"1": 1.0, "2": 0.5}}, {"a": {"1": -1, "3": -2}}, names)
    assert dict(found.overall) == dict.fromkeys(names, 0.0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("AP", "map"), ("AP", "MAP"), ("AP@7", "map_cut_7"), ("AP@7", "AP(cutoff=7)"), ("P@5", "P_5"), ("P@5", "P.5"),
        ("P@5", "Precision@5"), ("nDCG", "ndcg"), ("nDCG@10", "ndcg_cut_10"), ("nDCG@10", "NDCG@10"),
        ("RR", "recip_rank"), ("RR@10", "MRR@10"), ("Rprec", "RPrec"), ("Bpref", "bpref"), ("Bpref", "BPref"),
        ("IPrec@0.1", "iprec_at_recall_0.10"), ("IPrec@1.0", "IPrec@1"), ("R@100", "recall_100"), ("R@9", "Recall@9"),
        ("Success@10", "success_10"), ("SetF", "set_F"), ("SetF(beta=0.5)", "set_F_0.5"), ("SetP", "set_P"),
        ("SetR", "set_recall"), ("SetAP", "set_map"), ("SetRelP", "set_relative_P"), ("SetRelP", "SetP(relative=True)"),
        ("NumQ", "num_q"), ("NumRel", "num_rel"), ("NumRet", "num_ret"), ("NumRelRet", "num_rel_ret"),
        ("NumRelRet(rel=2)", "NumRet(rel=2)"),
    ],
)  # fmt: skip
def test_other_names(random_case, ours, theirs):
    run, qrels = random_case(3)
    found = evaluate(run, qrels, [ours, theirs])
    assert found.values[ours].tolist() == found.values[theirs].tolist()
    assert found[ours] == found[theirs]


def test_every_formula_cites_or_states_itself():
    assert all(family.formula.__doc__ for family in FAMILIES.values())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("foo", "there is no measure 'foo'; for example AP"),
        ("P", "'P' is not a measure as ir_measures writes it"),
        ("P@x", "'P@x' is not a measure"),
        ("P@0", "the cutoff of 'P@0' must lie between"),
        ("P_0", "the cutoff of 'P_0' must lie between"),
        ("P@True", "'P@True' is not a measure"),
        ("nDCG@-3", "the cutoff of 'nDCG@-3' must lie between"),
        ("nDCG(rel=2)", "is not a measure"),
        ("nDCG(dcg='log')", "dcg must be 'log2' or 'exp-log2'"),
        ("nDCG(gains={1: 'x'})", "the gains of"),
        ("AP(2)", "is not a measure"),
        ("AP(**{})", "is not a measure"),
        ("AP(rel=0)", "the rel of 'AP(rel=0)' must be 1 or more"),
        ("AP(rel=1.5)", "is not a measure"),
        ("AP@10@3", "is not a measure"),
        ("SetF(beta=-1)", "beta must not be negative"),
        ("RBP(p=1.0)", "p must lie strictly between 0 and 1"),
        ("WSS@high", "'WSS@high' is not a measure"),
        ("__import__('os')", "is not a measure"),
        ("", "is not a measure"),
    ],
)
def test_bad_measures(name, message):
    with pytest.raises(ParameterError, match=message.replace("(", "\\(").replace(")", "\\)")):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 1}}, [name])


def test_bad_input():
    with pytest.raises(InputError, match="no query of the run is judged"):
        evaluate({"x": {"1": 1.0}}, {"a": {"1": 1}}, ["AP"])
    with pytest.raises(InputError, match="no judgements"):
        evaluate({"x": {"1": 1.0}}, {}, ["AP"])
    with pytest.raises(InputError, match="between -1000 and 1000"):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 2_000_000_000}}, ["nDCG"])
    with pytest.raises(InputError, match="whole number"):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 0.5}}, ["nDCG"])
    with pytest.raises(InputError, match="query 'b' has a score that is not a number"):
        evaluate({"a": {"1": 1.0}, "b": {"1": 1.0, "2": math.nan}}, {"a": {"1": 1}, "b": {"1": 1}}, ["nDCG"])
    with pytest.raises(InputError, match="a score must be a number"):
        evaluate({"a": {"1": "high"}}, {"a": {"1": 1}}, ["nDCG"])
    with pytest.raises(InputError, match="grades up to 4"):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 5}}, ["ERR@10"])
    with pytest.raises(ParameterError, match="at least one measure"):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 1}}, [])


def test_arguments_stay_as_they_are():
    run, qrels = {"a": {"1": 1.0}}, {"a": {"1": 1}, "b": {"2": 1}}
    evaluate(run, qrels, ["AP"])
    assert run == {"a": {"1": 1.0}}
    assert qrels == {"a": {"1": 1}, "b": {"2": 1}}


def test_without_ir_measures(monkeypatch, random_case):
    run, qrels = random_case(1)
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)
    parse_measure.cache_clear()
    assert evaluate(run, qrels, ["AP", "nDCG@10"])["AP"] > 0
    with pytest.raises(ParameterError, match=r"no measure 'Compat'; .*pip install 'germane\[measures\]'"):
        evaluate(run, qrels, ["Compat"])
