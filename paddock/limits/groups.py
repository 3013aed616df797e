"""The control groups of one node, or of a shipper: made, written, read back, filled with its process, and removed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paddock.errors import MachineError
from paddock.limits import layout
from paddock.limits.asked import cpu_list, cpus_in
from paddock.limits.layout import Setting
from paddock.limits.plan import GroupPlan, Plan, left_out

_PREFIX = "paddock"
_TRIAL = f"{_PREFIX}-trial-"
# Seconds within which the kernel lets go of a group whose last process has ended.
_PATIENCE = 5.0
ENDED = "ended by the memory limit"
# A program behind it waits until it is told to begin: by then it is in its groups, and sees their limits.
WAITING = ("/bin/sh", "-c", 'read -r go && exec "$@" </dev/null', "sh")


class NodeGroups:
    """The groups of one node; or those that a race's shippers, or what feeds them, join by themselves.

    :param name: of each of them, unique on the machine; see :func:`named`.
    """

    def __init__(self, plan: Plan, name: str) -> None:
        self.plan = plan
        self.name = name

    @property
    def folders(self) -> tuple[Path, ...]:
        """One for each tree of groups."""
        return tuple(group.parent / self.name for group in self.plan.groups)

    def make(self) -> dict[str, str]:
        """Make them and write the limits; one that is there already is written anew.

        :returns: file -> what it says afterwards.
        :raises MachineError: if the kernel takes a limit not at all, or not as it was asked for.
        """
        said: dict[str, str] = {}
        for group, folder in zip(self.plan.groups, self.folders, strict=True):
            try:
                self._give_on(group)
                folder.mkdir(exist_ok=True)
            except OSError as error:
                raise self._refused(error.filename or folder, error.strerror or "") from None
            for setting in group.settings:
                self._write(folder / setting.file, setting)
                if (now := layout.read(folder / setting.file)) or setting.needed:
                    said[str(folder / setting.file)] = self._checked(folder / setting.file, setting, now)
        return said

    def place(self, pid: int) -> None:
        """Put a process into them, with whatever it starts from now on.

        :raises MachineError: if the kernel does not let us.
        """
        for folder in self.folders:
            try:
                (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")
            except OSError as error:
                raise self._refused(folder / "cgroup.procs", error.strerror or "") from None
        if self.plan.by_affinity:
            try:
                os.sched_setaffinity(pid, self.plan.cpus)
            except OSError as error:
                raise self._refused(f"the affinity of the process {pid}", error.strerror or "") from None
        self.check(pid)

    def check(self, pid: int) -> dict[str, Any]:
        """See that a process is in them, with all of its threads.

        :returns: for the record: the cores that it may use, as the kernel lists them.
        :raises MachineError: if it is not.
        """
        members = [layout.read(folder / "cgroup.procs").split() for folder in self.folders]
        if not all(str(pid) in each for each in members):
            raise self._refused(f"the process {pid}", "it is not in its group")
        allowed: set[int] = set()
        for thread in Path(f"/proc/{pid}/task").glob("*"):
            with contextlib.suppress(OSError, ValueError):
                allowed |= set(os.sched_getaffinity(int(thread.name)))
        if self.plan.cpus and not allowed <= set(self.plan.cpus):
            raise self._refused(f"the process {pid}", f"it may use the cores {cpu_list(allowed)}")
        return {"cores allowed": cpu_list(allowed)} if allowed else {}

    def use(self) -> dict[str, float]:
        """What the kernel has counted in them by now: throttled time in seconds, periods, bytes, processes ended."""
        found: dict[str, float] = {}
        for group, folder in zip(self.plan.groups, self.folders, strict=True):
            if layout.CPU in group.controllers:
                stat = _pairs(layout.read(folder / "cpu.stat"))
                found |= {name: stat[name] for name in ("nr_periods", "nr_throttled") if name in stat}
                # Version 2 has microseconds, version 1 nanoseconds.
                for name, factor in (("throttled_usec", 1e6), ("throttled_time", 1e9)):
                    if name in stat:
                        found["throttled seconds"] = stat[name] / factor
            if layout.MEMORY in group.controllers:
                for file in ("memory.events", "memory.oom_control"):
                    found[ENDED] = found.get(ENDED, 0) + _pairs(layout.read(folder / file)).get("oom_kill", 0)
                for file in ("memory.peak", "memory.max_usage_in_bytes"):
                    with contextlib.suppress(ValueError):
                        found["peak memory bytes"] = float(layout.read(folder / file))
        return found

    @staticmethod
    def lost(said: Mapping[str, str]) -> list[str]:
        """Of the files that :meth:`make` has read, those that say something else by now: somebody has changed them."""
        return [file for file, text in said.items() if layout.read(Path(file)) != text]

    def remove(self) -> None:
        """Remove them, once nothing is in them any more; one that is not empty stays."""
        remove_groups(self.folders)

    def _give_on(self, group: GroupPlan) -> None:
        if group.version == 2 and (missing := set(group.controllers) - layout.given_on(group.parent)):
            file = group.parent / "cgroup.subtree_control"
            file.write_text(" ".join(f"+{one}" for one in sorted(missing)), encoding="ascii")

    def _write(self, file: Path, setting: Setting) -> None:
        try:
            if setting.needed or file.exists():
                file.write_text(setting.text, encoding="ascii")
        except OSError as error:
            if setting.needed:
                raise self._refused(file, error.strerror or "") from None

    def _checked(self, file: Path, setting: Setting, now: str) -> str:
        """What the file says, if it says what it should; one line of several suffices."""
        if setting.needed and setting.expected not in now.splitlines():
            same = setting.file == "cpuset.cpus" and now and cpus_in(now) == cpus_in(setting.expected)
            if not same:
                raise self._refused(file, f"it says '{now}' where '{setting.expected}' was written")
        return now

    def _refused(self, what: Path | str, why: str) -> MachineError:
        return MachineError(
            f"The limits of '{self.plan.who}' ({self.plan.text}) cannot be held here: {what} was refused ({why}). Look "
            f"whether the groups above it allow less, or {left_out(self.plan.prefix)}."
        )


def named(race_id: str, node: str) -> str:
    """The name of the groups of a race's node."""
    return f"{_PREFIX}-{race_id}-{node}"


def is_group_of(path: str, race_id: str) -> bool:
    """Whether that may be a group of the race's: it is named like one."""
    return Path(path).is_absolute() and ".." not in Path(path).parts and Path(path).name.startswith(named(race_id, ""))


def remove_groups(folders: Iterable[Path]) -> list[Path]:
    """Remove those that are empty, which the kernel tells; returns those still there."""
    deadline = time.monotonic() + _PATIENCE
    left = [folder for folder in folders if folder.is_dir()]
    while left:
        for folder in left:
            with contextlib.suppress(OSError):
                folder.rmdir()
        left = [folder for folder in left if folder.is_dir()]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return left


def try_out(plan: Plan) -> None:
    """Hold the limits once, for a process that does nothing, and undo it.

    :raises MachineError: if they cannot be held.
    """
    groups = NodeGroups(plan, f"{_TRIAL}{os.getpid()}")
    for folder in groups.folders:
        # What a trial has left that was killed.
        for old in folder.parent.glob(f"{_TRIAL}*"):
            if not Path("/proc", old.name.removeprefix(_TRIAL)).exists():
                with contextlib.suppress(OSError):
                    old.rmdir()
    waiting = subprocess.Popen([*WAITING, "true"], stdin=subprocess.PIPE, start_new_session=True)
    try:
        groups.make()
        groups.place(waiting.pid)
    finally:
        waiting.kill()
        waiting.communicate()
        groups.remove()


def _pairs(text: str) -> dict[str, float]:
    words = [line.split() for line in text.splitlines()]
    return {line[0]: float(line[1]) for line in words if len(line) == 2 and line[1].isdigit()}
