"""Whether a machine can carry a combination: what is refused and what is only said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paddock.cars import Machine, check_data_paths, check_machine, combine, large_heaps_together, load_cars
from paddock.errors import MachineError, UsageError

CARS = load_cars()
GIBIBYTE = 2**30


def machine(gibibytes: float = 24, processors: int = 2, locked: int | None = None) -> Machine:
    """A made-up machine."""
    return Machine(int(gibibytes * GIBIBYTE), processors, locked)


def test_nothing_to_say() -> None:
    """A heap of half the memory and as many processors as there are is what it should be."""
    assert check_machine(combine(["4gheap", "processors-2"], CARS), machine(8)) == []


@pytest.mark.parametrize(
    ("car", "memory", "remedy"),
    [
        ("16gheap", 8, "the largest heap car that fits is 4gheap"),
        ("16gheap", 19.9, "the largest heap car that fits is 8gheap"),
        ("c4-2xlarge", 2, "the largest heap car that fits is 1gheap"),
        ("512mheap", 0.5, "not even the smallest heap car fits here"),
    ],
)
def test_an_impossible_heap(car: str, memory: float, remedy: str) -> None:
    """Both sizes are named, and the largest heap car that fits."""
    with pytest.raises(MachineError) as error:
        check_machine(combine([car], CARS), machine(memory))
    sentence = str(error.value)
    assert remedy in sentence
    assert re.search(r"has a heap of [\d.]+ [GM]iB, and this machine has [\d.]+ [GM]iB of memory", sentence)


def test_the_remedy_works() -> None:
    """The car that the sentence advises passes the same check, for many sizes of memory."""
    for memory in (1, 2, 3, 5, 8, 10, 16, 20):
        with pytest.raises(MachineError) as error:
            check_machine(combine(["16gheap"], CARS), machine(memory if memory < 20 else 19))
        advised = str(error.value).rstrip(".").split()[-1]
        check_machine(combine([advised], CARS), machine(memory))


def test_the_limit_itself() -> None:
    """Exactly four fifths pass, with a warning; a little more does not."""
    assert "more than half" in check_machine(combine(["8gheap"], CARS), machine(10.001))[0]
    with pytest.raises(MachineError):
        check_machine(combine(["8gheap"], CARS), machine(9.999))


def test_a_large_heap_is_said() -> None:
    """Above half of the memory the page cache suffers: a warning, no error."""
    (warning,) = check_machine(combine(["4gheap"], CARS), machine(6))
    assert warning.startswith("A heap of 4.0 GiB is more than half of this machine's 6.0 GiB")


def test_a_large_heap_of_a_limited_node_is_said() -> None:
    """A limit is all the memory that the node has, whatever the machine has."""
    cars = combine(["1gheap", "limit-memory-2g"], CARS)
    assert check_machine(cars, machine(24)) == []
    (warning,) = check_machine(combine(["1gheap"], CARS, {"limit_memory": "1500m"}), machine(24))
    assert warning.startswith("A heap of 1.0 GiB is more than half of the 1.5 GiB that its limit leaves it")


def test_large_heaps_together_are_said() -> None:
    """Each is half of the memory at most, all together are not; of one alone its own check speaks."""
    heap = 4 * GIBIBYTE
    assert large_heaps_together([heap, heap], machine(16)) is None
    assert large_heaps_together([16 * GIBIBYTE], machine(16)) is None
    sentence = str(large_heaps_together([heap, heap, heap], machine(16)))
    assert sentence.startswith("12.0 GiB for the heaps of 3 nodes is more than half of this machine's 16.0 GiB")


def test_more_processors_than_there_are() -> None:
    """A profile of a larger machine races, but says that it is not that hardware."""
    (warning,) = check_machine(combine(["c4-2xlarge"], CARS), machine(processors=2))
    assert "counts on 8 processors and this machine has 2" in warning
    assert check_machine(combine(["c4-2xlarge"], CARS), machine(processors=8)) == []


def test_a_memory_lock_that_the_limit_forbids() -> None:
    """Elasticsearch would only warn in its log and race unlocked; we refuse, and say how to lift the limit."""
    combination = combine(["1gheap", "memory-lock"], CARS)
    with pytest.raises(MachineError, match="only 8 MiB may be locked here: set 'ulimit -l unlimited'"):
        check_machine(combination, machine(locked=8 * 2**20))
    assert check_machine(combination, machine(locked=None)) == []
    assert check_machine(combine(["1gheap"], CARS), machine(locked=0)) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder; tmp_path itself holds a Rally home."""
    (tmp_path / "node-data").mkdir()
    return tmp_path / "node-data"


def data_path(folder: Path) -> None:
    """Check this folder as a data path."""
    check_data_paths(combine(["1gheap"], CARS, {"data_paths": str(folder)}))


def test_a_data_path_with_something_in_it(folder: Path) -> None:
    """Rally would delete it: the sentence names what is there and a path that can be taken."""
    (folder / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"holds thesis.tex, and Rally deletes the whole folder") as error:
        data_path(folder)
    advised = Path(str(error.value).rstrip(".").split()[-1])
    data_path(advised)


def test_data_paths_that_can_be_taken(folder: Path) -> None:
    """None, a missing or empty folder, and one that holds only what a killed race has left there."""
    check_data_paths(combine(["1gheap"], CARS))
    data_path(folder / "missing")
    data_path(folder)
    (folder / "race-rally-node-0").mkdir()
    (folder / "race-rally-node-0" / "node.lock").touch()
    data_path(folder)


def test_a_data_path_that_is_no_folder(folder: Path) -> None:
    """A file, or a link to a folder elsewhere, is refused."""
    (folder / "file").touch()
    (folder / "link").symlink_to(folder)
    for name in ("file", "link"):
        with pytest.raises(UsageError, match="is no folder"):
            data_path(folder / name)
