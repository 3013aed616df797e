"""The tracks: what there is to race, with which challenges and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.paths import TRACKS
from paddock.suggestions import unknown
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
class Track:
    """A Rally track in ``folder``, as it is with default parameters."""

    name: str
    description: str
    folder: Path
    challenges: tuple[Challenge, ...]
    parameters: tuple[Parameter, ...]


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
    return Track(name, specification["description"], folder, challenges, read_parameters(name, tracks_folder))


def check_parameters(track: Track, params: Mapping[str, Any]) -> None:
    """Refuse parameters that the track does not have or that cannot be meant, before anything is started.

    :param params: names and values, as Rally reads them: numbers as numbers, "none" as None.
    :raises UsageError: with the nearest names, or with what the value must be.
    """
    check_values(track.name, track.parameters, params)


def render(track: Track, params: Mapping[str, Any], test_mode: bool = False) -> dict[str, Any]:
    """The track's specification as Rally renders it, after Rally has accepted it for every challenge.

    :param test_mode: check it as Rally's test mode changes it (1,000 documents, one iteration).
    :raises FileError: if a file of the track is wrong, with the line where one is known.
    :raises UsageError: if the track does not use one of the parameters.
    """
    specification, _ = render_specification(track.folder, params)
    for challenge in specification["challenges"]:
        build_track(track.folder, params, specification, challenge["name"], test_mode)
    return specification


def build(track: Track, params: Mapping[str, Any], challenge: str, test_mode: bool = False) -> Any:
    """Rally's own Track object with one challenge selected; errors as for :func:`render`."""
    specification, _ = render_specification(track.folder, params)
    return build_track(track.folder, params, specification, challenge, test_mode)
