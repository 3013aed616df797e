"""Real nodes of our cars: they start, and say themselves that they have the settings.

Five starts, chosen so that every collector, buffer size and mixin is in one of them; one in a folder beyond ASCII. Two
of them on the oldest and on the newest Elasticsearch, too: what a version could refuse is in these.
"""

from __future__ import annotations

import urllib.error
from pathlib import Path
from typing import Any

import pytest
from running_node import Node, running_node

from paddock.cars import Machine, check_data_paths, check_machine, combine, load_cars, this_machine
from paddock.console import progress
from paddock.engine import Engine, choose_engine
from paddock.engine.versions import DEFAULT_VERSION, RELEASES
from paddock.errors import MachineError

pytestmark = pytest.mark.race
CARS = load_cars()


@pytest.fixture(params=sorted({*list(RELEASES)[:1], DEFAULT_VERSION, *list(RELEASES)[-1:]}))
def engine(request: pytest.FixtureRequest) -> Engine:
    """The oldest Elasticsearch, the one that races run on, and the newest, where a Java for it is at hand."""
    try:
        return choose_engine(request.param, None, None, progress)
    except MachineError as error:
        if "whole JDK" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.fixture
def usual_engine() -> Engine:
    """The Elasticsearch that races run on."""
    return choose_engine(DEFAULT_VERSION, None, None, progress)


@pytest.fixture
def machine() -> Machine:
    """What this machine grants a node."""
    return this_machine()


def start(engine: Engine, root: Path, names: list[str], **options: Any) -> Any:
    """A running node of these cars."""
    assert engine.archive is not None
    assert engine.java is not None
    return running_node(engine.archive, engine.java.home, root / "node", names, **options)


def check_settings(node: Node, names: list[str], locked: bool | None = None) -> None:
    """Compare what the node reports about itself with what ``combine`` promises (``locked``: unless given)."""
    promised = combine(names, CARS)
    info = node.info()
    settings = info["settings"]
    jvm = info["jvm"]
    assert f"-Xmx{promised.variables['heap_size']}" in jvm["input_arguments"]
    assert jvm["mem"]["heap_init_in_bytes"] == promised.heap_bytes
    collector = {"g1": "G1 Young Generation", "parallel": "PS Scavenge", "z": "ZGC Minor Cycles"}
    assert collector[promised.garbage_collector] in jvm["gc_collectors"]
    share = float(promised.variables["index_buffer_size"].rstrip("%")) / 100
    buffer = info[
        "total_indexing_buffer_in_bytes" if "total_indexing_buffer_in_bytes" in info else "total_indexing_buffer"
    ]
    assert buffer == pytest.approx(share * jvm["mem"]["heap_max_in_bytes"], rel=0.01)
    if promised.processors:
        assert info["os"]["allocated_processors"] == info["os"]["available_processors"] == promised.processors
    assert settings["node"]["store"]["allow_mmap"] == promised.variables["allow_mmap"]
    assert info["process"]["mlockall"] is (promised.memory_lock if locked is None else locked)
    assert f"-Djava.io.tmpdir={node.home / 'tmp'}" in jvm["input_arguments"]
    assert (node.logs / "gc.log").stat().st_size > 0
    assert "started" in (node.logs / "rally-benchmark.log").read_text()


def index_with_store_type(node: Node, store_type: str) -> bool:
    """Whether the node lets us make an index of this store type."""
    try:
        node.put("/try", {"settings": {"index.store.type": store_type, "number_of_replicas": 0}})
    except urllib.error.HTTPError as error:
        with error:
            assert "mmap is disabled" in error.read().decode()
        return False
    return True


def test_the_smallest_heap_with_zgc_in_memory(engine: Engine, tmp_path: Path) -> None:
    """512 MiB, ZGC, more processors than there may be, buffer 30 %, data on /dev/shm: gone when Rally cleans up."""
    if not Path("/dev/shm").is_dir():  # noqa: S108
        pytest.skip("this machine has no /dev/shm")
    names = ["512mheap", "gc-z", "processors-8", "index-buffer-30", "data-path-shm"]
    combination = combine(names, CARS)
    check_data_paths(combination)
    with start(engine, tmp_path, names) as node:
        check_settings(node, names)
        assert "-XX:+ZGenerational" in node.info()["jvm"]["input_arguments"]
        assert index_with_store_type(node, "mmapfs")
        assert any(node.home.joinpath("tmp").iterdir())  # what a start leaves behind goes with the installation
        (folder,) = combination.data_paths[0].iterdir()
        assert folder.name == "a-race-rally-node-0"
        assert (folder / "node.lock").exists()
        check_data_paths(combination)  # what a killed race would leave there is no obstacle to the next one
    assert not combination.data_paths[0].exists()


def test_a_small_profile_without_memory_mapping(engine: Engine, tmp_path: Path) -> None:
    """m1-small with one processor, the parallel collector, buffer 40 %, and mapping files really forbidden."""
    names = ["m1-small", "gc-parallel", "mmap-forbidden", "index-buffer-40"]
    with start(engine, tmp_path, names) as node:
        check_settings(node, names)
        assert not index_with_store_type(node, "mmapfs")
        assert index_with_store_type(node, "niofs")


def test_the_pod_profile(usual_engine: Engine, tmp_path: Path) -> None:
    """k8s-1cpu-2gib with G1, mapping allowed, buffer 20 %, and its one processor said twice."""
    names = ["k8s-1cpu-2gib", "gc-g1", "mmap-allowed", "index-buffer-20", "processors-1"]
    with start(usual_engine, tmp_path, names) as node:
        check_settings(node, names)
        assert index_with_store_type(node, "mmapfs")


def test_locked_memory(usual_engine: Engine, machine: Machine, tmp_path: Path) -> None:
    """memory-lock on 1gheap, buffer 10 %, two processors: locked where the machine grants it.

    Where it does not, Elasticsearch starts all the same and runs unlocked, which is why ``check_machine`` refuses.
    """
    names = ["1gheap", "memory-lock", "index-buffer-10", "processors-2"]
    if machine.locked_memory_limit is None:
        with start(usual_engine, tmp_path, names, before=["prlimit", "--memlock=unlimited:unlimited"]) as node:
            check_settings(node, names)
        return
    with pytest.raises(MachineError, match="may be locked here"):
        check_machine(combine(names, CARS), machine)
    with start(usual_engine, tmp_path, names) as node:
        check_settings(node, names, locked=False)


def test_a_folder_with_a_space_and_letters_that_ascii_lacks(usual_engine: Engine, tmp_path: Path) -> None:
    """Installation, data, logs and temporary files below /home/my höme: Rally hands on no locale, cars see to one."""
    with start(usual_engine, tmp_path / "my höme", ["512mheap"]) as node:
        assert "my höme" in str(node.home)
        assert f"-Djava.io.tmpdir={node.home / 'tmp'}" in node.info()["jvm"]["input_arguments"]
        (data_path,) = node.data_paths
        assert "höme" in str(data_path)
        node.put("/try", {"settings": {"number_of_replicas": 0}})
        assert list(data_path.glob("indices/*/0/index/segments_*"))
        assert (node.logs / "gc.log").exists()


def test_settings_of_an_index_do_not_belong_to_a_node(usual_engine: Engine, tmp_path: Path) -> None:
    """Why there is no mixin for merge threads: Elasticsearch does not start with such a setting in its file."""
    with (
        pytest.raises(AssertionError, match=r"index level settings|unknown setting") as error,
        start(usual_engine, tmp_path, ["512mheap"], extra_settings="index.merge.scheduler.max_thread_count: 1\n"),
    ):
        pass
    assert "index.merge.scheduler.max_thread_count" in str(error.value)
