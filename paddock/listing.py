"""What there is: tracks, challenges, cars and corpora, as tables for people and JSON for machines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.console import print_result
from paddock.tables import as_json, table

if TYPE_CHECKING:
    from paddock.reports import RaceRecord


@dataclass(frozen=True)
class Listing:
    """One or more tables.

    :param sections: title, column headers, rows; headers serve as keys in JSON.
    :param closing: a sentence below the tables.
    """

    sections: Sequence[tuple[str, Sequence[str], Sequence[Sequence[Any]]]]
    closing: str = ""


def show(listing: Listing, machine: bool) -> None:
    """Print it on stdout."""
    if machine:
        print_result(
            as_json(
                {
                    title: [dict(zip(headers, row, strict=True)) for row in rows]
                    for title, headers, rows in listing.sections
                }
            )
        )
        return
    blocks = [f"{title}\n\n{table(headers, rows)}" for title, headers, rows in listing.sections]
    print_result("\n\n".join([*blocks, listing.closing] if listing.closing else blocks))


def tracks() -> Listing:
    """All tracks."""
    from paddock.tracks import load_tracks

    rows = [[track.name, track.description] for track in load_tracks()]
    return Listing([("Tracks", ("name", "description"), rows)], "'./inv track NAME' shows the parameters of one.")


def track(name: str) -> Listing:
    """One track with its challenges and parameters."""
    from paddock.tracks import load_track

    found = load_track(name)
    challenge_rows = [[c.name + (" (default)" if c.default else ""), c.description] for c in found.challenges]
    parameters = [[p.name, p.default_text, p.unit, p.description] for p in found.parameters]
    return Listing(
        [
            (f"Challenges of {name}", ("name", "description"), challenge_rows),
            (f"Parameters of {name}", ("name", "default", "unit", "description"), parameters),
        ]
    )


def challenges() -> Listing:
    """All challenges, with their tasks on the tracks that have them."""
    from paddock.tracks import load_tracks

    rows: dict[str, list[str]] = {}
    for each in load_tracks():
        for challenge in each.challenges:
            row = rows.setdefault(challenge.name, [challenge.name, "", challenge.description])
            row[1] = ", ".join(filter(None, [row[1], each.name]))
    return Listing([("Challenges", ("name", "tracks", "description"), list(rows.values()))])


def cars() -> Listing:
    """All cars and mixins."""
    from paddock.cars import load_cars

    everything = load_cars().values()
    sections = [
        (title, ("name", "description"), [[car.name, car.description] for car in everything if car.kind == kind])
        for title, kind in (("Cars", "car"), ("Mixins", "mixin"))
    ]
    return Listing(sections, "One car and any mixins make a node: --car 1gheap,index-buffer-30.")


def corpora() -> Listing:
    """Recipes, and the corpora that have been made from them or imported."""
    from paddock.corpora.recipe import load_recipe, recipe_names
    from paddock.corpora.record import FROM_RECIPE
    from paddock.corpora.store import list_corpora
    from paddock.files import gibibytes

    known = [load_recipe(name) for name in recipe_names()]
    recipes = [[recipe.name, recipe.track, recipe.description] for recipe in known]
    made = [
        [
            record.name,
            record.track,
            f"seed {record.seed}" if record.origin == FROM_RECIPE else "imported",
            f"{record.documents:,}",
            gibibytes(record.bytes),
            record.file,
        ]
        for record in list_corpora()
    ]
    return Listing(
        [
            ("Recipes", ("name", "track", "description"), recipes),
            ("Corpora at hand", ("name", "track", "made from", "documents", "size", "file"), made),
        ],
        "'./inv corpus.generate RECIPE --documents N' makes one; races make what they need.",
    )


def tournaments() -> Listing:
    """All tournament files."""
    from paddock.tournaments.files import find_file, read_tournament, tournament_names

    found = [read_tournament(find_file(name)) for name in tournament_names()]
    rows = [[each.name, len(each.contenders), f"{each.budget_minutes:g} min", each.description] for each in found]
    return Listing(
        [("Tournaments", ("name", "contenders", "at most", "description"), rows)],
        "'./inv tournament NAME --dry-run' shows the plan; --quick fits a coffee break.",
    )


def results() -> Listing:
    """Races with a summary, and tournaments, the latest last."""
    from paddock.tournaments.results import load_result
    from paddock.tournaments.store import tournament_ids

    races = [
        [record.summary["race-id"], _when(file), record.race.get("track"), record.race.get("challenge")]
        for file, record in _race_records()
    ]
    held = [
        [found.id, time.strftime("%Y-%m-%d %H:%M", time.localtime(found.began)), found.tournament.name, found.stopped]
        for found in map(load_result, tournament_ids())
    ]
    return Listing(
        [
            ("Races", ("id", "ended", "track", "challenge"), races),
            ("Tournaments", ("id", "began", "tournament", "ended because"), held),
        ],
        "'./inv report ID' makes the report of any of them; './inv compare ID ID' sets them side by side.",
    )


def find_result(identity: str) -> Any:
    """The race or tournament with that id, as reports compare them.

    :raises UsageError: if there is none; with the nearest ids.
    """
    from paddock.suggestions import unknown
    from paddock.tournaments.results import load_result
    from paddock.tournaments.store import tournament_ids

    races = {record.race_id: record for _, record in _race_records()}
    if identity in races:
        return races[identity]
    held = tournament_ids()
    if identity in held:
        return load_result(identity)
    raise unknown("race or tournament with the id", identity, [*races, *held], "./inv results")


def _race_records() -> list[tuple[Path, RaceRecord]]:
    """Summaries of races that came to their end, with Rally's race.json, in the order of their end."""
    from paddock.files import read_record
    from paddock.rally.outcome import race_file
    from paddock.rally.run import race_records
    from paddock.reports import RaceRecord

    files = sorted(race_records("*").parent.glob("*/summary.json"), key=lambda file: file.stat().st_mtime)
    found = [(file, read_record(file), read_record(race_file(file.parent.name))) for file in files]
    return [(file, RaceRecord(summary, race)) for file, summary, race in found if summary and race]


def _when(file: Path) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(file.stat().st_mtime))
