"""What a schema cannot say of a tournament file: names that point nowhere, and contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paddock import cars, paths
from paddock.errors import FileError, UsageError, unknown
from paddock.tournaments.contenders import differs_at_the_node
from paddock.tournaments.model import Contender, Tournament
from paddock.tracks import track_names

# Beginnings of setting names that belong to a node, not to an index.
_NODE_SETTINGS = ("bootstrap.", "cluster.", "discovery.", "http.", "indices.", "node.", "path.", "thread_pool.")
# What a tournament sets itself in its races.
_OWN_PARAMETERS = (
    *("levels", "lap_order", "lap_order_seed", "lap_journal", "lap_stop_file", "lap_documents"),
    *("blocks", "warmup_blocks", "freshness_probe", "lap_phases", "lap_searches"),
)
_LAP_TASKS = "parts/lap-tasks.json"


def line_with(path: Path, word: str) -> int | None:
    """The first line, counted from 1, that holds ``word``; None if none does."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if word in line), None)


def block_challenges() -> list[str]:
    """The challenges that run laps: those made of the shared lap task."""
    files = paths.CHALLENGES.glob("[!.]*.json")
    return sorted(path.stem for path in files if _LAP_TASKS in path.read_text(encoding="utf-8"))


def check_content(path: Path, content: Mapping[str, Any]) -> None:
    """Check the names that a file takes from elsewhere.

    :raises FileError: with the line and the nearest names.
    """
    if content["track"] not in track_names():
        error = unknown("track", content["track"], track_names(), "./inv tracks")
        raise FileError(path, str(error), line_with(path, "track:"))
    if content["challenge"] not in block_challenges():
        error = unknown("block challenge", content["challenge"], block_challenges(), "challenges/")
        raise FileError(path, str(error), line_with(path, "challenge:"))
    if "quick" in content and "grid" in content["quick"] and "grid" not in content:
        raise FileError(path, "'quick' has a grid, but the file has none: list contenders.", line_with(path, "quick:"))


def check_tournament(path: Path, tournament: Tournament) -> None:
    """Refuse what contradicts itself.

    :raises FileError: with a sentence, and the line where one is known.
    """
    if len(tournament.contenders) < 2:
        raise FileError(path, "one contender alone wins nothing: add another, or more values to the grid.")
    for problem, word in _problems(tournament):
        raise FileError(path, problem, line_with(path, word))


def _problems(tournament: Tournament) -> Iterator[tuple[str, str]]:
    """Pairs of a sentence and a word of the line that it is about."""
    names = [contender.name for contender in tournament.contenders]
    for name in names:
        if names.count(name) > 1:
            yield f"the contender '{name}' is listed twice: give each a name of its own.", name
    for contender in tournament.contenders:
        yield from _level_problems(tournament, contender)
        yield from _car_problems(tournament, contender)
        for parameter in (*contender.track_params, *tournament.track_params):
            if parameter in _OWN_PARAMETERS:
                yield f"the track parameter '{parameter}' is set by the tournament itself: leave it out.", parameter
    if tournament.documents and tournament.lap_documents > tournament.documents:
        yield (
            f"a lap of {tournament.lap_documents:,} documents does not fit a corpus of {tournament.documents:,}: "
            f"make lap_documents smaller, or documents larger.",
            "lap_documents:",
        )
    if tournament.metric.name.startswith("freshness") and not tournament.freshness:
        yield f"the metric '{tournament.metric.name}' needs the probe: add 'freshness: true'.", "metric:"
    if tournament.metric.name.startswith("query") and not tournament.searches:
        yield f"the metric '{tournament.metric.name}' needs searches: add 'searches: 20'.", "metric:"
    if tournament.nodes > 1 and tournament.node_level:
        yield (
            f"contenders with cars are nodes that are started here, one at a time, and 'nodes' asks for "
            f"{tournament.nodes}: leave one of them out.",
            "nodes:",
        )


def _mapping(tournament: Tournament, level: Any) -> Any:
    """The mapping variant that a level names; None if it leaves the track's own."""
    if isinstance(level, Mapping):
        return level.get("mapping")
    return level if tournament.challenge == "mapping-cost" else None


def _level_problems(tournament: Tournament, contender: Contender) -> Iterator[tuple[str, str]]:
    level = contender.level
    if level is None:
        return
    if tournament.searches and _mapping(tournament, level) not in (None, "track"):
        yield (
            f"'{contender.name}' has another mapping than the track's queries are made for, so they would fail or find "
            f"less: leave 'searches' out.",
            "searches:",
        )
    if not isinstance(level, Mapping):
        if tournament.challenge == "settings":
            yield (
                f"the level of '{contender.name}' must be an object in the challenge 'settings', such as "
                f"{{settings: {{index.refresh_interval: 30s}}}}, but is {level!r}.",
                contender.name,
            )
        elif str(level) != contender.name:
            yield (
                f"the contender '{contender.name}' has the plain level {level!r}, which is a name itself: call the "
                f"contender '{level}', or write the level as an object.",
                contender.name,
            )
        return
    for setting in level.get("settings", {}):
        if setting.startswith(_NODE_SETTINGS):
            yield (
                f"'{setting}' is a setting of the node, and '{contender.name}' gives it to an index: use cars "
                f"(./inv cars) instead of level.",
                setting,
            )


def _car_problems(tournament: Tournament, contender: Contender) -> Iterator[tuple[str, str]]:
    if contender.cars is None and differs_at_the_node(contender) and not tournament.cars:
        yield f"the contender '{contender.name}' has no cars, and neither has the tournament: name a heap car.", "cars:"
    chosen = tournament.cars if contender.cars is None else contender.cars
    try:
        cars.combine(list(chosen), cars.load_cars(), tournament.car_params)
    except UsageError as error:
        wrong = next((car for car in chosen if f"'{car}'" in str(error)), contender.name)
        yield f"the contender '{contender.name}' has cars that cannot be: {error}", wrong


def check_own_parameters(params: Mapping[str, Any]) -> None:
    """Refuse track parameters on the command line that a tournament sets itself.

    :raises UsageError: with the option to use instead.
    """
    for parameter in params:
        if parameter in _OWN_PARAMETERS:
            raise UsageError(
                f"The track parameter '{parameter}' is set by the tournament itself: change the tournament file, or "
                f"use --blocks, --starts and --quick."
            )
