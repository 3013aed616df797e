"""What the machine tells: of processes that come and go, of their components, and of disks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from paddock.limits.disks import Disk, disk_of
from paddock.rally.leftovers import COMPONENT, MARK, RaceProcesses
from paddock.sampling.machine import ComponentMeter, DiskMeter, NodeProcesses, Processors
from paddock.sampling.records import DiskUsage
from tests.machine import wait_until

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


SPIN = """
import threading, time
def spin(until):
    while time.thread_time() < until:
        pass
one = threading.Thread(target=spin, args=(0.4,))
one.start()
one.join()
print("done", flush=True)
input()
"""


def test_the_busiest_thread_of_a_component() -> None:
    """That of one thread, where the process has others; only where it is asked for."""
    meter, plain = ComponentMeter(threads=True), ComponentMeter()
    words = [sys.executable, "-c", SPIN]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        meter.read([process.pid], 0)
        assert process.stdout is not None
        process.stdout.readline()
        usage = meter.read([process.pid], 1.0)
        assert plain.read([process.pid], 1.0).busiest_thread is None
        process.communicate("\n")
    assert usage.busiest_thread is not None
    assert usage.busiest_thread <= usage.busiest + 0.02  # ticks


def test_bytes_written_stay_when_a_process_has_ended(tmp_path: Path) -> None:
    """What the kernel counts towards disks, of all processes of a component together."""
    meter = ComponentMeter()
    program = (
        "import os, sys; os.write(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY), bytes(2 ** 20)); print(1); input()"
    )
    words = [sys.executable, "-uc", program, str(tmp_path / "data")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        told = Path(f"/proc/{process.pid}/io").read_text()
        during = meter.read([process.pid], 0)
        process.communicate("\n")
    assert f"\nwrite_bytes: {during.written_bytes}\n" in told
    after = meter.read([], 1)
    assert (after.written_bytes, after.read_bytes) == (during.written_bytes, during.read_bytes)


def test_a_component_is_what_a_process_says_it_belongs_to(tmp_path: Path) -> None:
    """The children of the driver that carry the variable are no driver; they are ended with the race all the same."""
    of_the_race = RaceProcesses("race", tmp_path)
    marked = {**os.environ, MARK: str(tmp_path)}
    words = [sys.executable, "-c", "input()"]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, env=marked) as driver,
        subprocess.Popen(words, stdin=subprocess.PIPE, env={**marked, COMPONENT: "shipper"}) as shipper,
        subprocess.Popen(words, stdin=subprocess.PIPE, env={**os.environ, COMPONENT: "shipper"}) as stranger,
    ):
        try:
            expected = {"": [driver.pid], "shipper": [shipper.pid]}
            wait_until(lambda: of_the_race.component_pids() == expected)
            assert {one.pid for one in of_the_race.all()} == {driver.pid, shipper.pid}
        finally:
            for process in (driver, shipper, stranger):
                process.kill()
    wait_until(lambda: of_the_race.component_pids() == {"": []})


COUNTERS = """\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 4048080 238244 255467802 7720450 7327511 2965712 970842880 3183405 0 1309320 11415347 2115163 132
 254       1 vda1 1 2
"""


def test_a_disk_is_read_from_the_kernels_counters(tmp_path: Path) -> None:
    """Milliseconds of work and sectors of 512 bytes, of the disk below the nodes' data alone."""
    counters = tmp_path / "diskstats"
    counters.write_text(COUNTERS)
    meter = DiskMeter(counters)
    assert meter.read() == {}
    meter._names = {"vda"}
    assert meter.read() == {"vda": DiskUsage(1309.32, 255467802 * 512, 970842880 * 512)}
    counters.unlink()
    assert meter.read() == {}


def test_the_disk_is_that_of_the_data(tmp_path: Path) -> None:
    """As the node's settings name its folder; data in memory has none, and nor has a node that tells no folder."""
    meter = DiskMeter()
    meter.find([{"settings": {"path.data": [str(tmp_path)]}}, {"settings": {}}, {}])
    disk = disk_of(tmp_path)
    assert set(meter.read()) == ({disk.name} if isinstance(disk, Disk) else set())
    meter.find([{"settings": {"path.data": "/proc"}}])
    assert meter.read() == {}


def test_how_busy_the_machine_was() -> None:
    """Stolen time is busy, too: nobody here could have used it."""
    processors = Processors()
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
    told = processors.read()
    assert 0 <= told["steal_percent"] <= told["busy_percent"] <= 100
    assert told["busy_percent"] > 0
