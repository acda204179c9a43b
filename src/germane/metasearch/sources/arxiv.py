"""arXiv by its Atom interface: one request every three seconds, over one connection."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar
from xml.etree.ElementTree import Element

from germane.data.bibliographic import clean_doi
from germane.data.works import clean_arxiv
from germane.metasearch.answers import SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload, children, text_of_element
from germane.metasearch.rates import Rate
from germane.metasearch.sources.source import Batch, WebSource, whole
from germane.metasearch.values import fields, number, texts

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

AT_ONCE = 1000
REACHABLE = 30000

_OWN_LANGUAGE = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|id|all|submittedDate):|\b(?:AND|OR|ANDNOT)\b")
_PARTS = re.compile(r'"[^"]+"|[^\s"()]+')


@dataclass(frozen=True, kw_only=True)
class Arxiv(WebSource):
    """arXiv. Words are sought anywhere, all of them; a query in arXiv's own language (ti:, AND) is passed on."""

    kind: ClassVar[str] = "arxiv"
    usual: ClassVar[str] = "https://export.arxiv.org/api/query"
    habit: ClassVar[Rate] = Rate(1, 3.0, together=1)

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        k = min(k, REACHABLE - offset)
        for start in range(offset, offset + k, AT_ONCE):
            size = min(AT_ONCE, offset + k - start)
            parameters = {
                "search_query": arxiv_query(query), "start": str(start), "max_results": str(size),
                "sortBy": "relevance", "sortOrder": "descending",
            }  # fmt: skip
            batch = await talk.ask(Call(self.address, tuple(parameters.items())), partial(_batch, start=start))
            yield batch
            if len(batch.records) < size:
                return


def arxiv_query(query: str) -> str:
    """The query as arXiv has it.

    >>> arxiv_query('attention "neural networks"')
    'all:attention AND all:"neural networks"'
    """
    if _OWN_LANGUAGE.search(query):
        return query
    return " AND ".join(f"all:{part}" for part in _PARTS.findall(query)) or query


def _batch(payload: Payload, start: int) -> Batch:
    if payload.text.strip().rstrip(".").lower() == "rate exceeded":
        raise SourceError("rate limit", "Rate exceeded.", again=True, wait=3.0)
    feed = payload.xml("entry")
    for entry in feed.finished:
        if "/api/errors" in text_of_element(entry.find("id")):
            raise SourceError("error", text_of_element(entry.find("summary")) or "arXiv says no more than 'Error'")
    total = number(feed.find("totalResults"))
    if not feed.finished and total is not None and total > start:
        raise SourceError("unreadable", f"an empty page, though there are {total:,} results", again=True)
    records = [record for record in map(_record, feed.finished) if record is not None]
    return whole(Batch(records, total, payload.notes), feed.broken)


def _record(entry: Element) -> SourceRecord | None:
    link = text_of_element(entry.find("id"))
    identifier = clean_arxiv(link)
    if not identifier:
        return None
    published = clean_doi(text_of_element(entry.find("doi")))
    found = fields(
        title=text_of_element(entry.find("title")),
        text=text_of_element(entry.find("summary")),
        author=texts(text_of_element(author.find("name")) for author in entry.iterfind("author")),
        year=text_of_element(entry.find("published"))[:4],
        date=text_of_element(entry.find("published"))[:10],
        keywords=texts(category.get("term") for category in entry.iterfind("category")),
        arxiv=identifier,
        published_doi=published,
        journal_reference=next(children(entry, "journal_ref"), ""),
        publication_type=["preprint"],
    )
    return SourceRecord(identifier, found, f"https://arxiv.org/abs/{identifier}")
