"""Shippers with limits, and what feeds them: their control groups, made before a race, which the tracks let them join.

Inside Rally a shipper's process joins by itself (tracks/shared/shipper_child.py), as whom Rally runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import MachineError
from paddock.files import write_json
from paddock.limits import ENDED, NodeGroups, Plan, named
from paddock.limits.asked import MEMORY
from paddock.rally.limited import launches
from paddock.rally.privileges import Identity

_CHILD = paths.TRACKS / "shared" / "shipper_child.py"


@dataclass(frozen=True)
class LimitedProgram:
    """Programs of a race that are held to the same limits; one of them runs at a time.

    :param component: "shipper" or "generator"; the track parameter COMPONENT_groups names their groups.
    :param plan: how their limits are held.
    """

    component: str
    plan: Plan


class ProgramGroups:
    """The groups of one race's programs."""

    def __init__(self, race_id: str, programs: Sequence[LimitedProgram]) -> None:
        self._held = [
            # No node is called so: names of theirs end in a hyphen and a number.
            (one, NodeGroups(one.plan, named(race_id, f"{one.component}.{number}")))
            for number, one in enumerate(programs, 1)
        ]
        self._said: list[dict[str, str]] = []

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of all of them."""
        return tuple(folder for _, groups in self._held for folder in groups.folders)

    def make(self, identity: Identity) -> dict[str, str]:
        """Make them, and see that a process can join them that runs as Rally does.

        :returns: the track parameters that name them.
        :raises MachineError: if they cannot be made, or not be joined.
        """
        params: dict[str, list[str]] = {}
        for program, groups in self._held:
            self._said.append(groups.make())
            _hand_over(groups.folders, identity)
            _try_to_join(groups, identity)
            params.setdefault(f"{program.component}_groups", []).extend(map(str, groups.folders))
        return {name: ",".join(folders) for name, folders in params.items()}

    def write_down(self, file: Path) -> None:
        """Add what the kernel has counted in them to a race's limits file; nothing without any."""
        held: list[dict[str, Any]] = [
            {
                "program": groups.plan.who,
                "limits": groups.plan.text,
                "at most": groups.plan.at_most,
                "files": said,
                "counted": groups.use(),
                "lost": groups.lost(said),
            }
            for (_, groups), said in zip(self._held, self._said, strict=False)  # fewer, if one could not be made
        ]
        if held:
            write_json(file, [*launches(file), *held])


def _hand_over(folders: Sequence[Path], identity: Identity) -> None:
    """Give them to the user in whose place Rally runs, where root becomes another one."""
    if (user := identity.popen.get("user")) is not None:
        for place in (each for folder in folders for each in (folder, folder / "cgroup.procs")):
            os.chown(place, user, identity.popen.get("group", -1))


def _try_to_join(groups: NodeGroups, identity: Identity) -> None:
    joined = "\n".join(map(str, groups.folders))
    python = (sys.executable, "-I", "-S")  # which what feeds a shipper is
    words = [*python, str(_CHILD), str(os.getpid()), "", joined, *python, "-c", "pass"]
    tried = subprocess.run([*identity.prefix, *words], capture_output=True, text=True, check=False, **identity.popen)
    if tried.returncode == 0:
        return
    who = groups.plan.who
    if groups.use().get(ENDED):
        raise MachineError(
            f"The limit of the {who} on its memory is less than any program needs ({groups.plan.text}): make "
            f"{groups.plan.prefix}{MEMORY} larger."
        )
    said = " ".join(tried.stderr.split())[-300:]
    raise MachineError(
        f"The limits of the {who} cannot be held here, because nothing that Rally starts can join their groups: "
        f"{said or f'exit code {tried.returncode}'} Call ./inv as another user, or leave the limits out."
    )
