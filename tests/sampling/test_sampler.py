"""The sampler beside clusters that behave and clusters that do not."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from paddock.sampling import ClusterObserver, Endpoint, Sample, Sampler, read_samples
from tests.machine import PATIENCE, wait_until
from tests.sampling.fake_elasticsearch import NODE, FakeElasticsearch, answer
from tests.sampling.test_processes import burnt

INTERVAL = 0.05


@pytest.fixture
def fake() -> Iterator[FakeElasticsearch]:
    """A cluster that behaves until it is told otherwise."""
    with FakeElasticsearch() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where samples go; its folder does not exist yet."""
    return tmp_path / "race" / "samples.jsonl"


def sampler(
    host: str, file: Path, timeout: float = PATIENCE, pids: Callable[[], Mapping[str, Iterable[int]]] = dict
) -> Sampler:
    """A quick one."""
    return Sampler(ClusterObserver(Endpoint((f"http://{host}",), timeout=timeout)), file, pids, INTERVAL)


def wait_for(file: Path, condition: Callable[[list[Sample]], bool]) -> list[Sample]:
    """The samples as soon as they fulfil the condition."""
    found: list[list[Sample]] = []

    def fulfilled() -> bool:
        found[:] = [read_samples(file)]
        return condition(found[0])

    wait_until(fulfilled, lambda: f"not seen: {found[0][-3:]}")
    return found[0]


def answered(samples: list[Sample]) -> list[Sample]:
    """Those with indices."""
    return [sample for sample in samples if sample.indices is not None]


def lines(file: Path, kind: str) -> list[dict[str, Any]]:
    """All lines of one kind."""
    return [line for line in map(json.loads, file.read_text().splitlines()) if line["kind"] == kind]


def test_counters_become_samples(fake: FakeElasticsearch, file: Path) -> None:
    """What the cluster counts shows up second by second, with its circumstances and settings once."""
    before = time.time()
    with sampler(fake.host, file, pids=lambda: {"": [os.getpid()]}) as running:
        wait_for(file, lambda samples: len(samples) >= 2)
        fake.index_documents("logs-b", 5000)
        samples = wait_for(file, lambda samples: (samples[-1].indices or {})["logs-b"].indexed == 428000)
    assert running.problem is None
    assert samples[0].nodes is not None
    assert samples[0].nodes[NODE].cpu_seconds == 38.08
    assert all(sample.missed == 0 for sample in samples)
    assert samples[-1].driver.processes == 1
    assert samples[-1].driver.cpu_seconds > 0
    assert before - 0.1 <= samples[-1].time <= time.time() + 0.1
    assert 0 <= samples[-1].steal_percent <= 100
    (circumstances,), (settings,) = lines(file, "circumstances"), lines(file, "settings")
    assert circumstances["lucene_version"] == "9.6.0"
    assert settings["indices"]["logs-a"]["settings"]["index.refresh_interval"] == "5s"
    assert fake.methods == {"GET"}


def test_components_are_sampled_beside_the_driver(fake: FakeElasticsearch, file: Path) -> None:
    """A shipper's processes are its own; once it has ended it is told on, with what it used."""
    found: dict[str, list[int]] = {"": [os.getpid()]}
    with sampler(fake.host, file, pids=lambda: dict(found)), burnt() as shipper:
        assert wait_for(file, lambda samples: len(samples) >= 2)[-1].components == {}
        found["shipper"] = [shipper.pid]
        during = wait_for(file, lambda samples: "shipper" in samples[-1].components)[-1]
        shipper.kill()
        shipper.wait()
        found["shipper"] = []
        after = wait_for(file, lambda samples: samples[-1].components["shipper"].processes == 0)[-1]
    assert during.driver.processes == during.components["shipper"].processes == 1
    assert during.components["shipper"].cpu_seconds >= 0.3
    assert during.components["shipper"].busiest_thread is not None
    assert after.components["shipper"].cpu_seconds >= during.components["shipper"].cpu_seconds
    assert after.driver.busiest_thread is None
    assert 0 <= (after.busy_percent or 0) <= 100


@contextmanager
def a_port_of_our_own() -> Iterator[int]:
    """A port on which nobody listens, and which the kernel gives to nobody else; a server may reuse it."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def test_a_node_that_is_not_up_yet(file: Path) -> None:
    """Nobody there is no miss: the sampler waits quietly and begins when the node does."""
    with a_port_of_our_own() as port, sampler(f"127.0.0.1:{port}", file):
        waiting = wait_for(file, lambda samples: len(samples) >= 3)
        assert all((sample.nodes, sample.indices, sample.missed) == (None, None, 0) for sample in waiting)
        with FakeElasticsearch(port):
            samples = wait_for(file, lambda samples: bool(answered(samples)))
    assert sum(sample.missed for sample in samples) == 0


def test_a_node_that_dies(file: Path) -> None:
    """After the first answer silence is counted; the samples before it stay and the sampler ends as told."""
    with sampler_of_a_mortal(file) as (server, running):
        wait_for(file, lambda samples: len(answered(samples)) >= 2)
        server.stop()
        # It may have died between two questions of one sample.
        samples = wait_for(file, lambda samples: samples[-1].missed > 0 and samples[-1].indices is None)
        running.stop()
    assert samples[-1].problem is not None
    assert len(answered(samples)) >= 2
    assert running.problem is None


class sampler_of_a_mortal:  # noqa: N801 - reads as a function
    """A server that the test itself stops, and its sampler."""

    def __init__(self, file: Path):
        self.server = FakeElasticsearch()
        self.running = sampler(self.server.host, file)

    def __enter__(self) -> tuple[FakeElasticsearch, Sampler]:
        self.running.start()
        return self.server, self.running

    def __exit__(self, *_: object) -> None:
        self.running.stop()


def test_a_node_that_comes_back(file: Path) -> None:
    """A restarted node is looked at anew, once: its JVM may be another."""
    with a_port_of_our_own() as port, sampler(f"127.0.0.1:{port}", file):
        with FakeElasticsearch(port):
            wait_for(file, lambda samples: bool(answered(samples)))
        wait_for(file, lambda samples: samples[-1].missed > 0)
        with FakeElasticsearch(port) as second:
            second.answers["node_stats"]["nodes"][NODE]["jvm"]["uptime_in_millis"] = 5
            second.answers["node_information"]["nodes"][NODE]["jvm"]["start_time_in_millis"] += 1000
            wait_for(file, lambda _: len(lines(file, "circumstances")) == 2)
            after = len(read_samples(file))
            wait_for(file, lambda samples: bool(answered(samples[after + 1 :])))
    assert len(lines(file, "circumstances")) == 2


def test_an_index_deleted_between_two_questions(fake: FakeElasticsearch, file: Path) -> None:
    """The index is in one answer and not in the next: no miss, no exact size, everything else as ever."""
    fake.delete_index("logs-b", ("segments",))
    with sampler(fake.host, file):
        samples = wait_for(file, lambda samples: len(samples) >= 2)
        assert samples[-1].indices is not None
        assert samples[-1].indices["logs-b"].segment_bytes is None
        assert samples[-1].indices["logs-a"].segment_bytes is not None
        fake.delete_index("logs-b", ("index_stats",))
        samples = wait_for(file, lambda samples: set(samples[-1].indices or {}) == {"logs-a"})
    assert sum(sample.missed for sample in samples) == 0


def test_settings_are_written_again_when_an_index_is_made_anew(fake: FakeElasticsearch, file: Path) -> None:
    """An index of the same name but another identity may have other settings."""
    with sampler(fake.host, file):
        wait_for(file, lambda samples: len(samples) >= 2)
        settings = answer("index_settings")
        settings["logs-b"]["settings"].update({"index.uuid": "new", "index.refresh_interval": "30s"})
        fake.answers["index_settings"] = settings
        stats = answer("index_stats")
        stats["indices"]["logs-b"]["uuid"] = "new"
        fake.answers["index_stats"] = stats
        wait_for(file, lambda samples: (samples[-1].indices or {})["logs-b"].uuid == "new")
    _, last = lines(file, "settings")
    assert last["indices"]["logs-b"]["settings"]["index.refresh_interval"] == "30s"


def test_slow_answers_make_late_samples_and_never_double_ones(fake: FakeElasticsearch, file: Path) -> None:
    """A sample that took three intervals is one sample, and those it ran into are not made up for."""
    fake.delays["index_stats"] = 3 * INTERVAL
    with sampler(fake.host, file):
        samples = wait_for(file, lambda samples: len(samples) >= 6)
    steps = [later.seconds - earlier.seconds for earlier, later in pairwise(samples)]
    assert min(steps) >= 2.5 * INTERVAL
    assert all(sample.missed == 0 for sample in samples)


def test_an_answer_that_takes_too_long_is_missed(fake: FakeElasticsearch, file: Path) -> None:
    """After the timeout the sample is written without it, says so, and keeps what was answered before."""
    with sampler(fake.host, file, timeout=0.1):
        wait_for(file, lambda samples: bool(answered(samples)))
        fake.delays["index_stats"] = 0.5
        # On a busy machine another answer may have been too late as well; sooner or later it is this one alone.
        samples = wait_for(file, lambda samples: samples[-1].indices is None and samples[-1].nodes is not None)
    assert samples[-1].missed > 0
    assert "Timeout" in (samples[-1].problem or "")


@pytest.mark.parametrize("kind", ["node_stats", "index_stats", "segments", "index_settings"])
def test_http_errors_are_counted_and_leave_the_rest(fake: FakeElasticsearch, file: Path, kind: str) -> None:
    """One question that is refused costs its own figures only."""
    fake.statuses[kind] = 503
    with sampler(fake.host, file):
        sample = wait_for(file, lambda samples: len(samples) >= 1)[0]
    assert sample.missed == 1
    assert "503" in (sample.problem or "")
    assert (sample.nodes is None) == (kind == "node_stats")
    assert (sample.indices is None) == (kind == "index_stats")


@pytest.mark.parametrize("body", [b"not json", b"[1]", b'{"nodes":'])
def test_nonsense_is_counted(fake: FakeElasticsearch, file: Path, body: bytes) -> None:
    """A body that is no JSON object is a miss, not the end of the sampler."""
    fake.raw["node_stats"] = body
    with sampler(fake.host, file):
        samples = wait_for(file, lambda samples: len(samples) >= 2)
    assert all(sample.missed == 1 and sample.indices is not None for sample in samples)


def test_a_root_that_refuses_costs_only_the_lucene_version(fake: FakeElasticsearch, file: Path) -> None:
    """Distributions without the root's module answer 405 there."""
    fake.statuses["version"] = 405
    with sampler(fake.host, file):
        samples = wait_for(file, lambda samples: len(samples) >= 2)
    assert lines(file, "circumstances")[-1]["lucene_version"] is None
    assert sum(sample.missed for sample in samples) == 0


def test_logging_in(fake: FakeElasticsearch, file: Path) -> None:
    """The login reaches the cluster and nothing else."""
    options = {"basic_auth_user": "elastic", "basic_auth_password": "geheim"}
    with Sampler(ClusterObserver(Endpoint.from_client_options(fake.host, options)), file, dict, INTERVAL):
        wait_for(file, lambda samples: bool(answered(samples)))
    assert fake.authorizations == {"Basic ZWxhc3RpYzpnZWhlaW0="}
    assert "geheim" not in file.read_text()
    assert "Z2VoZWlt" not in file.read_text()


def test_the_next_host_is_asked_when_one_is_silent(fake: FakeElasticsearch, file: Path) -> None:
    """One dead host of several does no harm."""
    with FakeElasticsearch() as dead:
        silent = dead.host
    with Sampler(ClusterObserver(Endpoint((f"http://{silent}", f"http://{fake.host}"))), file, dict, INTERVAL):
        samples = wait_for(file, lambda samples: bool(answered(samples)))
    assert sum(sample.missed for sample in samples) == 0


def test_driver_processes_that_cannot_be_listed(fake: FakeElasticsearch, file: Path) -> None:
    """If the listing fails, the sample has no processes and the next one is taken all the same."""

    def failing() -> list[int]:
        raise RuntimeError("processes came and went")

    with sampler(fake.host, file, pids=failing) as running:
        samples = wait_for(file, lambda samples: len(samples) >= 2)
    assert samples[-1].driver.processes == 0
    assert running.problem is None


def test_a_file_that_cannot_be_written_ends_the_sampler_alone(fake: FakeElasticsearch, tmp_path: Path) -> None:
    """The race goes on; the reason is kept."""
    (tmp_path / "taken").write_text("a file where a folder is needed")
    running = sampler(fake.host, tmp_path / "taken" / "samples.jsonl")
    running.start()
    running.stop()
    assert running.problem is not None
    assert "Sampling ended early" in running.problem


def test_a_torn_line_of_an_earlier_sampler_is_removed(fake: FakeElasticsearch, file: Path) -> None:
    """The file stays readable when sampling continues after a kill -9."""
    with sampler(fake.host, file):
        wait_for(file, lambda samples: len(samples) >= 1)
    whole = read_samples(file)
    with file.open("ab") as torn:
        torn.write(b'{"kind": "sam')
    with sampler(fake.host, file):
        samples = wait_for(file, lambda samples: len(samples) > len(whole))
    assert samples[: len(whole)] == whole


def test_stopping_without_starting_and_twice(fake: FakeElasticsearch, file: Path) -> None:
    """A race that never began may stop its sampler, and may do so again."""
    others = set(threading.enumerate())
    sampler(fake.host, file).stop()
    assert not file.exists()
    with sampler(fake.host, file) as running:
        running.stop()
    assert not any(thread.name == "sampler" for thread in set(threading.enumerate()) - others)
