"""How the server is set up, and the limits that it keeps."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from germane.errors import ParameterError
from germane.metasearch import Configuration
from germane.server.forwarded import TrustedProxies
from germane.server.roles import Role, Token

PORT = 8017


@dataclass(frozen=True, slots=True)
class Settings:
    """`host` and `port` to listen at; a `token` that requests must bring, demanded where `host` is not this machine.

    `token` allows everything; `tokens` allow what their roles do. Without any, everybody who reaches the server may do
    everything.

    `hosts`: names under which the server may be asked, beside its own address. Limits: bytes of a body, characters of a
    query, the deepest result that a page may begin at, results that marks re-rank, requests a minute from one address,
    and searches at the same time; seconds for the head of a request, for its body, and for a reader to take some of its
    answer. `sources`: what meta-search may ask. `audit`: the file that changes are noted in. `retain_days`: how long
    clicks are kept; 0 keeps them for ever. `min_users`: a query of the log is shown if so many visitors typed it.
    `trusted_proxies`: addresses and networks that are believed whom they ask for. `workers`: processes that share the
    indexes, and `rates` the file by which they count requests.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    tokens: tuple[Token, ...] = ()
    hosts: tuple[str, ...] = ()
    max_body: int = 32 << 20
    max_query: int = 2_000
    max_depth: int = 10_000
    depth: int = 200
    per_minute: int = 1_200
    threads: int = 8
    head_seconds: float = 15.0
    body_seconds: float = 30.0
    take_seconds: float = 30.0
    find_seconds: float = 20.0
    request_seconds: float = 10.0
    sources: Configuration = field(default_factory=Configuration)
    audit: Path | None = None
    retain_days: int = 365
    min_users: int = 5
    trusted_proxies: tuple[str, ...] = ()
    workers: int = 1
    rates: Path | None = None

    def __post_init__(self) -> None:
        tokens = self.all_tokens  # complains of those that are too short
        TrustedProxies(self.trusted_proxies)  # complains of what is no address
        if self.min_users < 1:
            raise ParameterError(f"min_users is a number of visitors from 1 on, not {self.min_users}")
        if not is_loopback(self.host) and not tokens:
            raise ParameterError(
                f"the address {self.host} can be reached from other machines: give a token (--token), which requests "
                "must bring, or listen at 127.0.0.1"
            )

    @property
    def all_tokens(self) -> tuple[Token, ...]:
        """Every token that lets somebody in."""
        own = () if self.token is None else (Token(self.token, Role.ADMIN),)
        return (*own, *self.tokens)

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """The names, without a port, that a Host header may have."""
        own = {"127.0.0.1", "localhost", "[::1]"} if is_loopback(self.host) else {_bracketed(self.host)}
        return frozenset({*own, *(name.lower() for name in self.hosts)})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host.lower()
