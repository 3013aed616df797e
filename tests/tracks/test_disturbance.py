"""What else the machine did during a lap: Linux's counters between two looks, and whose processor time is whose."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from shared import disturbance
from shared.disturbance import Disturbance

from paddock.tournaments.laps import Attempt
from tests.machine import wait_until
from tests.tracks.lap_client import FakeElasticsearch
from tests.tracks.test_lap import run


class Machine:
    """A /proc of a machine with two cores and one node, whose clock and counters the test moves."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.clock = 100.0
        self.driver = 5.0
        self.ticks = [1000, 0, 500, 9000, 100, 0, 50, 30]
        self.node = 700
        self.pressure: Mapping[str, int] = {"cpu": 5_000_000, "io": 0, "memory": 0}
        monkeypatch.setattr(disturbance.time, "monotonic", lambda: self.clock)
        monkeypatch.setattr(disturbance.os, "sysconf", lambda name: 100)
        times = lambda: SimpleNamespace(user=self.driver, system=0.0)  # noqa: E731
        monkeypatch.setattr(disturbance.os, "times", times)
        self.write()

    def write(self) -> None:
        """Everything as it is now; guests are in user time already and must not count twice."""
        words = " ".join(str(tick) for tick in self.ticks)
        (self.folder / "stat").write_text(f"cpu  {words} 400 0\ncpu0 1 2\ncpu1 1 2\nintr 5\n")
        (self.folder / "77").mkdir(exist_ok=True)
        (self.folder / "77" / "stat").write_text(f"77 (java (x) y) S {' '.join('0' * 10)} {self.node - 100} 100 0 0")
        (self.folder / "pressure").mkdir(exist_ok=True)
        for name, total in self.pressure.items():
            lines = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\nfull avg10=0.00 total=999999999\n"
            (self.folder / "pressure" / name).write_text(lines)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """See :class:`Machine`; the clock is everybody's, so it is given back before anything else happens."""
    with monkeypatch.context() as patch:
        yield Machine(tmp_path, patch)


def test_shares_of_what_passed_between_two_looks(machine: Machine) -> None:
    """Ten seconds of two cores: node 6 s and driver 2 s of the 11 s that cores were busy, 1 s stolen, waits apart."""
    look = Disturbance([77], 1, machine.folder)
    machine.clock += 10.0
    machine.ticks = [1800, 50, 650, 9700, 200, 20, 130, 130]
    machine.node += 600
    machine.driver += 2.0
    machine.pressure = {"cpu": 9_000_000, "io": 250_000, "memory": 0}
    machine.write()
    assert look.record() == {
        "seconds": 10.0,
        "cores": 2,
        "nodes_here": 1,
        "nodes_elsewhere": 1,
        "steal_share": 0.05,
        "others_cores": 0.3,
        "cpu_pressure_share": 0.4,
        "io_pressure_share": 0.025,
        "memory_pressure_share": 0.0,
    }


def test_a_kernel_without_pressure_says_nothing_of_it(machine: Machine) -> None:
    """The rest is told all the same."""
    for file in (machine.folder / "pressure").iterdir():
        file.unlink()
    look = Disturbance([77], 0, machine.folder)
    machine.clock += 1.0
    machine.ticks[3] += 200
    (machine.folder / "stat").write_text(f"cpu  {' '.join(map(str, machine.ticks))}\ncpu0\ncpu1\n")
    found = look.record() or {}
    assert (found["steal_share"], found["others_cores"], found["cores"]) == (0.0, 0.0, 2)
    assert {found[f"{name}_pressure_share"] for name in ("cpu", "io", "memory")} == {None}


def test_without_the_counters_there_is_no_record(machine: Machine) -> None:
    """Neither on another system nor when a node has gone; that voids no lap."""
    assert Disturbance([], 0, machine.folder / "nowhere").record() is None
    assert Disturbance([78], 0, machine.folder).record() is None


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the counters are Linux's")
def test_the_load_of_others_is_seen_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that spins is somebody else's load, unless it is a node, by this kernel's own counters.

    Both look at one copy of these, and at one clock, so that nothing depends on what else runs here or when.
    """

    def look(*files: str) -> None:
        for file in files:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(Path("/proc", file).read_text())

    def used(proc: Path = Path("/proc")) -> float:
        return disturbance._process_ticks((proc / of_process).read_text()) / os.sysconf("SC_CLK_TCK")

    clock = [0.0]
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as spinning, monkeypatch.context() as patch:
        of_process = f"{spinning.pid}/stat"
        try:
            look("stat", of_process)
            before = used(tmp_path)
            wait_until(lambda: used() >= before + 0.5)
            patch.setattr(disturbance.time, "monotonic", lambda: clock[0])
            patch.setattr(disturbance.os, "times", lambda: SimpleNamespace(user=0.0, system=0.0))
            as_other, as_node = Disturbance(proc=tmp_path), Disturbance([spinning.pid], proc=tmp_path)
            clock[0] = 1.0
            look(of_process, "stat")
            other, node = as_other.record(), as_node.record()
        finally:
            patch.undo()
            spinning.kill()
    assert other is not None
    assert node is not None
    assert other["others_cores"] > 0
    # A kernel may account for a process more finely than for a core, so that less than nothing is left.
    left = max(0.0, other["others_cores"] - (used(tmp_path) - before))
    assert node["others_cores"] == pytest.approx(left, abs=0.002)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the counters are Linux's")
def test_a_lap_tells_what_else_the_machine_did(tmp_path: Path) -> None:
    """In its record, of the time of the load alone; the node of the fake is elsewhere."""
    # Long enough for the counters, which tick a hundred times a second.
    record = run(FakeElasticsearch(lambda number, documents: time.sleep(0.05)), tmp_path)["record"]
    found = record["disturbance"]
    assert record["seconds"] <= found["seconds"] < record["seconds"] + record["ended_at"] - record["started_at"]
    assert (found["nodes_here"], found["nodes_elsewhere"]) == (0, 1)
    assert found["cores"] == os.cpu_count()
    # What a tournament reads of it.
    attempt = Attempt(1, 1, "race", "esrally", 0, 0.0, None, 0.0)
    attempt.add(record)
    read = attempt.records[0].lap.disturbance
    assert read is not None
    assert (read.cores, read.steal, read.others) == (found["cores"], found["steal_share"], found["others_cores"])
    assert (read.nodes_here, read.nodes_elsewhere) == (0, 1)
    pressures = (read.cpu_pressure, read.io_pressure, read.memory_pressure)
    assert pressures == tuple(found[f"{name}_pressure_share"] for name in ("cpu", "io", "memory"))
