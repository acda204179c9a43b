"""A value that does not fit its field costs that value: every feature works on the others."""

import datetime
import io
import json
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from germane.data import read_documents
from germane.data.fields import NumberFields
from germane.data.writing import ENDINGS, WRITABLE, write_documents
from germane.engine import Engine
from germane.rank.scoring.facets import FacetValue
from germane.server.library import PREFERRED
from germane.types import Document

FIELDS = ("title", "text", "year", "date", "journal", "topic", "author", "keywords", "doi", "score", "flag")
TODAY = datetime.date(2026, 1, 1)
ODD = st.one_of(
    st.none(),
    st.sampled_from(["", " ", "in press", "n.d.", "1998?", "-", "0", "٣", "1e999", "NaN", "x" * 300, "a:b\"c'"]),
    st.sampled_from([True, False, 0, -1, 1.5, 2**53 + 1, -(2**63), 1e300, -0.0, 5e-324]),
    st.lists(st.one_of(st.none(), st.text(max_size=4), st.integers(-9, 9), st.floats(-1, 1)), max_size=3),
    st.text(max_size=8).filter(lambda text: "\x00" not in text),
)
"""What may stand in any field, in place of what belongs there."""
DOCUMENTS = st.lists(
    st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=4), min_size=1, max_size=6
)  # fmt: skip


def right(n: int) -> dict:
    """A document whose fields are as they should be."""
    return {
        "title": f"Copper in the liver {n}", "text": f"About copper, part {n}.", "year": 2000 + n,
        "date": f"20{n:02}-05-01", "journal": ("Nature", "Brain")[n % 2], "topic": ("metal", "organ", "metal")[n % 3],
        "author": [f"Author {n}, A."], "keywords": ["copper", f"k{n}"], "doi": f"10.1000/{n}", "score": n / 2,
        "flag": n % 2 == 0,
    }  # fmt: skip


def stream(odd: list[dict]) -> Iterator[dict]:
    """Twelve right documents, and others of which some fields are odd and the rest right."""
    for n in range(12):
        yield {"id": f"r{n}", **right(n)}
    for n, fields in enumerate(odd):
        yield {"id": f"o{n}", **right(n), **fields}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(odd=DOCUMENTS, cuts=st.lists(st.integers(0, 18), max_size=2), deleted=st.booleans())
def test_every_feature_works_on_the_others(odd, cuts, deleted):
    documents = list(stream(odd))
    with Engine.create(":memory:", fields=["title", "text"]) as engine:
        for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(documents)], strict=True):
            engine.add(documents[begin:end])  # as several segments
        if deleted:
            engine.delete(["r0"])
        works_on_the_others(engine)
        engine.merge()
        works_on_the_others(engine)


def works_on_the_others(engine: Engine) -> None:
    """Search, filters, facets, sorting, groups, snippets, priors, suggestions and exports."""
    right_ids = {f"r{n}" for n in range(1, 12)}
    held = engine.stats().documents
    result = engine.search("copper", k=50)
    assert right_ids <= set(result.ids)
    for hit in result:
        assert result.snippet_of(hit.fields).text is not None
    for name in engine.filterable():
        facet = result.facet(name)
        assert facet.missing + facet.other <= held
        if name in ("year", "score"):
            assert all(isinstance(value.value, int | float) for value in facet.values)
            assert sum(value.count for value in facet.values) + facet.missing == len(result.ids)
        for descending in ("", "-"):
            in_order = engine.search("copper", k=50, sort=f"{descending}{name}").ids
            assert set(in_order) == set(result.ids)
            if name in ("year", "score"):
                ours = [each for each in in_order if each in right_ids]
                assert ours == sorted(right_ids, key=lambda each: int(each[1:]), reverse=bool(descending))
        assert engine.search("copper", k=50, group_by=name).ids
    assert {"Nature", "Brain"} <= {value.value for value in result.facet("journal").values}
    assert {f"r{n}" for n in range(3, 6)} <= set(engine.search("copper year:2003..2005", k=50).ids)
    assert {f"r{n}" for n in range(7, 12)} <= set(engine.search("copper year:>2006", k=50).ids)
    assert {"r2", "r4"} <= set(engine.search('copper journal:"Nature"', k=50).ids)
    assert {"r3"} <= set(engine.search("copper date:2003-01..2003-12", k=50).ids)
    assert {"r1"} <= set(engine.search("copper", filter={"doi": "10.1000/1"}).ids)
    for prior in ("field:score", "field:year", "fresh:year:365", "fresh:date:365"):
        assert set(engine.search("copper", k=50, priors=[_prior(prior, engine)]).ids) == set(result.ids)
    assert engine.suggest("coper")
    assert set(engine.search("copper", k=50, feedback="rm3").ids)
    for unreadable in engine.unreadable().values():
        assert 0 < unreadable < held
    for format in WRITABLE:
        target = io.StringIO()
        assert write_documents(target, engine.documents(), format) == held


NAMES = (
    *FIELDS, "pmid", "PMID", "key", "accession", "type", "TY", "ER", "TI", "N1", "pages", "url", "note", "annote",
    "language", "record_format", "record_tags", "a b", "=",
)  # fmt: skip
"""Names that mean something in a format, or cannot stand in one."""


@pytest.mark.parametrize(
    ("format", "ending"), sorted({format: end for end, format in reversed(ENDINGS.items())}.items())
)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(odd=st.lists(st.dictionaries(st.sampled_from(NAMES), ODD, max_size=5), min_size=1, max_size=5))
def test_every_record_of_a_file_is_one_record_with_its_id(tmp_path, format, ending, odd):
    documents = [Document(fields.pop("id"), fields) for fields in stream(odd)]
    write_documents(tmp_path / f"a{ending}", documents, format)
    assert [each.id for each in read_documents(tmp_path / f"a{ending}")] == [each.id for each in documents]


@pytest.mark.parametrize(("fields", "format", "ending"), [
    ({"pmid": ["1", "2"]}, "medline", "nbib"), ({"PMID": "7"}, "medline", "nbib"), ({"TY": ["a", "b"]}, "ris", "ris"),
    ({"ER": "x"}, "ris", "ris"), ({"pmid": 0}, "bibtex", "bib"), ({"author": ["A\x00"]}, "csv", "csv"),
])  # fmt: skip
def test_what_would_part_a_record_or_end_a_file_does_not(tmp_path, fields, format, ending):
    documents = [Document("a", {"title": "Copper", **fields, "text": "On copper."}), Document("b", {"title": "Zinc"})]
    write_documents(tmp_path / f"a.{ending}", documents, format)
    found = list(read_documents(tmp_path / f"a.{ending}"))
    assert [(each.id, each.fields["title"]) for each in found] == [("a", "Copper"), ("b", "Zinc")]
    assert found[0].fields["text"] == "On copper."


def _prior(text, engine):
    from germane.rank.scoring.priors import prior_named

    return prior_named(text, engine.filterable(), TODAY)


@pytest.mark.parametrize("first", ["in press", 2001])
def test_one_record_in_press(tmp_path, first):
    """As an RIS file gives it: the year of one record is no number, and all of the others' are."""
    years = [first, *range(2002, 2008)] if first == "in press" else [2001, "in press", *range(2002, 2007)]
    records = "".join(
        f"TY  - JOUR\nID  - k{n}\nTI  - Copper {n}\nPY  - {year}\nJO  - Nature\nER  - \n\n"
        for n, year in enumerate(years)
    )
    (tmp_path / "a.ris").write_text(records)
    with Engine.create(tmp_path / "index") as engine:
        for document in read_documents(tmp_path / "a.ris"):
            engine.add([document])  # each a commit
        result = engine.search("copper", k=20)
        facet = result.facet("year")
        assert (sum(value.count for value in facet.values), facet.missing) == (6, 1)
        odd = years.index("in press")
        assert engine.search("copper", k=20, sort="-year").ids[-1] == f"k{odd}"
        assert engine.search('copper year:"in press"').ids == [f"k{odd}"]
        assert engine.unreadable() == engine.stats().no_number == {"year": 1}
        engine.delete([f"k{odd}"])
        assert engine.unreadable() == {}


NUMBERS = st.one_of(st.integers(1900, 2030), st.integers(-(2**53), 2**53), st.floats(-1e300, 1e300))


def classes(values, size=10):
    with Engine.create(":memory:") as engine:
        engine.add([{"id": str(n), "text": "copper", "n": value} for n, value in enumerate(values)])
        return [(each.value, each.high, each.count) for each in engine.facet("n", size=size).values]


def test_a_mistyped_year_leaves_the_classes_of_the_others():
    years = [year for year in range(1990, 2020) for _ in range(3)]
    assert classes([*years, 20199]) == [*classes(years, 9), (20199, None, 1)]
    assert classes([*years, 202, 203, 19999, 2**60]) == [
        (202, 203, 2), *classes(years, 7), (19999, None, 1), (2.0**60, None, 1)
    ]  # fmt: skip
    fractions = [n / 7 for n in range(60)]
    assert classes([1e300, *fractions]) == [*classes(fractions, 9), (1e300, None, 1)]


def test_classes_stay_where_nothing_is_mistyped():
    assert classes([5] * 95 + [1, 2, 3]) == [(1, None, 1), (2, None, 1), (3, None, 1), (5, None, 95)]
    assert classes([*range(20), 1000], 3) == [(0, 333, 20), (334, 667, 0), (668, 1000, 1)]
    assert classes([*range(80), *range(900, 920)])[0] == (0, 91, 80)


@given(
    values=st.lists(
        st.one_of(st.integers(1900, 2030), st.integers(-(2**53), 2**53), st.floats(-1e300, 1e300)), min_size=1
    ),
    size=st.integers(1, 12),
)
def test_classes_ascend_and_hold_every_number_once(values, size):
    found = [(low, low if high is None else high, count) for low, high, count in classes(values, size)]
    assert sum(count for *_, count in found) == len(values)
    assert len(found) <= size
    for low, high, count in found:
        assert low <= high
        assert sum(low <= value <= high for value in values) >= count
    assert all(before[1] <= after[0] for before, after in pairwise(found))


def test_a_field_of_words_stays_one(tmp_path):
    """A number among words does not make numbers of them, whichever segment it is in."""
    with Engine.create(tmp_path / "index") as engine:
        engine.add([{"id": str(n), "title": "copper", "code": code} for n, code in enumerate(["A", "B", "B", "401"])])
        engine.add([{"id": "x", "title": "copper", "code": 5}])
        facet = engine.search("copper").facet("code")
        assert facet.values[0] == FacetValue("B", 2)
        assert {value.value for value in facet.values} == {"A", "B", "401", "5"}
        assert engine.search("copper", sort="code").ids[-1] == "2"
        assert engine.unreadable() == {}


def test_the_page_says_so_and_narrows_all_the_same(server):
    """The facets that one bad year took from every search of a collection are there, and 'newest' is understood."""
    lines = b"".join(json.dumps({"id": f"n{n}", "title": "odd copper", "year": year}).encode() + b"\n"
                     for n, year in enumerate(["in press", 1999, 2004]))  # fmt: skip
    status, _, answer = server.ask("POST", "/api/v1/imports?name=odd.jsonl", lines)
    seen = json.loads(answer)
    assert (status, seen["odd"]) == (201, ["1 record has no readable year"])
    status, done = server.api("POST", f"/imports/{seen['key']}", {})
    assert (status, done["report"]["no_number"]) == (200, {"year": 1})
    status, _, page = server.ask("GET", "/search?q=copper&sort=-year", headers={})
    assert status == 200
    assert b"not understood" not in page
    assert b"year%3A" in page
    assert PREFERRED[0] == "year"


@pytest.mark.parametrize(
    "odd", [[str(n) for n in range(9)], ["in press"] * 9, ["7"] * 5 + ["x" * 300] * 4, [[1, 2]] * 9]
)
def test_a_merge_changes_no_fields_kind(odd):
    with Engine.create(":memory:") as engine:
        engine.add([{"id": f"o{n}", "text": "copper", "issue": value} for n, value in enumerate(odd)])
        engine.add([{"id": f"n{n}", "text": "copper", "issue": 10 + n} for n in range(8)])
        assert engine.stats().segments == 2

        def told():
            order = [hit.id for hit in engine.search("copper", 17, sort="issue", rerank=None)]
            return engine.facet("issue", size=30), engine.unreadable(), order, engine.count(filter={"issue": {">": 3}})

        before = told()
        engine.merge()
        assert told() == before


def test_what_an_import_calls_unreadable_is_what_the_index_cannot_read():
    documents = [{"id": str(n), "text": "copper", "issue": issue} for n, issue in
                 enumerate([1, 2, "3", "true", ["5"], [], None, "in press", 8])]  # fmt: skip
    fields = NumberFields()
    with Engine.create(":memory:") as engine:
        engine.add(documents)
        for document in documents:
            fields.see({"issue": document["issue"]})
        assert fields.unreadable() == engine.unreadable() == {"issue": 1}
