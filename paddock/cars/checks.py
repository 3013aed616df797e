"""Whether this machine can carry a combination of cars, before anything is started."""

from __future__ import annotations

from pathlib import Path

from paddock.cars.combination import Combination
from paddock.cars.files import load_cars
from paddock.cars.machine import Machine, largest_heap
from paddock.errors import MachineError, UsageError
from paddock.files import gibibytes

# Elastic's own rule: half of the memory for the heap, the other half for the page cache that Lucene lives on.
ADVISED_HEAP_SHARE = 0.5


def check_machine(combination: Combination, machine: Machine) -> list[str]:
    """Sentences about what is not as the combination means it on this machine; empty if all is well.

    :raises MachineError: a heap too large for the memory, or a memory lock that the limit forbids.
    """
    _require_heap(combination, machine)
    _require_lockable_memory(combination, machine)
    return [*_heap_warnings(combination, machine), *_processor_warnings(combination, machine)]


def check_data_paths(combination: Combination) -> None:
    """Refuse a data path with anything in it that no node has left behind: Rally deletes it after the race.

    :raises UsageError: if there is such a thing.
    """
    for folder in combination.data_paths:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise UsageError(f"The data path {folder} is no folder: name a folder of its own, it need not exist yet.")
        try:
            entries = sorted(folder.iterdir()) if folder.exists() else []
        except OSError as error:
            raise UsageError(
                f"The data path {folder} cannot be looked into ({error.strerror}): name a folder of its own."
            ) from None
        for entry in entries:
            if not _left_by_a_node(entry):
                raise UsageError(
                    f"The data path {folder} holds {entry.name}, and Rally deletes the whole folder after the race: "
                    f"name a folder of its own, for example {folder / 'paddock-node-data'}."
                )


def _left_by_a_node(folder: Path) -> bool:
    """Whether this is the folder that our elasticsearch.yml gives to one node of one race."""
    return (folder / "node.lock").exists() or (folder / "_state").is_dir()


def _require_heap(combination: Combination, machine: Machine) -> None:
    largest = largest_heap(machine)
    if combination.heap_bytes <= largest:
        return
    fitting = [car for car in load_cars().values() if car.name.endswith("heap") and car.heap_bytes <= largest]
    best = max(fitting, key=lambda car: car.heap_bytes, default=None)
    remedy = f"the largest heap car that fits is {best.name}" if best else "not even the smallest heap car fits here"
    raise MachineError(
        f"'{combination.name}' has a heap of {gibibytes(combination.heap_bytes)}, and this machine has "
        f"{gibibytes(machine.memory_bytes)} of memory, of which {gibibytes(largest)} can be heap: {remedy}."
    )


def _require_lockable_memory(combination: Combination, machine: Machine) -> None:
    if combination.memory_lock and machine.locked_memory_limit is not None:
        # mlockall counts the whole address space, which for a small heap is several GiB and with ZGC dozens.
        raise MachineError(
            f"'{combination.name}' locks its memory, but only {gibibytes(machine.locked_memory_limit)} may be locked "
            f"here: set 'ulimit -l unlimited' (in a container: --ulimit memlock=-1), or leave memory-lock out."
        )


def _heap_warnings(combination: Combination, machine: Machine) -> list[str]:
    if combination.heap_bytes <= machine.memory_bytes * ADVISED_HEAP_SHARE:
        return []
    return [
        f"A heap of {gibibytes(combination.heap_bytes)} is more than half of this machine's "
        f"{gibibytes(machine.memory_bytes)}: little is left for the page cache, which Lucene needs."
    ]


def _processor_warnings(combination: Combination, machine: Machine) -> list[str]:
    if combination.processors is None or combination.processors <= machine.processors:
        return []
    return [
        f"'{combination.name}' counts on {combination.processors} processors and this machine has "
        f"{machine.processors}: its threads will share them, so this is not that hardware's speed."
    ]
