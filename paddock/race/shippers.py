"""The shippers that a race asks for: whether they are installed, can be what is asked of them, and what holds them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paddock import cars, paths
from paddock.errors import FileError, MachineError, UsageError
from paddock.limits import Here, Limits, plan_limits, try_out
from paddock.rally.limited_programs import LimitedProgram
from paddock.tracks import Challenge, Track
from paddock.tracks.rendering import build_track, render_specification

LAPS = "laps"
# Whose plain levels are names of shippers.
CHALLENGE = "shipper"
_OWN_CLIENTS = "rally"
# What can be limited, as the names of its parameters begin.
_COMPONENTS = ("shipper", "generator")
# What names files, hosts and sizes of a race that is not prepared yet; none of it is about shippers.
_NOT_LOOKED_AT = (
    *("lap_journal", "lap_stop_file", "lap_dropped_file", "lap_starts", "lap_order", "lap_phases", "lap_documents"),
    *("lap_read_back", "lap_client_options", "driver_processes", "driver_rendezvous"),
)
# Groups are made when the race begins; that there are some is all that can be known before.
_SOME_GROUPS = {f"{component}_groups": "/" for component in _COMPONENTS}


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
    if (limits := [name for name in params if _is_limit(name) and params[name] is not None]) and not named:
        raise UsageError(
            f"{limits[0]} is for laps that a shipper sends, and none does here: name one with shipper, or leave it out."
        )
    if not named and challenge.name != CHALLENGE:
        return []
    if LAPS not in challenge.tasks:
        raise UsageError(
            f"The challenge '{challenge.name}' is sent by Rally's own clients, and shipper is {' and '.join(named)}: "
            f"race the challenge shipper, or another one of laps (./inv challenges), or leave it out."
        )
    given = {name: value for name, value in params.items() if name not in _NOT_LOOKED_AT}
    looked_at = {**given, **{name: groups for name, groups in _SOME_GROUPS.items() if given.get(name) is None}}
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
    """What shippers, and what feeds them, are held to by processors and quotas: as launches of nodes are.

    :param params: the track's parameters, levels among them, which were found right.
    """
    given: dict[str, list[float | None]] = {}
    for _, shipper, level in _shipped(params):
        for component in _COMPONENTS:
            cores = [level.get(f"{component}_limit_cpu_quota")]
            if (own := level.get(f"{component}_processors")) is not None:
                cores.append(len(_shared("shipper_settings").processors(own, component, "")))
            who = f"shipper-{shipper}" if component == "shipper" else component
            given.setdefault(who, []).append(min((one for one in cores if one is not None), default=None))
    # Samples do not tell one lap's from another's: what any may use, they may.
    return [
        {"node": component, "at most": {"cores": max(one for one in every if one is not None)}}
        for component, every in given.items()
        if None not in every
    ]


def limited_programs(params: Mapping[str, Any], elsewhere: bool, fetch: bool) -> tuple[LimitedProgram, ...]:
    """How the limits of shippers, and of what feeds them, are held; none where the user's own groups hold them.

    :param params: the track's parameters, levels among them, which were found right.
    :param elsewhere: whether other machines than this one drive the load.
    :param fetch: whether to try it out.
    :raises UsageError: the groups that the user has named hold something else, or are on another machine.
    :raises MachineError: the limits cannot be held on this machine.
    """
    wanted: dict[tuple[str, Limits], list[str]] = {}
    for name, _, level in _shipped(params):
        for component in _COMPONENTS:
            asked_for = _shared("limit_groups").group_limits(
                level, component, params.get(f"{component}_groups") or "/", name
            )
            limits = Limits(quota=asked_for.quota, memory_bytes=asked_for.memory_bytes)
            if not limits:
                continue
            if params.get(f"{component}_groups") is None:
                wanted.setdefault((component, limits), []).append(name)
            elif not elsewhere:
                try:
                    asked_for.folders()
                except ValueError as error:
                    raise UsageError(
                        f"The limits of the {component} of '{name}' cannot be held: {error}. Correct "
                        f"{component}_groups, or leave it out: then Paddock makes the groups."
                    ) from None
    if wanted and elsewhere:
        component = next(iter(wanted))[0]
        raise UsageError(
            f"The limits of the {component} would have to be held where the load is driven, and Paddock makes control "
            f"groups on its own machine alone: make one there, and name its folder with {component}_groups."
        )
    held = []
    for (component, limits), names in wanted.items():
        who = f"{component} of {', '.join(dict.fromkeys(names))}"
        here = Here(memory_bytes=cars.this_machine().memory_bytes)
        plan = plan_limits(limits, paths.races_folder(), who, here, f"{component}_")
        if fetch:
            try_out(plan)
        held.append(LimitedProgram(component, plan))
    return tuple(held)


def said_of(held: Sequence[LimitedProgram]) -> list[str]:
    """A sentence for the user on what holds the limits; none where there are none."""
    if not held:
        return []
    groups = " and ".join(dict.fromkeys(f"{one.component}_groups" for one in held))
    return [
        f"Control groups that Paddock makes for the race hold the "
        f"{'; the '.join(f'{one.plan.who} to {one.plan.text}' for one in held)}. A printed command wants groups of "
        f"yours in their place, named with {groups}."
    ]


def _is_limit(parameter: str) -> bool:
    return parameter.startswith(tuple(f"{component}_limit_" for component in _COMPONENTS))


def _shipped(params: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Of each level that a shipper sends its name, the shipper's, and what holds for it."""
    for one in _levels(params) or [{}]:
        own = one if isinstance(one, Mapping) else {"value": one}
        level = {**params, **{name: value for name, value in own.items() if value is not None}}
        plain = level.get("value") in (_OWN_CLIENTS, *programs())
        if (shipper := level["value"] if plain else level.get("shipper")) not in (None, _OWN_CLIENTS):
            yield str(own.get("name", own.get("value", shipper))), shipper, level


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
