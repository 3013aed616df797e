"""The fields of documents: how many have each, and how many different values it takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from paddock.inspection.model import Field
from paddock.inspection.terms import TermCounter

MOST_FIELDS = 200  # each takes half a MiB
_PLACES = 1 << 15
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", dict: "empty object"}


def flatten(document: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a document with their dotted names, as an index names them; each element of a list is a leaf."""
    for name, value in document.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict) and value:
            yield from flatten(value, f"{path}.")
        elif isinstance(value, list):
            for element in value:
                if isinstance(element, dict):
                    yield from flatten(element, f"{path}.")
                elif isinstance(element, list):
                    yield path, json.dumps(element)
                else:
                    yield path, element
        else:
            yield path, value


class FieldCounter:
    """Counts documents and values of each field; fields beyond the first 200 are only noticed."""

    def __init__(self) -> None:
        self._documents = 0
        self._columns: dict[str, _Column] = {}
        self._further = TermCounter(_PLACES)

    def add(self, leaves: list[tuple[str, Any]]) -> None:
        """Count one document."""
        self._documents += 1
        for name, value in leaves:
            column = self._columns.get(name)
            if column is None:
                if len(self._columns) >= MOST_FIELDS:
                    self._further.add_values([name])
                    continue
                column = self._columns[name] = _Column()
            column.waiting.append(value)
            if column.seen_in != self._documents:  # a list has several values
                column.seen_in = self._documents
                column.present += 1

    def settle(self) -> None:
        """Count the values that were added since the last call; until then they take memory."""
        for column in self._columns.values():
            column.settle()

    def fields(self) -> tuple[Field, ...]:
        """What was counted, in the order in which the fields appeared."""
        self.settle()
        return tuple(
            Field(
                name=name,
                share=column.present / self._documents,
                types=tuple(sorted(_TYPES[kind] for kind in column.types)),
                distinct=column.values.unique,
                exact=column.values.exact,
            )
            for name, column in self._columns.items()
        )

    def further(self) -> int:
        """How many fields there are beyond those."""
        return self._further.unique


class _Column:
    """The values of one field."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.present = 0
        self.seen_in = 0  # the last document
        self.types: set[type] = set()
        self.values = TermCounter(_PLACES)

    def settle(self) -> None:
        if self.waiting:
            types = set(map(type, self.waiting))
            self.types |= types
            self.values.add_values(self.waiting if types == {str} else [str(value) for value in self.waiting])
            self.waiting.clear()
