"""What there is: tracks, challenges, cars and corpora, as tables for people and JSON for machines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.console import as_json, print_result, table

# So many races and tournaments are listed unless all are asked for.
LATEST = 25


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


def results(everything: bool = False) -> Listing:
    """Races with a summary, and tournaments, the latest last.

    :param everything: not only the latest ones, so that the list takes as long as there are results.
    """
    from paddock.files import read_record
    from paddock.tournaments.command import running_tournament
    from paddock.tournaments.journal import INTERRUPTED
    from paddock.tournaments.store import Stored, tournament_ids

    running = running_tournament()
    files, ids = _race_summaries(), tournament_ids()
    shown = slice(None) if everything else slice(-LATEST, None)
    races = [
        [record["race-id"], _when(file.stat().st_mtime), summary.get("track"), summary.get("challenge")]
        for file in files[shown]
        if isinstance(summary := (record := read_record(file)).get("summary"), dict) and "race-id" in record
    ]
    held = [
        [
            one,
            _when(float(begun.get("at") or 0)),
            Path(str(begun.get("definition"))).stem,
            "it is running" if one == running else Stored(one).ended_because() or INTERRUPTED,
        ]
        for one in ids[shown]
        if (begun := Stored(one).beginning()).get("kind") == "tournament"
    ]
    earlier = 0 if everything else max(0, len(files) - LATEST) + max(0, len(ids) - LATEST)
    more = f"There are {earlier:,} earlier ones: --all lists them. " if earlier else ""
    return Listing(
        [
            ("Races", ("id", "ended", "track", "challenge"), races),
            ("Tournaments", ("id", "began", "tournament", "ended because"), held),
        ],
        f"{more}'./inv report ID' makes the report of any of them; './inv compare ID ID' sets them side by side.",
    )


def find_result(identity: str) -> Any:
    """The race or tournament with that id, as reports compare them.

    :raises UsageError: if there is none; with the nearest ids.
    """
    from paddock.errors import unknown
    from paddock.files import read_record
    from paddock.rally.request import race_file
    from paddock.reports.origins import RaceRecord
    from paddock.tournaments.command import load_result
    from paddock.tournaments.store import tournament_ids

    files = {file.parent.name: file for file in _race_summaries()}
    if identity in files:
        summary, race = read_record(files[identity]), read_record(race_file(identity))
        if summary and race:
            return RaceRecord(summary, race)
    held = tournament_ids()
    if identity in held:
        return load_result(identity)
    raise unknown("race or tournament with the id", identity, [*files, *held], "./inv results")


def _race_summaries() -> list[Path]:
    """The summaries of races that came to their end, in the order of it."""
    from paddock.rally.run import race_records

    return sorted(race_records("*").parent.glob("*/summary.json"), key=lambda file: file.stat().st_mtime)


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
