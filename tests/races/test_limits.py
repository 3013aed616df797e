"""A node that is capped, for real: it is what its own figures say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paddock import paths
from paddock.errors import MachineError
from paddock.limits import ENDED, Limits, plan_limits, try_out
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.limited import limits_file
from paddock.sampling import read_samples
from tests.command_line import run_paddock

pytestmark = pytest.mark.race

QUOTA = 0.5


def raced(*options: str) -> tuple[dict[str, Any], list[float]]:
    """A race of 50,000 documents; what it prints, and the cores that its node used between each two samples."""
    words = ("race", "--documents", "50000", "--params", "warmup_time_period:0", "--json", *options)
    finished = run_paddock(*words)
    assert finished.returncode == 0, finished.stderr[-3000:]
    race = json.loads(finished.stdout)
    return race, cores_used(Path(race["samples-file"]))


def cores_used(samples: Path) -> list[float]:
    """As the kernel says it of the node's process, over five seconds each: a quota counts in periods of 0.1 s."""
    known = [
        (one.seconds, node.process.cpu_seconds)
        for one in read_samples(samples)
        for node in (one.nodes or {}).values()
        if node.process is not None
    ]
    pairs = [(one, next((other for other in known if other[0] >= one[0] + 5), None)) for one in known]
    return [(later[1] - one[1]) / (later[0] - one[0]) for one, later in pairs if later is not None]


def test_half_a_core_is_half_a_core(rally_home: Path) -> None:
    """By the node's own figures second by second, and by the kernel's count of its waiting: it wanted more.

    That is what was saturated, for the race's summary; of a node that may use all there is it would be a quarter.
    """
    limits = Limits(quota=QUOTA, memory_bytes=2 << 30)
    try:
        try_out(plan_limits(limits, paths.races_folder(), "half"))
    except MachineError as error:
        pytest.skip(str(error))
    capped, cores = raced("--car", "1gheap,limit-half-core", "--car-params", "limit_memory:2g")
    assert QUOTA * 0.5 < max(cores) <= QUOTA + 0.05
    (launch,) = json.loads(limits_file(capped["race-id"]).read_text())
    assert launch["processor seconds"] <= (QUOTA + 0.05) * launch["seconds"]
    assert launch["counted"]["nr_throttled"] > 10
    assert launch["counted"][ENDED] == 0
    assert launch["counted"]["peak memory bytes"] <= 2 << 30
    assert launch["lost"] == []
    tags = json.loads(Path(capped["race-file"]).read_text())["user-tags"]
    assert tags["limits"] == launch["limits"]
    assert tags["limits"].startswith("0.5 cores of time (quota v")
    suspects = {(one["kind"], one["of"]): one for one in capped["summary"]["bottleneck"]["suspects"]}
    node = suspects["node CPU", launch["node"]]
    assert node["used"].endswith("of 0.5 cores")
    assert node["share"] >= node["threshold"]
    assert "the CPU of " + launch["node"] in capped["summary"]["bottleneck"]["sentence"]
    assert RaceProcesses(capped["race-id"]).all() == []
    for file in launch["files"]:
        assert not Path(file).parent.exists()
