"""What every source is: `search(query, k, page)`, and an answer that says what went wrong."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from germane.errors import GermaneError, ParameterError
from germane.lazy import load
from germane.metasearch.addresses import origin_of
from germane.metasearch.answers import BrokenOffError, Failure, SourceAnswer, SourceError, SourceRecord
from germane.metasearch.calls import MAX_BYTES, RETRIES, Policy
from germane.metasearch.rates import Rate
from germane.metasearch.secrets import Secret

if TYPE_CHECKING:
    from germane.metasearch.web import Conversation, Web

TIMEOUT = 20.0
"""Seconds that a source has."""
DEFAULT_K = 200
"""Records of each source unless said otherwise, as in Refine §VI."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A piece of an answer, in order. `trouble`: it broke off, and what came before is good."""

    records: Sequence[SourceRecord]
    total: int | None = None
    notes: tuple[str, ...] = ()
    trouble: Failure | None = None


def whole(batch: Batch, broken: str) -> Batch:
    """The batch; where its answer breaks off, `BrokenOffError` with the batch and its trouble in it."""
    if not broken:
        return batch
    told = f"{broken}; {_counted(len(batch.records))} came whole"
    raise BrokenOffError(told, replace(batch, trouble=Failure("unreadable", told)))


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """Somewhere to search. `name` is what people call it, and what stands beside each of its records.

    `timeout`: the seconds it has for one search. `weight`: how much its ranking counts where lists are fused.
    """

    kind: ClassVar[str]
    name: str = ""
    timeout: float = TIMEOUT
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.kind)
        if any(mark in self.name for mark in ",:\t\n"):
            raise ParameterError(f"the name of a source has no comma, colon, tab or line break: '{self.name}'")
        if not 0 < self.timeout <= 3600:
            raise ParameterError(f"the timeout of '{self.name}' lies above 0 and up to 3,600 seconds")
        if not 0 <= self.weight <= 1e6:
            raise ParameterError(f"the weight of '{self.name}' lies between 0 and 1,000,000")

    async def search(
        self, query: str, k: int = DEFAULT_K, page: int = 1, *, web: "Web | None" = None, within: float | None = None
    ) -> SourceAnswer:
        """The records of a page of `k`, from 1. Nothing is raised: what went wrong is in the answer.

        `within`: fewer seconds than the source's own. Records that came before a failure are kept. No limit runs
        while this machine makes something for the first time.
        """
        if not query.strip():
            raise ParameterError("there is nothing to search for: the query is empty")
        if k < 1 or page < 1:
            raise ParameterError("k and page are whole numbers of at least 1")
        offset = (page - 1) * k
        seconds = self.timeout if within is None else min(within, self.timeout)
        records: list[SourceRecord] = []
        total: int | None = None
        notes: dict[str, None] = {}
        failure: Failure | None = None
        try:
            async with (
                asyncio.timeout(seconds if self._is_ready() else None),
                aclosing(self._batches(query, k, offset, web, seconds)) as batches,
            ):
                async for batch in batches:
                    records += batch.records
                    total = batch.total if batch.total is not None else total
                    notes |= dict.fromkeys(batch.notes)
                    if batch.trouble is not None:
                        failure = batch.trouble
                        break
                    if len(records) >= k:
                        break
        except TimeoutError:
            came = f"; {_counted(len(records))} had come" if records else ""
            failure = Failure("time-out", f"no full answer within {seconds:g} seconds{came}")
        except SourceError as trouble:
            failure = trouble.failure
        except GermaneError as error:
            failure = Failure("local", str(error))
        return SourceAnswer(self.name, _distinct(records)[:k], total, failure, tuple(notes), offset)

    def _is_ready(self) -> bool:
        """Whether this machine has made what an answer needs: else the limits of time do not count yet."""
        return True

    @abstractmethod
    def _batches(
        self, query: str, k: int, offset: int, web: "Web | None", seconds: float
    ) -> AsyncGenerator[Batch, None]:
        """The records from `offset` on, until `k` or the last; it raises `SourceError`."""


def _counted(records: int) -> str:
    return f"{records:,} record{'s' if records != 1 else ''}"


def _distinct(records: Iterable[SourceRecord]) -> tuple[SourceRecord, ...]:
    """Pages of a living source overlap: the first of each id stays."""
    return tuple({record.id: record for record in reversed(tuple(records))}.values())[::-1]


@dataclass(frozen=True, kw_only=True)
class WebSource(Source):
    """A source over HTTP.

    `url`: another address than the usual one; a person who gives it may give a private one. `private`: also by name.
    `key`: shown nowhere. `email`: told to the source, as several ask for. `rate`: fewer or more requests a second than
    is its habit.
    """

    usual: ClassVar[str] = ""
    habit: ClassVar[Rate] = Rate(5)
    busy: ClassVar[frozenset[int]] = frozenset()
    """Statuses by which it says, beside 429, that it is asked too often."""
    url: str = ""
    private: bool = False
    key: Secret | None = None
    email: str = ""
    rate: Rate | None = None
    retries: int = RETRIES
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.key is not None and not isinstance(self.key, Secret):
            object.__setattr__(self, "key", Secret(str(self.key)))
        if not self.address:
            raise ParameterError(f"the source '{self.name}' needs its address: url")
        origin_of(self.address)
        if self.retries < 0 or self.max_bytes < 1:
            raise ParameterError("retries are not negative, and max_bytes is at least 1")

    @property
    def address(self) -> str:
        """Where it is asked."""
        return self.url or self.usual

    @property
    def policy(self) -> "Policy":
        """How it may be asked."""
        urls = (self.url,) if self.url else ()
        return Policy(self.rate or self._rate(), urls, self.private, self.retries, self.max_bytes, self.busy, self.kind)

    def _rate(self) -> Rate:
        return self.habit

    def _secrets(self, **named: Secret | None) -> Mapping[str, Secret]:
        return {name: secret for name, secret in named.items() if secret is not None}

    async def _batches(
        self, query: str, k: int, offset: int, web: "Web | None", seconds: float
    ) -> AsyncGenerator[Batch, None]:
        shared: Web | _Lent = load("germane.metasearch.Web")() if web is None else _Lent(web)
        async with shared as used:
            talk = load("germane.metasearch.Conversation")(used, self.name, self.policy, used.clock.now() + seconds)
            async with aclosing(self._talk(talk, query, k, offset)) as batches:
                async for batch in batches:
                    yield batch

    @abstractmethod
    def _talk(self, talk: "Conversation", query: str, k: int, offset: int) -> AsyncGenerator[Batch, None]:
        """The requests."""


@dataclass
class _Lent:
    """A `Web` that somebody else closes."""

    web: "Web"

    async def __aenter__(self) -> "Web":
        return self.web

    async def __aexit__(self, *_: object) -> None:
        return None
