"""Asking sources over HTTP: at their rate, again where that helps, within their time, and never more than is allowed.

Every request of every source passes `Conversation.ask`. It looks into the cache, waits for a token of the host,
connects to a checked address, follows redirects itself, reads no more than `max_bytes` (unpacked too), hides keys in
what came back, and hands the bytes to the source's parser. A parser that finds the answer bad raises `SourceError`;
only what it accepts is kept.
"""

import asyncio
import email.utils
import random
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from functools import cache
from typing import Any, TypeVar, cast
from urllib.parse import urljoin, urlsplit

import httpcore
import httpx

from germane.errors import ParameterError
from germane.metasearch.addresses import Guard, Resolver, about_proxies, origin_of, resolve
from germane.metasearch.answers import BrokenOffError, SourceError
from germane.metasearch.cache import Body, Cache, request_key
from germane.metasearch.calls import Call, Policy
from germane.metasearch.clock import Clock
from germane.metasearch.payload import Payload
from germane.metasearch.rates import SHARED, Buckets, Rate
from germane.metasearch.secrets import scrubbed, scrubbed_text

Value = TypeVar("Value")

AGENT = "germane (meta-search by its user)"
"""What sources are told of who asks, unless an `agent` is given."""
REDIRECTS = 5
FIRST_WAIT = 0.5
"""Seconds before the second request, doubled for each after it, times a number drawn from 0.5 to 1.5."""

_PIECE = 1 << 16
_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class Web:
    """What the sources of one search share. An asynchronous context: it closes its connections.

    `random_state` fixes what is drawn for waiting; `clock`, `resolver` and `buckets` are replaced by tests.
    """

    def __init__(
        self,
        *,
        cache: Cache | None = None,
        clock: Clock | None = None,
        resolver: Resolver = resolve,
        buckets: Buckets = SHARED,
        random_state: int = 0,
        agent: str = AGENT,
    ) -> None:
        self.cache, self.clock, self.buckets, self.agent = cache, clock or Clock(), buckets, agent
        self._resolver, self._random_state = resolver, random_state
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._open = AsyncExitStack()

    async def __aenter__(self) -> "Web":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._clients.clear()
        await self._open.aclose()

    async def client(self, name: str, policy: Policy) -> httpx.AsyncClient:
        """The connections of one source."""
        if name not in self._clients:
            guard = Guard.of(policy.own, self._resolver, private=policy.private)
            made = httpx.AsyncClient(transport=_GuardedTransport(guard, policy.rate.together), follow_redirects=False)
            self._clients[name] = await self._open.enter_async_context(made)
        return self._clients[name]

    def draw(self, name: str, attempt: int) -> float:
        """From 0.5 to 1.5, the same for the same seed, source and attempt."""
        return 0.5 + random.Random(f"{self._random_state}:{name}:{attempt}").random()


class Conversation:
    """One source's requests during one search, until `deadline` of the clock."""

    def __init__(self, web: Web, name: str, policy: Policy, deadline: float) -> None:
        self._web, self._name, self._policy, self._deadline = web, name, policy, deadline

    @property
    def left(self) -> float:
        """The seconds that remain."""
        return self._deadline - self._web.clock.now()

    async def ask(self, call: Call, parse: Callable[[Payload], Value]) -> Value:
        """What the parser makes of the answer; `SourceError` where there is none."""
        try:
            return await self._answer(call, parse)
        except BrokenOffError as trouble:
            return cast(Value, trouble.whole)
        except SourceError as trouble:
            told = scrubbed_text(str(trouble), call.secrets)
            raise SourceError(trouble.failure.kind, told, again=trouble.again, wait=trouble.wait) from None

    async def _answer(self, call: Call, parse: Callable[[Payload], Value]) -> Value:
        kept = self._web.cache
        key = request_key(call.method, call.url, call.parameters, call.body)
        if kept is not None:
            body = kept.get(key)
            if body is not None:
                return parse(Payload(body.data, body.content_type))
            if kept.offline:
                raise SourceError("offline", "this request was not recorded, and nothing is fetched offline")
        attempt = 0
        broken: BrokenOffError | None = None
        while True:
            attempt += 1
            try:
                # The source's own time would end everything: what is whole already waits for half of the rest.
                async with asyncio.timeout(None if broken is None else self.left / 2):
                    body = await self._fetched(call)
                found = parse(Payload(body.data, body.content_type, body.status, body.etag, body.last_modified))
            except (SourceError, TimeoutError) as trouble:
                broken = trouble if isinstance(trouble, BrokenOffError) else broken
                if not await self._waited(trouble, attempt):
                    raise broken or trouble from None
                continue
            if kept is not None:
                kept.put(key, origin_of(call.url)[0], body)
            return found

    async def _waited(self, trouble: SourceError | TimeoutError, attempt: int) -> bool:
        """Wait for the next attempt; False, at once, where it would not help or there is no time for it."""
        if isinstance(trouble, TimeoutError) or not trouble.again or attempt > self._policy.retries:
            return False
        seconds = FIRST_WAIT * 2 ** (attempt - 1) * self._web.draw(self._name, attempt)
        if trouble.wait is not None:
            seconds = max(seconds, trouble.wait)
        if seconds >= self.left:
            return False
        await self._web.clock.sleep(seconds)
        return True

    async def _fetched(self, call: Call) -> Body:
        client = await self._web.client(self._name, self._policy)
        url, first = _addressed(call), True
        headers = {"User-Agent": self._web.agent, "Accept-Encoding": "gzip", **call.headers}
        headers |= {name: secret.value for name, secret in call.secret_headers.items()}
        method, content = call.method, call.body
        for _ in range(REDIRECTS + 1):
            async with _Turn(self, origin_of(url)[0]) as turn:
                try:
                    async with client.stream(
                        method, url, headers=headers, content=content or None, timeout=max(self.left, 0.001)
                    ) as response:
                        target = _redirected(url, response)
                        if target is None:
                            return await self._read(response, call, turn)
                except (httpcore.TimeoutException, httpx.TimeoutException):
                    raise SourceError("time-out", "no answer in time") from None
                except (httpcore.NetworkError, httpcore.ProtocolError, httpx.TransportError, OSError) as error:
                    cause = str(error) or type(error).__name__
                    raise SourceError(
                        "unreachable", f"the connection failed: {cause}{about_proxies()}", again=True
                    ) from None
                except (httpx.InvalidURL, UnicodeError) as error:
                    raise SourceError("error", f"not a usable address: {error}") from None
            if origin_of(target) != origin_of(url):
                if scrubbed_text(target, call.secrets) != target or (content and first):
                    raise SourceError(
                        "refused", f"it redirects a request with a key or a body to {origin_of(target)[0]}"
                    )
                headers = {name: value for name, value in headers.items() if name not in call.secret_headers}
            if response.status_code not in (307, 308):
                method, content = "GET", b""
            url, first = target, False
        raise SourceError("error", f"more than {REDIRECTS} redirects")

    async def _read(self, response: httpx.Response, call: Call, turn: "_Turn") -> Body:
        limit = self._policy.max_bytes
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length) > limit:
            raise SourceError("too large", f"an answer of {int(length):,} bytes; {limit:,} are read")
        data = scrubbed(await _bounded(response, limit), call.secrets)
        payload = Payload(data, response.headers.get("content-type", ""))
        status = response.status_code
        if told_rate := _told_rate(response.headers, self._policy.rate):
            turn.bucket.heed(told_rate)
        if status == 200 or status in call.also:
            validators = (response.headers.get(name, "") for name in ("etag", "last-modified"))
            return Body(data, payload.content_type, status, *validators)
        wait = _retry_after(response.headers.get("retry-after", ""), self._web.clock.date())
        told = payload.excerpt
        sentence = f"HTTP {status}{f': {told}' if told else ''}"
        if status == 429 or status in self._policy.busy or (status == 503 and wait is not None):
            if wait is not None:
                turn.bucket.close(self._web.clock.now() + wait)
                sentence += f"; it asks to wait {wait:g} seconds"
            raise SourceError("rate limit", sentence, again=True, wait=wait)
        if status >= 500:
            raise SourceError("server", sentence, again=status in _AGAIN, wait=wait)
        raise SourceError("refused", sentence, again=status in _AGAIN, wait=wait)


class _Turn:
    """A token of the host, for the time of one request."""

    def __init__(self, talk: Conversation, host: str) -> None:
        self._talk = talk
        self.bucket = talk._web.buckets.bucket(f"{talk._policy.kind} {host}", talk._policy.rate)

    async def __aenter__(self) -> "_Turn":
        clock = self._talk._web.clock
        while wait := self.bucket.enter(clock.now()):
            if wait >= self._talk.left:
                raise SourceError("rate limit", "its rate leaves no request in the time that there is")
            await clock.sleep(wait)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.bucket.leave()


def _addressed(call: Call) -> str:
    """The address with its parameters and keys."""
    pairs = [*call.parameters, *((name, secret.value) for name, secret in call.secret_parameters.items())]
    return str(httpx.URL(call.url).copy_merge_params(tuple(pairs))) if pairs else call.url


def _redirected(url: str, response: httpx.Response) -> str | None:
    """Where an answer sends us on; None for one that does not."""
    target: str | None = response.headers.get("location")
    if response.status_code not in (301, 302, 303, 307, 308) or not target:
        return None
    found = urljoin(url, target)
    try:
        origin_of(found)
    except ParameterError as error:
        raise SourceError("error", f"a redirect that cannot be followed: {error}") from None
    if urlsplit(url).scheme == "https" and urlsplit(found).scheme != "https":
        raise SourceError("error", "a redirect from https to http, which is refused")
    return found


async def _bounded(response: httpx.Response, limit: int) -> bytes:
    """The whole body, unpacked, if it is not longer than `limit`."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", "deflate", ""):
        raise SourceError("unreadable", f"packed as '{encoding}', which was not asked for")
    packed = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding not in ("identity", "") else None
    data = bytearray()
    sent = 0
    async for piece in response.aiter_raw(_PIECE):
        sent += len(piece)
        if packed is not None:
            try:
                piece = packed.decompress(piece, limit + 1 - len(data))
            except zlib.error as error:
                raise SourceError("unreadable", f"a broken {encoding} answer: {error}", again=True) from None
        data += piece
        if len(data) > limit or sent > limit:
            raise SourceError("too large", f"an answer of more than {limit:,} bytes")
    if packed is not None and not packed.eof:
        raise SourceError("unreadable", f"a {encoding} answer that breaks off", again=True)
    return bytes(data)


def _retry_after(text: str, date: float) -> float | None:
    """Seconds, whether the header has them or a date."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), 10**8))
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - date, 0.0)
    except (TypeError, ValueError, OverflowError):
        return None


def _told_rate(headers: httpx.Headers, rate: Rate) -> Rate | None:
    """The rate that an answer tells, as Crossref's do: x-rate-limit-limit requests in x-rate-limit-interval ("1s")."""
    count, span = headers.get("x-rate-limit-limit", ""), headers.get("x-rate-limit-interval", "").removesuffix("s")
    together = headers.get("x-concurrency-limit", "")
    if not all(text.isascii() and text.isdigit() and 0 < len(text) < 7 and int(text) for text in (count, span)):
        return None
    at_once = int(together) if together.isascii() and together.isdigit() and int(together[:6]) > 0 else rate.together
    return Rate(int(count), float(span), at_once)


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


class _GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to an address that the guard has looked at; certificates are still checked against the host's name."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failed: Exception | None = None
        for address in await self._guard.addresses(host, port):
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        assert failed is not None
        raise failed

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        raise SourceError("address", "a socket of this machine, which is refused")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class _GuardedTransport(httpx.AsyncBaseTransport):
    """httpx over connections that the guard lets through."""

    def __init__(self, guard: Guard, together: int) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_certificates(), max_connections=together, network_backend=_GuardedBackend(guard)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        found = await self._pool.handle_async_request(asked)
        return httpx.Response(found.status, headers=found.headers, stream=_Stream(found), extensions=found.extensions)

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Stream(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()
