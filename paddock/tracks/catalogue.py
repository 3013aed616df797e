"""The tracks: what there is to race, with which challenges and parameters."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.errors import MachineError, UsageError, unknown
from paddock.files import files_below, read_record, write_json
from paddock.paths import TRACKS
from paddock.plain_values import built, plain
from paddock.tracks.parameters import Parameter, check_values, read_parameters
from paddock.tracks.rendering import build_track, render_specification


@dataclass(frozen=True)
class Challenge:
    """One way to race a track; ``tasks`` are the names of its tasks in the order in which they run."""

    name: str
    description: str
    default: bool
    tasks: tuple[str, ...]


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
    """All tracks, sorted by name.

    :raises FileError: if a file of a track is wrong.
    """
    return [load_track(name, tracks_folder) for name in track_names(tracks_folder)]


def load_track(name: str, tracks_folder: Path = TRACKS) -> Track:
    """One track by its name.

    :raises UsageError: if there is none of that name.
    :raises FileError: if a file of it is wrong.
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


def check_distribution(track: Track, params: Mapping[str, Any]) -> None:
    """Refuse what the embedded Elasticsearch cannot do.

    :param params: as :func:`check_parameters` has accepted them.
    :raises UsageError: for a parameter that only Elastic's own distribution understands.
    """
    asked = [each.name for each in track.parameters if each.distribution and params.get(each.name)]
    if asked:
        raise UsageError(
            f"The embedded Elasticsearch has no data streams, lifecycle policies and ingest processors, which "
            f"{' and '.join(asked)} would use: race Elastic's own distribution with --engine official or --engine PATH "
            f"(its archive), or name a cluster with --target-hosts."
        )


def check_parameters(track: Track, params: Mapping[str, Any]) -> None:
    """Refuse parameters that the track does not have or that cannot be meant, before anything is started.

    :param params: names and values, as Rally reads them: numbers as numbers, "none" as None.
    :raises UsageError: with the nearest names, or with what the value must be.
    """
    check_values(track.name, track.parameters, params)
