"""Coin-flip orders: which contender runs when, reproducible from a seed on every Python version; and spread phases.

The random order within each block is what makes the statistics exact: fixed orders alias with periodic disturbances.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence


def derived_seed(seed: int, purpose: str) -> int:
    """An independent seed for one purpose ("start 3"), so that one recorded seed repeats a whole tournament."""
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big")


def block_orders(contenders: Sequence[str], blocks: int, seed: int) -> tuple[tuple[str, ...], ...]:
    """One uniformly random order of all contenders per block.

    More blocks with the same seed begin with the same orders. A contender dropped later is left out of the remaining
    orders; they stay uniform. Only ``random.Random.random`` is used, the one method whose sequence Python promises not
    to change; ``shuffle`` has changed before.

    :raises ValueError: if a contender is named twice.
    """
    if len(set(contenders)) != len(contenders):
        raise ValueError(f"A contender is named twice in {', '.join(contenders)}; names must differ.")
    generator = random.Random(seed)  # noqa: S311 (coin flips, no secrets)
    orders = []
    for _ in range(blocks):
        order = list(contenders)
        for last in range(len(order) - 1, 0, -1):
            chosen = int(generator.random() * (last + 1))
            order[last], order[chosen] = order[chosen], order[last]
        orders.append(tuple(order))
    return tuple(orders)


def spread_phases(blocks: int, seed: int) -> tuple[float, ...]:
    """One number from 0 to below 1 per block, each of them uniform, all of them together spread evenly.

    Each lies in a part of its own of as many equal parts, and which block has which part is left to chance. A mean over
    all blocks then varies far less than that of independent numbers, and no block knows what the others had.
    """
    (parts,) = block_orders([str(part) for part in range(blocks)], 1, seed)
    generator = random.Random(derived_seed(seed, "within its part"))  # noqa: S311 (no secrets)
    return tuple(round((int(part) + generator.random()) / blocks, 6) % 1 for part in parts)
