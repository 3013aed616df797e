"""Reads the file that the sampler wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddock.errors import FileError
from paddock.sampling.records import Sample, sample_from_line


def read_samples(file: Path) -> list[Sample]:
    """The samples in the order in which they were taken; none if there is no such file.

    :raises FileError: if a line other than a torn last one cannot be understood.
    """
    samples = []
    for number, line in _lines(file):
        if line.get("kind") == "sample":
            try:
                samples.append(sample_from_line(line))
            except (KeyError, TypeError, AttributeError) as error:
                raise FileError(
                    file, f"this is no sample as this version of Paddock writes it ({error}).", number
                ) from None
    return samples


def read_circumstances(file: Path) -> dict[str, Any] | None:
    """What the nodes were, as written last; None if they never answered.

    :raises FileError: as :func:`read_samples`.
    """
    return next((line for line in reversed(_of_kind(file, "circumstances"))), None)


def read_settings(file: Path) -> dict[str, dict[str, Any]]:
    """The settings of every index as read last, by name; those of deleted indices included.

    :raises FileError: as :func:`read_samples`.
    """
    found: dict[str, dict[str, Any]] = {}
    for line in _of_kind(file, "settings"):
        found.update(line["indices"])
    return found


def _of_kind(file: Path, kind: str) -> list[dict[str, Any]]:
    return [line for _, line in _lines(file) if line.get("kind") == kind]


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Numbered lines as objects, without a last one that was cut off while it was written."""
    if not file.exists():
        return
    raw = file.read_bytes().split(b"\n")
    # What follows the last line end is empty, or torn.
    for number, text in enumerate(raw[:-1], 1):
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if not isinstance(line, dict):
            raise FileError(file, "this line is no JSON object: the file has been damaged.", number)
        yield number, line
