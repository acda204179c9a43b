"""Records of the same work, by identifiers and by titles, against all pairs compared one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.data.duplicates import SHORT, find_duplicates
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
