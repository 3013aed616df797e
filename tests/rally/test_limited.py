"""Nodes with limits: launched inside them, looked at, written down, and their groups gone with the race."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paddock import paths
from paddock.errors import MachineError, RaceError
from paddock.limits import ENDED, Limits, NodeGroups, Plan, plan_limits, try_out
from paddock.limits.plan import Here
from paddock.rally import leftovers
from paddock.rally.clusters import Cluster
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.limited import limits_file, limits_held
from paddock.rally.nodes import Nodes
from paddock.rally.privileges import Identity
from tests.machine import wait_until
from tests.rally.test_clusters import free_ports, installer, two_clusters

Installer = Callable[..., None]
__all__ = ["installer"]


def quota() -> Plan:
    """Half a core, as far as this machine lets us."""
    try:
        plan = plan_limits(Limits(quota=0.5, memory_bytes=256 << 20), paths.PROJECT, "half")
        try_out(plan)
    except MachineError as error:
        pytest.skip(str(error))
    return plan


def limited(plan: Plan, port: int | None = None) -> tuple[Cluster, ...]:
    """Two clusters, the first one's nodes with limits."""
    first, second = two_clusters(port or free_ports(3))
    return replace(first, limits=plan), second


def test_nodes_begin_in_their_groups_and_are_written_down(installer: Installer) -> None:
    """Each launch anew; the cluster without limits is in none. At the end of the race the groups are gone."""
    nodes, processes = Nodes("race-1", limited(quota())), RaceProcesses("race-1")
    nodes.install(Identity())
    folders = nodes.limited.folders
    assert {folder.name for folder in folders} == {"paddock-race-1-default-0", "paddock-race-1-default-1"}
    with leftovers.written_down("race-1", (), folders):
        nodes.start()
        inside = {int(line) for folder in folders for line in (folder / "cgroup.procs").read_text().split()}
        of_the_first = {one.pid for one in processes.nodes() if "/default-" in " ".join(one.cmdline())}
        assert inside == of_the_first
        assert len(inside) == 2
        nodes.restart()
        nodes.stop()
        launches = json.loads(limits_file("race-1").read_text())
    assert [one["node"] for one in launches] == ["default-0", "default-1"] * 2
    for one in launches:
        assert one["limits"] == nodes.limited._groups["default-0"].plan.text
        assert str(256 << 20) in one["files"].values()
        assert one["at most"] == {"cores": 0.5}
        assert one["lost"] == []
        assert one["counted"][ENDED] == 0
        assert one["processor seconds"] >= 0
    assert [folder for folder in folders if folder.exists()] == []
    told = limits_held(limits_file("race-1"))
    assert len(told) == 4
    assert told[0].startswith("The node default-0 was held to 0.5 cores of time (quota v")
    assert "cores' time on average since its start" in told[0]


def test_a_node_may_run_as_somebody_else(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a user namespace as root's nodes do; it is in its groups nevertheless."""
    from paddock.rally import privileges

    if os.geteuid() != 0 or not privileges.namespaces_work():
        pytest.skip("Only root's nodes are somebody else's.")
    nodes = Nodes("race-1", limited(quota()))
    nodes.install(Identity())
    nodes._identity = Identity(privileges.NAMESPACE)
    with leftovers.written_down("race-1", (), nodes.limited.folders):
        nodes.start()
        assert all((folder / "cgroup.procs").read_text().split() for folder in nodes.limited.folders)
        nodes.stop()


def test_cores_are_held_by_affinity_where_there_are_no_groups(installer: Installer) -> None:
    """As for an ordinary user; nothing has to be cleared up."""
    core = sorted(os.sched_getaffinity(0))[-1]
    plan = plan_limits(Limits(cpus=(core,)), paths.PROJECT, "one", Here({}))
    nodes = Nodes("race-1", limited(plan))
    nodes.install(Identity())
    assert nodes.limited.folders == ()
    with leftovers.written_down("race-1"):
        nodes.start()
        nodes.stop()
    (first, _) = json.loads(limits_file("race-1").read_text())
    assert first["cores allowed"] == str(core)
    assert first["limits"] == f"core {core} (affinity)"


def test_nodes_without_limits_write_nothing(installer: Installer) -> None:
    """Most of them."""
    nodes = Nodes("race-1", two_clusters(free_ports(3)))
    nodes.install(Identity())
    with leftovers.written_down("race-1"):
        nodes.start()
        nodes.stop()
    assert not limits_file("race-1").exists()
    assert limits_held(limits_file("race-1")) == []


def test_a_limit_that_is_refused_starts_no_node(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence is the limit's, and no launcher waits for ever."""
    nodes = Nodes("race-1", limited(plan_limits(Limits(cores=1), paths.PROJECT, "one", Here({}))))
    nodes.install(Identity())

    def refused(self: NodeGroups, pid: int) -> None:
        raise MachineError(f"No place for {pid}.")

    monkeypatch.setattr(NodeGroups, "place", refused)
    with leftovers.written_down("race-1"):
        with pytest.raises(MachineError, match="No place for"):
            nodes.start()
        assert RaceProcesses("race-1").nodes() == []


def test_who_ended_a_node_for_its_memory_is_told(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rally, and the node's log, only know that it is gone."""
    nodes = Nodes("race-1", limited(quota()))
    nodes.install(Identity())
    monkeypatch.setattr(NodeGroups, "use", lambda _: {ENDED: 1})
    for program in (paths.races_folder() / "race-1").glob("default-*/*/install/*/bin/elasticsearch"):
        program.write_text("#!/bin/sh\nexit 137\n")
    with leftovers.written_down("race-1", (), nodes.limited.folders), pytest.raises(RaceError) as told:
        nodes.start()
    sentence = "The kernel ended the node default-0, because it needed more memory than its limit of 256 MiB"
    assert sentence in str(told.value)


def test_the_next_command_removes_the_groups_of_a_killed_race(installer: Installer) -> None:
    """Kill -9 leaves nodes and groups; both go, and nothing else of that folder."""
    plan = quota()
    port = free_ports(3)
    program = textwrap.dedent("""
        import sys, time
        sys.path.insert(0, sys.argv[1])
        from tests.rally.test_limited import limited, quota
        from paddock.rally import leftovers
        from paddock.rally.nodes import Nodes
        from paddock.rally.privileges import Identity
        nodes = Nodes("race-1", limited(quota(), int(sys.argv[2])))
        nodes.install(Identity())
        with leftovers.written_down("race-1", (), nodes.limited.folders):
            nodes.start()
            print("there", flush=True)
            time.sleep(600)
    """)
    words = [sys.executable, "-c", program, str(paths.PROJECT), str(port)]
    watcher = subprocess.Popen(words, stdout=subprocess.PIPE)
    folders = Nodes("race-1", limited(plan, port)).limited.folders
    processes = RaceProcesses("race-1")
    try:
        assert watcher.stdout
        assert watcher.stdout.readline() == b"there\n"
        assert all(folder.is_dir() for folder in folders)
    finally:
        watcher.kill()
        watcher.communicate()
    wait_until(lambda: len(processes.nodes()) == 3)
    with leftovers.racing() as cleared:
        assert "The race race-1 was cut off before; 3 processes of it were ended" in cleared[0]
    assert [folder for folder in folders if folder.exists()] == []
    assert all(folder.parent.is_dir() for folder in folders)


def test_a_ledger_that_names_anything_else_is_none(rally_home: Path, tmp_path: Path) -> None:
    """Whoever clears up may be root, and the ledger somebody else's."""
    (tmp_path / "empty").mkdir()
    with leftovers.written_down("race-1") as ledger:
        told = json.loads(ledger.file.read_text())
        ledger.file.write_text(json.dumps({**told, "groups": [str(tmp_path / "empty")]}))
        assert leftovers.running() == []
        ledger.file.write_text(json.dumps({**told, "groups": ["/x/paddock-race-1-default-0"]}))
        assert [one.groups for one in leftovers.running()] == [("/x/paddock-race-1-default-0",)]
    assert (tmp_path / "empty").exists()
