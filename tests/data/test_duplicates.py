"""Records of the same work, by identifiers and by titles, against all pairs compared one by one."""

import os
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.data import duplicates
from germane.data.duplicates import find_duplicates
from germane.data.title_pairs import TitlePairs
from germane.data.works import SHORT, Work, clean_arxiv
from germane.errors import ParameterError
from germane.types import Document


def found(*records, **options):
    documents = [Document(str(place), fields) for place, fields in enumerate(records)]
    return [(one.place, one.kept, one.reason) for one in find_duplicates(documents, **options)]


LONG = "Copper in the liver of patients with Wilson disease"


def test_identifiers():
    assert found({"doi": "10.1000/X"}, {"doi": "https://doi.org/10.1000/x"}, {"doi": "10.1000/y"}) == [(1, 0, "doi")]
    assert found({"pmid": "7"}, {"pmid": "8"}, {"pmid": "7"}) == [(2, 0, "pmid")]
    assert found({"doi": "10.1000/x", "pmid": "7"}, {"pmid": "7"}, {"doi": "10.1000/x"}) == [
        (1, 0, "pmid"), (2, 0, "doi"),
    ]  # fmt: skip


def test_titles():
    accents = "COPPER in the liver of patiénts with Wilson-disease."
    assert found({"title": LONG, "year": 2001}, {"title": accents, "year": "2002 Mar"}) == [(1, 0, "title")]
    assert found({"title": LONG, "year": 2001}, {"title": LONG, "year": 2003}) == []
    assert found({"title": LONG, "year": 2001}, {"title": LONG}) == [(1, 0, "title")]
    assert found({"title": LONG}, {"title": f"{LONG}: a trial"}) == []
    assert found({"title": LONG}, {"title": f"{LONG}: a trial"}, similarity=0.8) == [(1, 0, "title")]
    assert found({"title": LONG, "doi": "10.1000/x"}, {"title": LONG, "doi": "10.1000/y"}) == []
    assert found({"title": LONG, "pmid": "1"}, {"title": LONG, "pmid": "2"}) == []
    with pytest.raises(ParameterError, match="similarity"):
        found(similarity=0.0)


def test_short_titles_need_year_and_author():
    assert found({"title": "Editorial", "year": 2001}, {"title": "Editorial", "year": 2001}) == []
    same = {"title": "Editorial", "year": 2001, "author": ["Smith, A"]}
    assert found(same, same | {"author": ["Smith, Ann", "Jones, B"]}) == [(1, 0, "title")]
    assert found(same, same | {"author": "Jones, B"}) == []
    assert found(same, same | {"year": 2002}) == []
    assert found({"title": ""}, {"title": ""}) == []


def test_a_third_record_joins_no_contradiction():
    one, other = {"title": LONG, "doi": "10.1000/x"}, {"title": LONG, "doi": "10.1000/y"}
    assert found(one, other, {"title": LONG, "text": "abstract"}) == [(0, 2, "title")]


def test_the_record_that_says_most_is_kept():
    bare, rich = {"doi": "10.1000/x"}, {"doi": "10.1000/x", "text": "abstract"}
    many = {"doi": "10.1000/x", "title": "t", "year": 1, "journal": "j"}
    assert [kept for _, kept, _ in found(bare, many, rich, rich)] == [2, 2, 2]
    assert [kept for _, kept, _ in found(bare, many)] == [1]


words = st.lists(st.sampled_from("abcdefgh"), min_size=SHORT, max_size=9).map(" ".join)
records = st.fixed_dictionaries({"title": words}, optional={"year": st.integers(2000, 2003)})


@settings(deadline=None, max_examples=300)
@given(st.lists(records, max_size=12), st.sampled_from([0.5, 0.8, 0.9, 1.0]))
def test_groups_are_those_of_all_pairs(listed, similarity):
    def alike(one, other):
        a, b = (list(record["title"].split()) for record in (one, other))
        both = sum(min(a.count(word), b.count(word)) for word in set(a))
        years = [record["year"] for record in (one, other) if "year" in record]
        return both / (len(a) + len(b) - both) >= similarity and (len(years) < 2 or abs(years[0] - years[1]) <= 1)

    group = list(range(len(listed)))
    for place in range(len(listed)):
        for other in range(place):
            if alike(listed[place], listed[other]):
                old, new = group[place], group[other]
                group = [new if one == old else one for one in group]
    dropped = {place: kept for place, kept, _ in found(*listed, similarity=similarity)}
    assert len(listed) - len(dropped) == len(set(group))
    assert all(group[place] == group[kept] and kept not in dropped for place, kept in dropped.items())


# -- beyond the words --------------------------------------------------------------------------------------------------

SAID = "The copper of the liver was measured in forty patients before and after a year of treatment with zinc acetate."


def test_arxiv_ids():
    one = {"title": "Attention", "arxiv": "1706.03762"}
    assert found(one, {"title": "x", "url": "http://arxiv.org/abs/1706.03762v7"}) == [(1, 0, "arxiv")]
    assert found(one, {"title": "x", "eprint": "arXiv:1706.03762"}) == [(1, 0, "arxiv")]
    assert found(one, {"title": "x", "doi": "10.48550/arXiv.1706.03762"}) == [(1, 0, "arxiv")]
    assert found(one, {"title": "Attention", "arxiv": "1706.03763"}) == []
    for text, clean in [
        ("https://arxiv.org/pdf/2101.00001v3.pdf", "2101.00001"), ("hep-th/9901001v1", "hep-th/9901001"),
        ("math.GT/0309136", "math.gt/0309136"), ("10.1000/1706.03762", ""), ("17063762", ""), ("", ""),
    ]:  # fmt: skip
        assert clean_arxiv(text) == clean


def test_typing_errors_and_spellings():
    for other in (
        "Coper in the livver of patients with Wilson disease", "Copper in the liver of patinets with Wislon disease",
        "Copper in the liver of patients with Wilsondisease",
    ):  # fmt: skip
        assert found({"title": LONG}, {"title": other}) == [(1, 0, "title")]
    assert found({"title": "Oestrogen and the paediatric tumour"}, {"title": "Estrogen and the pediatric tumor"}) == [
        (1, 0, "title")
    ]
    assert found({"title": "TNF-α in the liver of patients"}, {"title": "TNF-alpha in the liver of patients"}) == [
        (1, 0, "title")
    ]
    assert found({"title": LONG}, {"title": LONG.replace("Copper", "Zinc")}) == []
    assert found({"title": LONG}, {"title": "Coper in the liver of patients with Wilson disease"}, similarity=1.0) == []


def test_a_word_that_differs_makes_another_work():
    """However long the title is, unless the abstracts are the same."""
    long = " ".join(f"word{chr(97 + n)}" for n in range(24))
    one, other = {"title": f"{long} hypertension"}, {"title": f"{long} hypotension"}
    assert found(one, other) == []
    assert found(one | {"text": SAID}, other | {"text": SAID}) == [(1, 0, "title")]


def test_subtitles():
    whole, short = {"title": f"{LONG}: a cohort of forty children", "year": 2001}, {"title": LONG, "year": 2001}
    assert found(whole, short) == []  # a title alone is not enough
    assert found(whole | {"author": "Smith, A"}, short | {"author": "Smith A"}) == [(1, 0, "title")]
    assert found(whole | {"author": "Smith, A"}, short | {"author": "Jones, B"}) == []
    assert found(whole | {"text": SAID}, short | {"text": SAID[:70]}) == [(1, 0, "title")]


def test_numbers_notices_and_parts_of_a_series():
    by = {"author": ["Smith, A"], "year": 2001}
    for other in (f"{LONG}. Part 2", f"{LONG}: II", f"Erratum: {LONG}", f"Reply to: {LONG}", f"Comment on {LONG}"):
        assert found({"title": LONG} | by, {"title": other} | by) == [], other
    assert found({"title": f"{LONG}. Part 1"} | by, {"title": f"{LONG}. Part 2"} | by) == []
    assert found({"title": f"{LONG} in 1999"} | by, {"title": f"{LONG} in 2001"} | by) == []


def test_authors_and_abstracts_speak_against_it():
    assert found({"title": LONG, "author": "Smith, Ann"}, {"title": LONG, "author": ["Jones B"]}) == []
    for name in ("Smith A", "A. Smith", "Ann Smith", "SMITH, A.", "Smíth, Ann B", "Smyth, A"):
        assert found({"title": LONG, "author": "Smith, Ann"}, {"title": LONG, "author": name}) == [(1, 0, "title")], (
            name
        )
    other = "Nineteen sheep were followed through winter on grassland that had been manured by hand for several years."
    assert found({"title": LONG, "text": SAID}, {"title": LONG, "text": other}) == []


def test_preprints_stay_apart_from_articles():
    article = {"title": LONG, "author": ["Smith, A"], "year": 2001, "text": SAID}
    for sign in ({"doi": "10.1101/2001.01"}, {"publication_type": ["preprint"]}, {"journal": "medRxiv"},
                 {"arxiv": "2101.00001"}, {"type": "posted-content"}):  # fmt: skip
        assert found(article, article | sign) == [], sign
        assert found(article | sign, {**article, **sign}) != []
    both = article | {"doi": "10.1000/x"}
    assert found(both, both | {"publication_type": ["preprint"]}) == [(0, 1, "doi")]  # an identifier decides


def test_records_of_one_title_are_not_all_compared(monkeypatch):
    """A hundred of those before at most: the time grows with the number of records, not with its square."""
    calls = []
    agree = duplicates.agree
    monkeypatch.setattr(duplicates, "agree", lambda *pair: calls.append(pair) or agree(*pair))
    names = [f"{a * 3}{b * 3}" for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz"]
    assert found(*({"title": "Editorial of the journal", "author": [f"{name}, A"]} for name in names)) == []
    assert len(calls) <= 100 * len(names)


def test_the_outcome_is_the_same_in_every_process():
    """Sets of words have another order in each."""
    code = (
        "import random; from germane.data.duplicates import find_duplicates; from germane.types import Document\n"
        "draw = random.Random(1); words = [f'word{chr(97 + n)}' for n in range(26)]\n"
        "made = [Document(str(n), {'title': ' '.join(draw.sample(words, 9)), 'author': 'Smith', 'year': 2000})\n"
        "        for n in range(300)]\n"
        "print(find_duplicates(made, 0.6))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


@pytest.mark.parametrize("similarity", [0.9, 0.6])
@pytest.mark.parametrize("seed", range(6))
def test_list_by_list_is_as_all_at_once(seed, similarity):
    """Lists compared as they come, in any order, find what the keys of the whole find; with keys that many share."""
    draw = random.Random(seed)
    words = [f"word{chr(97 + n)}{chr(97 + n // 3)}" for n in range(40)]

    def record() -> dict:
        title = draw.choices(words, weights=range(1, 41), k=draw.choice((1, 2, 3, 5, 9, 12)))
        fields = {"title": " ".join(title), "year": draw.choice((2000, 2001, None))}
        fields["author"] = draw.choice(("Smith, A", "Jones, B", ""))
        return fields | draw.choice(
            ({}, {}, {"doi": f"10.1000/{draw.randrange(300)}"}, {"pmid": str(draw.randrange(300))})
        )

    def copy(fields: dict) -> dict:
        title = fields["title"].split()
        place = draw.randrange(len(title))
        title[place] = draw.choice((title[place][:-1] + "q", title[place], draw.choice(words)))
        sub = draw.choice(("", "", ": a trial of it"))
        return {
            **fields,
            "title": " ".join(title) + sub,
            "doi": "",
            "pmid": "",
            "author": draw.choice((fields["author"], "")),
        }

    made = [record() for _ in range(250)]
    made += [copy(draw.choice(made)) for _ in range(250)]
    made += [{"title": f"Report of the committee {words[n % 40]} {words[n // 40]}", "year": 2000} for n in range(130)]
    draw.shuffle(made)
    documents = [Document(str(place), fields) for place, fields in enumerate(made)]
    works = [Work.of(document) for document in documents]
    cuts = [0, *sorted(draw.sample(range(len(made)), 4)), len(made)]
    pairs = TitlePairs(similarity)
    for number in draw.sample(range(5), 5):
        pairs.add(number, works[cuts[number] : cuts[number + 1]])
    agreeing = pairs.pairs(dict(enumerate(cuts)))
    expected = find_duplicates(documents, similarity)
    assert any(one.reason == "title" for one in expected)
    assert find_duplicates(documents, similarity, works, agreeing) == expected
