"""What a source answers: records in its own order, and what went wrong as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from germane.errors import InputError
from germane.types import FieldValue

FailureKind = Literal[
    "time-out", "rate limit", "server", "refused", "unreachable", "unreadable", "too large", "address", "error",
    "offline", "local",
]  # fmt: skip
"""Why a source has not (fully) answered.

time-out: not within its time; rate limit: it asks to wait longer than its time; server: HTTP 5xx; refused: HTTP 4xx;
unreachable: no connection, or a broken one; unreadable: broken XML, JSON or charset; too large: more than is read;
address: it leads to a private address; error: it says so itself, with HTTP 200; offline: not in the cache; local: files
or an index on this machine.
"""
KINDS: tuple[str, ...] = get_args(FailureKind)


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong at a source: the kind, and a sentence. Keys are never in it."""

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A record as a source gave it: its own id there, its fields, its page for people ("" for none), its own score.

    The fields have the names of `data/bibliographic.py`; `arxiv` and `pmcid` beside them.
    """

    id: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    link: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """Records in the source's order, how many it says there are in all, what went wrong, and what may surprise.

    A failure does not take away the records that came before it. `offset`: the source's records on the pages before, so
    that the first one here has the rank offset + 1 there.
    """

    source: str
    records: tuple[SourceRecord, ...] = ()
    total: int | None = None
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    offset: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON has it; `of_dict` undoes it."""
        return {
            "source": self.source,
            "total": self.total,
            "failure": None if self.failure is None else {"kind": self.failure.kind, "message": self.failure.message},
            "notes": list(self.notes),
            "offset": self.offset,
            "records": [
                {"id": one.id, "fields": dict(one.fields), "link": one.link, "score": one.score} for one in self.records
            ],
        }

    @classmethod
    def of_dict(cls, content: Any) -> "SourceAnswer":
        """The answer that `to_dict` wrote; `InputError` for anything else."""
        try:
            failed = content["failure"]
            if failed is not None and failed["kind"] not in KINDS:
                raise ValueError(failed["kind"])
            records = tuple(
                SourceRecord(str(one["id"]), dict(one["fields"]), str(one["link"]), one["score"])
                for one in content["records"]
            )
            failure = None if failed is None else Failure(failed["kind"], str(failed["message"]))
            notes, offset = tuple(map(str, content["notes"])), int(content.get("offset", 0))
            return cls(str(content["source"]), records, content["total"], failure, notes, offset)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a recorded answer of a source: {error!r}") from None


class SourceError(Exception):
    """Stops a request within the package; `Source.search` makes a `Failure` of it, so that no caller sees it.

    `again`: asking once more may help. `wait`: the seconds that the source asks for.
    """

    def __init__(self, kind: FailureKind, message: str, *, again: bool = False, wait: float | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(kind, message)
        self.again = again
        self.wait = wait


class BrokenOffError(SourceError):
    """An answer that breaks off, of which something can be used: `whole` is what the parser makes of that.

    It is asked for again, and it is never kept in the cache.
    """

    def __init__(self, message: str, whole: object) -> None:
        super().__init__("unreadable", message, again=True)
        self.whole = whole
