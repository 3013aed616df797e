"""Results of studies that are kept in docs/studies: written by one command, small, without paths of the machine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from paddock import numbers, paths
from paddock.chains import ChainOptions
from paddock.chains.files import read_chain
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
from paddock.structured_files import read_json, read_yaml
from paddock.studies import PREFIX
from paddock.studies.listed import studies, study_with
from paddock.studies.scrubbing import every_text, private_names, scrubbed
from paddock.tournaments import TournamentOptions
from paddock.tournaments.files import find_file
from paddock.tournaments.model import Result
from paddock.tournaments.studies import Compared, compared

FOLDER = paths.PROJECT / "docs" / "studies"
RESULT, REPORT, PAGE = "result.json", "report.md", "report.html"
FORMAT, VERSION = "paddock-study-step", 1
# What of a report is left out: every single lap makes it ten times as long.
_SINGLE_LAPS = ("Pair by pair", "Throughput over time", "Second by second")
_MACHINE = (CPU, CORES, MEMORY, KERNEL, FILE_SYSTEM)
_SOFTWARE = ("Elasticsearch", "Java", "Rally", "Paddock")
_ANOTHER = (
    "'{0}' was held by other files than those of the study '{1}' here, so it is not kept as its result: hold that, or "
    "keep it from the checkout that it was held from."
)
# Of what is asked for, what changes nothing that is measured, and what contenders or deviations tell already.
_NO_DEVIATION = ("quick", "dry_run", "resume", "seed", "port", "prices", "control", "no_control", "contender_hosts")
_HELD = ("cars", "limits", "page cache", "nodes", "corpus")


@dataclass(frozen=True)
class KeptStep:
    """What is kept of one step of a study.

    :param study: its name; ``step`` that of its tournament or race.
    :param pairs: of all verdicts together; 0 of a race.
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
    pairs: int = 0
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


def step_of(result: Result, options: TournamentOptions) -> KeptStep:
    """What is kept of a tournament's result.

    :param options: with which it was held.
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
        form=_form(options),
        held=numbers.moment(result.began),
        minutes=round(result.seconds / 60, 1),
        verdict=sentences.headline(result),
        pairs=sum(one.pairs for one in result.main.verdicts),
        source=published.source if published else study.source,
        baseline=tournament.baseline,
        machine=_of(told, _MACHINE),
        software=_of(told, _SOFTWARE),
        circumstances=_of(told, _HELD),
        compared=compared(result),
        statements=published.statements if published else (),
        deviations=(*(published.deviations if published else ()), *_asked_for(options)),
        findings=(*explanation(result), *curves),
    )


def keep_result(
    result: Result, options: TournamentOptions, definition: Path | None = None, replacing: bool = False
) -> KeptStep:
    """Keep a tournament's result: what the table needs, and the report without single laps.

    :param options: with which it was held, and ``definition`` the folder with its file as it was then.
    :param replacing: whether a result may take the place of one that says more.
    :raises UsageError: as in :func:`step_of`, if nothing was measured, if it is another tournament than the study's, or
        if it says less than what is kept.
    """
    if all(one.ratio is None for one in result.main.verdicts):
        raise UsageError(f"{result.id} has measured nothing that could be kept: hold it again.")
    step = step_of(result, options)
    if definition is not None:
        _check_same(step, definition)
    names = private_names(result.commands, result.tournament.contenders)
    return _written(step, build(result), names, replacing)


def keep_race(
    study: str, step: Step, options: ChainOptions, began: float, record: RaceRecord, replacing: bool = False
) -> KeptStep:
    """Keep what a study's race found: the figures that are published of it, and its report.

    :param options: with which the study was held; ``began`` when, in seconds since the epoch.
    :raises UsageError: as in :func:`keep_result`.
    """
    shipped = {one.name: one for one in read_chain(PREFIX + study, ChainOptions(quick=options.quick))[0].steps}
    if (shipped[step.name].race, shipped[step.name].published) != (step.race, step.published):
        raise UsageError(_ANOTHER.format(step.name, study))
    findings = find_out(record, race_records(record.race_id))
    told = {name: with_short_checksums(text) for name, text in origin(record).items()}
    kept = KeptStep(
        study=study,
        step=step.name,
        form=_form(options),
        held=numbers.moment(began),
        minutes=0.0,
        verdict=f"{headline(findings)} It is one race: it says what came of it once.",
        machine=_of(told, _MACHINE),
        software=_of(told, _SOFTWARE),
        circumstances=_of(told, _HELD),
        deviations=(*step.deviations, *_asked_for(options)),
        figures=study_figures(findings),
        published=step.published,
    )
    return _written(kept, build_race_report(findings), private_names([record.command]), replacing)


def _form(options: TournamentOptions | ChainOptions) -> str:
    return "quick" if options.quick else "full"


def _check_same(step: KeptStep, definition: Path) -> None:
    """Check that the files of a tournament as it was held are those of the study.

    :raises UsageError: if it only has the same name, or its file has changed since.
    """
    shipped = find_file(next(one.tournaments[step.step] for one in studies() if one.name == step.study))
    copy = definition / f"{step.step}.yml"
    tables = all(
        _bytes(file) == _bytes(shipped.with_name(file.name)) for file in definition.glob("*.csv") if file.is_file()
    )
    if not tables or _written_alike(copy) != _written_alike(shipped):
        raise UsageError(_ANOTHER.format(step.step, step.study))


def _bytes(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


def _written_alike(file: Path) -> str:
    """What a YAML file says, whoever wrote it: a study's chain writes files of its own."""
    return json.dumps(read_yaml(file, "tournament"), sort_keys=True)


def _asked_for(options: TournamentOptions | ChainOptions) -> Iterator[str]:
    """A sentence on the options that make it another tournament than its file says; none without any."""
    said = []
    for one in fields(options):
        value = getattr(options, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if value == default or one.name in _NO_DEVIATION:
            continue
        pairs = [f"{name}:{each}" for name, each in value.items()] if isinstance(value, Mapping) else value
        words = "" if value is True else " " + (",".join(pairs) if isinstance(pairs, (list, tuple)) else str(pairs))
        said.append(f"--{one.name.replace('_', '-')}{words}")
    if said:
        yield f"Held with {' '.join(said)}, which its files have not."


def _of(told: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: told[name] for name in names if name in told}


def _written(step: KeptStep, report: Report, names: Mapping[str, str], replacing: bool) -> KeptStep:
    """Write the step and its report, without single laps and private names; and the step as it is kept.

    :raises UsageError: if it says less than what is kept, which it is not to replace.
    """
    if not replacing:
        _check_says_more(step)

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


def _check_says_more(step: KeptStep) -> None:
    try:
        kept = read_step(step.folder / RESULT)
    except FileError:  # there is none, or it is damaged
        return
    if (kept.form, step.form) == ("full", "quick") or (kept.form == step.form and kept.pairs > step.pairs):
        raise UsageError(
            f"docs/studies has more of {step.step}, the {kept.form} form of {kept.held} with {kept.pairs} pairs, than "
            f"this {step.form} form with {step.pairs}: --replace keeps this in its place."
        )


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
