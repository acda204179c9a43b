"""Synonyms: what is matched, what stands there instead, and the two roads of analysis agreeing."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.errors import IndexFormatError, InputError, ParameterError
from germane.text import Analyzer, BulkAnalyzer, Synonyms, analyzer_from_dict

MESH = Synonyms(
    {
        "heart attack": "myocardial infarction",
        "attack": "assault",
        "heart attack risk": "cardiac hazard",
        "cancer of the lung": "lung neoplasm",
        "aspirin": "acetylsalicylic acid",
        "MI": "myocardial infarction",
    }
)
PLAIN = Analyzer("none", synonyms=MESH)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Heart attack!", "myocardial infarction"),
        ("an attack", "assault"),
        ("heart attack risk", "cardiac hazard"),
        ("heart attack risks", "myocardial infarction risks"),
        ("heart heart attack attack", "heart myocardial infarction assault"),
        ("cancer of lung", "lung neoplasm"),
        ("Cancer in the lung", "lung neoplasm"),
        ("mi, aspirin", "myocardial infarction acetylsalicylic acid"),
        ("heart", "heart"),
        ("", ""),
    ],
)
def test_longest_match_first(text: str, terms: str) -> None:
    assert PLAIN.terms(text) == terms.split()


def test_inflections_are_matched_when_they_are_stemmed() -> None:
    for stemmer in ("english", "lemma"):
        analyzer = Analyzer(stemmer, synonyms=MESH)
        assert analyzer.terms("two heart attacks") == ["two", *analyzer.terms("myocardial infarctions")]


def test_the_preferred_term_is_not_looked_up_again() -> None:
    chain = Analyzer("none", synonyms=Synonyms({"a1": "b1", "b1": "c1"}))
    assert chain.terms("a1 b1") == ["b1", "c1"]


def test_one_token() -> None:
    assert PLAIN.term_of("aspirin") == "acetylsalicylic"
    assert PLAIN.term_of("heart") == "heart"
    assert PLAIN.term_of("the") is None


def test_settings() -> None:
    assert analyzer_from_dict(PLAIN.to_dict()) == PLAIN
    assert hash(PLAIN) == hash(Analyzer("none", synonyms=Synonyms(MESH.pairs)))
    prints = {a.fingerprint for a in (PLAIN, Analyzer("none"), Analyzer("none", synonyms=Synonyms({"a": "b"})))}
    assert len(prints) == 3
    assert "synonyms" not in Analyzer().to_dict()  # indexes made before there were synonyms stay readable
    with pytest.raises(IndexFormatError, match="keys"):
        Analyzer.from_dict({**PLAIN.to_dict(), "more": 1})


WORDS = st.sampled_from("heart attack attacks risk cancer of the lung MI aspirin planet".split())  # noqa: SIM905


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=5))
def test_the_bulk_road_equals_the_analyzer(texts: list[str]) -> None:
    for analyzer in (PLAIN, Analyzer(synonyms=MESH)):
        bulk = BulkAnalyzer(analyzer)
        ids, ends = bulk.analyze(texts)
        starts = [0, *ends.tolist()]
        found = [[bulk.terms[i] for i in ids[a:b]] for a, b in zip(starts, ends.tolist(), strict=False)]
        assert found == [analyzer.terms(text) for text in texts]
        assert bulk.terms == list(dict.fromkeys(term for text in texts for term in analyzer.terms(text)))
        forms, counts = bulk.surfaces()
        assert len(forms) == len(counts) == len(bulk.terms)
        assert all(counts > 0)


def test_surfaces_are_written_forms() -> None:
    bulk = BulkAnalyzer(Analyzer(synonyms=MESH))
    bulk.analyze(["heart attacks", "many infarctions of many infarctions", "planets"])
    assert dict(zip(bulk.terms, bulk.surfaces()[0], strict=True)) == {
        "myocardi": "myocardial", "infarct": "infarctions", "mani": "many", "planet": "planets",
    }  # fmt: skip


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mesh.tsv"
    path.write_text(
        "\ufeff# term\tpreferred\n\nheart  attack\tmyocardial infarction\r\nMI\tmyocardial infarction\n", "utf-8"
    )
    read = Synonyms.read(path)
    assert read.pairs == (("heart attack", "myocardial infarction"), ("MI", "myocardial infarction"))
    assert read.preferred("MI") == "myocardial infarction"
    assert read.preferred("mi") is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no line"),
        (b"one column\n", "line 1: a synonym is a term"),
        (b"a\tb\nc\t\n", "line 2: a synonym needs"),
        (b"a\tb\tc\n", "line 1"),
        (b"a\tb\na\tc\n", "line 2: the term 'a' has the preferred term 'b' already"),
        (b"\xff\xfe\tb", "UTF-8"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=reason):
        Synonyms.read(path)


def test_bad_values() -> None:
    with pytest.raises(ParameterError, match="two preferred terms"):
        Synonyms([("a", "b"), ("a", "c")])
    with pytest.raises(ParameterError, match="nothing but stop words"):
        Analyzer(synonyms=Synonyms({"heart": "the of"}))
    with pytest.raises(ParameterError, match="Synonyms"):
        Analyzer(synonyms={"a": "b"})  # type: ignore[arg-type]
    assert Analyzer(synonyms=Synonyms({"the": "heart"})).terms("the planet") == ["planet"]


def test_readings_join_to_the_terms() -> None:
    """Each occurrence of a term of several words gives its words one reading; what stays has its own."""
    read = PLAIN.readings(["Heart", "attack", "in", "X-ray", "aspirin"])
    assert read == [["myocardial", "infarction"]] * 2 + [[], ["x", "ray"], ["acetylsalicylic", "acid"]]
    assert Analyzer("none").readings(["heart", "the"]) == [["heart"], []]


def test_a_heading_of_stop_words_is_passed_over() -> None:
    assert Analyzer(synonyms=Synonyms({"the": "the", "heart": "cor"})).terms("the heart") == ["cor"]
