"""Any source with an OpenSearch description, and any RSS or Atom feed."""

import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote, urljoin
from xml.etree.ElementTree import Element

from germane.data.bibliographic import clean_doi
from germane.data.fields import year_of
from germane.metasearch.answers import SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload, Tree, children, plain, text_of_element
from germane.metasearch.rates import Rate
from germane.metasearch.sources.source import Batch, WebSource, whole
from germane.metasearch.values import fields, number, texts
from germane.types import FieldValue

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

MOST_PAGES = 20
TYPES = ("application/atom+xml", "application/rss+xml", "application/rdf+xml", "text/xml", "application/xml")
"""What can be read, best first."""

_PARAMETER = re.compile(r"\{([^{}?]+)(\??)\}")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Template:
    """An address with `{searchTerms}`, `{count?}`, `{startIndex?}`, `{startPage?}` in it (OpenSearch 1.1)."""

    text: str
    index_offset: int = 1
    page_offset: int = 1

    @property
    def searches(self) -> bool:
        """Whether it takes words at all."""
        return "{searchTerms}" in self.text

    @property
    def turns(self) -> bool:
        """Whether it has pages."""
        return "{startIndex" in self.text or "{startPage" in self.text

    def filled(self, query: str, start: int, count: int) -> str:
        """The address of the results from `start` (from 0) on; `SourceError` where it wants what we do not know."""
        known = {
            "searchTerms": query,
            "count": str(count),
            "startIndex": str(start + self.index_offset),
            "startPage": str(start // count + self.page_offset),
            "language": "*",
            "inputEncoding": "UTF-8",
            "outputEncoding": "UTF-8",
        }

        def value(found: re.Match[str]) -> str:
            name, optional = found[1], found[2]
            if name not in known and not optional:
                raise SourceError("error", f"its address wants a parameter that is not known here: {{{name}}}")
            return quote(known.get(name, ""), safe="*")

        return _PARAMETER.sub(value, self.text)


@dataclass(frozen=True, kw_only=True)
class Feed(WebSource):
    """RSS or Atom. `url`: an address, with `{searchTerms}` where it takes words; of a feed that does not, the entries
    are taken that hold one of the words."""

    kind: ClassVar[str] = "feed"
    habit: ClassVar[Rate] = Rate(2, together=1)

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        async for batch in _walk(talk, Template(self.address), query, k, offset):
            yield batch


@dataclass(frozen=True, kw_only=True)
class OpenSearch(WebSource):
    """A source that describes itself. `url`: the address of its description."""

    kind: ClassVar[str] = "opensearch"
    habit: ClassVar[Rate] = Rate(2, together=1)

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        template = await talk.ask(Call(self.address), lambda found: description(found, self.address))
        async for batch in _walk(talk, template, query, k, offset):
            yield batch


def description(payload: Payload, address: str) -> Template:
    """The template of the results in a description; `SourceError` where there is none that can be read."""
    found = payload.xml("Url")
    assert found.root is not None
    if found.broken:
        raise SourceError("unreadable", f"its description breaks off: {found.broken}", again=True)
    if found.root.tag != "OpenSearchDescription":
        raise SourceError("error", f"not an OpenSearch description: its root is <{found.root.tag}>")
    usable = [
        url
        for url in found.finished
        if "results" in url.get("rel", "results").split()
        and url.get("type", "").partition(";")[0].strip().lower() in TYPES
        and url.get("template")
    ]
    if not usable:
        offered = ", ".join(sorted({url.get("type", "?") for url in found.finished})) or "nothing"
        raise SourceError("error", f"its description offers neither Atom nor RSS, but {offered}")
    best = min(usable, key=lambda url: TYPES.index(url.get("type", "").partition(";")[0].strip().lower()))
    offsets = [number(best.get(name)) for name in ("indexOffset", "pageOffset")]
    index_offset, page_offset = (1 if offset is None else offset for offset in offsets)
    return Template(urljoin(address, best.get("template", "")), index_offset, page_offset)


async def _walk(
    talk: "Conversation", template: Template, query: str, k: int, offset: int
) -> AsyncGenerator[Batch, None]:
    words = None if template.searches else {word.casefold() for word in _WORD.findall(query)}
    start, seen = offset if template.turns else 0, set[str]()
    for _ in range(MOST_PAGES):
        batch = await talk.ask(Call(template.filled(query, start, k)), _batch)
        records = [record for record in batch.records if record.id not in seen]
        seen |= {record.id for record in records}
        given = len(records)
        if words is not None:
            records = [record for record in records if words & _words(record)]
        if not template.turns:
            records = records[offset:]
        yield Batch(records, None if words is not None else batch.total, batch.notes, batch.trouble)
        start += len(batch.records)
        done = batch.total is not None and start >= batch.total
        if not template.turns or not given or done or start - offset >= k:
            return


def _words(record: SourceRecord) -> set[str]:
    said = f"{record.fields.get('title', '')} {record.fields.get('text', '')}"
    return {word.casefold() for word in _WORD.findall(said)}


def feed_of(payload: Payload, each: Callable[[Element], None] | None = None) -> Tree:
    """The entries of a feed, as `finished` elements or handed to `each`; `SourceError` where it is none."""
    feed = payload.xml("entry", "item", each=each)
    assert feed.root is not None
    if feed.root.tag not in ("feed", "rss", "RDF"):
        raise SourceError("error", f"neither Atom nor RSS: the root is <{feed.root.tag}>")
    return feed


def _batch(payload: Payload) -> Batch:
    feed = feed_of(payload)
    records = [record for record in map(_record, feed.finished) if record is not None]
    return whole(Batch(records, number(feed.find("totalResults")), payload.notes), feed.broken)


def entry_date(entry: Element) -> str:
    """When an entry was published, else when it was changed, as it is written there."""
    return _one(entry, "published", "pubDate", "date", "publicationDate", "updated")


def entry_id(entry: Element) -> str:
    """The id of an entry, else its link; empty where it has neither."""
    return _one(entry, "id", "guid") or _link(entry)


def entry_fields(entry: Element) -> dict[str, FieldValue]:
    """An entry of Atom or an item of RSS; Dublin Core and PRISM have the same names of elements."""
    year = year_of(entry_date(entry))
    authors = [text_of_element(author.find("name")) or text_of_element(author) for author in entry.iterfind("author")]
    return fields(
        title=plain(_one(entry, "title")),
        text=plain(_one(entry, "summary", "encoded", "description", "content")),
        author=texts([*authors, *children(entry, "creator")]),
        year="" if year is None else str(year),
        journal=_one(entry, "publicationName"),
        doi=clean_doi(_one(entry, "doi") or " ".join(children(entry, "identifier"))),
        url=_link(entry),
        keywords=texts(
            category.get("term") or text_of_element(category)
            for name in ("category", "subject")
            for category in entry.iterfind(name)
        ),
    )


def _record(entry: Element) -> SourceRecord | None:
    identifier = entry_id(entry)
    return SourceRecord(identifier, entry_fields(entry), _link(entry)) if identifier else None


def _one(entry: Element, *names: str) -> str:
    return next((found for name in names for found in children(entry, name)), "")


def _link(entry: Element) -> str:
    """Of Atom the link to the page itself, of RSS the one there is."""
    links = list(entry.iterfind("link"))
    for link in links:
        if link.get("href") and link.get("rel", "alternate") == "alternate":
            return link.get("href", "")
    return next((text_of_element(link) for link in links if text_of_element(link)), "")
