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

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}


def is_public(address: str) -> bool:
    """Whether it is an address of the public network, also where it stands within one of IPv6.

    >>> is_public("93.184.216.34"), is_public("::ffff:127.0.0.1"), is_public("169.254.169.254")
    (True, False, False)
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        within = found.ipv4_mapped or found.sixtofour
        if within is None and found in _NAT64:
            within = ipaddress.IPv4Address(found.packed[-4:])
        if within is not None:
            found = within
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


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
