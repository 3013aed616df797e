"""The starts of the nodes that one race of a block challenge spans: each has blocks of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esrally import exceptions

_KEYS = {"start", "warmup_blocks", "blocks", "order", "phases", "ready_file"}


@dataclass(frozen=True)
class Start:
    """The laps between two launches of the nodes.

    :param number: None in a race that is not told of its starts: it cannot know which of somebody's it is.
    :param blocks: that count; those of the warm-up come before them.
    :param order: of its laps, and ``phases`` of its loads, as lap_order and lap_phases have them; None by the seed.
    :param ready_file: its first lap is not run before this file exists: whoever makes it has started the nodes anew.
        None if they are there already.
    """

    number: int | None
    warmup_blocks: int
    blocks: int
    order: Any
    phases: Any
    ready_file: Path | None


def read_starts(params: Mapping[str, Any]) -> tuple[Start, ...]:
    """The starts of a race, in their order; the only one where it is not told of several.

    :param params: of the lap task.
    :raises exceptions.InvalidSyntax: if a start cannot be understood.
    """
    given = params.get("starts")
    if given is None:
        return (Start(None, params["warmup-blocks"], params["blocks"], params["order"], params["phases"], None),)
    if not isinstance(given, list) or not given:
        raise exceptions.InvalidSyntax(f"lap_starts must be a list of objects, one for each start, but is {given!r}.")
    return tuple(_start(one) for one in given)


def _start(value: Any) -> Start:
    if not isinstance(value, Mapping) or (set(value) - _KEYS) or not {"start", "warmup_blocks", "blocks"} <= set(value):
        raise exceptions.InvalidSyntax(
            f"lap_starts must hold objects with start, warmup_blocks and blocks, and with order, phases and ready_file "
            f"if need be, but one is {value!r}."
        )
    for name, least in (("start", 1), ("warmup_blocks", 0), ("blocks", 1)):
        if isinstance(value[name], bool) or not isinstance(value[name], int) or value[name] < least:
            raise exceptions.InvalidSyntax(
                f"{name} of lap_starts must be a whole number from {least} on, but is {value[name]!r}."
            )
    ready = value.get("ready_file")
    if ready is not None and not (isinstance(ready, str) and Path(ready).is_absolute()):
        raise exceptions.InvalidSyntax(f"ready_file of lap_starts must be an absolute path, but is {ready!r}.")
    return Start(
        value["start"],
        value["warmup_blocks"],
        value["blocks"],
        value.get("order"),
        value.get("phases"),
        Path(ready) if ready is not None else None,
    )
