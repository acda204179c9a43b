"""Against pytrec_eval and ir_measures themselves, on machines that have wheels for them (docs/dependencies.md)."""

import warnings

import numpy as np
import pytest

from germane.errors import ParameterError
from germane.evaluate import evaluate

# Interpolated precision is compared where trec_eval 9.0.8 and the older trec_eval in pytrec_eval agree for every R.
NAMES = {
    "AP": "map", "AP@5": "map_cut_5", "nDCG": "ndcg", "nDCG@10": "ndcg_cut_10", "P@5": "P_5", "P@10": "P_10",
    "R@10": "recall_10", "RR": "recip_rank", "Rprec": "Rprec", "Bpref": "bpref", "Success@1": "success_1",
    "infAP": "infAP", "SetP": "set_P", "SetRelP": "set_relative_P", "SetR": "set_recall", "SetF": "set_F",
    "SetAP": "set_map", "IPrec@0.0": "iprec_at_recall_0.00", "IPrec@0.5": "iprec_at_recall_0.50",
    "IPrec@1.0": "iprec_at_recall_1.00", "NumRet": "num_ret", "NumRelRet": "num_rel_ret",
}  # fmt: skip
JUDGED_ONLY = ["AP", "AP@5", "P@5", "R@10", "RR", "Rprec", "Success@1", "SetP", "SetRelP", "SetF", "SetAP", "nDCG@10"]


def test_equals_pytrec_eval_on_1000_random_runs(random_case):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for seed in range(1000):
        run, qrels = random_case(seed)
        ours = evaluate(run, qrels, list(NAMES))
        theirs = pytrec_eval.RelevanceEvaluator(qrels, set(NAMES.values())).evaluate(run)
        assert ours.query_ids == tuple(qrels)
        expected = np.array(
            [[theirs[query][trec] if query in run else 0.0 for query in qrels] for trec in NAMES.values()]
        )
        found = np.array([ours.values[name] for name in NAMES])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9, err_msg=f"seed {seed}")
        counts = np.array([name.startswith("Num") for name in NAMES])
        overall = np.where(counts, expected.sum(axis=1), expected.mean(axis=1))
        np.testing.assert_allclose([ours[name] for name in NAMES], overall, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rel", [1, 2, 3])
@pytest.mark.parametrize("judged_only", [False, True])
def test_relevance_levels_and_judged_documents_only(random_case, rel, judged_only):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = {}
    for name in JUDGED_ONLY if judged_only else [*JUDGED_ONLY, "Bpref", "infAP", "SetR"]:
        base, _, cutoff = name.partition("@")
        parameters = ([f"rel={rel}"] if base != "nDCG" else []) + (["judged_only=True"] if judged_only else [])
        names[f"{base}({','.join(parameters)})" + (f"@{cutoff}" if cutoff else "")] = NAMES[name]
    for seed in range(100):
        run, qrels = random_case(seed)
        ours = evaluate(run, qrels, list(names))
        theirs = pytrec_eval.RelevanceEvaluator(
            qrels, set(names.values()), relevance_level=rel, judged_docs_only_flag=judged_only
        ).evaluate(run)
        for query in set(run) & set(qrels):
            at = ours.query_ids.index(query)
            wrong = [name for name, trec in names.items() if abs(ours.values[name][at] - theirs[query][trec]) > 1e-9]
            assert not wrong, f"seed {seed}, query {query}"


def test_geometric_means(random_case):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for seed in range(30):
        run, qrels = random_case(seed)
        both = {query: run[query] for query in run if query in qrels}
        judged = {query: qrels[query] for query in both}
        theirs = pytrec_eval.RelevanceEvaluator(judged, {"gm_map", "gm_bpref"}).evaluate(both)
        for name in ("gm_map", "gm_bpref"):
            mean = pytrec_eval.compute_aggregated_measure(name, [theirs[query][name] for query in both])
            assert evaluate(both, judged, [name])[name] == pytest.approx(mean, rel=1e-9)


def test_gains_as_ir_measures_maps_them(random_case):
    ir_measures = pytest.importorskip("ir_measures")
    name = "nDCG(gains={0: 1, 1: 0, 3: 9})@10"
    for seed in range(30):
        run, qrels = random_case(seed)
        ours = evaluate(run, qrels, [name]).per_query(name)
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(name)], qrels, run):
            assert ours[metric.query_id] == pytest.approx(metric.value, abs=1e-9)


def test_every_name_of_ours_is_one_of_theirs_or_said_to_be_ours():
    ir_measures = pytest.importorskip("ir_measures")
    from germane.evaluate.measures.names import FAMILIES, SYNONYMS

    ours = {"BEP", "macroBEP", "microBEP", "gm_map", "gm_bpref"}
    assert {*FAMILIES, *SYNONYMS} - ours <= ir_measures.measures.registry.keys()


def test_measures_that_only_ir_measures_has():
    pytest.importorskip("ir_measures")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluate({"a": {"1": 1.0, "2": 0.5}}, {"a": {"1": 1}, "b": {"1": 1}}, ["Compat", "AP"])
    assert found.per_query("Compat") == {"a": 1.0, "b": 0.0}
    assert found["AP"] == 0.5
    with pytest.raises(ParameterError, match="ir_measures cannot compute 'alpha_nDCG@10' here"):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 1}}, ["alpha_nDCG@10"])
    with pytest.raises(ParameterError, match="is not a measure as ir_measures writes it"):
        evaluate({"a": {"1": 1.0}}, {"a": {"1": 1}}, ["Compat@3"])
