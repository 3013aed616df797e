"""Results of studies that are kept in docs/studies: written by one command, small, without paths of the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paddock import numbers, paths
from paddock.chains.model import Step
from paddock.errors import FileError, UsageError
from paddock.plain_values import built, plain
from paddock.race.circumstances import CORES, CPU, FILE_SYSTEM, KERNEL, MEMORY, with_short_checksums
from paddock.race.summary import RaceRecord
from paddock.rally.run import race_records
from paddock.reports import sentences
from paddock.reports.comparison import origin
from paddock.reports.document import Report, keep, render_html, render_markdown
from paddock.reports.grids import grid_sections
from paddock.reports.index_work import explanation
from paddock.reports.race_report import build_race_report, find_out, headline, study_figures
from paddock.reports.write import build
from paddock.structured_files import read_json
from paddock.studies.listed import study_with
from paddock.studies.scrubbing import every_text, private_names, scrubbed
from paddock.tournaments.model import Result
from paddock.tournaments.studies import Compared, compared

FOLDER = paths.PROJECT / "docs" / "studies"
RESULT, REPORT, PAGE = "result.json", "report.md", "report.html"
FORMAT, VERSION = "paddock-study-step", 1
# What of a report is left out: every single lap makes it ten times as long.
_SINGLE_LAPS = ("Pair by pair", "Throughput over time", "Second by second")
_MACHINE = (CPU, CORES, MEMORY, KERNEL, FILE_SYSTEM)
_SOFTWARE = ("Elasticsearch", "Java", "Rally", "Paddock")
_HELD = ("cars", "limits", "page cache", "nodes", "corpus")


@dataclass(frozen=True)
class KeptStep:
    """What is kept of one step of a study.

    :param study: its name; ``step`` that of its tournament or race.
    :param form: "quick" or "full".
    :param held: when, as a text; ``minutes`` how long it took.
    :param machine, software, circumstances: name -> text.
    :param compared: every published ratio with what was measured; empty for a race.
    :param figures: of a race: name -> measured; ``published`` the same as the study has it.
    :param findings: further sentences: why an effect is there or not, knees, curves.
    """

    study: str
    step: str
    form: str
    held: str
    minutes: float
    verdict: str
    source: str = ""
    baseline: str = ""
    machine: Mapping[str, str] = field(default_factory=dict)
    software: Mapping[str, str] = field(default_factory=dict)
    circumstances: Mapping[str, str] = field(default_factory=dict)
    compared: tuple[Compared, ...] = ()
    statements: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    figures: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return FOLDER / self.study / self.step


def step_of(result: Result, quick: bool) -> KeptStep:
    """What is kept of a tournament's result.

    :raises UsageError: if no study has a tournament of that name.
    """
    tournament, published = result.tournament, result.tournament.published
    study = study_with(tournament.name)
    if study is None:
        raise UsageError(
            f"No study has a tournament '{tournament.name}', so its result is none that is kept: ./inv studies lists "
            f"them."
        )
    told = {name: with_short_checksums(str(text)) for name, text in result.circumstances.items()}
    curves = tuple(text for section in grid_sections(result) for text in (*section.paragraphs, *section.items))
    return KeptStep(
        study=study.name,
        step=tournament.name,
        form="quick" if quick else "full",
        held=numbers.moment(result.began),
        minutes=round(result.seconds / 60, 1),
        verdict=sentences.headline(result),
        source=published.source if published else study.source,
        baseline=tournament.baseline,
        machine=_of(told, _MACHINE),
        software=_of(told, _SOFTWARE),
        circumstances=_of(told, _HELD),
        compared=compared(result),
        statements=published.statements if published else (),
        deviations=published.deviations if published else (),
        findings=(*explanation(result), *curves),
    )


def keep_result(result: Result, quick: bool) -> KeptStep:
    """Keep a tournament's result: what the table needs, and the report without single laps.

    :raises UsageError: as in :func:`step_of`, or if nothing was measured.
    """
    if all(one.ratio is None for one in result.main.verdicts):
        raise UsageError(f"{result.id} has measured nothing that could be kept: hold it again.")
    step = step_of(result, quick)
    return _written(step, build(result), private_names(result.commands, result.tournament.contenders))


def keep_race(study: str, step: Step, quick: bool, began: float, record: RaceRecord) -> KeptStep:
    """Keep what a study's race found: the figures that are published of it, and its report.

    :param began: when, in seconds since the epoch.
    """
    findings = find_out(record, race_records(record.race_id))
    told = {name: with_short_checksums(text) for name, text in origin(record).items()}
    kept = KeptStep(
        study=study,
        step=step.name,
        form="quick" if quick else "full",
        held=numbers.moment(began),
        minutes=0.0,
        verdict=f"{headline(findings)} It is one race: it says what came of it once.",
        machine=_of(told, _MACHINE),
        software=_of(told, _SOFTWARE),
        circumstances=_of(told, _HELD),
        deviations=step.deviations,
        figures=study_figures(findings),
        published=step.published,
    )
    return _written(kept, build_race_report(findings), private_names([record.command]))


def _of(told: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: told[name] for name in names if name in told}


def _written(step: KeptStep, report: Report, names: Mapping[str, str]) -> KeptStep:
    """Write the step and its report, without single laps and private names; and the step as it is kept."""

    def change(text: str) -> str:
        return scrubbed(text, names)

    # Rally's command lines are full of folders and hosts, and this is shorter.
    again = f"./inv studies {step.study}{' --quick' if step.form == 'quick' else ''}"
    sections = (
        replace(one, paragraphs=(), commands=(again,)) if one.heading == "Repeat it" else one
        for one in report.sections
        if one.heading not in _SINGLE_LAPS
    )
    report = every_text(replace(report, sections=tuple(sections)), change)
    step = replace(every_text(step, change), study=step.study, step=step.step)
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, **plain(step)}
    step.folder.mkdir(parents=True, exist_ok=True)
    keep(step.folder / RESULT, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    keep(step.folder / REPORT, render_markdown(report))
    keep(step.folder / PAGE, render_html(report))
    return step


def read_step(file: Path) -> KeptStep:
    """What is kept in that file.

    :raises FileError: if it is no such result.
    """
    content = read_json(file)
    if not isinstance(content, Mapping) or (content.get("format"), content.get("version")) != (FORMAT, VERSION):
        raise FileError(
            file, f"this is no result of a study ({FORMAT} {VERSION}): './inv studies --keep ID' writes it."
        )
    try:
        step: KeptStep = built(KeptStep, content, "result")
    except ValueError as error:
        raise FileError(file, f"this result of a study is damaged ({error}): keep it anew.") from None
    return step


def kept_steps(folder: Path = FOLDER) -> list[KeptStep]:
    """Everything that is kept, by study and step."""
    return [read_step(file) for file in sorted(folder.glob(f"*/*/{RESULT}"))]
