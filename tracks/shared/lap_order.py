"""What chance decides in a block, by a seed or as given: the order of its levels, and the phase of their refreshes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from esrally import exceptions


def lap_orders(names: Sequence[str], blocks: int, given: Any, seed: int) -> list[tuple[str, ...]]:
    """The names of the levels in the order of their laps, for every block.

    :param blocks: number of blocks, warm-up blocks included.
    :param given: None; a list of names, for all blocks; or a list of such lists, one per block.
    :param seed: decides the order if none is given: at random, because a fixed or rotating one can fall into step
        with whatever else recurs on a machine.
    :raises exceptions.InvalidSyntax: if a block does not have every level once, or there are not as many as blocks.
    """
    if given is None:
        return [_shuffled(names, seed, block) for block in range(blocks)]
    if not isinstance(given, list) or not given:
        raise exceptions.InvalidSyntax(f"lap_order must be a list of level names, or of such lists, but is {given!r}.")
    if not isinstance(given[0], list):
        return [_checked(names, given)] * blocks
    if len(given) != blocks:
        raise exceptions.InvalidSyntax(
            f"lap_order has the order of {len(given)} blocks, but there are {blocks}, warm-up blocks included: "
            f"give one list for each, or one list of names for all."
        )
    return [_checked(names, order) for order in given]


def _checked(names: Sequence[str], order: Any) -> tuple[str, ...]:
    # Numbers name levels, too: [4, 1, 2] is the order of the levels [1, 2, 4].
    found = tuple(str(name) for name in order) if isinstance(order, list) else ()
    if sorted(found) != sorted(names):
        raise exceptions.InvalidSyntax(
            f"every block of lap_order must have each of the levels {', '.join(names)} once, but one is {order!r}."
        )
    return found


def _shuffled(names: Sequence[str], seed: int, block: int) -> tuple[str, ...]:
    # By checksums and not by random.shuffle, whose results may change with the version of Python.
    return tuple(sorted(names, key=lambda name: hashlib.sha256(f"{seed}/{block}/{name}".encode()).digest()))


def load_phases(blocks: int, given: Any, seed: int) -> list[float]:
    """At which share of a refresh interval, 0 to below 1, the loads of each block that counts begin.

    Refreshes come at a fixed time after the index. Loads that always begin right after it would all end at the same
    time after a refresh, and the markers that are still waiting then would wait for the same reason: what was not seen
    would depend on how long it takes, which no estimate forgives. Every phase is equally likely, and those of all
    blocks are spread evenly, one to each of as many equal parts of the interval: that leaves less to chance.

    :param blocks: number of blocks that count.
    :param given: None, or the phases.
    :param seed: decides the phases if none are given.
    :raises exceptions.InvalidSyntax: if there are not as many as blocks, or one is no such share.
    """
    if given is None:
        parts = sorted(range(blocks), key=lambda part: _checksum(seed, "part", part))
        # 32 bits of a checksum: random.random may change with the version of Python.
        return [(part + int(_checksum(seed, "phase", part)[:8], 16) / 2**32) / blocks for part in parts]
    shares = isinstance(given, list) and all(
        isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one < 1 for one in given
    )
    if not shares or len(given) != blocks:
        raise exceptions.InvalidSyntax(
            f"lap_phases must be a list of {blocks} numbers from 0 to below 1, one for each block that counts, "
            f"but is {given!r}."
        )
    return [float(one) for one in given]


def _checksum(seed: int, what: str, number: int) -> str:
    return hashlib.sha256(f"{seed}/{what}/{number}".encode()).hexdigest()
