"""Europe PMC by its REST interface, page after page by cursor."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from germane.data.bibliographic import clean_doi
from germane.metasearch.answers import SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload, plain
from germane.metasearch.rates import Rate
from germane.metasearch.sources.source import Batch, WebSource
from germane.metasearch.values import at, fields, items, number, text, texts

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

LARGEST_PAGE = 1000


@dataclass(frozen=True, kw_only=True)
class EuropePMC(WebSource):
    """Europe PMC: PubMed, preprints, patents and more, in its own query language. No key."""

    kind: ClassVar[str] = "europepmc"
    usual: ClassVar[str] = "https://www.ebi.ac.uk/europepmc/webservices/rest"
    habit: ClassVar[Rate] = Rate(5, together=1)

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        cursor, seen = "*", 0
        while seen < offset + k:
            size = min(LARGEST_PAGE, offset + k - seen)
            parameters = {
                "query": query, "format": "json", "resultType": "core", "pageSize": str(size), "cursorMark": cursor,
            }  # fmt: skip
            page = await talk.ask(Call(f"{self.address.rstrip('/')}/search", tuple(parameters.items())), _page)
            yield Batch(page.records[max(offset - seen, 0) :], page.total, page.notes)
            seen += page.given
            if not page.given or not page.cursor or page.cursor == cursor or seen >= (page.total or seen + 1):
                return
            cursor = page.cursor


class _Page(NamedTuple):
    """`given`: how many results there were, also those that are no records."""

    records: list[SourceRecord]
    given: int
    total: int | None
    cursor: str
    notes: tuple[str, ...]


def _page(payload: Payload) -> _Page:
    answer = payload.json()
    results = at(answer, "resultList", "result")
    if not isinstance(results, list):
        told = text(at(answer, "errMsg"))
        if told:
            raise SourceError("error", told)
        raise SourceError("unreadable", "Europe PMC answered without a list of results", again=True)
    records = [record for record in map(_record, results) if record is not None]
    return _Page(
        records, len(results), number(at(answer, "hitCount")), text(at(answer, "nextCursorMark")), payload.notes
    )


def _record(result: Any) -> SourceRecord | None:
    identifier, source = text(at(result, "id")), text(at(result, "source"))
    if not identifier:
        return None
    authors = [text(at(author, "fullName")) for author in items(at(result, "authorList", "author"))]
    found = fields(
        title=plain(text(at(result, "title"))).removesuffix("."),
        text=plain(text(at(result, "abstractText"))),
        author=texts(authors) or texts(text(at(result, "authorString")).rstrip(".").split(", ")),
        year=text(at(result, "pubYear")),
        journal=text(at(result, "journalInfo", "journal", "title")),
        doi=clean_doi(text(at(result, "doi"))),
        pmid=text(at(result, "pmid")),
        keywords=texts(items(at(result, "keywordList", "keyword"))),
        pmcid=text(at(result, "pmcid")),
        publication_type=["preprint"] if source == "PPR" else texts(items(at(result, "pubTypeList", "pubType"))),
    )
    return SourceRecord(f"{source}:{identifier}", found, f"https://europepmc.org/article/{source}/{identifier}")
