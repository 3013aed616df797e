"""What chance decides in a tournament, from its seed: which start runs whom, each block's order and refresh phase.

The random order within each block is what makes the statistics exact: fixed orders alias with periodic disturbances.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from paddock.tournaments.model import Tournament


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


@dataclass(frozen=True)
class Start:
    """One launch of the node.

    :param number: from 1, in the order of running.
    :param group: the start-block that it belongs to, from 1: at node level one start of every contender, else itself.
    :param contenders: who runs in it.
    :param orders: the contenders in the order of their laps, for every block, warm-up blocks first.
    :param phases: at which share of a refresh interval the loads of each measured block begin, 0 to below 1; empty
        where freshness is not probed.
    """

    number: int
    group: int
    contenders: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]
    warmup_blocks: int
    phases: tuple[float, ...] = ()

    @property
    def blocks(self) -> int:
        """Measured blocks."""
        return len(self.orders) - self.warmup_blocks

    @property
    def laps(self) -> int:
        """Laps, warm-up included."""
        return sum(len(order) for order in self.orders)

    def without(self, blocks: int) -> Start:
        """The same start without its first measured blocks; its warm-up stays."""
        kept = self.orders[: self.warmup_blocks] + self.orders[self.warmup_blocks + blocks :]
        return replace(self, orders=kept, phases=self.phases[blocks:])

    def lacking(self, names: Collection[str]) -> Start:
        """The same start without the laps of these contenders; the others keep their order."""
        if not set(names) & set(self.contenders):
            return self
        orders = tuple(tuple(name for name in order if name not in names) for order in self.orders)
        return replace(self, contenders=tuple(name for name in self.contenders if name not in names), orders=orders)


def make_schedule(tournament: Tournament, seed: int) -> tuple[Start, ...]:
    """All starts in their order; the same seed gives the same schedule on every machine.

    Index level: every start runs all contenders, each block in an order of its own. Node level: every group of starts
    runs each contender once, in coin-flip order, and a start holds laps of one contender only.
    """
    names = tuple(contender.name for contender in tournament.raced)
    blocks = tournament.warmup_blocks + tournament.blocks
    starts: list[Start] = []

    def phases(group: int) -> tuple[float, ...]:
        # The same for all starts of a group: their laps are paired.
        seed_of_group = derived_seed(seed, f"phases of group {group}")
        return spread_phases(tournament.blocks, seed_of_group) if tournament.freshness else ()

    if tournament.node_level:
        groups = block_orders(names, tournament.starts, derived_seed(seed, "starts"))
        for group, order in enumerate(groups, start=1):
            starts += [
                Start(len(starts) + place, group, (name,), ((name,),) * blocks, tournament.warmup_blocks, phases(group))
                for place, name in enumerate(order, start=1)
            ]
        return tuple(starts)
    for number in range(1, tournament.starts + 1):
        orders = block_orders(names, blocks, derived_seed(seed, f"start {number}"))
        starts.append(Start(number, number, names, orders, tournament.warmup_blocks, phases(number)))
    return tuple(starts)
