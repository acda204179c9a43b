"""Crossref: what publishers say of everything with a DOI of theirs."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from germane.data.bibliographic import clean_doi
from germane.metasearch.answers import SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload, plain
from germane.metasearch.rates import Rate
from germane.metasearch.secrets import Secret
from germane.metasearch.sources.source import Batch, WebSource
from germane.metasearch.values import at, fields, items, number, score, text, texts

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

AT_ONCE = 500
REACHABLE = 10000
SELECTED = "DOI,title,subtitle,container-title,author,published,issued,type,abstract,URL,score"


@dataclass(frozen=True, kw_only=True)
class Crossref(WebSource):
    """Crossref. With an email address it is more generous; `key` is the token of Crossref Plus."""

    kind: ClassVar[str] = "crossref"
    usual: ClassVar[str] = "https://api.crossref.org/v1/works"

    def _rate(self) -> Rate:
        return Rate(10, together=3) if self.email or self.key else Rate(5, together=1)

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        k = min(k, REACHABLE - offset)
        token = None if self.key is None else Secret(f"Bearer {self.key.value}")
        for start in range(offset, offset + k, AT_ONCE):
            rows = min(AT_ONCE, offset + k - start)
            parameters = {"query": query, "rows": str(rows), "offset": str(start), "select": SELECTED}
            if self.email:
                parameters["mailto"] = self.email
            call = Call(
                self.address,
                tuple(parameters.items()),
                secret_headers=self._secrets(**{"Crossref-Plus-API-Token": token}),
            )
            batch, given = await talk.ask(call, _batch)
            yield batch
            if given < rows:
                return


def _batch(payload: Payload) -> tuple[Batch, int]:
    answer = payload.json()
    found = at(answer, "message", "items")
    if text(at(answer, "status")) != "ok" or not isinstance(found, list):
        told = "; ".join(texts(at(one, "message") for one in items(at(answer, "message"))))  # type: ignore[arg-type]
        if told or text(at(answer, "status")) not in ("", "ok"):
            raise SourceError("error", told or f"its status is '{text(at(answer, 'status'))}'")
        raise SourceError("unreadable", "Crossref answered without items", again=True)
    records = [record for record in map(_record, found) if record is not None]
    return Batch(records, number(at(answer, "message", "total-results")), payload.notes), len(found)


def _record(item: Any) -> SourceRecord | None:
    doi = clean_doi(text(at(item, "DOI")))
    if not doi:
        return None
    title, subtitle = (plain(text(at(item, name, 0))) for name in ("title", "subtitle"))
    if subtitle and subtitle.casefold() not in title.casefold():
        title = f"{title}: {subtitle}"
    date = at(item, "published", "date-parts", 0) or at(item, "issued", "date-parts", 0)
    kind = text(at(item, "type"))
    found = fields(
        title=title,
        text=plain(text(at(item, "abstract"))),
        author=texts(map(_author, items(at(item, "author")))),
        year=text(at(date, 0)),
        journal=plain(text(at(item, "container-title", 0))),
        doi=doi,
        publication_type=["preprint"] if kind == "posted-content" else texts([kind]),
    )
    link = text(at(item, "URL")) or f"https://doi.org/{doi}"
    return SourceRecord(doi, found, link, score(at(item, "score")))


def _author(author: Any) -> str:
    family, given = text(at(author, "family")), text(at(author, "given"))
    return ", ".join(filter(None, (family, given))) or text(at(author, "name"))
