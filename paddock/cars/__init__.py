"""Cars: what a node is like, as Rally's team in cars/v1 describes it, and whether this machine can carry it."""

from paddock.cars.files import Car, Combination, combine, known_cars, load_cars, parse_size
from paddock.cars.machine import (
    Machine,
    check_data_paths,
    check_machine,
    large_heap,
    large_heaps_together,
    largest_heap,
    this_machine,
)

__all__ = [
    "Car",
    "Combination",
    "Machine",
    "check_data_paths",
    "check_machine",
    "combine",
    "known_cars",
    "large_heap",
    "large_heaps_together",
    "largest_heap",
    "load_cars",
    "parse_size",
    "this_machine",
]
