"""Client addresses that belong to nobody."""

from __future__ import annotations

import ipaddress

from paddock.corpora.integers import Draws

# Private, documentation, benchmarking and reserved blocks.
_RESERVED = "240.0.0.0/4"
_IPV4_BLOCKS = (
    "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "203.0.113.0/24",
    "198.51.100.0/24", _RESERVED, _RESERVED, _RESERVED, _RESERVED, _RESERVED,
)  # fmt: skip
_IPV6_BLOCK = ipaddress.IPv6Network("2001:db8::/32")


def addresses(ipv4: int, ipv6: int, draws: Draws, taken: set[str], beside_new: bool = False) -> list[str]:
    """Distinct addresses in random order; ``taken`` are avoided, and the new ones added to it.

    :param beside_new: avoid those that the kernel makes for clients who come only once: the IPv4 block 240.0.0.0/4,
        and IPv6 addresses whose third group has four digits, which none has that is made here.
    """
    blocks = [ipaddress.IPv4Network(block) for block in _IPV4_BLOCKS if not beside_new or block != _RESERVED]
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
