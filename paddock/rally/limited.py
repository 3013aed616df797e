"""Nodes with limits: launched inside their control groups, and what the kernel says of them, for the race's records."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from paddock import paths
from paddock.files import gibibytes, write_json
from paddock.limits import ENDED, WAITING, NodeGroups, named
from paddock.rally.clusters import Cluster, Node, started

LIMITS_FILE = "limits.json"


def limits_file(race_id: str) -> Path:
    """What was held for each launch of a node with limits, and what it used; without limits no file."""
    return paths.state_folder() / "races" / race_id / LIMITS_FILE


class LimitedNodes:
    """Those of one race."""

    def __init__(self, race_id: str, clusters: Sequence[Cluster]) -> None:
        self._race_id = race_id
        self._groups = {
            node.name: NodeGroups(cluster.limits, named(race_id, node.name))
            for cluster, node in started(clusters)
            if cluster.limits is not None
        }
        # Of each node the launch that is current, and those before it.
        self._current: dict[str, dict[str, Any]] = {}
        self._earlier: list[dict[str, Any]] = []

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of their control groups."""
        return tuple(folder for groups in self._groups.values() for folder in groups.folders)

    def launch(self, node: Node, words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
        """Start the program of a node: it begins once it is in its groups, so that the JVM sees their limits.

        :param options: of Popen; a node without limits is started with them as it is.
        :raises OSError: as Popen.
        :raises MachineError: if the limits cannot be held.
        """
        if (groups := self._groups.get(node.name)) is None:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, **options)
        if before := self._current.pop(node.name, None):
            self._earlier.append(before)
        groups.remove()  # the kernel counts from zero in new ones
        files = groups.make()
        launcher = subprocess.Popen([*WAITING, *words], stdin=subprocess.PIPE, **options)
        try:
            groups.place(launcher.pid)
            if launcher.stdin is not None:
                with contextlib.suppress(BrokenPipeError), launcher.stdin as told:
                    told.write(b"go\n")
        except BaseException:
            launcher.kill()
            launcher.communicate()
            raise
        self._current[node.name] = {
            "node": node.name,
            "limits": groups.plan.text,
            "at most": groups.plan.at_most,
            "files": files,
        }
        return launcher

    def began(self, node: Node, pid: int) -> None:
        """The node's own process is there: see that it is in its groups as its launcher was.

        :raises MachineError: if it is not.
        """
        groups = self._groups.get(node.name)
        if groups is not None and psutil.pid_exists(pid):  # one that has just ended is told by others
            self._current[node.name] |= {"process": pid, "began": time.time(), **groups.check(pid)}
            self.write_down()

    def write_down(self) -> None:
        """Keep what those that run now have used; nothing without limits."""
        for name, launch in self._current.items():
            groups = self._groups[name]
            launch |= {"counted": groups.use(), "lost": groups.lost(launch["files"])}
            with contextlib.suppress(psutil.Error, KeyError):
                process = psutil.Process(launch["process"])
                launch |= {
                    "seconds": round(time.time() - process.create_time(), 2),
                    "processor seconds": round(sum(process.cpu_times()[:2]), 2),
                }
        if self._current:
            write_json(limits_file(self._race_id), [*self._earlier, *self._current.values()])

    def ended_by_the_kernel(self, node: str | None = None) -> str:
        """Which of them, or whether that one, the kernel has ended for its memory; a sentence, empty if none."""
        for name, groups in self._groups.items():
            # A group that is gone counts nothing: what it said last is remembered.
            counted = self._current.get(name, {}).get("counted", {}) | groups.use()
            size = groups.plan.limits.memory_bytes
            if node in (None, name) and counted.get(ENDED) and size:
                return (
                    f"The kernel ended the node {name}, because it needed more memory than its limit of "
                    f"{gibibytes(size)} (limit_memory): make that larger, or the heap smaller"
                )
        return ""


def launches(file: Path) -> list[dict[str, Any]]:
    """What a :func:`limits_file` says: an object for each launch of a node, and for all of a shipper's; or none."""
    try:
        told: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return told


def limits_held(file: Path) -> list[str]:
    """The same for people: a sentence for each."""
    found = []
    for one in launches(file):
        who = f"node {one['node']}" if "node" in one else one["program"]
        text = f"The {who} was held to {one['limits']}"
        seconds, used = one.get("seconds"), one.get("processor seconds")
        if seconds and used is not None:
            text += f"; it used {used / seconds:.2f} cores' time on average since its start"
        counted = one.get("counted") or {}
        if periods := counted.get("nr_periods"):
            text += f", and was throttled in {100 * counted.get('nr_throttled', 0) / periods:.0f} % of all periods"
        if peak := counted.get("peak memory bytes"):
            text += f"; its memory had a peak of {gibibytes(int(peak))}, page cache included"
        if lost := one.get("lost"):
            text += (
                f"; but something has changed {', '.join(lost)} since then: these figures are not those of the limits"
            )
        found.append(f"{text}.")
    return found
