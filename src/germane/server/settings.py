"""How the server is set up, and the limits that it keeps."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from germane.errors import ParameterError
from germane.metasearch import Configuration

PORT = 8017


@dataclass(frozen=True, slots=True)
class Settings:
    """`host` and `port` to listen at; a `token` that requests must bring, demanded where `host` is not this machine.

    `hosts`: names under which the server may be asked, beside its own address. Limits: bytes of a body, characters of a
    query, the deepest result that a page may begin at, results that marks re-rank, requests a minute from one address,
    and searches at the same time. `sources`: what meta-search may ask. `audit`: the file that changes are noted in.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    hosts: tuple[str, ...] = ()
    max_body: int = 32 << 20
    max_query: int = 2_000
    max_depth: int = 10_000
    depth: int = 200
    per_minute: int = 1_200
    threads: int = 8
    find_seconds: float = 20.0
    sources: Configuration = field(default_factory=Configuration)
    audit: Path | None = None

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.token:
            raise ParameterError(
                f"the address {self.host} can be reached from other machines: give a token (--token), which requests "
                "must bring, or listen at 127.0.0.1"
            )
        if self.token is not None and len(self.token) < 16:
            raise ParameterError("a token has at least 16 characters")

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
