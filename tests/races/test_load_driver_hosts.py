"""Load drivers on two machines, as far as their network goes: namespaces, each with an address and Rally's daemon.

They share this machine's disk and processes. To lay out networks needs root; where that is not allowed, it is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.console import progress
from paddock.engine import choose_engine
from paddock.paths import PROJECT
from tests.cars.running_node import rally_provisioner
from tests.machine import PATIENCE, wait_until

pytestmark = pytest.mark.race
# Of the names of namespaces and their interfaces.
FIRST, SECOND = f"pdk{os.getpid()}a", f"pdk{os.getpid()}b"
ADDRESSES = {FIRST: "10.77.0.1", SECOND: "10.77.0.2"}
PORT = 39200


def ip(*words: str) -> None:
    """Change this machine's networks."""
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=PATIENCE)


def on(host: str, *words: str) -> list[str]:
    """The command on that host."""
    return ["ip", "netns", "exec", host, *words]


@pytest.fixture
def hosts() -> Iterator[None]:
    """Two hosts with a cable between them; whatever runs on them is ended with them."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("namespaces of networks need root and the command ip")
    try:
        for host in ADDRESSES:
            ip("netns", "add", host)
        ip("link", "add", FIRST, "netns", FIRST, "type", "veth", "peer", "name", SECOND, "netns", SECOND)
        for host, address in ADDRESSES.items():
            for change in (
                ("addr", "add", f"{address}/24", "dev", host),
                ("link", "set", host, "up"),
                ("link", "set", "lo", "up"),
                ("route", "add", "default", "dev", host),
            ):
                ip("-n", host, *change)
    except subprocess.CalledProcessError as error:
        _remove()
        pytest.skip(f"namespaces of networks are not permitted here: {error.stderr.strip()}")
    try:
        yield
    finally:
        _remove()


def _remove() -> None:
    for host in ADDRESSES:
        listed = subprocess.run(["ip", "netns", "pids", host], capture_output=True, text=True, check=False)
        for pid in listed.stdout.split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
        subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)


@pytest.fixture
def node(hosts: None, tmp_path: Path) -> Iterator[str]:
    """A node on the first host; its address."""
    engine = choose_engine(None, None, None, progress)
    assert engine.archive is not None
    assert engine.java is not None
    address = ADDRESSES[FIRST]
    told = dict(engine.car_params)
    prepared = rally_provisioner(tmp_path / "node", ["512mheap"], told, PORT, java_home=engine.java.home)
    home = Path(prepared.prepare({"elasticsearch": str(engine.archive)}).binary_path)
    # It talks to nodes on its loopback alone, and to the other host over HTTP.
    with (home / "config" / "elasticsearch.yml").open("a", encoding="utf-8") as settings:
        settings.write(f"\nhttp.host: {address}\n")
    output = tmp_path / "node.txt"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            on(FIRST, "unshare", "-U", "--map-user=1000", "--map-group=1000", str(home / "bin" / "elasticsearch")),
            env={"PATH": os.environ["PATH"], "ES_JAVA_HOME": str(engine.java.home)},
            stdout=sink,
            stderr=subprocess.STDOUT,
        )
    asked = f"import urllib.request as u; u.urlopen('http://{address}:{PORT}/_cluster/health', timeout=5)"

    def answers() -> bool:
        assert process.poll() is None, output.read_text()[-3000:]
        return subprocess.run(on(FIRST, sys.executable, "-c", asked), capture_output=True, check=False).returncode == 0

    try:
        wait_until(answers, lambda: f"the node did not answer:\n{output.read_text()[-3000:]}")
        yield f"{address}:{PORT}"
    finally:
        process.kill()
        process.wait()


def test_laps_from_two_machines(node: str, tmp_path: Path) -> None:
    """Rally's daemon on each, one process of the load driver on each, one record per lap with every document."""
    daemon = str(Path(sys.executable).with_name("esrallyd"))
    for host, address in ADDRESSES.items():
        words = on(host, daemon, "start", f"--node-ip={address}", f"--coordinator-ip={ADDRESSES[FIRST]}")
        # What it prints goes nowhere: the daemon keeps the pipe for as long as it lives.
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(words, check=True, timeout=PATIENCE, **quiet)
    journal = tmp_path / "laps.jsonl"
    told = {"levels": ["1s"], "warmup_blocks": 1, "blocks": 2, "lap_documents": 20_000, "lap_journal": str(journal)}
    race = on(
        FIRST,
        *(str(PROJECT / "inv"), "race", "--json", "--challenge", "refresh-interval", "--documents", "100000"),
        *("--target-hosts", node, "--params", json.dumps(told)),
        *("--rally-args", f"--load-driver-hosts={','.join(ADDRESSES.values())}"),
    )
    ran = subprocess.run(race, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr[-3000:]
    laps = [json.loads(line) for line in journal.read_text().splitlines()]
    assert len(laps) == 3
    for lap in laps:
        assert lap["void"] is None
        assert lap["documents_counted"] == 20_000
        assert [one["documents"] for one in lap["drivers"]] == [10_000, 10_000]
        assert all(one["cpu_seconds"] > 0 for one in lap["drivers"])
