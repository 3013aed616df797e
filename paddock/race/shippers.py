"""The shippers that a race asks for: whether they are installed, and whether they can be what is asked of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any

from paddock import paths
from paddock.errors import FileError, MachineError, UsageError
from paddock.tracks import Challenge, Track
from paddock.tracks.rendering import build_track, render_specification

LAPS = "laps"
# Whose plain levels are names of shippers.
CHALLENGE = "shipper"
_OWN_CLIENTS = "rally"
# What names files, hosts and sizes of a race that is not prepared yet; none of it is about shippers.
_NOT_LOOKED_AT = (
    *("lap_journal", "lap_stop_file", "lap_dropped_file", "lap_starts", "lap_order", "lap_phases", "lap_documents"),
    *("lap_read_back", "lap_client_options", "driver_processes", "driver_rendezvous"),
)


def check_shippers(
    track: Track, challenge: Challenge, params: Mapping[str, Any], test_mode: bool, fetch: bool
) -> list[str]:
    """Check what sends the laps of a race, where that is not Rally itself, before anything is started.

    :param params: the track's parameters, levels among them.
    :param fetch: whether the race is to be held; if not, what is missing is only said.
    :returns: sentences for the user: what is missing.
    :raises UsageError: a shipper cannot be what is asked of it, or the challenge has no laps.
    :raises MachineError: one is not installed.
    """
    named = asked(params)
    if not named and challenge.name != CHALLENGE:
        return []
    if LAPS not in challenge.tasks:
        raise UsageError(
            f"The challenge '{challenge.name}' is sent by Rally's own clients, and shipper is {' and '.join(named)}: "
            f"race the challenge shipper, or another one of laps (./inv challenges), or leave it out."
        )
    looked_at = {name: value for name, value in params.items() if name not in _NOT_LOOKED_AT}
    specification, _ = render_specification(track.folder, looked_at)
    try:
        build_track(track.folder, looked_at, specification, challenge.name, test_mode)
    except FileError as error:
        if error.path != track.folder / "track.json":
            raise
        # It is the parameters that are wrong, not the track.
        said = error.problem.removeprefix("Rally refuses this track: ")
        raise UsageError(said[:1].upper() + said[1:]) from None
    missing = [why for name in named if name in programs() and (why := programs()[name].missing())]
    if missing and fetch:
        raise MachineError(" ".join(missing))
    return missing


def asked(params: Mapping[str, Any]) -> list[str]:
    """The names of the shippers that a race's parameters ask for, without Rally's own clients."""
    given = _levels(params)
    levels = [one for one in given if isinstance(one, Mapping)]
    own = [one.get("shipper") for one in levels]
    if len(levels) < len(given) or not given or None in own:
        own.append(params.get("shipper"))
    # A plain level of the challenge shipper is a shipper itself.
    own += [one for one in given if isinstance(one, str) and one in programs()]
    own += [one["value"] for one in levels if isinstance(one.get("value"), str) and one["value"] in programs()]
    # What is no text is no shipper's name, and the track says so.
    return list(dict.fromkeys(str(name) for name in own if name not in (None, _OWN_CLIENTS)))


def pinned(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What shippers, and what feeds them, are held to by the processors that they may run on: as launches of nodes are.

    :param params: the track's parameters, levels among them, which were found right.
    """
    given: dict[str, list[Any]] = {}
    for one in _levels(params) or [{}]:
        level = {**params, **(one if isinstance(one, Mapping) else {"value": one})}
        plain = level.get("value") in (_OWN_CLIENTS, *programs())
        if (name := level["value"] if plain else level.get("shipper")) not in (None, _OWN_CLIENTS):
            given.setdefault(f"shipper-{name}", []).append(level.get("shipper_processors"))
            given.setdefault("generator", []).append(level.get("generator_processors"))
    held: list[dict[str, Any]] = []
    for component, every in given.items():
        # Samples do not tell one lap's from another's: what any may use, they may.
        if None not in every:
            cores = max(len(_shared("shipper_settings").processors(one, component, "")) for one in every)
            held.append({"node": component, "at most": {"cores": cores}})
    return held


def _levels(params: Mapping[str, Any]) -> list[Any]:
    """None where they are no list, which the track refuses."""
    given = params.get("levels")
    return list(given) if isinstance(given, (list, tuple)) else []


def programs() -> Mapping[str, Any]:
    """What the tracks know of each shipper, by its name (tracks/shared/shipper_programs.py)."""
    found: Mapping[str, Any] = _shared("shipper_programs").PROGRAMS
    return found


def _shared(module: str) -> Any:
    if str(paths.TRACKS) not in sys.path:
        sys.path.append(str(paths.TRACKS))
    return importlib.import_module(f"shared.{module}")


def at_hand() -> tuple[dict[str, str], dict[str, str]]:
    """The shippers that are installed, with their versions, and those that are not, with a sentence."""
    missing = {name: one.missing() for name, one in programs().items()}
    there = {name: one.version for name, one in programs().items() if missing[name] is None}
    return there, {name: why for name, why in missing.items() if why is not None}
