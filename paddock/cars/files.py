"""Reads cars/v1 as Rally does, with the line of every mistake; puts cars together, refusing what contradicts itself."""

from __future__ import annotations

import configparser
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import FileError, UsageError, nearest, unknown
from paddock.limits.asked import CPUS, DISK_READ, DISK_WRITE, MEMORY, QUOTA, SMALLEST_QUOTA, Limits, cpus_in, limits_of

_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SMALLEST_HEAP = 2**26
_SWITCH = (r"true|false", "is neither true nor false.")
# What the values of a variable look like, and what is said of those that do not.
_FORMS = {
    "garbage_collector": (r"g1|parallel|z", "is no garbage collector: write one of g1, parallel, z."),
    "index_buffer_size": (
        r"(?=.*[1-9].*%)0*([0-9]{1,2}(\.[0-9]+)?|100(\.0+)?)%|[1-9][0-9]*(b|kb|mb|gb)",
        "is no index buffer: write a share of the heap such as 30%, or a size such as 512mb.",
    ),
    "allow_mmap": _SWITCH,
    "memory_lock": _SWITCH,
    "processors": (r"([1-9][0-9]{0,3})?", "is no number of processors: write 1 or more, or nothing for all."),
    "unprotected_network": _SWITCH,
    "data_size": (r"([1-9][0-9]*[mg])?", "is no size of a file system: write a number with m or g, such as 512m."),
    "limits": (r"on|off", "is neither on nor off."),
    "limit_cores": (r"([1-9][0-9]{0,3})?", "is no number of cores: write 1 or more, or nothing for all."),
    "limit_cpu_quota": (
        r"([0-9]{1,4}(\.[0-9]+)?)?",
        "is no share of processor time: write cores' worth of it, for example 0.5, or nothing for all.",
    ),
    "data_paths": (
        r"/[^,]*[^,/][^,]*",
        "is no data path: write one absolute path to a folder of its own, not the root.",
    ),
}
# Variables that Rally itself knows although no base configuration gives them a default.
RALLY_VARIABLES = frozenset({"data_paths"})


@functools.cache
def known_cars() -> Mapping[str, Car]:
    """The project's cars, read once: of many contenders each asks for them."""
    return load_cars()


def parse_size(text: str) -> int:
    """A size such as "512m" or "1g" in bytes; units are powers of 1024, their letter's case does not matter.

    :raises ValueError: if it is no such size; one sentence.
    """
    match = re.fullmatch(r"([0-9]+)([bkmgt]?)", text.strip().lower())
    if not match or int(match[1]) == 0:
        raise ValueError(f"'{text}' is no size: write a whole number above 0 and a unit, for example 512m or 1g.")
    return int(match[1]) * _UNITS[match[2]]


def check_value(variable: str, value: str) -> None:
    """Check one variable, if there is a rule for it; raises ValueError, one sentence, if the value is not possible."""
    if variable == "heap_size" and parse_size(value) < _SMALLEST_HEAP:
        raise ValueError(f"'{value}' is no heap: Elasticsearch does not start below 64m.")
    if variable in _SIZES and value:
        parse_size(value)
    if variable == CPUS and value:
        cpus_in(value)
    pattern, problem = _FORMS.get(variable, (".*", ""))
    if not re.fullmatch(pattern, value, re.DOTALL):
        raise ValueError(f"'{value}' {problem}")
    if variable == QUOTA and value and float(value) < SMALLEST_QUOTA:
        raise ValueError(f"'{value}' is too small a share of processor time: a node needs {SMALLEST_QUOTA:g} to start.")


NO_LIMITS_AT_ALL = Limits()
_SIZES = (MEMORY, DISK_READ, DISK_WRITE)
KINDS = ("car", "mixin")


@dataclass(frozen=True)
class Car:
    """One ini file: a "car", which brings a base configuration, or a "mixin", which changes variables of one.

    :param variables: what this file itself sets.
    :param bases: names of its base configurations, folders beside the file.
    :param defaults: what those base configurations set; a car's own variables come before them.
    """

    name: str
    kind: str
    description: str
    variables: Mapping[str, str]
    bases: tuple[str, ...]
    defaults: Mapping[str, str]

    @property
    def heap_bytes(self) -> int:
        """The heap that this car brings, its base's default included; 0 for a mixin that says nothing about it."""
        size = self.variables.get("heap_size") or self.defaults.get("heap_size")
        return parse_size(size) if size else 0


def load_cars(folder: Path = paths.CARS) -> dict[str, Car]:
    """All cars and mixins in the team's folder cars/v1, by name, cars first.

    :raises FileError: if an ini file is broken or sets what no base configuration knows.
    """
    bases = {path.parent.name: _variables(path, _read_ini(path)) for path in sorted(folder.glob("*/config.ini"))}
    known = RALLY_VARIABLES.union(*bases.values())
    cars = [_read_car(path, bases, known) for path in sorted(folder.glob("[!.]*.ini"))]
    return {car.name: car for car in sorted(cars, key=lambda car: (KINDS.index(car.kind), car.heap_bytes, car.name))}


def _read_car(path: Path, bases: Mapping[str, Mapping[str, str]], known: frozenset[str]) -> Car:
    ini = _read_ini(path)
    kind = ini.get("meta", "type", fallback="car")
    if kind not in KINDS:
        raise FileError(path, f"'{kind}' is no type: write car or mixin.", _line(path, "type"))
    description = ini.get("meta", "description", fallback="").strip()
    if not description:
        raise FileError(path, "there is no description: add 'description = ...' below [meta].")
    names = tuple(filter(None, ini.get("config", "base", fallback="").split(",")))
    for name in names:
        if name not in bases:
            problem = f"there is no base configuration '{name}': {path.parent}/{name}/config.ini is missing."
            raise FileError(path, problem, _line(path, "base"))
    if (kind == "car") != bool(names):
        problem = "a car has no base configuration here: add 'base = base' below [config]."
        if names:
            problem = "a mixin must not have a base configuration here: remove it, or make this a car."
        raise FileError(path, problem, _line(path, "type"))
    variables = _variables(path, ini)
    for variable in variables:
        if variable not in known:
            guess = "".join(f" Did you mean '{near}'?" for near in nearest(variable, known, most=1))
            problem = f"no base configuration knows the variable '{variable}'.{guess}"
            raise FileError(path, problem, _line(path, variable))
    defaults = {variable: value for name in names for variable, value in bases[name].items()}
    return Car(path.stem, kind, description, variables, names, defaults)


def _variables(path: Path, ini: configparser.ConfigParser) -> dict[str, str]:
    variables = dict(ini["variables"]) if ini.has_section("variables") else {}
    for variable, value in variables.items():
        try:
            check_value(variable, value)
        except ValueError as error:
            raise FileError(path, f"{variable}: {error}", _line(path, variable)) from None
    return variables


def _read_ini(path: Path) -> configparser.ConfigParser:
    """The file, parsed and interpolated as Rally's team.CarLoader does it, case of the keys kept."""
    ini = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
    ini.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        ini.read_string(path.read_text(encoding="utf-8"), str(path))
        for section in ini.sections():
            ini.items(section)  # interpolates, and so finds a lone dollar sign now
    except configparser.MissingSectionHeaderError as error:
        raise FileError(path, "this line stands before the first [section].", error.lineno) from None
    except (configparser.DuplicateOptionError, configparser.DuplicateSectionError) as error:
        what = getattr(error, "option", None) or f"[{error.section}]"
        raise FileError(path, f"'{what}' stands here twice.", error.lineno) from None
    except configparser.ParsingError as error:
        raise FileError(path, "this line is no 'key = value'.", error.errors[0][0]) from None
    except configparser.InterpolationError as error:
        raise FileError(
            path,
            f"the value of '{error.option}' has a lone '$' or names what is not there: write '$$' for a dollar sign.",
            _line(path, error.option),
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, f"this file cannot be read: {error}.") from None
    return ini


def _line(path: Path, key: str) -> int | None:
    """The line, counted from 1, that sets ``key``; None if there is none."""
    pattern = re.compile(rf"{re.escape(key)}\s*[=:]")
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), None)


@dataclass(frozen=True)
class Combination:
    """Cars that go together, and the settings that come of them.

    :param names: the cars in one fixed order, those with a base configuration first: what to give to --car.
    :param variables: every variable in force, the base configuration's defaults included.
    :param processors: what the node counts on, None for as many as there are.
    :param garbage_collector: "g1", "parallel" or "z".
    :param data_paths: folders of the user's choice, which Rally deletes after the race; mostly empty.
    :param limits: what the node may have at most.
    """

    names: tuple[str, ...]
    variables: Mapping[str, str]
    heap_bytes: int
    processors: int | None
    garbage_collector: str
    memory_lock: bool
    data_paths: tuple[Path, ...]
    limits: Limits = NO_LIMITS_AT_ALL

    @property
    def name(self) -> str:
        """The names as Rally's --car wants them, and as a label."""
        return ",".join(self.names)


def combine(names: Sequence[str], cars: Mapping[str, Car], parameters: Mapping[str, Any] | None = None) -> Combination:
    """The cars of these names together; the order in which they are named does not matter.

    :param cars: all cars there are, from ``load_cars``.
    :param parameters: variables set on the command line (Rally's --car-params), which win over every car's.
    :raises UsageError: an unknown car or variable, one named twice, no base configuration, or a contradiction.
    """
    for place, name in enumerate(names):
        if name not in cars:
            raise unknown("car", name, cars, "./inv cars")
        if name in names[:place]:
            raise UsageError(f"The car '{name}' is named twice: name it once.")
    chosen = [cars[name] for name in names]
    _require_one_base(chosen)
    _refuse_contradictions(chosen)

    # Rally would let the later of two values win. There are no two, so an order for the eye is as good as any.
    ordered = sorted(chosen, key=lambda car: (not car.bases, car.name))
    set_by_files = [car.defaults for car in ordered] + [car.variables for car in ordered]
    variables = {variable: value for each in set_by_files for variable, value in each.items()}
    variables |= _checked_parameters(parameters or {}, variables)
    processors, data_path = variables.get("processors"), variables.get("data_paths")
    names_in_order, heap_bytes = tuple(car.name for car in ordered), parse_size(variables["heap_size"])
    sizes = {one: parse_size(variables[one]) for one in _SIZES if variables.get(one)}
    return Combination(
        names=names_in_order,
        variables=variables,
        heap_bytes=heap_bytes,
        processors=int(processors) if processors else None,
        garbage_collector=variables["garbage_collector"],
        memory_lock=variables["memory_lock"] == "true",
        data_paths=(Path(data_path),) if data_path else (),
        limits=limits_of(variables, sizes, heap_bytes, ",".join(names_in_order)),
    )


def _require_one_base(chosen: Sequence[Car]) -> None:
    with_base = [car for car in chosen if car.bases]
    if not with_base:
        listed = " and ".join(f"'{car.name}'" for car in chosen)
        raise UsageError(
            f"No car with a base configuration is named, only {listed or 'nothing'}: "
            f"add a heap car, for example {','.join(['1gheap', *(car.name for car in chosen)])}."
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
