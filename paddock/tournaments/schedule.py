"""What chance decides in a tournament, from its seed: which start runs whom, each block's order and refresh phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from paddock.statistics.orders import block_orders, derived_seed, spread_phases
from paddock.tournaments.model import Tournament


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


def make_schedule(tournament: Tournament, seed: int) -> tuple[Start, ...]:
    """All starts in their order; the same seed gives the same schedule on every machine.

    Index level: every start runs all contenders, each block in an order of its own. Node level: every group of starts
    runs each contender once, in coin-flip order, and a start holds laps of one contender only.
    """
    names = tuple(contender.name for contender in tournament.contenders)
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


def schedule_as_json(schedule: tuple[Start, ...]) -> list[dict[str, Any]]:
    """The schedule for plan.json."""
    return [
        {
            "number": start.number,
            "group": start.group,
            "contenders": list(start.contenders),
            "orders": [list(order) for order in start.orders],
            "warmup_blocks": start.warmup_blocks,
            "phases": list(start.phases),
        }
        for start in schedule
    ]


def schedule_from_json(values: list[Mapping[str, Any]]) -> tuple[Start, ...]:
    """The schedule that :func:`schedule_as_json` wrote."""
    return tuple(
        Start(
            value["number"],
            value["group"],
            tuple(value["contenders"]),
            tuple(tuple(order) for order in value["orders"]),
            value["warmup_blocks"],
            tuple(value.get("phases", ())),
        )
        for value in values
    )
