"""Tracks and challenges as Rally makes them of given parameters, for tests that look at what it has made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddock.tracks import Track
from paddock.tracks.rendering import build_track, render_specification


def render(track: Track, params: Mapping[str, Any], test_mode: bool = False) -> dict[str, Any]:
    """The track's specification, after Rally has accepted it for every challenge.

    :param test_mode: check it as Rally's test mode changes it (1,000 documents, one iteration).
    """
    specification, _ = render_specification(track.folder, params)
    for challenge in specification["challenges"]:
        build_track(track.folder, params, specification, challenge["name"], test_mode)
    return specification


def build(track: Track, params: Mapping[str, Any], challenge: str, test_mode: bool = False) -> Any:
    """Rally's own Track object with one challenge selected."""
    specification, _ = render_specification(track.folder, params)
    return build_track(track.folder, params, specification, challenge, test_mode)
