"""OpenAlex: works of every field, abstracts as lists of places."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from germane.data.bibliographic import clean_doi
from germane.metasearch.answers import SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload, plain
from germane.metasearch.rates import Rate
from germane.metasearch.sources.paging import pages
from germane.metasearch.sources.source import Batch, WebSource
from germane.metasearch.values import at, fields, items, number, score, text, texts

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

LARGEST_PAGE = 100
REACHABLE = 10000
LONGEST_ABSTRACT = 20000
"""Words: an index of places could claim any number."""
SELECTED = (
    "id,doi,title,display_name,publication_date,publication_year,type,language,relevance_score,cited_by_count,"
    "authorships,primary_location,abstract_inverted_index,ids"
)


@dataclass(frozen=True, kw_only=True)
class OpenAlex(WebSource):
    """OpenAlex. A key is free, and allows more searches a day."""

    kind: ClassVar[str] = "openalex"
    usual: ClassVar[str] = "https://api.openalex.org/works"
    habit: ClassVar[Rate] = Rate(5, together=2)
    busy: ClassVar[frozenset[int]] = frozenset({403})

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        size = min(LARGEST_PAGE, k)
        for page, skip in pages(offset, k, size):
            if (page + 1) * size > REACHABLE:
                yield Batch((), notes=(f"OpenAlex gives out the first {REACHABLE:,} records of a result",))
                return
            parameters = {"search": query, "per_page": str(size), "page": str(page + 1), "select": SELECTED}
            if self.email:
                parameters["mailto"] = self.email
            call = Call(self.address, tuple(parameters.items()), secret_parameters=self._secrets(api_key=self.key))
            batch, given = await talk.ask(call, _batch)
            yield Batch(batch.records[skip:], batch.total, batch.notes)
            if given < size:
                return


def _batch(payload: Payload) -> tuple[Batch, int]:
    answer = payload.json()
    results = at(answer, "results")
    if not isinstance(results, list):
        if told := text(at(answer, "message")) or text(at(answer, "error")):
            raise SourceError("error", told)
        raise SourceError("unreadable", "OpenAlex answered without results", again=True)
    records = [record for record in map(_record, results) if record is not None]
    return Batch(records, number(at(answer, "meta", "count")), payload.notes), len(results)


def _record(work: Any) -> SourceRecord | None:
    identifier = text(at(work, "id")).rpartition("/")[2]
    if not identifier:
        return None
    found = fields(
        title=plain(text(at(work, "title")) or text(at(work, "display_name"))),
        text=plain(abstract(at(work, "abstract_inverted_index"))),
        author=texts(at(one, "author", "display_name") for one in items(at(work, "authorships"))),
        year=text(at(work, "publication_year")),
        date=text(at(work, "publication_date")),
        journal=text(at(work, "primary_location", "source", "display_name")),
        doi=clean_doi(text(at(work, "doi"))),
        pmid=text(at(work, "ids", "pmid")).rstrip("/").rpartition("/")[2],
        language=text(at(work, "language")),
        publication_type=texts([at(work, "type")]),
    )
    link = text(at(work, "primary_location", "landing_page_url")) or f"https://openalex.org/{identifier}"
    return SourceRecord(identifier, found, link, score(at(work, "relevance_score")))


def abstract(places: Any) -> str:
    """The words in the order of their places.

    >>> abstract({"attention": [2], "All": [0], "is": [1]})
    'All is attention'
    """
    words: dict[int, str] = {}
    for word, where in places.items() if isinstance(places, dict) else ():
        for place in items(where):
            if isinstance(place, int) and 0 <= place < LONGEST_ABSTRACT:
                words[place] = text(word)
    return " ".join(words[place] for place in sorted(words))
