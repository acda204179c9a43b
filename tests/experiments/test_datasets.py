"""Data sets by name: found, described and written out."""

import pytest

from germane.errors import InputError, ParameterError
from germane.evaluate import load_qrels
from germane.experiments.datasets import describe, export, locate


@pytest.mark.parametrize("set_to", [None, "here", "nowhere"])
def test_a_missing_data_set_is_one_sentence(tmp_path, monkeypatch, set_to):
    monkeypatch.delenv("GERMANE_DATA", raising=False)
    if set_to:
        (tmp_path / "here").mkdir()
        monkeypatch.setenv("GERMANE_DATA", str(tmp_path / set_to))
    with pytest.raises(InputError, match="'surely-missing' is not here: set GERMANE_DATA to a folder") as caught:
        locate("surely-missing")
    assert "irds:NAME" in str(caught.value)


def test_describe_and_export(tiny, tmp_path):
    facts = describe("tiny")
    assert (facts["documents"], facts["topics"], facts["judged_topics"]) == (40, 8, 6)
    assert facts["grades"] == f"1: {facts['judgements']}"
    for format, name in (("trec", "qrels.txt"), ("tsv", "qrels.tsv"), ("json", "qrels.json")):
        written = export("tiny", tmp_path / format, format)
        assert written[-1].name == name
    assert (
        load_qrels(tmp_path / "trec" / "qrels.txt")
        == load_qrels(tmp_path / "tsv" / "qrels.tsv")
        == load_qrels(tmp_path / "json" / "qrels.json")
        == load_qrels("tiny")
    )
    with pytest.raises(ParameterError, match="trec, tsv, json"):
        export("tiny", tmp_path, "xml")
