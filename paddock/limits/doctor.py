"""Which kinds of limits hold on this machine, tried out."""

from __future__ import annotations

from pathlib import Path

from paddock.errors import MachineError
from paddock.limits.asked import Limits
from paddock.limits.groups import try_out
from paddock.limits.plan import Here, plan_limits

# A limit of each kind that any machine is large enough for.
_EXAMPLES = {
    "cores": Limits(cores=1),
    "processor time": Limits(quota=1.0),
    "memory": Limits(memory_bytes=1 << 28),
    "disk": Limits(read_bytes=1 << 30, write_bytes=1 << 30),
}


def holding_here(data: Path, here: Here | None = None) -> tuple[dict[str, str], dict[str, str]]:
    """Which kinds of limits hold here, each tried with a process that does nothing, and undone.

    :param data: where nodes keep their data.
    :returns: kind -> by which means, for those that hold; kind -> the sentence that says why not, for the others.
    """
    hold, fail = {}, {}
    for kind, limits in _EXAMPLES.items():
        try:
            plan = plan_limits(limits, data, kind, here)
            try_out(plan)
        except MachineError as error:
            fail[kind] = str(error)
        else:
            hold[kind] = "CPU affinity" if plan.by_affinity else f"control groups v{plan.groups[0].version}"
    return hold, fail
