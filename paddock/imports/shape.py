"""What documents must look like to be accepted by a track's index: its mapping, as far as an import has to know it."""

from __future__ import annotations

import ipaddress
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock.errors import unknown
from paddock.imports.formats.base import BadLine
from paddock.paths import TRACKS
from paddock.tracks import track_names

TIME_FIELD = "@timestamp"
WHOLE_NUMBERS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
NUMBERS = frozenset(("float", "double", "half_float", "scaled_float"))
_CHECKED = frozenset(("ip", *WHOLE_NUMBERS, *NUMBERS))  # types that do not take any text, number or boolean
_KINDS = {str: "texts", bool: "booleans", int: "numbers", float: "numbers", dict: "objects", list: "lists"}
_CACHED = 100_000
_MOST_LAYOUTS = 5_000  # then it begins anew, so that memory stays constant
MOST_KINDS = 20_000  # of fields are noted, so that memory stays constant
TOO_LARGE = "numbers beyond a long"
# Elasticsearch keeps these names for itself and refuses documents that have them.
_RESERVED = frozenset(
    ("_id", "_index", "_source", "_routing", "_type", "_field_names", "_ignored", "_seq_no", "_version", "_size",
     "_nested_path", "_doc_count", "_tier")
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """The mapping of a track's index; plain values, so that it can be handed to other processes.

    :param strict: whether fields that ``properties`` does not name are refused.
    :param properties: name -> mapping, as Elasticsearch has it.
    """

    track: str
    strict: bool
    properties: Mapping[str, Any] = field(hash=False)

    @property
    def numeric(self) -> frozenset[str]:
        """The fields that are numbers to the track."""
        types = {**WHOLE_NUMBERS, **dict.fromkeys(NUMBERS)}
        return frozenset(name for name, mapping in self.properties.items() if mapping.get("type") in types)


def track_shape(track: str) -> Shape:
    """The shape of a track's documents, with the track's default parameters.

    :raises UsageError: if there is no such track.
    """
    known = track_names()
    if track not in known:
        raise unknown("track", track, known, "./inv tracks")
    from esrally.track import loader

    names = loader.CompleteTrackParams(user_specified_track_params={})
    text = loader.render_template_from_file(str(TRACKS / track / "index.json"), {}, complete_track_params=names)
    mappings = json.loads(text).get("mappings", {})
    return Shape(track, mappings.get("dynamic") == "strict", mappings.get("properties", {}))


@dataclass(frozen=True)
class _Layout:
    """What holds of all objects with the same names and types of values.

    :param refused: why Elasticsearch refuses one of the names; "" if it takes them.
    :param fits: whether they fit the track whatever their values are.
    :param kinds: field and kind of every value.
    :param whole, inner: the names of whole numbers, and of objects and lists.
    """

    refused: str
    fits: bool
    kinds: frozenset[tuple[str, str]]
    whole: tuple[str, ...]
    inner: tuple[str, ...]


class Fitter:
    """Makes documents fit a shape.

    :param notes_kinds: whether to note the kinds of values.
    """

    def __init__(self, shape: Shape, notes_kinds: bool = False):
        self._shape = shape
        self._notes_kinds = notes_kinds
        self._layouts: dict[tuple[Any, ...], _Layout] = {}
        self._addresses: dict[str, bool] = {}
        self.begin()

    def begin(self) -> None:
        """Begin a block: forget what was noted.

        left_out says how many documents had each field that the track has no place for; kinds has field and kind of
        values, as far as Elasticsearch refuses documents in which they change. Elements of an array are values of its
        field, and a number that no long can hold is of a kind of its own.
        """
        self.left_out: Counter[str] = Counter()
        self.kinds: set[tuple[str, str]] = set()

    def fit(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document without fields that the track has no place for.

        :raises BadLine: if Elasticsearch refuses the name of a field, or if a value is none of the type that the track
            gives its field.
        """
        kinds: list[frozenset[tuple[str, str]]] = []
        if not self._survey(document, "", kinds).fits:
            document = self._fit(document, self._shape.properties, self._shape.strict, "")
        if self._notes_kinds and len(self.kinds) < MOST_KINDS:
            self.kinds.update(*kinds)
        return document

    def _survey(self, values: dict[str, Any], path: str, kinds: list[frozenset[tuple[str, str]]]) -> _Layout:
        """Check the names of an object and of those in it; their kinds are added."""
        types = (path, *values, *map(type, values.values()))
        layout = self._layouts.get(types)
        if layout is None:
            layout = self._layout(values, path)
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            self._layouts[types] = layout
        if layout.refused:
            raise BadLine(layout.refused)
        kinds.append(layout.kinds)
        for name in layout.whole:
            if not -(1 << 63) <= values[name] < 1 << 63:
                kinds.append(frozenset(((path + name, TOO_LARGE),)))
        for name in layout.inner:
            value = values[name]
            if isinstance(value, dict):
                self._survey(value, f"{path}{name}.", kinds)
            else:
                # One text says as much as all.
                for element in value[:1] if set(map(type, value)) == {str} else value:
                    self._survey({name: element}, path, kinds)
        return layout

    def _layout(self, values: dict[str, Any], path: str) -> _Layout:
        known = {} if path else self._shape.properties
        mappings = [(known[name], type(value)) for name, value in values.items() if name in known]
        return _Layout(
            refused=next(filter(None, (_refusal(name, path) for name in values)), ""),
            fits=(len(mappings) == len(values) or not self._shape.strict)
            and not any(
                kind in (dict, list) or "properties" in mapping or mapping.get("type") in _CHECKED
                for mapping, kind in mappings
            ),
            kinds=frozenset((path + name, _KINDS.get(type(value), "")) for name, value in values.items()),
            whole=tuple(name for name, value in values.items() if type(value) is int),
            inner=tuple(name for name, value in values.items() if isinstance(value, (dict, list))),
        )

    def _fit(self, document: dict[str, Any], properties: Mapping[str, Any], strict: bool, path: str) -> dict[str, Any]:
        unknown = [name for name in document if name not in properties] if strict else ()
        if unknown:
            self.left_out.update(path + name for name in unknown)
            document = {name: value for name, value in document.items() if name in properties}
        for name, mapping in properties.items():
            if name not in document:
                continue
            value = document[name]
            if "properties" in mapping:
                if not isinstance(value, dict):
                    raise BadLine(f"'{path}{name}' is no object, as the track {self._shape.track} has it")
                document[name] = self._fit(value, mapping["properties"], strict, f"{path}{name}.")
            elif not self._accepts(mapping.get("type", ""), value):
                raise BadLine(f"'{path}{name}' is no {mapping['type']}, as the track {self._shape.track} has it")
        return document

    def _accepts(self, kind: str, value: Any) -> bool:
        """Whether Elasticsearch would index the value as that type; types that are not told apart pass."""
        if isinstance(value, list):
            return all(self._accepts(kind, each) for each in value)
        if isinstance(value, dict):
            return kind in ("", "object", "flattened")
        if kind == "ip":
            return isinstance(value, str) and self.is_address(value)
        if kind in WHOLE_NUMBERS:
            try:
                return not isinstance(value, bool) and abs(int(value)) < 1 << WHOLE_NUMBERS[kind]
            except (ValueError, OverflowError):
                return False
        if kind in NUMBERS:
            try:
                return not isinstance(value, bool) and abs(float(value)) < float("inf")
            except ValueError:
                return False
        return True

    def is_address(self, text: str) -> bool:
        """Whether it is an IP address that Elasticsearch accepts; remembered."""
        known = self._addresses.get(text)
        if known is None:
            try:
                ipaddress.ip_address(text)
                known = "%" not in text  # Python takes zones of IPv6, Elasticsearch does not
            except ValueError:
                known = False
            if len(self._addresses) >= _CACHED:
                self._addresses.clear()
            self._addresses[text] = known
        return known


def _refusal(name: str, path: str) -> str:
    """Why Elasticsearch refuses a name; "" if it takes it."""
    if not path and name in _RESERVED:
        return f"Elasticsearch keeps the field {name} for itself"
    return "" if all(map(str.strip, name.split("."))) else "a field name that Elasticsearch refuses"
