"""Limits of a node: what a car asks for, which files of control groups hold that, and whether they do on this machine.

asked         the limits themselves, as car variables say them; pure
layout        which control groups there are for us, of version 1 and 2, and what is written into them; mostly pure
disks         the disk below a folder
plan          the limits on this machine: by which means each is held, or why it cannot be
groups        makes the groups of one node, reads them back, puts a process into them, removes them
doctor        which kinds of limits hold here

Where control groups are forbidden, CPU affinity holds the cores; for the rest there is nothing that would.
"""

from paddock.limits.asked import Limits, cpu_list, cpus_in, limits_of
from paddock.limits.doctor import holding_here
from paddock.limits.groups import ENDED, WAITING, NodeGroups, is_group_of, named, remove_groups, try_out
from paddock.limits.plan import Here, Plan, plan_limits

__all__ = [
    "ENDED",
    "WAITING",
    "Here",
    "Limits",
    "NodeGroups",
    "Plan",
    "cpu_list",
    "cpus_in",
    "holding_here",
    "is_group_of",
    "limits_of",
    "named",
    "plan_limits",
    "remove_groups",
    "try_out",
]
