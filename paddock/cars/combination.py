"""Puts cars together as Rally does, and refuses what contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.cars.files import RALLY_VARIABLES, Car, check_value, parse_size
from paddock.errors import UsageError, unknown


@dataclass(frozen=True)
class Combination:
    """Cars that go together, and the settings that come of them.

    :param names: the cars in one fixed order, those with a base configuration first: what to give to --car.
    :param variables: every variable in force, the base configuration's defaults included.
    :param heap_bytes: the node's heap.
    :param processors: what the node counts on, None for as many as there are.
    :param garbage_collector: "g1", "parallel" or "z".
    :param memory_lock: whether the node is to lock its memory.
    :param data_paths: folders of the user's choice, which Rally deletes after the race; mostly empty.
    """

    names: tuple[str, ...]
    variables: Mapping[str, str]
    heap_bytes: int
    processors: int | None
    garbage_collector: str
    memory_lock: bool
    data_paths: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The names as Rally's --car wants them, and as a label."""
        return ",".join(self.names)


def parse_car_names(text: str) -> list[str]:
    """The names in "a,b,c"; empty parts are dropped, as Rally's own splitting would not find a car for them."""
    return [name.strip() for name in text.split(",") if name.strip()]


def combine(names: Sequence[str], cars: Mapping[str, Car], parameters: Mapping[str, Any] | None = None) -> Combination:
    """The cars of these names together; the order in which they are named does not matter.

    :param cars: all cars there are, from ``load_cars``.
    :param parameters: variables set on the command line (Rally's --car-params), which win over every car's.
    :raises UsageError: an unknown car or variable, one named twice, no base configuration, or a contradiction.
    """
    chosen = [_find(name, cars) for name in names]
    repeated = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if repeated is not None:
        raise UsageError(f"The car '{repeated}' is named twice: name it once.")
    _require_one_base(chosen)
    _refuse_contradictions(chosen)

    # Rally would let the later of two values win. There are no two, so an order for the eye is as good as any.
    ordered = sorted(chosen, key=lambda car: (not car.bases, car.name))
    variables: dict[str, str] = {}
    for car in ordered:
        variables.update(car.defaults)
    for car in ordered:
        variables.update(car.variables)
    variables.update(_checked_parameters(parameters or {}, variables))
    return _describe(tuple(car.name for car in ordered), variables)


def _find(name: str, cars: Mapping[str, Car]) -> Car:
    if name not in cars:
        raise unknown("car", name, cars, "./inv cars")
    return cars[name]


def _require_one_base(chosen: Sequence[Car]) -> None:
    with_base = [car for car in chosen if car.bases]
    if not with_base:
        together = ",".join(["1gheap", *(car.name for car in chosen)])
        raise UsageError(
            f"No car with a base configuration is named, only {_listed(chosen) or 'nothing'}: "
            f"add a heap car, for example {together}."
        )
    for other in with_base[1:]:
        if other.bases != with_base[0].bases:
            raise UsageError(
                f"The cars '{with_base[0].name}' and '{other.name}' have different base configurations, whose files "
                f"Rally would append to each other: choose one of the two."
            )


def _refuse_contradictions(chosen: Sequence[Car]) -> None:
    said_by: dict[str, Car] = {}
    for car in chosen:
        for variable, value in car.variables.items():
            first = said_by.setdefault(variable, car)
            if first.variables[variable] != value:
                raise UsageError(
                    f"The cars '{first.name}' and '{car.name}' contradict each other: {variable} is "
                    f"{first.variables[variable]} in the one and {value} in the other; choose one of the two."
                )


def _checked_parameters(parameters: Mapping[str, Any], variables: Mapping[str, str]) -> dict[str, str]:
    checked = {}
    known = RALLY_VARIABLES.union(variables)
    for variable, value in parameters.items():
        if variable not in known:
            raise unknown("car parameter", variable, known, "cars/README.md")
        # Rally turns true, 4 and 1.5 on the command line into Python's values; the templates write them as text again.
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            check_value(variable, text)
        except ValueError as error:
            raise UsageError(f"The car parameter {variable} is wrong: {error}") from None
        checked[variable] = text
    return checked


def _describe(names: tuple[str, ...], variables: Mapping[str, str]) -> Combination:
    processors = variables.get("processors")
    data_path = variables.get("data_paths")
    return Combination(
        names=names,
        variables=variables,
        heap_bytes=parse_size(variables["heap_size"]),
        processors=int(processors) if processors else None,
        garbage_collector=variables["garbage_collector"],
        memory_lock=variables["memory_lock"] == "true",
        data_paths=(Path(data_path),) if data_path else (),
    )


def _listed(cars: Sequence[Car]) -> str:
    return " and ".join(f"'{car.name}'" for car in cars)
