"""Which addresses may be connected to.

A source, a redirect or a name server could lead a request into the network of the machine it runs on. So a name is
resolved here, each address is looked at, and the connection goes to the address that was looked at: a second answer of
the name server is never asked for. Addresses that are not public are refused, unless a person configured the source for
that very address.
"""

import ipaddress
import os
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

from germane.errors import ParameterError
from germane.metasearch.answers import SourceError
from germane.metasearch.threads import aside

Resolver: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""Host and port to addresses."""
Origin: TypeAlias = tuple[str, int]

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

NOT_PUBLIC = tuple(map(ipaddress.ip_network, (
    # The registry of special-purpose addresses of IPv4 (IANA), private use, multicast and reserved ones.
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    # That of IPv6, within the part that is given out to the public network (2000::/3): Teredo, ORCHID, benchmarks and
    # the rest of the protocols' assignments, documentation, 6to4, and what answers for private addresses (AS112).
    "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)))  # fmt: skip
"""Blocks that lead to nobody's public server, whatever the release of Python knows of them."""
_PUBLIC_6 = ipaddress.ip_network("2000::/3")
"""All else of IPv6 is special: loopback, local and site-local addresses, multicast, segment routing, discarded."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}


def is_public(address: str) -> bool:
    """Whether it is an address of the public network, also where it stands within one of IPv6.

    >>> is_public("93.184.216.34"), is_public("::ffff:127.0.0.1"), is_public("169.254.169.254")
    (True, False, False)
    """
    found: Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            found = found.ipv4_mapped
        elif found in _NAT64:  # the only way to IPv4 in some networks
            found = ipaddress.IPv4Address(found.packed[-4:])
        elif found not in _PUBLIC_6:
            return False
    return not any(found in block for block in NOT_PUBLIC)


def origin_of(url: str) -> Origin:
    """Host, in lower case, and port; `ParameterError` for what is no address of HTTP, or holds a password.

    >>> origin_of("https://Example.org/path")
    ('example.org', 443)
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ParameterError(f"not a web address: {error}") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ParameterError("a web address begins with http:// or https:// and names a host")
    if parts.username or parts.password:
        raise ParameterError(
            f"the address of {parts.hostname} holds a name or a password: put them into an environment variable, and "
            "its name into the source's settings"
        )
    return parts.hostname.lower(), port or _PORTS[parts.scheme]


def is_literal(host: str) -> bool:
    """Whether a host is an address already, or the name of this machine."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return True


async def resolve(host: str, port: int) -> list[str]:
    """The addresses that the system knows for a host, in its order."""
    found = await aside(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets connections through to public addresses, and to `allowed` (host and port) whatever their address."""

    allowed: frozenset[Origin] = frozenset()
    resolver: Resolver = field(default=resolve)

    @classmethod
    def of(cls, urls: Iterable[str], resolver: Resolver = resolve, *, private: bool = False) -> "Guard":
        """What a person's own addresses allow: those that name an address of a machine or this one, or, with
        `private`, those by any name."""
        origins = map(origin_of, urls)
        return cls(frozenset(origin for origin in origins if private or is_literal(origin[0])), resolver)

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of the host that may be connected to; `SourceError` where there are none."""
        name = host.strip("[]").lower()
        try:
            found = await self.resolver(name, port)
        except (OSError, UnicodeError) as error:
            told = f"the host {name} is not known: {error}{about_proxies()}"
            raise SourceError("unreachable", told, again=True) from None
        open_to = found if (name, port) in self.allowed else [address for address in found if is_public(address)]
        if not open_to:
            raise SourceError(
                "address",
                f"{name}:{port} is at a private address ({', '.join(found) or 'none'}), which is refused; a source of "
                "your own may have one if its settings name that address, or say private = true",
            )
        return open_to


def about_proxies() -> str:
    """What to say where a connection fails and the environment names a proxy, which is not asked: it would look names
    up by itself, and the address that was looked at would not be the one that is asked."""
    name = next((name for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy") if os.environ.get(name)), "")
    return f" ({name} is set, but connections are direct)" if name else ""
