"""Who sent a request that came through a proxy: what the proxy says, where it is one that was named.

A proxy puts the address that it was asked from behind those in `X-Forwarded-For`. So the list is read from its end,
past the proxies that are trusted: the first other address is the one that asked. What stands before it anybody may have
written. A request that does not come from a trusted proxy is taken as it came, whatever it says.
"""

import ipaddress
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, TypeAlias

from germane.errors import ParameterError

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class TrustedProxies:
    """Addresses and networks whose word is taken; none is trusted unless it is named."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._networks: tuple[Network, ...] = tuple(map(_network, names))

    def apply(self, scope: MutableMapping[str, Any], headers: Mapping[str, str]) -> None:
        """Put who asked, and how, into the scope in the place of the proxy."""
        host, port = scope.get("client") or ("", 0)
        if not self._trusts(_address(host)):
            return
        hops = [hop.strip() for hop in headers.get("x-forwarded-for", "").split(",")]
        for hop in reversed(hops):
            found = _address(hop)
            if found is None:
                break  # nothing before it can be told either
            host, port = str(found), 0
            if not self._trusts(found):
                break
        scope["client"] = (host, port)
        scheme = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
        if scheme in ("http", "https"):
            scope["scheme"] = scheme

    def _trusts(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self._networks)


def _network(name: str) -> Network:
    try:
        return ipaddress.ip_network(name.strip().strip("[]"), strict=False)
    except ValueError:
        raise ParameterError(
            f"a trusted proxy is an address or a network, as 127.0.0.1 or 10.0.0.0/8, not '{name[:80]}'"
        ) from None


def _address(text: str) -> Address | None:
    """An address, with a port or without; IPv4 where it stands within one of IPv6.

    >>> _address("192.0.2.7:4711"), _address("[2001:db8::1]:4711"), _address("unknown")
    (IPv4Address('192.0.2.7'), IPv6Address('2001:db8::1'), None)
    """
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
