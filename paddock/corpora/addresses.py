"""Client addresses that belong to nobody."""

from __future__ import annotations

import ipaddress

from paddock.corpora.integers import Draws

# Private, documentation, benchmarking and reserved blocks.
_IPV4_BLOCKS = (
    "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "203.0.113.0/24",
    "198.51.100.0/24", "240.0.0.0/4", "240.0.0.0/4", "240.0.0.0/4", "240.0.0.0/4", "240.0.0.0/4",
)  # fmt: skip
_IPV6_BLOCK = ipaddress.IPv6Network("2001:db8::/32")


def addresses(ipv4: int, ipv6: int, draws: Draws, taken: set[str]) -> list[str]:
    """Distinct addresses in random order; ``taken`` are avoided, and the new ones added to it."""
    blocks = [ipaddress.IPv4Network(block) for block in _IPV4_BLOCKS]
    result: list[str] = []
    while len(result) < ipv4 + ipv6:
        if len(result) < ipv4:
            block = draws.one_of(blocks)
            address = str(block[draws.between(1, block.num_addresses - 2)])
        else:
            # A provider's customer: one of 4,096 networks of /48, a subnet, an interface.
            host = (draws.below(4096) << 80) | (draws.below(256) << 64) | draws.below(1 << 62)
            address = str(_IPV6_BLOCK[host])
        if address not in taken:
            taken.add(address)
            result.append(address)
    return draws.shuffled(result)
