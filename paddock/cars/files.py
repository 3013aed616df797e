"""Reads cars/v1: one Car per ini file, as Rally reads it, with the line of every mistake."""

from __future__ import annotations

import configparser
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock import paths
from paddock.cars.values import RALLY_VARIABLES, check_value, parse_size
from paddock.errors import FileError
from paddock.suggestions import nearest

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
