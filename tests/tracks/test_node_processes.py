"""The processes of the nodes on this machine: which they are, and what Linux tells of their writing and memory."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from shared.node_processes import NodeProcesses, local_nodes

from paddock.tournaments.laps import Attempt
from tests.tracks.lap_client import FakeElasticsearch
from tests.tracks.test_lap import run


def a_process(proc: Path, pid: int, written: int, peak_kb: int) -> None:
    """What Linux tells of one."""
    (proc / str(pid)).mkdir(exist_ok=True)
    (proc / str(pid) / "io").write_text(f"rchar: 9\nwrite_bytes: {written}\ncancelled_write_bytes: 5\n")
    (proc / str(pid) / "status").write_text(f"Name:\tjava\nVmHWM:\t  {peak_kb} kB\nVmRSS:\t 1 kB\n")


def test_nodes_of_this_machine_are_found(tmp_path: Path) -> None:
    """By their address, and by what the process of that number really is; the others count as elsewhere."""
    for pid, command in ((11, "java\0org.elasticsearch.server/x"), (12, "sleep")):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "cmdline").write_text(command)
    nodes = {
        "here": {"ip": "127.0.0.1", "process": {"id": 11}},
        "in a container": {"ip": "127.0.0.1", "process": {"id": 12}},
        "gone": {"ip": "127.0.0.1", "process": {"id": 13}},
        "elsewhere": {"ip": "192.0.2.1", "process": {"id": 11}},
    }

    async def info(metric: str) -> Any:
        return {"nodes": nodes}

    client = SimpleNamespace(nodes=SimpleNamespace(info=info))
    assert asyncio.run(local_nodes(client, tmp_path)) == ([11], 3)


def test_all_nodes_are_added_up(tmp_path: Path) -> None:
    """What they have written since, and the peaks, which begin anew."""
    a_process(tmp_path, 11, 1000, 7)
    a_process(tmp_path, 12, 2000, 8)
    processes = NodeProcesses([11, 12], proc=tmp_path)
    assert {(tmp_path / pid / "clear_refs").read_text() for pid in ("11", "12")} == {"5"}
    a_process(tmp_path, 11, 1500, 20)
    a_process(tmp_path, 12, 2250, 30)
    assert processes.record() == {"written_bytes": 750, "peak_memory_bytes": 50 * 1024}


@pytest.mark.parametrize(("here", "elsewhere"), [([11], 1), ([], 1), ([11, 99], 0)])
def test_of_a_part_of_the_nodes_nothing_is_told(tmp_path: Path, here: list[int], elsewhere: int) -> None:
    """One is elsewhere, or gone: the figures of the others would look like those of all."""
    a_process(tmp_path, 11, 1000, 7)
    processes = NodeProcesses(here, elsewhere, tmp_path)
    assert processes.record() == {"written_bytes": None, "peak_memory_bytes": None}


def test_a_process_that_has_ended_is_no_error(tmp_path: Path) -> None:
    """The lap says itself that its node is gone."""
    a_process(tmp_path, 11, 1000, 7)
    processes = NodeProcesses([11], proc=tmp_path)
    for file in ("io", "status"):
        (tmp_path / "11" / file).unlink()
    assert processes.record() == {"written_bytes": None, "peak_memory_bytes": None}


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the counters are Linux's")
def test_linux_tells_what_a_process_wrote_and_took(tmp_path: Path) -> None:
    """A process that takes 64 MiB and lets go of it, then writes 8 MiB; only what came after the first look counts."""
    program = """
import os, sys
def step():
    print("done", flush=True)
    sys.stdin.readline()
taken = b"x" * (128 << 20); del taken
step()
taken = b"x" * (64 << 20); del taken
with open(sys.argv[1], "wb") as file:
    file.write(bytes(8 << 20)); file.flush(); os.fsync(file.fileno())
step()
"""
    # Not in a folder for temporary files, which may lie in memory and write nothing.
    target = Path(__file__).with_name(f".written-{os.getpid()}")
    with subprocess.Popen(
        [sys.executable, "-c", program, str(target)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdout.readline()
            processes = NodeProcesses([process.pid])
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            record = processes.record()
        finally:
            process.kill()
            target.unlink(missing_ok=True)
    written, peak = record["written_bytes"], record["peak_memory_bytes"]
    if written is not None:
        assert 8 << 20 <= written < 16 << 20
    if peak is not None:
        assert 64 << 20 <= peak < 128 << 20


def test_a_lap_and_its_prices_tell_it(tmp_path: Path) -> None:
    """The node of the fake is elsewhere, so nothing is known; figures of a lap become prices."""
    record = run(FakeElasticsearch(), tmp_path)["record"]
    assert (record["node_written_bytes"], record["node_peak_memory_bytes"]) == (None, None)
    attempt = Attempt(1, 1, "race", "esrally", 0, 0.0, None, 0.0)
    attempt.add(record)
    documents = record["documents_sent"]
    told = {**record, "node_written_bytes": 700 * documents, "node_peak_memory_bytes": 3 << 30}
    attempt.add(
        {
            **told,
            "node_gc_ms": 3 * documents,
            "index_figures": {**record["index_figures"], "merge_throttled_ms": 2 * documents},
        }
    )
    without, with_them = (one.lap.prices for one in attempt.records)
    assert {"written bytes/doc", "node memory MiB"} & set(without) == set()
    assert (with_them["written bytes/doc"], with_them["node memory MiB"]) == (700, 3072)
    assert (with_them["GC s/M docs"], with_them["throttled s/M docs"]) == (3000, 2000)
