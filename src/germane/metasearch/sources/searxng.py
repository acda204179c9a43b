"""A SearXNG instance of one's own: what web search engines find together."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from germane.data.bibliographic import clean_doi
from germane.metasearch.answers import SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload, plain
from germane.metasearch.rates import Rate
from germane.metasearch.sources.source import Batch, WebSource
from germane.metasearch.values import at, fields, items, score, text, texts

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

MOST_PAGES = 20


@dataclass(frozen=True, kw_only=True)
class SearXNG(WebSource):
    """SearXNG's JSON, which its settings must allow: `search.formats: [html, json]`.

    `engines`, `categories`: names with commas between them.
    """

    kind: ClassVar[str] = "searxng"
    habit: ClassVar[Rate] = Rate(2, together=1)
    engines: str = ""
    categories: str = ""
    language: str = ""

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        seen: set[str] = set()
        for page in range(1, MOST_PAGES + 1):
            parameters = {
                "q": query, "format": "json", "pageno": str(page), "engines": self.engines,
                "categories": self.categories, "language": self.language,
            }  # fmt: skip
            call = Call(f"{self.address.rstrip('/')}/search", tuple((k, v) for k, v in parameters.items() if v))
            try:
                batch = await talk.ask(call, _batch)
            except SourceError as trouble:
                if trouble.failure.message.startswith("HTTP 403"):
                    told = "HTTP 403: this instance does not give out JSON (search.formats in its settings.yml)"
                    raise SourceError("refused", told) from None
                raise
            fresh = [record for record in batch.records if record.id not in seen]
            before = len(seen)
            seen |= {record.id for record in fresh}
            yield Batch(fresh[max(offset - before, 0) :], notes=batch.notes)
            if not fresh or len(seen) >= offset + k:
                return


def _batch(payload: Payload) -> Batch:
    answer = payload.json()
    results = at(answer, "results")
    if not isinstance(results, list):
        raise SourceError("error", text(at(answer, "error")) or "SearXNG answered without results")
    silent = [
        f"{text(at(one, 0))} has not answered: {text(at(one, 1))}" for one in items(at(answer, "unresponsive_engines"))
    ]
    records = [record for record in map(_record, results) if record is not None]
    return Batch(records, notes=(*payload.notes, *silent))


def _record(result: Any) -> SourceRecord | None:
    link = text(at(result, "url"))
    if not link:
        return None
    found = fields(
        title=plain(text(at(result, "title"))),
        text=plain(text(at(result, "content"))),
        author=texts(items(at(result, "authors"))),
        year=text(at(result, "publishedDate"))[:4],
        journal=text(at(result, "journal")),
        doi=clean_doi(text(at(result, "doi"))),
        url=link,
        keywords=texts(items(at(result, "tags"))),
    )
    return SourceRecord(link, found, link, score(at(result, "score")))
