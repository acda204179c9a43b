"""What every request passes: Host, token, cross-site requests, size, rate; and what every answer carries.

The middleware is plain ASGI, so that bodies are counted as they come and answers may stream.

- **One meaning**: a header that decides something stands there once, else 400.
- **Proxies**: who asked is what a proxy says, if it is one that was named (`forwarded.py`).
- **DNS rebinding**: the Host header must name an address of the server's own, else 403.
- **Token**: a bearer token, or the cookie that `/sign-in` sets; compared in constant time. Its role decides what may be
  done (`roles.py`): of pages here, of the API where its operations are called. The feed of a topic opens with a key of
  its own too (`feed_key`), since feed readers send no headers.
- **Cross-site reading**: what makes the server compute is refused where another site asked for it and no person
  clicked (`cross_site.py`).
- **Cross-site requests**: a change (any method but GET, HEAD, OPTIONS) is refused if the browser says that it comes
  from another site (Sec-Fetch-Site, Origin), and one made with a cookie or without a token must bring the value of the
  `germane_csrf` cookie in the header `X-CSRF-Token` or the form field `csrf` (double submit). Programs that send JSON
  without cookies cannot be made to do so by a page: they need a content type or header that no form can send.
- **Limits**: bytes of a body, seconds until it has come, requests a minute from one address. An answer that is given
  before its request has come whole says that the connection ends.
"""

import hmac
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import anyio
from anyio import CapacityLimiter, to_thread

from germane.errors import StorageError
from germane.server.audit import Audit, Entry
from germane.server.bodies import SHORT, Bodies
from germane.server.cookies import cookies_of
from germane.server.cross_site import is_foreign, is_refused
from germane.server.early import EARLY_HASH
from germane.server.forwarded import TrustedProxies
from germane.server.lingering import is_whole
from germane.server.metrics import Metrics
from germane.server.problems import ProblemError, problem_bytes, problem_page, told
from germane.server.rates import Rates
from germane.server.requested import Requested, requested
from germane.server.roles import SAFE, Role, Token, identified, page_role, require
from germane.server.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CSRF, TOKEN = "germane_csrf", "germane_token"
"""The cookies."""
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (
        b"content-security-policy",
        f"default-src 'none'; script-src 'self' '{EARLY_HASH}'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'".encode(),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)
OPEN_PATHS = ("/static/", "/sign-in", "/api/v1/health")
"""What is answered without a token."""
FOR_FILES = ("/import", "/evaluate")
"""Forms that bring files."""
FORM_BYTES = 256 << 10
"""Of a form without files: it is taken apart on the event loop."""
ONCE = ("host", "origin", "sec-fetch-site", "authorization", "x-csrf-token", "content-type", "content-length")
"""Headers that decide something."""
_HOST = re.compile(r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")
_FEED = re.compile(r"/api/v1/topics/([^/]+)/feed")


class Safety:
    """Lets requests through to `app`, or refuses them with a problem document; notes changes in the audit log.

    Where `app` has no `pages`, no browser is given a cookie, and none is asked for it.
    """

    def __init__(self, app: App, settings: Settings, metrics: Metrics, *, pages: bool = True) -> None:
        self.app, self.settings, self.metrics, self.pages = app, settings, metrics, pages
        self._tokens = settings.all_tokens
        self._rates = Rates(settings.per_minute, shared=settings.rates)
        self._audit = Audit(settings.audit)
        self._noting = CapacityLimiter(4)
        self._bodies = Bodies()
        self._proxies = TrustedProxies(settings.trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500
        headers = _headers(scope["headers"])
        self._proxies.apply(scope, headers)
        cookies = cookies_of(headers.get("cookie", ""))
        csrf = cookies.get(CSRF, "")
        api = str(scope["path"]).startswith("/api/")
        fresh = "" if api or not self.pages or _is_token(csrf) else secrets.token_urlsafe(24)
        scope.setdefault("state", {}).update(csrf=fresh or csrf, cookies=cookies)
        entry: Entry | None = None

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                if entry is not None:
                    entry.end(status)  # before the client knows
                added = list(HEADERS)
                if not is_whole(scope):
                    added.append((b"connection", b"close"))
                if fresh:
                    cookie = f"{CSRF}={fresh}; Path=/; SameSite=Strict"
                    added.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        body = None
        try:
            self._check(scope, headers, cookies, csrf)
            waits = receive if scope["method"] in SAFE else None  # a body is read by whoever takes it
            requested.set(Requested(_caller(scope), self.settings.request_seconds, waits))
            entry = await self._noted(scope)
            body = _Body(receive, self._most(scope, headers), self.settings.body_seconds, self._bodies, _caller(scope))
            await self.app(scope, body, sent)
        except ProblemError as refusal:
            await _refuse(refusal, scope, headers, sent)
        finally:
            if body is not None:
                body.forget()
            route = getattr(scope.get("route"), "path", "other")
            self.metrics.note(str(scope["method"]), route, status, time.perf_counter() - began)
            if entry is not None:
                entry.end(status)
            elif scope["method"] not in SAFE and status != 429:  # a flood is not to fill the log as well
                await to_thread.run_sync(self._audit.refused, scope, status, limiter=self._noting)

    async def _noted(self, scope: Scope) -> Entry | None:
        """The line of a change in the audit log; the change is refused where there can be none."""
        if scope["method"] in SAFE:
            return None
        try:
            return await to_thread.run_sync(self._audit.begin, scope, limiter=self._noting)
        except StorageError as error:
            status, said = told(error)
            raise ProblemError(status, f"nothing was changed, since it could not be noted: {said}") from None

    def _check(self, scope: Scope, headers: dict[str, str], cookies: dict[str, str], csrf: str) -> None:
        names = [name for name, _ in scope["headers"]]
        for each in ONCE:
            if names.count(each.encode()) > 1:
                raise ProblemError(400, f"the header {each} stands there twice: send it once")
        host = headers.get("host", "")
        match = _HOST.fullmatch(host)
        name = host if match is None else match[1]
        if match is None or name.lower() not in self.settings.allowed_hosts:
            known = ", ".join(sorted(self.settings.allowed_hosts))
            raise ProblemError(403, f"the server does not answer under the name '{name[:80]}'; it is known as {known}")
        client = (scope.get("client") or ("", 0))[0]
        if not self._rates.allow(client):
            raise ProblemError(
                429, "too many requests in the last minute: wait a little and try again", retry_after="10"
            )
        length = headers.get("content-length", "0")
        most = self._most(scope, headers)
        if length.isascii() and length.isdigit() and int(length) > most:
            raise ProblemError(413, _too_large(most))
        who = self._bearer(headers) or identified(self._tokens, cookies.get(TOKEN, ""))
        path, api = str(scope["path"]), str(scope["path"]).startswith("/api/")
        if self._tokens and who is None and not self._feed(scope, path) and not path.startswith(OPEN_PATHS):
            raise ProblemError(
                401, "this server asks for a token: open /sign-in, or send 'Authorization: Bearer TOKEN'",
                www_authenticate="Bearer",
            )  # fmt: skip
        role = who.role if who is not None else Role.READER if self._tokens else Role.ADMIN
        bound = None if who is None or role == Role.ADMIN else who.name
        name = "" if who is None else who.name or who.role.word
        scope["state"].update(known=who is not None or not self._tokens, from_page=False)
        scope["state"].update(role=role, who=name, bound=bound, foreign=is_foreign(headers))
        if scope["method"] in SAFE and is_refused(headers, path, scope.get("query_string", b"")):
            raise ProblemError(403, "another site asked for this, and not a person: open the address yourself")
        if scope["method"] not in SAFE:
            self._check_origin(scope["state"], str(scope["method"]), headers, host, csrf, api=api)
        if self.pages and not api:
            require(role, page_role(str(scope["method"]), path))

    def _most(self, scope: Scope, headers: dict[str, str]) -> int:
        """Bytes of a body: a form of the page is short, unless it brings files."""
        path = str(scope["path"])
        files = path in FOR_FILES and _kind(headers) == "multipart/form-data"
        return self.settings.max_body if files or path.startswith("/api/") or not self.pages else FORM_BYTES

    def _bearer(self, headers: dict[str, str]) -> Token | None:
        kind, _, value = headers.get("authorization", "").partition(" ")
        return identified(self._tokens, value.strip()) if kind.lower() == "bearer" else None

    def _feed(self, scope: Scope, path: str) -> bool:
        """Whether this is the feed of a topic, with the key that opens it and nothing else."""
        match = _FEED.fullmatch(path)
        if match is None or scope["method"] not in SAFE:
            return False
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("key", [""])[-1]
        return any(same_secret(given, feed_key(token.value, match[1])) for token in self._tokens)

    def _check_origin(
        self, state: dict[str, Any], method: str, headers: dict[str, str], host: str, csrf: str, *, api: bool
    ) -> None:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if site not in (None, "same-origin", "none") or (origin is not None and _netloc(origin) != host):
            raise ProblemError(403, "a change was asked for by another site, and refused")
        if self._bearer(headers) or not self.pages:
            state["from_page"] = True
            return
        given = headers.get("x-csrf-token", "")
        kind = _kind(headers)
        form = kind in ("application/x-www-form-urlencoded", "multipart/form-data")
        if form and "x-csrf-token" not in headers and not api:
            return  # the form's own field is compared when it is read: `forms.Form`
        if same_secret(given, csrf):
            state["from_page"] = True
            return
        simple = method == "POST" and (form or kind in ("", "text/plain"))  # what a page of another site can send
        if not headers.get("cookie") and (not simple or "x-requested-with" in headers):
            return
        raise ProblemError(
            403, f"a change needs the header X-CSRF-Token with the value of the cookie {CSRF}, or, without cookies, a "
            "content type such as application/json or the header X-Requested-With",
        )  # fmt: skip


def feed_key(token: str, topic: str) -> str:
    """What opens the feed of one topic: it says nothing of the token, and opens nothing else."""
    return hmac.new(token.encode(), f"feed of {topic}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]


def same_secret(given: str, expected: str) -> bool:
    """Whether two secrets are the same, compared in constant time; no empty one is."""
    return bool(given and expected) and hmac.compare_digest(given.encode(), expected.encode())


def _caller(scope: Scope) -> str:
    """Who is served in turn: an address, and the token that it brought."""
    return f"{(scope.get('client') or ('', 0))[0]} {scope['state']['who']}"


class _Body:
    """`receive` that counts the bytes of a body, and does not wait for ever."""

    def __init__(self, receive: Receive, most: int, seconds: float, bodies: Bodies, caller: str) -> None:
        self._receive, self._most, self._bodies, self._caller = receive, most, bodies, caller
        self._read, self._held, self._deadline, self._whole = 0, 0, time.monotonic() + seconds, False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        with anyio.move_on_after(max(self._deadline - time.monotonic(), 0.0)) as waiting:
            message = await self._receive()
        if waiting.cancelled_caught:
            raise ProblemError(408, "the request took too long to come")
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._read > self._most:
                raise ProblemError(413, _too_large(self._most))
            if self._read > SHORT:
                self._bodies.hold(self._caller, self._read - self._held)
                self._held = self._read
        return message

    def forget(self) -> None:
        """The request was answered, and its body is gone."""
        self._bodies.release(self._caller, self._held)


def _kind(headers: dict[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _too_large(most: int) -> str:
    size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
    return f"the request is larger than {size}, which is the most that is taken at once: send it in parts"


async def _refuse(refusal: ProblemError, scope: Scope, asked: dict[str, str], send: Send) -> None:
    """A problem document; for a browser that asks for a page a page, which leads to the sign-in where a token lacks."""
    path, status = str(scope["path"]), refusal.status
    kind, body = b"application/problem+json", problem_bytes(status, refusal.detail, path)
    headers = [(name.encode(), value.encode()) for name, value in refusal.headers.items()]
    page = not path.startswith(("/api/", "/metrics")) and "x-fragment" not in asked
    if page and "text/html" in asked.get("accept", ""):
        kind, body = b"text/html; charset=utf-8", problem_page(status, refusal.detail)
        if status == 401:
            whole = quote(path) + (f"?{query}" if (query := scope["query_string"].decode("latin-1")) else "")
            back = f"?next={quote(whole, safe='')}" if scope["method"] in SAFE and path != "/" else ""
            status, headers = 303, [(b"location", f"/sign-in{back}".encode())]
    headers += [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by their names in lower case; those that may come several times in one, as HTTP joins them."""
    found: dict[str, str] = {}
    for name, value in pairs:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = text if key not in found else found[key] + ("; " if key == "cookie" else ", ") + text
    return found


def _netloc(address: str) -> str:
    """Host and port of an address; empty where it is none."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""


def _is_token(text: str) -> bool:
    return len(text) == 32 and all(sign.isalnum() or sign in "-_" for sign in text) and text.isascii()
