"""The values that a car's variables may have: one check per variable, shared by ini files and --car-params."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

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
