"""Against pytrec_eval on random runs, and against each formula written out on small ones."""

import math

import numpy as np
import pytest
import pytrec_eval

from germane.errors import InputError, ParameterError
from germane.evaluate import evaluate

NAMES = {
    "AP": "map", "AP@5": "map_cut_5", "nDCG": "ndcg", "nDCG@10": "ndcg_cut_10", "P@5": "P_5", "P@10": "P_10",
    "R@10": "recall_10", "RR": "recip_rank", "Rprec": "Rprec", "Bpref": "bpref", "Success@1": "success_1",
    "infAP": "infAP", "SetP": "set_P", "SetR": "set_recall", "SetF": "set_F", "SetAP": "set_map",
    "IPrec@0.5": "iprec_at_recall_0.50", "NumRet": "num_ret", "NumRelRet": "num_rel_ret",
}  # fmt: skip


def test_equals_pytrec_eval_on_1000_random_runs(random_case):
    for seed in range(1000):
        run, qrels = random_case(seed)
        ours = evaluate(run, qrels, list(NAMES))
        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(run)
        assert ours.query_ids == tuple(qrels)
        for name, trec in NAMES.items():
            expected = np.array([theirs[query][trec] if query in run else 0.0 for query in qrels])
            np.testing.assert_allclose(ours.values[name], expected, rtol=0, atol=1e-9, err_msg=f"{seed} {name}")
            total = expected.sum() if name.startswith("Num") else expected.mean()
            assert ours[name] == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_relevance_levels(random_case, rel):
    for seed in range(30):
        run, qrels = random_case(seed)
        ours = evaluate(run, qrels, [f"AP(rel={rel})", f"P(rel={rel})@5", "nDCG"])
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "P_5"}, relevance_level=rel).evaluate(run)
        for query in set(run) & set(qrels):
            assert ours.per_query(f"AP(rel={rel})")[query] == pytest.approx(theirs[query]["map"], abs=1e-9)
            assert ours.per_query(f"P(rel={rel})@5")[query] == pytest.approx(theirs[query]["P_5"], abs=1e-9)


def _ranked(scores):
    """trec_eval's order: score descending, then id descending."""
    return [doc for _, doc in sorted(((np.float32(score), doc) for doc, score in scores.items()), reverse=True)]


def test_literal_formulas(random_case):
    for seed in range(100):
        run, qrels = random_case(seed)
        found = evaluate(run, qrels, ["AP", "nDCG@5", "RR", "RR@3", "P@3", "Rprec", "BEP"])
        for query, grades in qrels.items():
            ranking = _ranked(run.get(query, {}))
            relevant = [grades.get(doc, 0) > 0 for doc in ranking]
            n_rel = sum(grade > 0 for grade in grades.values())
            precision = [sum(relevant[: r + 1]) / (r + 1) for r in range(len(ranking))]
            ap = sum(p for p, rel in zip(precision, relevant, strict=True) if rel) / n_rel if n_rel else 0.0
            gains = [max(grades.get(doc, 0), 0) for doc in ranking]
            ideal = sorted((max(grade, 0) for grade in grades.values()), reverse=True)
            dcg, best = (sum(g / math.log2(i + 2) for i, g in enumerate(row[:5])) for row in (gains, ideal))
            first = relevant.index(True) + 1 if True in relevant else math.inf
            bep = sum(relevant[:n_rel]) / n_rel if n_rel else 0.0
            expected = {
                "AP": ap, "nDCG@5": dcg / best if best else 0.0, "RR": 1 / first,
                "RR@3": 1 / first if first <= 3 else 0.0, "P@3": sum(relevant[:3]) / 3, "Rprec": bep, "BEP": bep,
            }  # fmt: skip
            assert {name: found.per_query(name)[query] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_micro_break_even_weighs_by_relevant_documents():
    qrels = {"a": {"1": 1, "2": 1, "3": 1}, "b": {"1": 1}}
    run = {"a": {"1": 3.0, "2": 2.0, "9": 1.0}, "b": {"2": 1.0}}
    found = evaluate(run, qrels, ["BEP", "microBEP"])
    assert found["BEP"] == pytest.approx((2 / 3 + 0) / 2)
    assert found["microBEP"] == pytest.approx((3 * 2 / 3 + 1 * 0) / 4)


def test_work_saved_of_a_run():
    qrels = {"a": {"1": 1, "4": 1}, "b": {"1": 0}}
    run = {"a": {"1": 4.0, "2": 3.0, "3": 2.0}}
    found = evaluate(run, qrels, ["WSS@95", "WSS@50"])
    assert found.per_query("WSS@95")["a"] == pytest.approx(0 - 0.05)  # document 4 is not ranked: read last
    assert found.per_query("WSS@50")["a"] == pytest.approx(3 / 4 - 0.5)
    assert math.isnan(found.per_query("WSS@95")["b"])
    assert found["WSS@50"] == pytest.approx(0.25)


def test_a_missing_query_counts_as_an_empty_ranking():
    found = evaluate({"a": {"1": 1.0}}, {"a": {"1": 1}, "b": {"1": 1, "2": 1}}, ["AP", "NumRel", "NumQ"])
    assert found["AP"] == 0.5
    assert found["NumRel"] == 3
    assert found["NumQ"] == 2


def test_only_negative_grades():
    found = evaluate({"a": {"1": 1.0, "2": 0.5}}, {"a": {"1": -1, "3": -2}}, ["nDCG", "nDCG@5", "AP", "Bpref", "P@1"])
    assert dict(found.overall) == {"nDCG": 0.0, "nDCG@5": 0.0, "AP": 0.0, "Bpref": 0.0, "P@1": 0.0}


def test_measures_that_only_ir_measures_has():
    found = evaluate({"a": {"1": 1.0, "2": 0.5}}, {"a": {"1": 1}, "b": {"1": 1}}, ["Judged@2"])
    assert found.per_query("Judged@2") == {"a": 0.5, "b": 0.0}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("foo", "there is no measure 'foo'; for example AP"),
        ("P", "'P' is not a measure as ir_measures writes it"),
        ("P@x", "'P@x' is not a measure"),
        ("P@0", "the cutoff of 'P@0' must lie between"),
        ("nDCG@-3", "is not a measure"),
        ("AP@10@3", "is not a measure"),
        ("WSS@high", "'WSS@high' is not a measure"),
        ("NumRel(rel=2)", "ir_measures cannot compute"),
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
    with pytest.raises(ParameterError, match="at least one measure"):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 1}}, [])


def test_arguments_stay_as_they_are():
    run, qrels = {"a": {"1": 1.0}}, {"a": {"1": 1}, "b": {"2": 1}}
    evaluate(run, qrels, ["AP"])
    assert run == {"a": {"1": 1.0}}
    assert qrels == {"a": {"1": 1}, "b": {"2": 1}}
