"""Probes of PyTerrier, of what runs without Terrier itself: that is a Java archive, fetched at the first use."""

import pandas as pd
import pyterrier as pt

RESULTS = pd.DataFrame(
    [["1", "heart", "a", 2.0, 0], ["1", "heart", "b", 1.0, 1]], columns=["qid", "query", "docno", "score", "rank"]
)
TOPICS = RESULTS[["qid", "query"]].drop_duplicates()
QRELS = pd.DataFrame([["1", "a", 1]], columns=["qid", "docno", "label"])


def pipelines() -> None:
    pipeline = pt.Transformer.from_df(RESULTS) >> pt.apply.doc_score(lambda row: -row["score"]) % 1
    assert list(pipeline(TOPICS)["docno"]) == ["b"]


def fusion() -> None:
    one = pt.Transformer.from_df(RESULTS)
    assert len((one + one)(TOPICS)) == 2


def measures() -> None:
    found = pt.Experiment([pt.Transformer.from_df(RESULTS)], TOPICS, QRELS, ["map"])
    assert found["map"][0] == 1.0


def significance() -> None:
    two = [["1", "heart", "a", 2.0, 0], ["2", "liver", "a", 1.0, 0]]
    run = pd.DataFrame(two, columns=RESULTS.columns)
    other = run.assign(docno=["b", "b"])
    qrels = pd.DataFrame([["1", "a", 1], ["2", "b", 1]], columns=QRELS.columns)
    systems = [pt.Transformer.from_df(run), pt.Transformer.from_df(other)]
    found = pt.Experiment(systems, run[["qid", "query"]], qrels, ["map"], baseline=0)
    assert "map p-value" in found.columns
