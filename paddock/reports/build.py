"""A whole report from a result: its parts in the order in which a reader wants them."""

from __future__ import annotations

from paddock.circumstances import with_short_checksums
from paddock.reports import sentences
from paddock.reports.document import Report, Section
from paddock.reports.grid_sections import grid_sections
from paddock.reports.lap_sections import seconds_section, throughput_section, void_section
from paddock.reports.price_sections import price_section, study_section
from paddock.reports.verdict_sections import absolute_section, apply_section, highlights, pairs_section, verdict_section
from paddock.tournaments.model import Result

_NOTES = 2  # are seen at once, the most important ones; the others where one asks for them


def build(result: Result) -> Report:
    """The report; verdict first, then what supports it, then how to repeat it."""
    sections = [
        verdict_section(result),
        pairs_section(result),
        study_section(result),
        *grid_sections(result),
        throughput_section(result),
        Section("How it went", items=(sentences.course(result), *result.notes), shown=1 + _NOTES),
        apply_section(result),
        price_section(result),
        absolute_section(result),
        seconds_section(result),
        void_section(result),
        _circumstances(result),
        _commands(result),
    ]
    tournament = result.tournament
    return Report(
        title=f"Tournament {tournament.name}",
        subtitle=sentences.setup(tournament),
        verdict=sentences.headline(result),
        highlights=highlights(result),
        sections=tuple(section for section in sections if section is not None),
    )


def _circumstances(result: Result) -> Section:
    tournament = result.tournament
    facts = (
        ("tournament", f"{tournament.name}, result {result.id}"),
        ("seed of the order", str(result.seed)),
        *((("checksum of the tournament", tournament.checksum),) if tournament.checksum else ()),
        ("unit of the verdicts", "the start of the node" if tournament.node_level else "the block of laps"),
        ("documents per lap", f"{tournament.lap_documents:,}"),
        *((name, with_short_checksums(text)) for name, text in result.circumstances.items()),
    )
    return Section("Circumstances", facts=tuple((name, str(text)) for name, text in facts), folded=True)


def _commands(result: Result) -> Section:
    text = "Each line repeats one start with plain Rally." if result.commands else "No race was started."
    return Section("Repeat it", (text,), commands=result.commands, folded=bool(result.commands))
