"""What documents must look like to be accepted by a track's index: its mapping, as far as an import has to know it."""

from __future__ import annotations

import ipaddress
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paddock.imports.formats.base import BadLine
from paddock.paths import TRACKS
from paddock.suggestions import unknown
from paddock.tracks import track_names

TIME_FIELD = "@timestamp"
_WHOLE_NUMBERS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_NUMBERS = frozenset(("float", "double", "half_float", "scaled_float"))
_CACHED = 100_000
TOO_LARGE = "numbers beyond a long"


@dataclass(frozen=True)
class Shape:
    """The mapping of a track's index; plain values, so that it can be handed to other processes.

    :param strict: whether fields that ``properties`` does not name are refused.
    :param properties: name -> mapping, as Elasticsearch has it.
    """

    track: str
    strict: bool
    properties: Mapping[str, Any] = field(hash=False)


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


class Fitter:
    """Makes documents fit a shape.

    :ivar left_out: how many documents had each field that the track has no place for.
    """

    def __init__(self, shape: Shape):
        self._shape = shape
        self.left_out: Counter[str] = Counter()
        self._addresses: dict[str, bool] = {}

    def fit(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document without fields that the track has no place for.

        :raises BadLine: if a field's value is none of the type that the track gives it.
        """
        return self._fit(document, self._shape.properties, self._shape.strict, "")

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
        if kind in _WHOLE_NUMBERS:
            try:
                return not isinstance(value, bool) and abs(int(value)) < 1 << _WHOLE_NUMBERS[kind]
            except (ValueError, OverflowError):
                return False
        if kind in _NUMBERS:
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


class Kinds:
    """Notes the kinds of fields' values, as far as Elasticsearch refuses documents in which they change."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], frozenset[tuple[str, str]]] = {}

    def note(self, document: Mapping[str, Any], kinds: set[tuple[str, str]], path: str = "") -> None:
        """Add field and kind of every value.

        Elements of an array are values of its field, and a number that no long can hold is of a kind of its own.
        """
        types = (path, *document, *map(type, document.values()))
        known = self._known.get(types)
        if known is None:
            known = frozenset((path + name, _KINDS.get(type(value), "")) for name, value in document.items())
            if len(self._known) < _CACHED:
                self._known[types] = known
        kinds |= known
        for name, value in document.items():
            if type(value) is int and not -(1 << 63) <= value < 1 << 63:
                kinds.add((path + name, TOO_LARGE))
            elif isinstance(value, dict):
                self.note(value, kinds, f"{path}{name}.")
            elif isinstance(value, list):
                for element in value:
                    self.note({name: element}, kinds, path)


_KINDS = {str: "texts", bool: "booleans", int: "numbers", float: "numbers", dict: "objects", list: "lists"}
