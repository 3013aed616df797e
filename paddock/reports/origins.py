"""Under which circumstances a race or a tournament came about, as names and texts that can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from paddock.plain_values import known
from paddock.race.circumstances import CIRCUMSTANCES, CORPUS, with_short_checksums
from paddock.race.summary import RaceRecord, Summary
from paddock.tournaments.model import Result

# What the names of parameters begin with.
TRACK_PARAMETER, CAR_PARAMETER = "track parameter", "car parameter"
PARAMETERS = (TRACK_PARAMETER, CAR_PARAMETER)
# What a race records as a tag, and a tournament under this name.
_TAGS = {"paddock": "Paddock", "java": "Java", **{name: name for name in (CORPUS, *CIRCUMSTANCES)}}
# What only repeats the corpus where that is recorded, and what differs between any two races.
_CORPUS_PARAMETERS = ("corpus_file", "corpus_documents", "corpus_bytes")
_ALWAYS_DIFFERENT = ("load_journal",)


def origin(item: Result | RaceRecord) -> dict[str, str]:
    """Everything recorded that may explain a difference: name -> text."""
    return _of_tournament(item) if isinstance(item, Result) else _of_race(item)


def _of_tournament(result: Result) -> dict[str, str]:
    tournament = result.tournament
    return {
        "track": tournament.track,
        "challenge": tournament.challenge,
        "cars": ", ".join(tournament.cars),
        **_each(TRACK_PARAMETER, tournament.track_params),
        **_each(CAR_PARAMETER, tournament.car_params),
        "documents per lap": f"{tournament.lap_documents:,}",
        "nodes": str(tournament.nodes),
        "freshness probe": "yes" if tournament.freshness else "no",
        "searches per query and lap": str(tournament.searches),
        **{name: with_short_checksums(str(text)) for name, text in result.circumstances.items()},
    }


def _of_race(record: RaceRecord) -> dict[str, str]:
    race = record.race
    tags, params = race.get("user-tags") or {}, race.get("track-params") or {}
    cars = race.get("car") or []
    left_out = (*_ALWAYS_DIFFERENT, *(_CORPUS_PARAMETERS if CORPUS in tags else ()))
    found = {
        "track": race.get("track"),
        "challenge": race.get("challenge"),
        "cars": ", ".join(cars) if isinstance(cars, list) else str(cars),
        **_each(TRACK_PARAMETER, {name: value for name, value in params.items() if name not in left_out}),
        **_each(CAR_PARAMETER, race.get("car-params") or {}),
        "Elasticsearch": (race.get("cluster") or {}).get("distribution-version") or record.summary.version,
        "distribution flavor": (race.get("cluster") or {}).get("distribution-flavor"),
        "Rally": race.get("rally-version"),
        "pipeline": race.get("pipeline"),
        **{_TAGS[name]: text for name, text in tags.items() if name in _TAGS},
        **_each("tag", {name: text for name, text in tags.items() if name not in _TAGS}),
        **_documents(record.summary),
    }
    return {name: str(text) for name, text in found.items() if text not in (None, "")}


def _documents(summary: Summary) -> dict[str, str]:
    counts = [count for task in summary.bulk_tasks if (count := known(task.documents)) is not None]
    return {"documents": f"{sum(counts):,.0f}"} if counts else {}


def _each(kind: str, values: Mapping[str, Any]) -> dict[str, str]:
    """One entry per parameter, so that each difference is named."""
    return {
        f"{kind} {name}": value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
        for name, value in values.items()
    }
