"""CPU and memory of processes that come and go."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from paddock.sampling.machine import ComponentMeter, NodeProcesses

# /proc counts in ticks of 10 ms, user and system time each rounded down: a process shows a little less than it used
BURN = """
import time
end = time.process_time() + 0.35
while time.process_time() < end:
    pass
print("done", flush=True)
input()
"""


@contextmanager
def burnt() -> Iterator[subprocess.Popen[str]]:
    """A process that shows at least 0.3 s of CPU time and now waits."""
    process = subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        yield process
    finally:
        process.communicate("\n")


def test_the_cpu_time_of_an_ended_process_stays() -> None:
    """The sum never falls when a worker ends, while memory and the number of processes do."""
    meter = ComponentMeter()
    with burnt() as process:
        during = meter.read([process.pid], 0)
        assert during.processes == 1
        assert during.cpu_seconds >= 0.3
        assert during.resident_bytes > 2**20
    after = meter.read([process.pid], 1)
    assert after.processes == 0
    assert after.resident_bytes == 0
    assert after.cpu_seconds == during.cpu_seconds


def test_processes_are_added_up() -> None:
    """Two workers count as two, a pid that is named twice once."""
    meter = ComponentMeter()
    with burnt() as first, burnt() as second:
        usage = meter.read([first.pid, second.pid, second.pid], 0)
    assert usage.processes == 2
    assert 0.6 <= usage.cpu_seconds < 5


def test_the_busiest_process() -> None:
    """The share of a core is CPU time over elapsed time, of the process that used most."""
    meter = ComponentMeter()
    me = os.getpid()
    with burnt() as idle:
        meter.read([me, idle.pid], 0)
        used_before = sum(psutil.Process(me).cpu_times()[:2])
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        usage = meter.read([me, idle.pid], 0.5)
        used = sum(psutil.Process(me).cpu_times()[:2]) - used_before
    assert usage.busiest == pytest.approx(used / 0.5, abs=0.1)
    assert usage.busiest > 0.3


def test_a_local_node_is_recognised_by_its_start() -> None:
    """The same process id with another start time is a process on another machine."""
    process = psutil.Process()
    start = int(process.create_time() * 1000) + 1500

    def information(start_time: int) -> dict[str, object]:
        return {"nodes": {"n": {"process": {"id": process.pid}, "jvm": {"start_time_in_millis": start_time}}}}

    processes = NodeProcesses()
    processes.find(information(start))
    usage = processes.read()["n"]
    assert usage.pid == process.pid
    assert usage.resident_bytes > 2**20
    processes.find(information(start - 3600_000))
    assert processes.read() == {}


def test_a_node_that_has_ended_is_left_out() -> None:
    """No figure is made up for a process that is gone."""
    processes = NodeProcesses()
    with burnt() as process:
        start = int(psutil.Process(process.pid).create_time() * 1000)
        processes.find(
            {"nodes": {"n": {"process": {"id": process.pid}, "jvm": {"start_time_in_millis": start}}}},
        )
        assert set(processes.read()) == {"n"}
    assert processes.read() == {}
