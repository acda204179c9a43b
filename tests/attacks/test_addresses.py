"""Addresses that lead into the network of the machine, or nowhere: every block that the registries call special."""

import ipaddress

import pytest

from germane.metasearch.addresses import is_public

SPECIAL = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.0.8/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
    "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    "255.255.255.255/32", "::/128", "::1/128", "::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23",
    "2001::/32", "2001:1::1/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28",
    "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "4000::/3",
    "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
]  # fmt: skip
"""iana-ipv4-special-registry, iana-ipv6-special-registry; multicast, reserved, and what was given up: site-local, 6to4
and its anycast, IPv4 in IPv6 without a mark."""


@pytest.mark.parametrize("block", SPECIAL)
def test_no_address_of_a_special_block_is_public(block: str) -> None:
    network = ipaddress.ip_network(block)
    for address in (network[0], network[-1], network[network.num_addresses // 2]):
        assert not is_public(str(address))
        if isinstance(address, ipaddress.IPv4Address):
            for within in (f"::ffff:{address}", f"64:ff9b::{address}", f"2002:{int(address) >> 16:x}:1::"):
                assert not is_public(within)


@pytest.mark.parametrize("block", SPECIAL)
def test_the_address_before_a_block_is_not_taken_with_it(block: str) -> None:
    """Blocks that stand apart end where the registry ends them."""
    network = ipaddress.ip_network(block)
    others = [ipaddress.ip_network(each) for each in SPECIAL]
    for number in (int(network[0]) - 1, int(network[-1]) + 1):
        if not 0 <= number < 1 << network.max_prefixlen:
            continue
        address = type(network[0])(number)
        within = ipaddress.ip_network("2000::/3")
        known = any(address in each for each in others if each.version == address.version)
        if not known and (address.version == 4 or address in within):
            assert is_public(str(address))


@pytest.mark.parametrize("address", ["fec0::1", "192.88.99.1", "3fff::1", "::ffff:0:127.0.0.1", "64:ff9b:1::a00:1"])
def test_what_was_taken_for_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00:1450::1"]
)
def test_what_is_public(address: str) -> None:
    assert is_public(address)
