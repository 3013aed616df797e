"""Reads cars/v1: one Car per ini file, as Rally reads it, with the line of every mistake, and checks the values."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock import paths
from paddock.errors import FileError, nearest

GARBAGE_COLLECTORS = ("g1", "parallel", "z")
_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_size(text: str) -> int:
    """A size such as "512m" or "1g" in bytes; units are powers of 1024, their letter's case does not matter.

    :raises ValueError: if it is no such size; one sentence.
    """
    match = re.fullmatch(r"([0-9]+)([bkmgt]?)", text.strip().lower())
    if not match or int(match[1]) == 0:
        raise ValueError(f"'{text}' is no size: write a whole number above 0 and a unit, for example 512m or 1g.")
    return int(match[1]) * _UNITS[match[2]]


def _check_heap(text: str) -> None:
    if parse_size(text) < 2**26:
        raise ValueError(f"'{text}' is no heap: Elasticsearch does not start below 64m.")


def _check_processors(text: str) -> None:
    if text and not re.fullmatch(r"[1-9][0-9]{0,3}", text):
        raise ValueError(f"'{text}' is no number of processors: write 1 or more, or nothing for all.")


def _check_collector(text: str) -> None:
    if text not in GARBAGE_COLLECTORS:
        raise ValueError(f"'{text}' is no garbage collector: write one of {', '.join(GARBAGE_COLLECTORS)}.")


def _check_switch(text: str) -> None:
    if text not in ("true", "false"):
        raise ValueError(f"'{text}' is neither true nor false.")


def _check_buffer(text: str) -> None:
    percent = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)%", text)
    if percent and 0 < float(percent[1]) <= 100:
        return
    if not re.fullmatch(r"[1-9][0-9]*(b|kb|mb|gb)", text):
        raise ValueError(
            f"'{text}' is no index buffer: write a share of the heap such as 30%, or a size such as 512mb."
        )


def _check_data_path(text: str) -> None:
    if not re.fullmatch(r"/[^,]*[^,/][^,]*", text):
        raise ValueError(f"'{text}' is no data path: write one absolute path to a folder of its own, not the root.")


_CHECKS: Mapping[str, Callable[[str], None]] = {
    "heap_size": _check_heap,
    "garbage_collector": _check_collector,
    "index_buffer_size": _check_buffer,
    "allow_mmap": _check_switch,
    "memory_lock": _check_switch,
    "processors": _check_processors,
    "unprotected_network": _check_switch,
    "data_paths": _check_data_path,
}
# Variables that Rally itself knows although no base configuration gives them a default.
RALLY_VARIABLES = frozenset({"data_paths"})


def check_value(variable: str, value: str) -> None:
    """Check one variable; those without a rule of their own (release URLs, versions of Java) are free.

    :raises ValueError: if the value is not possible; one sentence.
    """
    check = _CHECKS.get(variable)
    if check:
        check(value)


KINDS = ("car", "mixin")


@dataclass(frozen=True)
class Car:
    """One ini file: a car, which brings a base configuration, or a mixin, which changes variables of one.

    :param kind: "car" or "mixin".
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
    """All cars and mixins of a team, by name, cars first.

    :param folder: the team's folder cars/v1.
    :raises FileError: if an ini file is broken or sets what no base configuration knows.
    """
    bases = {path.parent.name: _read_base(path) for path in sorted(folder.glob("*/config.ini"))}
    known = RALLY_VARIABLES.union(*bases.values())
    cars = [_read_car(path, bases, known) for path in sorted(folder.glob("[!.]*.ini"))]
    return {car.name: car for car in sorted(cars, key=lambda car: (KINDS.index(car.kind), car.heap_bytes, car.name))}


def _read_base(path: Path) -> dict[str, str]:
    ini = _read_ini(path)
    return _variables(path, ini)


def _read_car(path: Path, bases: Mapping[str, Mapping[str, str]], known: frozenset[str]) -> Car:
    ini = _read_ini(path)
    kind = ini.get("meta", "type", fallback="car")
    if kind not in KINDS:
        raise FileError(path, f"'{kind}' is no type: write car or mixin.", _line(path, "type"))
    description = ini.get("meta", "description", fallback="").strip()
    if not description:
        raise FileError(path, "there is no description: add 'description = ...' below [meta].")
    names = tuple(name for name in ini.get("config", "base", fallback="").split(",") if name)
    for name in names:
        if name not in bases:
            raise FileError(
                path,
                f"there is no base configuration '{name}': {path.parent}/{name}/config.ini is missing.",
                _line(path, "base"),
            )
    if (kind == "car") != bool(names):
        remedy = "add 'base = base' below [config]" if kind == "car" else "remove it, or make this a car"
        has = "has no" if kind == "car" else "must not have a"
        raise FileError(path, f"a {kind} {has} base configuration here: {remedy}.", _line(path, "type"))
    variables = _variables(path, ini)
    for variable in variables:
        if variable not in known:
            near = nearest(variable, known, most=1)
            guess = f" Did you mean '{near[0]}'?" if near else ""
            raise FileError(
                path, f"no base configuration knows the variable '{variable}'.{guess}", _line(path, variable)
            )
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
