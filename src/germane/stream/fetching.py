"""Feeds asked for and messages sent, over the guarded connections of meta-search: rates, limits, checked addresses."""

import asyncio
import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import TypeVar

from germane.lazy import on_first_use
from germane.metasearch.answers import SourceError
from germane.metasearch.calls import Call, Policy
from germane.metasearch.clock import Clock
from germane.metasearch.payload import Payload
from germane.metasearch.rates import SHARED, Buckets, Rate

with on_first_use(__name__):
    from germane import metasearch

Value = TypeVar("Value")

AGENT = "germane (follows feeds for its user)"
TIMEOUT = 60.0
"""Seconds that a feed has."""
SEND_TIMEOUT = 10.0
"""Seconds that the receiver of a message has."""
FIRST_WAIT, LONGEST_WAIT = 60.0, 6 * 3600.0
"""Seconds that a feed is left alone after one failure, doubled for each after it."""
OWN = (
    "If you trust it, give that address itself in place of the one that led there, its host as a number or localhost "
    "(http://10.0.0.7/feed)"
)
"""Advice where an address that is not public was refused."""
_SENT = frozenset({201, 202, 203, 204, 205})


class Fetcher:
    """Asks and sends. `clock`, `buckets` and `resolver` are replaced by tests."""

    def __init__(self, *, clock: Clock | None = None, buckets: Buckets = SHARED, retries: int = 1) -> None:
        self.clock, self._buckets, self._retries = clock or Clock(), buckets, retries

    def feed(self, url: str, validators: Mapping[str, str], max_bytes: int) -> Payload:
        """Fetch an address; status 304 where it has not changed since the answer with these validators."""
        asked = {"If-None-Match": validators.get("etag", ""), "If-Modified-Since": validators.get("last_modified", "")}
        headers = {name: value for name, value in asked.items() if value}
        accept = "application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5"
        call = Call(url, headers={"Accept": accept, **headers}, also=frozenset({304}))
        policy = Policy(Rate(2, together=1), (url,), retries=self._retries, max_bytes=max_bytes, kind="feed")
        return self._asked(call, policy, TIMEOUT, lambda payload: payload)

    def send(self, url: str, body: bytes, number: int, secret: str | None) -> None:
        """POST a message, signed where there is a secret; `SourceError` where it does not arrive."""
        headers = {"Content-Type": "application/json", "Germane-Delivery": str(number)}
        if secret is not None:
            headers["Germane-Signature"] = signature(body, secret)
        policy = Policy(Rate(50, together=1), (url,), retries=0, max_bytes=1 << 20, kind="webhook")
        self._asked(Call(url, headers=headers, body=body, also=_SENT), policy, SEND_TIMEOUT, lambda _: None)

    def back_off(self, failures: int) -> float:
        """Seconds to wait after so many failures, one after another."""
        return min(FIRST_WAIT * 2.0 ** min(failures - 1, 20), LONGEST_WAIT)

    def _asked(self, call: Call, policy: Policy, seconds: float, parse: Callable[[Payload], Value]) -> Value:
        async def talk() -> Value:
            async with metasearch.Web(clock=self.clock, buckets=self._buckets, agent=AGENT) as web:
                talking = metasearch.Conversation(web, call.url, policy, web.clock.now() + seconds)
                try:
                    async with asyncio.timeout(seconds):
                        return await talking.ask(call, parse)
                except TimeoutError:
                    raise SourceError("time-out", f"no full answer within {seconds:g} seconds") from None

        try:
            return asyncio.run(talk())
        except SourceError as error:
            if error.failure.kind != "address":
                raise
            message = str(error).partition("; ")[0]
            raise SourceError("address", f"{message}. {OWN}") from None


def signature(body: bytes, secret: str) -> str:
    """HMAC-SHA256 of the body, as the header `Germane-Signature` has it.

    >>> signature(b"{}", "key")
    'sha256=a777724d943eb48dc69bca8a4a6d57a04db3f9ec7e1de4e581e860265bdf3032'
    """
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
