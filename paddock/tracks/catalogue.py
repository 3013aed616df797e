"""The tracks: what there is to race, with which challenges and parameters, and whether given values can be meant."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import FileError, MachineError, UsageError, unknown
from paddock.files import files_below, read_record, write_json
from paddock.paths import TRACKS
from paddock.plain_values import built, plain
from paddock.structured_files import read_yaml
from paddock.tracks.rendering import build_track, challenges_naming, render_specification

_DURATION = re.compile(r"-1|0|[0-9]+(nanos|micros|ms|s|m|h|d)")
_SIZE = re.compile(r"-1|0|[0-9]+(\.[0-9]+)?(b|kb|mb|gb|tb|pb)", re.IGNORECASE)
# What every track has to say of its own corpus.
_CORPUS = ("corpus_file", "corpus_documents", "corpus_bytes")
# Challenges in a sentence.
_NAMED = 2
# What of an ingest pipeline the client that Rally pins can send.
_OF_PIPELINE = {"processors", "description", "on_failure", "version", "_meta"}
# What values have to be, by the kinds of parameters.
_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "text": "a text",
    "duration": "a time with its unit, such as 500ms, 30s or 5m, or -1",
    "size": "a size with its unit, such as 512mb or 1gb",
    "mapping": "a JSON object of full setting names and their values",
    "object": "a JSON object",
    "list": "a JSON list with at least one entry",
}

# Index settings that plans and advice look at: the track parameter that sets them, and its kind.
_SETTINGS = {
    "number_of_shards": ("number_of_shards", "integer"),
    "number_of_replicas": ("number_of_replicas", "integer"),
    "refresh_interval": ("refresh_interval", "duration"),
    "translog.flush_threshold_size": ("translog_flush_threshold_size", "size"),
}


@dataclass(frozen=True)
class Challenge:
    """One way to race a track; ``tasks`` are the names of its tasks in the order in which they run."""

    name: str
    description: str
    default: bool
    tasks: tuple[str, ...]


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


@dataclass(frozen=True)
class Description:
    """What a track has, with default parameters."""

    description: str
    challenges: tuple[Challenge, ...]
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True)
class Track(Description):
    """A Rally track in ``folder``."""

    name: str
    folder: Path


def track_names(tracks_folder: Path = TRACKS) -> list[str]:
    """The names of all tracks, sorted; cheap, nothing is rendered."""
    return sorted(path.parent.name for path in tracks_folder.glob("*/track.json"))


def load_tracks(tracks_folder: Path = TRACKS) -> list[Track]:
    """All tracks, sorted by name; raises FileError if a file of a track is wrong."""
    return [load_track(name, tracks_folder) for name in track_names(tracks_folder)]


def load_track(name: str, tracks_folder: Path = TRACKS) -> Track:
    """One track by its name.

    :raises UsageError, FileError: if there is none of that name; if a file of it is wrong.
    """
    known = track_names(tracks_folder)
    if name not in known:
        raise unknown("track", name, known, "./inv tracks")
    # Rally's loader takes a second, and so its answer is kept for as long as no file of the track changes.
    kept, files = paths.state_folder() / "tracks" / f"{name}.json", _checksum(name, tracks_folder)
    record = read_record(kept)
    if record.get("checksum") == _sealed(files, record.get("track")):
        found: Description = built(Description, record["track"], f"the track {name}")
    else:
        found = _described(name, tracks_folder)
        with contextlib.suppress(OSError, MachineError):
            write_json(kept, {"checksum": _sealed(files, plain(found)), "track": plain(found)})
    return Track(found.description, found.challenges, found.parameters, name, tracks_folder / name)


def _checksum(name: str, tracks_folder: Path) -> str:
    """Of every file that decides what the track is, and of what reads it."""
    digest = hashlib.sha256(f"{tracks_folder} {importlib.metadata.version('esrally')}".encode())
    ours = Path(__file__).parent
    for folder in (tracks_folder / name, tracks_folder / "shared", tracks_folder.parent / "challenges", ours):
        for file in files_below(folder, ".json", ".py", ".yml"):
            digest.update(str(file).encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _sealed(files: str, track: Any) -> str:
    """A checksum of the files' checksum and of what they were found to be, so that neither is believed changed."""
    return hashlib.sha256(f"{files} {json.dumps(track, sort_keys=True)}".encode()).hexdigest()


def _described(name: str, tracks_folder: Path) -> Description:
    folder = tracks_folder / name
    specification, _ = render_specification(folder, {})
    rally_track = build_track(folder, {}, specification, challenge=None, test_mode=False)
    challenges = tuple(
        Challenge(
            name=challenge.name,
            description=challenge.description or "",
            default=bool(challenge.default),
            tasks=tuple(leaf.name for task in challenge.schedule for leaf in task),
        )
        for challenge in rally_track.challenges
    )
    return Description(specification["description"], challenges, read_parameters(name, tracks_folder))


def read_parameters(track_name: str, tracks_folder: Path = TRACKS) -> tuple[Parameter, ...]:
    """One track's parameters, in the order of ``shared/parameters.yml``; raises FileError if that file is wrong."""
    file = tracks_folder / "shared" / "parameters.yml"
    found = tuple(_parameter(entry, track_name) for entry in read_yaml(file, "track-parameters"))
    if lacking := [each.name for each in found if each.name in _CORPUS and each.default is None]:
        raise FileError(
            file,
            f"the track '{track_name}' has no corpus of its own here: add it to default_per_track of "
            f"{', '.join(lacking)}.",
        )
    return found


def _parameter(entry: Mapping[str, Any], track_name: str) -> Parameter:
    default = entry.get("default_per_track", {}).get(track_name, entry["default"])
    text = "none" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
    same = ("name", "unit", "description", "minimum", "maximum", "above", "needs", "distribution")
    return Parameter(
        default=default,
        default_text=entry.get("computed_default", text),
        kind=entry["type"],
        choices=tuple(entry.get("choices", ())),
        nullable=entry.get("nullable", False) or default is None,
        **{name: entry[name] for name in same if name in entry},
    )


def check_distribution(track: Track, params: Mapping[str, Any]) -> None:
    """Refuse what the embedded Elasticsearch cannot do, of parameters that :func:`check_parameters` has accepted.

    :raises UsageError: for a parameter that only Elastic's own distribution understands.
    """
    asked = [each.name for each in track.parameters if each.distribution and params.get(each.name)]
    if asked:
        raise UsageError(
            f"The embedded Elasticsearch has no data streams, lifecycle policies and ingest processors, which "
            f"{' and '.join(asked)} would use: race Elastic's own distribution with --engine official or --engine PATH "
            f"(its archive), or name a cluster with --target-hosts."
        )


def check_parameters(track: Track, values: Mapping[str, Any]) -> None:
    """Refuse parameters that the track does not have or that cannot be meant, before anything is started.

    :param values: those given, as Rally reads them: numbers as numbers, "none" as None.
    :raises UsageError: for an unknown parameter (with the nearest names), a value of the wrong type or out of range, a
        contradiction.
    """
    known = {parameter.name: parameter for parameter in track.parameters}
    for name, value in values.items():
        if name not in known:
            raise unknown(f"parameter of the track '{track.name}'", name, known, f"./inv track {track.name}")
        one = known[name]
        if problem := _problem(one, value):
            raise UsageError(
                f"The parameter {name} must be {problem}, but is {value!r}: {one.description.rstrip('.')} "
                f"(default {one.default_text.rstrip('.')}, unit: {one.unit})."
            )
    _check_combinations(known, values)


def parameters_of_others(track: Track, challenge: str, names: Iterable[str]) -> list[str]:
    """Sentences on parameters that only other challenges of the track look at."""
    found = []
    for name, others in challenges_naming(track.folder, names).items():
        if others and challenge not in others:
            named = [*sorted(others)[:_NAMED], *([f"{len(others) - _NAMED} others"] if len(others) > _NAMED else [])]
            found.append(
                f"The challenge '{challenge}' does not look at the track parameter {name}, which is there for the "
                f"challenge {' and '.join(named)}."
            )
    return found


def _problem(parameter: Parameter, value: Any) -> str | None:
    """What the value must be, if it is not; None if it is right."""
    wanted = f"one of {', '.join(parameter.choices)}" if parameter.choices else _KINDS[parameter.kind]
    if value is None:
        return None if parameter.nullable else f"{wanted} and not none"
    each = value if isinstance(value, list) else [value]
    if not _has_type(parameter.kind, value) or (
        parameter.choices and any(one not in parameter.choices for one in each)
    ):
        return f"a list of {', '.join(parameter.choices)}" if parameter.kind == "list" and parameter.choices else wanted
    if parameter.minimum is not None and value < parameter.minimum:
        return f"at least {parameter.minimum:g}"
    if parameter.above is not None and value <= parameter.above:
        return f"more than {parameter.above:g}"
    if parameter.maximum is not None and value > parameter.maximum:
        return f"at most {parameter.maximum:g}"
    return None


def _has_type(kind: str, value: Any) -> bool:
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if kind == "mapping":
        # Names with dots, as Elasticsearch lists them: a nested object could name the same setting a second time.
        return isinstance(value, Mapping) and not any(isinstance(inner, Mapping) for inner in value.values())
    if kind in ("object", "list"):
        return isinstance(value, Mapping if kind == "object" else list) and bool(value)
    if kind == "number":
        return isinstance(value, int | float) and math.isfinite(value)
    if kind in ("duration", "size"):
        pattern = _DURATION if kind == "duration" else _SIZE
        return isinstance(value, str | int) and pattern.fullmatch(str(value)) is not None
    return isinstance(value, int if kind == "integer" else str)


def named_settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """Index settings that track parameters name, without "index."; ``index_settings`` win over parameters of their own.

    Of parameters of their own those that plans and advice look at.
    """
    found = {setting: params[name] for setting, (name, _) in _SETTINGS.items() if params.get(name) is not None}
    return found | settings_by_name(params.get("index_settings"))


def settings_by_name(settings: Any) -> dict[str, Any]:
    """Index settings without "index."; none of what is no mapping."""
    if not isinstance(settings, Mapping):
        return {}
    return {name.removeprefix("index."): value for name, value in settings.items()}


def copies_of_shards(params: Mapping[str, Any]) -> tuple[int, int]:
    """Primary shards of an index with these parameters, and copies of each, itself included; 1 where not told."""
    settings = named_settings(params)
    return _whole(settings, "number_of_shards", 1), 1 + _whole(settings, "number_of_replicas", 0)


def _whole(settings: Mapping[str, Any], name: str, default: int) -> int:
    text = str(settings.get(name))
    return int(text) if text.isdecimal() else default


def setting_problem(setting: str, value: Any) -> str | None:
    """What the value of an index setting must be, if it is not; None if it is right, or nothing is known of it.

    :param setting: without "index.".
    """
    if setting not in _SETTINGS or value is None:
        return None
    _, kind = _SETTINGS[setting]
    right = str(value).isdecimal() if kind == "integer" else _has_type(kind, value)
    return None if right else _KINDS[kind]


def _check_combinations(known: Mapping[str, Parameter], values: Mapping[str, Any]) -> None:
    given = {name: value for name, value in values.items() if value is not None}
    for name in given:
        if (needed := known[name].needs) and not given.get(needed):
            choices = " or ".join(f"{needed}:{choice}" for choice in known[needed].choices or ("true",))
            raise UsageError(f"The parameter {name} has no effect without {needed}: add {choices}, or leave it out.")
    exclusive = (
        ("document_count", "ingest_percentage"),
        ("target_throughput", "target_gb_per_day", "event_period"),
        ("sustained_documents", "time_period"),
    )
    for group in exclusive:
        if len(both := [name for name in group if name in given]) > 1:
            raise UsageError(f"The parameters {' and '.join(both)} exclude each other: give one of them.")
    if given.get("data_stream") and "conflicts" in given:
        raise UsageError("A data stream only appends, and conflicts would replace documents: leave one of them out.")
    if given.get("data_stream") and "rollover" in given:
        raise UsageError("A data stream rolls over as its lifecycle says, not by rollover: leave one of them out.")
    for name, pipeline in given.get("ingest_pipelines", {}).items():
        if not isinstance(pipeline, Mapping) or not isinstance(pipeline.get("processors"), list):
            raise UsageError(f"The ingest pipeline '{name}' must be a JSON object with a list of processors.")
        if strange := sorted(set(pipeline) - _OF_PIPELINE):
            raise UsageError(
                f"The ingest pipeline '{name}' has '{strange[0]}', and may have {', '.join(sorted(_OF_PIPELINE))}."
            )
    steps = given.get("growth_steps", [1])
    if not all(type(one) is int and one > 0 for one in steps) or sorted(set(steps)) != steps:
        raise UsageError(f"The parameter growth_steps must be ascending whole numbers such as [1,2,4,8], not {steps}.")
    if "phases" not in given.get("lifecycle", {"phases": None}):
        raise UsageError("The parameter lifecycle must be the policy itself, a JSON object with its phases.")
    documents = given.get("corpus_documents", known["corpus_documents"].default)
    for name in ("document_count", "lap_documents"):
        if given.get(name, 0) > documents and not (name == "lap_documents" and given.get("lap_growing")):
            raise UsageError(
                f"The parameter {name} is {given[name]}, but the corpus has {documents} documents: "
                f"ask for fewer, or use a larger corpus."
            )
    for name in ("lap_journal", "lap_stop_file", "lap_dropped_file", "load_journal"):
        if name in given and not Path(given[name]).is_absolute():
            raise UsageError(f"The parameter {name} must be an absolute path, but is '{given[name]}'.")
