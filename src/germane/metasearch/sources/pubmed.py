"""PubMed by NCBI's E-utilities: esearch keeps the result on the server, efetch reads it from there as XML."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import urlencode

from germane.data.bad_records import SkipReport
from germane.data.pubmed import parse_pubmed
from germane.errors import CutShortError, InputError
from germane.metasearch.answers import BrokenOffError, Failure, SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload
from germane.metasearch.rates import Rate
from germane.metasearch.sources.source import Batch, WebSource
from germane.metasearch.values import at, items, number, text
from germane.types import Document

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

REACHABLE = 9999
"""Records of a result that PubMed gives out."""
AT_ONCE = 200
"""Records of one efetch: what came before a failure is kept."""


@dataclass(frozen=True, kw_only=True)
class PubMed(WebSource):
    """PubMed, in PubMed's own query language. With a key of NCBI's ten requests a second, without one three."""

    kind: ClassVar[str] = "pubmed"
    usual: ClassVar[str] = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
    sort: str = "relevance"

    def _rate(self) -> Rate:
        return Rate(3 if self.key is None else 10)

    def _call(self, utility: str, body: bytes = b"", **parameters: str) -> Call:
        common = {"db": "pubmed", "tool": "germane"} | ({"email": self.email} if self.email else {})
        return Call(
            f"{self.address.rstrip('/')}/{utility}.fcgi",
            tuple((common | parameters).items()),
            {"Content-Type": "application/x-www-form-urlencoded"} if body else {},
            body,
            secret_parameters=self._secrets(api_key=self.key),
        )

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        k = min(k, REACHABLE - offset)
        if k < 1:
            yield Batch((), notes=(f"PubMed gives out the first {REACHABLE:,} records of a result",))
            return
        found = await talk.ask(
            self._call(
                "esearch", term=query, retmode="json", usehistory="y", sort=self.sort, retstart=str(offset),
                retmax=str(k),
            ),
            _found,
        )  # fmt: skip
        yield Batch((), found.total, found.notes)
        for start in range(0, len(found.ids), AT_ONCE):
            ids = found.ids[start : start + AT_ONCE]
            yield await self._fetched(talk, found, ids, offset + start)

    async def _fetched(self, talk: "Conversation", found: "_Found", ids: list[str], start: int) -> Batch:
        """The records, in the order of the search; by their ids where the history has gone meanwhile."""
        history = {"WebEnv": found.environment, "query_key": found.query_key}
        if all(history.values()):
            call = self._call("efetch", b"", retmode="xml", retstart=str(start), retmax=str(len(ids)), **history)
            try:
                return _in_order(await talk.ask(call, _fetched), ids)
            except SourceError as trouble:
                if trouble.failure.kind != "error":
                    raise
        return _in_order(await talk.ask(self._call("efetch", _form(ids), retmode="xml"), _fetched), ids)


def _form(ids: list[str]) -> bytes:
    return urlencode({"id": ",".join(ids)}).encode()


class _Found(NamedTuple):
    """What esearch says."""

    ids: list[str]
    total: int | None
    environment: str
    query_key: str
    notes: tuple[str, ...]


def _found(payload: Payload) -> _Found:
    answer = payload.json()
    if told := text(at(answer, "error")):
        raise SourceError("rate limit" if "rate" in told.lower() else "error", told, again="rate" in told.lower())
    result = at(answer, "esearchresult")
    if told := text(at(result, "ERROR")):
        raise SourceError("error", told, again="backend" in told.lower())
    if not isinstance(at(result, "idlist"), list):
        raise SourceError("unreadable", "esearch answered without a list of ids", again=True)
    notes = [*payload.notes]
    for where in ("errorlist", "warninglist"):
        lists: dict[str, Any] = at(result, where) if isinstance(at(result, where), dict) else {}
        for what, values in lists.items():
            if told := ", ".join(filter(None, map(text, items(values)))):
                notes.append(_NAMES.get(what, what) + told)
    return _Found(
        [found for found in map(text, result["idlist"]) if found],
        number(result.get("count")),
        text(result.get("webenv")),
        text(result.get("querykey")),
        tuple(notes),
    )


_NAMES = {
    "phrasesnotfound": "not found: ", "fieldsnotfound": "there is no field ", "phrasesignored": "ignored: ",
    "quotedphrasesnotfound": "not found: ", "outputmessages": "",
}  # fmt: skip


class _Articles(NamedTuple):
    """What efetch gives: the documents, why it broke off if it did, and notes."""

    documents: list[Document]
    broken: str
    notes: tuple[str, ...]


def _fetched(payload: Payload) -> _Articles:
    head = payload.text[:2000]
    if "<ERROR>" in head or head.lstrip().startswith(("Error", "Unable", "{")):
        raise SourceError("error", f"efetch: {payload.excerpt}")
    documents: list[Document] = []
    report = SkipReport()

    def on_bad(error: InputError) -> bool:
        if isinstance(error, CutShortError):
            raise error
        return report.note(error)

    try:
        for document in parse_pubmed(payload.text.encode(errors="replace"), on_bad=on_bad):
            documents.append(document)
    except InputError as error:
        if not documents:
            raise SourceError("unreadable", error.message, again="entity" not in error.message) from None
        raise BrokenOffError(error.message, _Articles(documents, error.message, payload.notes)) from None
    return _Articles(documents, "", payload.notes)


def _in_order(found: _Articles, ids: list[str]) -> Batch:
    by_id = {document.id: document for document in found.documents}
    records = [_record(by_id[pmid]) for pmid in ids if pmid in by_id]
    notes = found.notes
    if found.broken:
        told = f"{found.broken}; {len(records):,} of {len(ids):,} records came whole"
        return Batch(records, notes=notes, trouble=Failure("unreadable", told))
    if missing := len(ids) - len(records):
        notes = (*notes, f"{missing:,} of {len(ids):,} records were not given out")
    return Batch(records, notes=notes)


def _record(document: Document) -> SourceRecord:
    return SourceRecord(document.id, document.fields, f"https://pubmed.ncbi.nlm.nih.gov/{document.id}/")
