"""How many processes send the load of a lap, and from which machines."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from paddock.cars import this_machine
from paddock.errors import UsageError
from paddock.rally.request import LOAD_DRIVER_HOSTS, load_driver_hosts

PROCESSES, RENDEZVOUS = "driver_processes", "driver_rendezvous"
# Where the processes of several machines meet unless the user says something else.
RENDEZVOUS_PORT = 39190
# Of a lap or a load where nobody says.
DEFAULT_CLIENTS = 8
# Up to here the node needs the cores more than the load driver does.
_FEW_CORES = 3
# What nobody asked for: four send more than a node on the same machine can take.
_MOST_UNASKED = 4


def cores() -> int:
    """Those of this machine that may be used."""
    return this_machine().processors


def rallys_processes() -> int:
    """How many Rally spreads the clients of a task over: it looks at the cores alone."""
    return os.cpu_count() or 1


def default_processes(clients: int) -> int:
    """One on up to three cores, else half of them, with a client each and four at most.

    :param clients: of a lap.
    """
    available = cores()
    return 1 if available <= _FEW_CORES else max(1, min(available // 2, _MOST_UNASKED, clients))


def lap_parameters(params: Mapping[str, Any], further_arguments: Sequence[str], clients: int) -> dict[str, Any]:
    """The track parameters of a race of laps that the user has left to us.

    :param params: the user's, and ``further_arguments`` for esrally.
    :param clients: that a lap has where its level does not say.
    :raises UsageError: more processes than one machine has.
    """
    hosts = load_driver_hosts(further_arguments)
    asked = params.get(PROCESSES)
    if asked is None:
        # With several machines each has its part, which nobody but the user knows how to cut.
        asked = default_processes(clients) if len(hosts) < 2 else len(hosts)
    elif len(hosts) < 2 and asked > rallys_processes():
        raise UsageError(
            f"{PROCESSES} is {asked}, but Rally has one process for each core of a load driver, and this machine has "
            f"{rallys_processes()}: ask for {rallys_processes()} at most; a race (./inv race) can name more machines, "
            f"with --rally-args '{LOAD_DRIVER_HOSTS}=...'."
        )
    chosen = {PROCESSES: asked} if asked > 1 and PROCESSES not in params else {}
    if asked > 1 and len(hosts) > 1 and params.get(RENDEZVOUS) is None:
        chosen[RENDEZVOUS] = f"{hosts[0]}:{RENDEZVOUS_PORT}"
    return chosen


def idle_processes(processes: int, clients: Mapping[str, int]) -> str | None:
    """A sentence about processes that have nothing to do; None if all have.

    :param clients: contender or level -> clients of its laps.
    """
    few = {name: count for name, count in clients.items() if count < processes}
    if not few:
        return None
    name = min(few, key=lambda one: few[one])
    return (
        f"laps of '{name}' have {few[name]} {'client' if few[name] == 1 else 'clients'} for {processes} processes of "
        f"the load driver, each of which needs one to have something to do: {processes - few[name]} will have nothing."
    )
