"""Limits that hold, on the control groups of this machine where it lets us make any; a made-up kernel elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from paddock.errors import MachineError
from paddock.limits import ENDED, WAITING, Limits, NodeGroups, Plan, holding_here, is_group_of, named, plan_limits
from paddock.limits.groups import try_out
from paddock.limits.layout import trees
from paddock.limits.plan import Here
from tests.limits.layouts import systemd
from tests.machine import wait_until

BUSY = "while True: pass"
Held = Callable[[Limits, str], "tuple[subprocess.Popen[bytes], NodeGroups]"]


def here_or_skip(limits: Limits, data: Path) -> Plan:
    """The plan, tried out; the test is skipped where this machine does not let us hold it."""
    try:
        plan = plan_limits(limits, data, "x")
        try_out(plan)
    except MachineError as error:
        pytest.skip(str(error))
    return plan


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    """Start a Python program within limits; everything is gone afterwards."""
    started: list[tuple[subprocess.Popen[bytes], NodeGroups]] = []

    def start(limits: Limits, code: str) -> tuple[subprocess.Popen[bytes], NodeGroups]:
        groups = NodeGroups(here_or_skip(limits, tmp_path), named(f"test-{os.getpid()}", f"node-{len(started)}"))
        groups.make()
        process = subprocess.Popen([*WAITING, sys.executable, "-c", code], stdin=subprocess.PIPE, cwd=tmp_path)
        started.append((process, groups))
        groups.place(process.pid)
        assert process.stdin
        process.stdin.write(b"go\n")
        process.stdin.close()
        return process, groups

    yield start
    for process, groups in started:
        process.kill()
        process.wait()
        groups.remove()
        assert [folder for folder in groups.folders if folder.exists()] == []


def test_a_quota_holds(held: Held) -> None:
    """A program that would take a whole core gets a quarter of its time, and the kernel counts how often it waited."""
    process, groups = held(Limits(quota=0.25), BUSY)
    wait_until(lambda: groups.use().get("nr_throttled", 0) > 5)
    running = psutil.Process(process.pid)
    began, before = time.monotonic(), sum(running.cpu_times()[:2])
    wait_until(lambda: time.monotonic() - began > 2)
    used, seconds = sum(running.cpu_times()[:2]) - before, time.monotonic() - began
    assert used <= 0.25 * seconds + 0.1  # what is left of a period
    assert groups.use()["throttled seconds"] > 0


def test_cores_hold_for_threads_that_come_later(held: Held) -> None:
    """All of them, and the program itself counts as many as it has."""
    code = "import os, pathlib, threading, time; pathlib.Path('seen').write_text(str(len(os.sched_getaffinity(0))))"
    code += "; threading.Thread(target=time.sleep, args=(600,)).start(); pathlib.Path('there').touch()"
    process, groups = held(Limits(cores=1), code)
    wait_until(lambda: Path(f"/proc/{process.pid}/cwd/there").exists())
    last = str(sorted(os.sched_getaffinity(0))[-1])
    assert groups.check(process.pid) == {"cores allowed": last}
    assert Path(f"/proc/{process.pid}/cwd/seen").read_text() == "1"


def test_memory_holds(held: Held) -> None:
    """Who takes more is ended by the kernel, which is counted."""
    process, groups = held(Limits(memory_bytes=64 << 20), "block = bytearray(256 << 20)")
    assert process.wait(600) == -9
    assert groups.use()[ENDED] == 1


def test_a_disk_holds(held: Held, tmp_path: Path) -> None:
    """What a program writes and waits for comes at that rate, and not before."""
    code = "import os; f = open('data', 'wb'); f.write(bytes(8 << 20)); f.flush(); os.fsync(f.fileno())"
    began = time.monotonic()
    process, _ = held(Limits(write_bytes=4 << 20), code)
    assert process.wait(600) == 0
    assert time.monotonic() - began > 1.5


def test_affinity_holds_without_groups(tmp_path: Path) -> None:
    """As for an ordinary user; every machine has it."""
    core = sorted(os.sched_getaffinity(0))[0]
    groups = NodeGroups(plan_limits(Limits(cpus=(core,)), tmp_path, "x", Here({})), "paddock-r-n")
    assert groups.folders == ()
    process = subprocess.Popen([*WAITING, sys.executable, "-c", BUSY], stdin=subprocess.PIPE)
    try:
        groups.place(process.pid)
        assert process.stdin
        process.stdin.write(b"go\n")
        process.stdin.close()
        assert groups.check(process.pid) == {"cores allowed": str(core)}
    finally:
        process.kill()
        process.wait()


def test_a_program_that_nobody_lets_go_ends() -> None:
    """Whoever was to do it has been killed: nothing begins outside of its groups."""
    waiting = subprocess.Popen([*WAITING, "echo", "began"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    said, _ = waiting.communicate()
    assert (waiting.returncode, said) == (1, b"")


def made_up(root: Path) -> NodeGroups:
    """On files that only look like a kernel's: what is written is what they say."""
    recorded = systemd(root)
    machine = Here(trees(recorded.membership, recorded.mounts), (0, 1), 8 << 30)
    return NodeGroups(plan_limits(Limits(quota=0.5, memory_bytes=1 << 30), root, "x", machine), "paddock-r-n")


def test_what_the_kernel_makes_of_a_limit_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that says something else than was written is none."""
    groups = made_up(tmp_path)
    (folder,) = groups.folders
    assert groups.make() == {f"{folder}/cpu.max": "50000 100000", f"{folder}/memory.max": str(1 << 30)}
    from paddock.limits import layout

    read = layout.read
    monkeypatch.setattr(layout, "read", lambda file: "max 100000" if file.name == "cpu.max" else read(file))
    with pytest.raises(MachineError, match=r"cpu.max was refused \(it says 'max 100000' where '50000 100000' was writ"):
        groups.make()


def test_limits_that_somebody_has_changed_are_told(tmp_path: Path) -> None:
    """An agent of the machine, say; figures after that are not the limits'."""
    groups = made_up(tmp_path)
    said = groups.make()
    assert groups.lost(said) == []
    (groups.folders[0] / "cpu.max").write_text("max 100000\n")
    assert groups.lost(said) == [f"{groups.folders[0]}/cpu.max"]


def test_a_process_outside_of_its_groups_is_told(tmp_path: Path) -> None:
    """Something has moved it."""
    groups = made_up(tmp_path)
    groups.make()
    (groups.folders[0] / "cgroup.procs").write_text("1\n")
    with pytest.raises(MachineError, match=f"the process {os.getpid()} was refused .it is not in its group"):
        groups.check(os.getpid())


def test_counters_of_version_2(tmp_path: Path) -> None:
    """By the names that version 1 has them under, too."""
    groups = made_up(tmp_path)
    groups.make()
    folder = groups.folders[0]
    (folder / "cpu.stat").write_text("usage_usec 9\nnr_periods 20\nnr_throttled 5\nthrottled_usec 1500000\n")
    (folder / "memory.events").write_text("low 0\nmax 12\noom 1\noom_kill 1\n")
    (folder / "memory.peak").write_text("4096\n")
    expected = {"nr_periods": 20, "nr_throttled": 5, "throttled seconds": 1.5, ENDED: 1, "peak memory bytes": 4096}
    assert groups.use() == expected


def test_only_a_races_own_groups_are_its() -> None:
    """What a ledger names is removed by whoever comes next, who may be root."""
    assert is_group_of("/sys/fs/cgroup/cpu/paddock-race-1-default-0", "race-1")
    for path in ("/sys/fs/cgroup/cpu", "paddock-race-1-default-0", "/x/paddock-race-2-a", "/x/../paddock-race-1-a"):
        assert not is_group_of(path, "race-1")


def test_what_holds_here_is_tried(tmp_path: Path) -> None:
    """Each kind holds by some means, or a sentence says why not; nothing stays."""
    hold, fail = holding_here(tmp_path)
    assert set(hold) | set(fail) == {"cores", "processor time", "memory", "disk"}
    assert "cores" in hold
    assert all(sentence.endswith(".") for sentence in fail.values())
    without, why = holding_here(tmp_path, Here({}))
    assert without == {"cores": "CPU affinity"}
    assert set(why) == {"processor time", "memory", "disk"}


def as_nobody(function: Callable[[], object]) -> Any:
    """What the function returns in a process of a user who owns nothing."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(write, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told)


@pytest.mark.skipif(os.geteuid() != 0, reason="The other tests ran as an ordinary user already.")
def test_an_ordinary_user_has_affinity_and_sentences() -> None:
    """Whatever groups the machine has: what holds is tried, and what does not says what would help."""
    hold, fail = as_nobody(lambda: holding_here(Path("/")))
    assert hold["cores"] == "CPU affinity"
    assert {*hold, *fail} == {"cores", "processor time", "memory", "disk"}
    assert "processor time" in fail
    assert all("call ./inv as root" in sentence for sentence in fail.values() if "control groups" in sentence)
