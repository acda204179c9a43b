"""The library, a clock that does not wait, and sources that ask the library."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from germane.metasearch import SOURCES, Folder, MetaSearch
from germane.metasearch.clock import Clock
from germane.metasearch.rates import Buckets
from metasearch.library import Library

PATHS: dict[str, dict[str, Any]] = {
    "pubmed": {"url": "/pubmed/"},
    "europepmc": {"url": "/europepmc"},
    "arxiv": {"url": "/arxiv"},
    "openalex": {"url": "/openalex"},
    "crossref": {"url": "/crossref"},
    "searxng": {"url": "/searxng"},
    "elasticsearch": {"url": "/elastic", "index": "papers", "mapping": {"title": "name", "text": "body"}},
    "opensearch": {"url": "/opensearch/description.xml"},
    "feed": {"url": "/feed"},
}
"""The settings of each kind, addresses below the library's."""
ROUTE = {"elasticsearch": "elastic"}


class QuickClock(Clock):
    """Time passes when somebody sleeps, and at once."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def date(self) -> float:
        return 1.6e9 + self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()


@pytest.fixture
def library() -> Iterator[Library]:
    made = Library()
    yield made
    made.close()


@pytest.fixture
def source(library: Library):
    """A source of a kind that asks the library."""

    def make(kind: str, **settings: Any) -> Any:
        own = dict(PATHS[kind])
        return SOURCES[kind](**{**own, "url": library.url + own["url"], **settings})

    return make


@pytest.fixture
def searching(clock: QuickClock):
    """A meta-search with that clock and buckets of its own."""

    def make(*sources: Any, **options: Any) -> MetaSearch:
        return MetaSearch(sources, **{"clock": clock, "buckets": Buckets(), **options})

    return make


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Files on this machine, two records: one of the library's, and one more."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "mine.ris").write_text(
        "TY  - JOUR\nTI  - Zinc in the treatment of Wilson's disease\nAU  - Hoffmann, A.\nPY  - 2001\n"
        "DO  - 10.5555/LIB.1\nUR  - https://mine.example/1\nER  - \n\n"
        "TY  - JOUR\nTI  - Wilson's disease in the villages of Crete\nAU  - Dedoussis, G.\nPY  - 2005\nER  - \n"
    )
    made = Folder(name="mine", path=folder, timeout=3600)
    asyncio.run(made.search("wilson"))  # compiles, and reads the files
    return made
