"""The parameters of the tracks: what there is, its defaults, and whether given values can be meant."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.errors import FileError, UsageError, unknown
from paddock.paths import TRACKS
from paddock.structured_files import read_yaml

_DURATION = re.compile(r"-1|0|[0-9]+(nanos|micros|ms|s|m|h|d)")
_SIZE = re.compile(r"-1|0|[0-9]+(\.[0-9]+)?(b|kb|mb|gb|tb|pb)", re.IGNORECASE)

# What every track has to say of its own corpus.
_CORPUS = ("corpus_file", "corpus_documents", "corpus_bytes")
# What of an ingest pipeline the client that Rally pins can send.
_OF_PIPELINE = {"processors", "description", "on_failure", "version", "_meta"}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a track.

    ``default`` is the value that holds when the parameter is not given, None if it is then left out; ``default_text``
    is the same for people, or says how the default is computed. ``kind`` is integer, number, boolean, text, duration,
    size, mapping, object or list; ``needs`` names a parameter without which this one has no effect; ``distribution``
    says that only Elastic's own distribution of Elasticsearch has what it sets.
    """

    name: str
    default: Any
    default_text: str
    unit: str
    description: str
    kind: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    nullable: bool = False
    needs: str | None = None
    distribution: bool = False


def read_parameters(track_name: str, tracks_folder: Path = TRACKS) -> tuple[Parameter, ...]:
    """The parameters of one track, in the order of ``shared/parameters.yml``.

    :raises FileError: if that file is wrong.
    """
    entries = read_yaml(tracks_folder / "shared" / "parameters.yml", "track-parameters")
    found = tuple(_parameter(entry, track_name) for entry in entries)
    lacking = [each.name for each in found if each.name in _CORPUS and each.default is None]
    if lacking:
        raise FileError(
            tracks_folder / "shared" / "parameters.yml",
            f"the track '{track_name}' has no corpus of its own here: add it to default_per_track of "
            f"{', '.join(lacking)}.",
        )
    return found


def _parameter(entry: Mapping[str, Any], track_name: str) -> Parameter:
    default = entry.get("default_per_track", {}).get(track_name, entry["default"])
    return Parameter(
        name=entry["name"],
        default=default,
        default_text=entry.get("computed_default", _text(default)),
        unit=entry["unit"],
        description=entry["description"],
        kind=entry["type"],
        choices=tuple(entry.get("choices", ())),
        minimum=entry.get("minimum"),
        maximum=entry.get("maximum"),
        above=entry.get("above"),
        nullable=entry.get("nullable", False) or default is None,
        needs=entry.get("needs"),
        distribution=entry.get("distribution", False),
    )


def _text(value: Any) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_values(track_name: str, parameters: Iterable[Parameter], values: Mapping[str, Any]) -> None:
    """Refuse what cannot be meant, before anything is started.

    :param values: the parameters given, as Rally reads them: numbers as numbers, "none" as None.
    :raises UsageError: for an unknown parameter, a value of the wrong type or out of range, a contradiction.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in values.items():
        if name not in known:
            raise unknown(f"parameter of the track '{track_name}'", name, known, f"./inv track {track_name}")
        problem = _problem(known[name], value)
        if problem:
            raise UsageError(f"The parameter {name} must be {problem}, but is {value!r}: {_one_line(known[name])}")
    _check_combinations(known, values)


def _one_line(parameter: Parameter) -> str:
    default = parameter.default_text.rstrip(".")
    return f"{parameter.description.rstrip('.')} (default {default}, unit: {parameter.unit})."


def _problem(parameter: Parameter, value: Any) -> str | None:
    """What the value must be, if it is not; None if it is right."""
    if value is None:
        return None if parameter.nullable else f"{_article(parameter)} and not none"
    if not _has_type(parameter.kind, value):
        return _article(parameter)
    if parameter.choices and value not in parameter.choices:
        return f"one of {', '.join(parameter.choices)}"
    if parameter.minimum is not None and value < parameter.minimum:
        return f"at least {parameter.minimum:g}"
    if parameter.above is not None and value <= parameter.above:
        return f"more than {parameter.above:g}"
    if parameter.maximum is not None and value > parameter.maximum:
        return f"at most {parameter.maximum:g}"
    return None


def _article(parameter: Parameter) -> str:
    if parameter.choices:
        return f"one of {', '.join(parameter.choices)}"
    return {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "text": "a text",
        "duration": "a time with its unit, such as 500ms, 30s or 5m, or -1",
        "size": "a size with its unit, such as 512mb or 1gb",
        "mapping": "a JSON object of full setting names and their values",
        "object": "a JSON object",
        "list": "a JSON list with at least one entry",
    }[parameter.kind]


def _has_type(kind: str, value: Any) -> bool:
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if kind == "mapping":
        # Names with dots, as Elasticsearch lists them: a nested object could name the same setting a second time.
        return isinstance(value, Mapping) and not any(isinstance(inner, Mapping) for inner in value.values())
    if kind == "object":
        return isinstance(value, Mapping) and bool(value)
    if kind == "list":
        return isinstance(value, list) and bool(value)
    if kind == "integer":
        return isinstance(value, int)
    if kind == "number":
        return isinstance(value, int | float) and math.isfinite(value)
    if kind in ("duration", "size"):
        pattern = _DURATION if kind == "duration" else _SIZE
        return isinstance(value, str | int) and pattern.fullmatch(str(value)) is not None
    return isinstance(value, str)


def _check_combinations(known: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    given = {name: value for name, value in values.items() if value is not None}
    for name in given:
        needed = known[name].needs
        if needed and not given.get(needed):
            choices = " or ".join(f"{needed}:{choice}" for choice in known[needed].choices or ("true",))
            raise UsageError(f"The parameter {name} has no effect without {needed}: add {choices}, or leave it out.")
    if "document_count" in given and "ingest_percentage" in given:
        raise UsageError("The parameters document_count and ingest_percentage exclude each other: give one of them.")
    if given.get("data_stream") and "conflicts" in given:
        raise UsageError("A data stream only appends, and conflicts would replace documents: leave one of them out.")
    for name, pipeline in given.get("ingest_pipelines", {}).items():
        if not isinstance(pipeline, Mapping) or not isinstance(pipeline.get("processors"), list):
            raise UsageError(f"The ingest pipeline '{name}' must be a JSON object with a list of processors.")
        if strange := sorted(set(pipeline) - _OF_PIPELINE):
            raise UsageError(
                f"The ingest pipeline '{name}' has '{strange[0]}', and may have {', '.join(sorted(_OF_PIPELINE))}."
            )
    if "phases" not in given.get("lifecycle", {"phases": None}):
        raise UsageError("The parameter lifecycle must be the policy itself, a JSON object with its phases.")
    rates = [name for name in ("target_throughput", "target_gb_per_day", "event_period") if name in given]
    if len(rates) > 1:
        raise UsageError(f"The parameters {' and '.join(rates)} exclude each other: give one of them.")
    documents = given.get("corpus_documents", known["corpus_documents"].default)
    for name in ("document_count", "lap_documents"):
        if given.get(name, 0) > documents:
            raise UsageError(
                f"The parameter {name} is {given[name]}, but the corpus has {documents} documents: "
                f"ask for fewer, or use a larger corpus."
            )
    for name in ("lap_journal", "lap_stop_file", "load_journal"):
        if name in given and not Path(given[name]).is_absolute():
            raise UsageError(f"The parameter {name} must be an absolute path, but is '{given[name]}'.")
