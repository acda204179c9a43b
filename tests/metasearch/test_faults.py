"""Each fault at each source: the others' results are there, the failing one is named with the reason, nothing hangs,
and memory stays bounded."""

import tracemalloc
from contextlib import contextmanager

import pytest

from metasearch.conftest import PATHS, ROUTE
from metasearch.library import FAULTS, RECORDS, bomb

EXPECTED = {
    "silent": {"time-out"}, "rate for an hour": {"rate limit"}, "server": {"server"}, "refused": {"refused"},
    "broken": {"unreadable", "error"}, "cut": {"unreachable"}, "redirect": {"address", "refused"},
    "gigabyte": {"too large"}, "gigabyte in pieces": {"too large"}, "endless": {"time-out"}, "bomb": {"too large"},
    "empty": {"unreadable"},
}  # fmt: skip
"""Which failure each fault is. A redirect of a request with a body is refused before its address is looked at."""
SLOW = {"silent", "endless"}
LARGE = {"gigabyte", "gigabyte in pieces", "endless", "bomb"}
MAX_BYTES = 1 << 20
PATIENCE = (0.5, 5.0, 60.0, 600.0)
"""Seconds for what answers at once: more where the machine is slow."""


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_one_source(fault, kind, library, source, searching, papers):
    other = "crossref" if kind != "crossref" else "europepmc"
    library.faults[ROUTE.get(kind, kind)] = fault
    seconds = 0.4 if fault in SLOW else 20.0
    faulty = source(kind, timeout=seconds, max_bytes=MAX_BYTES)
    with bounded(fault in LARGE):
        found = searching(faulty, source(other), papers).search("copper disease wilson's")
    by_name = {answer.source: answer for answer in found.answers}
    assert [answer.source for answer in found.answers] == [kind, other, "mine"]
    assert len(by_name[other].records) == len(RECORDS)
    assert by_name[other].failure is None
    assert by_name["mine"].failure is None
    assert len(found) >= len(RECORDS)
    assert all(name in {one for result in found for one in result.sources} for name in (other, "mine"))
    failure = by_name[kind].failure
    if fault == "rate":  # it waited, asked again, and got its answer
        assert failure is None
        assert by_name[kind].records
    elif fault == "charset":
        told = " ".join(by_name[kind].notes)
        assert (failure is None and ("Windows-1252" in told or kind in ASCII)) or failure.kind == "unreadable"
        assert by_name[kind].records
    elif fault == "half":  # what is whole in a broken page of XML is taken; of JSON nothing is
        assert failure is not None
        assert failure.kind == "unreadable"
        if kind in ("arxiv", "feed"):
            assert 0 < len(by_name[kind].records) < len(RECORDS)
            assert "records came whole" in failure.message
    else:
        assert failure is not None
        assert failure.kind in EXPECTED[fault]
        assert failure.message
        if kind not in ("opensearch", "pubmed"):
            assert by_name[kind].records == ()


@contextmanager
def bounded(measured):
    """No more than 16 MB are taken, all that the library in the same process takes included."""
    if not measured:
        yield
        return
    bomb()  # made before
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


ASCII = {"openalex", "crossref", "searxng", "elasticsearch", "pubmed"}
"""Their JSON is written in ASCII alone here, or, of PubMed, its search is."""


def test_all_sources_silent_at_once(library, source, searching, papers):
    """Nothing waits for anything but its own time-out, all of them together."""
    for kind in PATHS:
        library.faults[ROUTE.get(kind, kind)] = "silent"
    found = searching(*(source(kind, timeout=0.4) for kind in PATHS), papers).search("wilson's disease")
    assert set(found.failures) == set(PATHS)
    assert {failure.kind for failure in found.failures.values()} == {"time-out"}
    assert len(found) == 2


def test_the_deadline_makes_the_list_of_what_has_come(library, source, searching):
    library.faults["arxiv"] = "silent"
    library.faults["opensearch"] = "endless"
    search = searching(source("pubmed"), source("arxiv", timeout=600), source("opensearch", timeout=600))
    for deadline in PATIENCE:
        found = search.search("wilson's disease", deadline=deadline)
        if len(found):
            break
    assert len(found) == len(RECORDS)
    assert set(found.failures) == {"arxiv", "opensearch"}


def test_records_before_a_failure_are_kept(library, source, searching):
    """The second page of SearXNG never comes, the first is shown."""
    usual = '{"results": [{"url": "https://x.example/1", "title": "One"}]}'
    library.scripts["/searxng/search"] = [(200, {}, "application/json", usual)]
    library.faults["searxng"] = "silent"
    for seconds in PATIENCE:
        (answer,) = searching(source("searxng", timeout=seconds)).search("one").answers
        if answer.records:
            break
    assert [record.fields["title"] for record in answer.records] == ["One"]
    assert answer.failure.kind == "time-out"
    assert "1 record had come" in answer.failure.message


def test_a_source_with_a_mistake_of_its_own(source, searching):
    class Broken(type(source("crossref"))):
        async def _talk(self, *_):
            raise ZeroDivisionError("secret details")
            yield

    broken = Broken(name="broken", url="http://127.0.0.1:1")
    found = searching(broken, source("europepmc")).search("copper")
    assert len(found) == len(RECORDS)
    assert found.failures["broken"].kind == "error"
    assert "ZeroDivisionError" in found.failures["broken"].message
    assert "secret" not in found.failures["broken"].message
