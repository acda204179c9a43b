"""An OpenSearch or Elasticsearch cluster of one's own."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import quote

import orjson

from germane.data.fields import field_value
from germane.errors import ParameterError
from germane.metasearch.answers import SourceError, SourceRecord
from germane.metasearch.calls import Call
from germane.metasearch.payload import Payload
from germane.metasearch.rates import Rate
from germane.metasearch.secrets import Secret
from germane.metasearch.sources.source import Batch, WebSource
from germane.metasearch.values import at, number, score, text
from germane.types import FieldValue

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation

AT_ONCE = 1000
REACHABLE = 10000
SOUGHT = ("title", "text", "abstract")
"""The fields where words are sought, by our names."""
SCHEMES = ("ApiKey", "Bearer", "Basic")


@dataclass(frozen=True, kw_only=True)
class Elasticsearch(WebSource):
    """An index of a cluster. `mapping`: from our names of fields to theirs. `fields`: where words are sought, by
    their names; if left out, in what they call title, text and abstract.

    `authorization`: what the key is: ApiKey, Bearer or Basic (as it stands behind that word in the header).
    """

    kind: ClassVar[str] = "elasticsearch"
    habit: ClassVar[Rate] = Rate(20)
    index: str = ""
    fields: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    authorization: str = "ApiKey"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.index:
            raise ParameterError(f"the source '{self.name}' needs the name of an index: index")
        if self.authorization not in SCHEMES:
            raise ParameterError(f"authorization is one of {', '.join(SCHEMES)}, not '{self.authorization}'")

    async def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        k = min(k, REACHABLE - offset)
        token = None if self.key is None else Secret(f"{self.authorization} {self.key.value}")
        fields = list(self.fields) or [self.mapping.get(name, name) for name in SOUGHT]
        for start in range(offset, offset + k, AT_ONCE):
            size = min(AT_ONCE, offset + k - start)
            body = {
                "query": {"simple_query_string": {"query": query, "fields": fields}},
                "size": size,
                "from": start,
                "track_total_hits": True,
            }
            call = Call(
                f"{self.address.rstrip('/')}/{quote(self.index, safe=',*')}/_search",
                headers={"Content-Type": "application/json"},
                body=orjson.dumps(body),
                secret_headers=self._secrets(Authorization=token),
            )
            batch = await talk.ask(call, self._batch)
            yield batch
            if len(batch.records) < size:
                return

    def _batch(self, payload: Payload) -> Batch:
        answer = payload.json()
        hits = at(answer, "hits", "hits")
        if not isinstance(hits, list):
            told = text(at(answer, "error", "reason")) or text(at(answer, "error"))
            if told:
                raise SourceError("error", told)
            raise SourceError("unreadable", "the cluster answered without hits", again=True)
        notes = [*payload.notes]
        if at(answer, "timed_out") is True:
            notes.append("the cluster ran out of time: these are not all hits")
        if failed := number(at(answer, "_shards", "failed")):
            notes.append(f"{failed:,} shards of the cluster failed: these are not all hits")
        total = at(answer, "hits", "total")
        records = [record for record in map(self._record, hits) if record is not None]
        return Batch(records, number(at(total, "value")) if isinstance(total, dict) else number(total), tuple(notes))

    def _record(self, hit: Any) -> SourceRecord | None:
        identifier, source = text(at(hit, "_id")), at(hit, "_source")
        if not identifier:
            return None
        theirs: dict[str, Any] = source if isinstance(source, dict) else {}
        taken = set(self.mapping.values())
        found: dict[str, FieldValue] = {
            name: field_value(value) for name, value in theirs.items() if name not in taken and name not in self.mapping
        }
        found |= {ours: field_value(theirs[name]) for ours, name in self.mapping.items() if name in theirs}
        return SourceRecord(identifier, found, text(found.get("url")), score(at(hit, "_score")))
