"""docs/studies.md: one table of all studies, made of what is kept in docs/studies; never typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from paddock import numbers, paths
from paddock.reports.document import keep
from paddock.studies.kept import FOLDER, REPORT, KeptStep, kept_steps
from paddock.studies.listed import Study, studies
from paddock.tournaments.files import find_file, read_tournament, tournament_names
from paddock.tournaments.studies import (
    NO_EFFECT,
    NO_EFFECT_IN_EITHER,
    NOT_MEASURED,
    ONLY_HERE,
    OPEN,
    OPPOSITE,
    SAME,
    Compared,
)

PAGE = paths.PROJECT / "docs" / "studies.md"
# More ratios of one metric are told as a whole.
LISTED = 8
NOT_HELD = "not held yet"
_DIRECTIONS = {
    SAME: "same",
    OPPOSITE: "opposite",
    OPEN: "undecided",
    NO_EFFECT: "no effect here",
    NO_EFFECT_IN_EITHER: "no effect in either",
    ONLY_HERE: "an effect only here",
    NOT_MEASURED: "not measured",
}
_HEAD = """# The published studies, run again

<!-- Made by ./inv studies --table of the results in docs/studies; a test compares the two. Change nothing here. -->

Each is a chain of tournaments that one command holds, and whose reports set published beside measured. Nothing is tuned
until it agrees: where an effect is not there on a modern version, the report says so and shows why.

    ./inv studies                                # what there is, how long it takes, what is kept of it
    ./inv studies refresh-interval --quick       # on 2 cores and 24 GiB, about ten minutes for each tournament
    ./inv studies all --dry-run                  # the steps of all of them, their minutes, what each can resolve
    ./inv studies --resume                       # after Ctrl-C, a crash, a power cut
    ./inv studies --keep ID                      # put a result into docs/studies, and this table anew

Ratios are to a study's own baseline; absolute rates depend on the machine. *Same*, *opposite* and *undecided* are said
of the interval that was measured: an interval that holds 1 decides nothing. *Smaller* or *larger than published*: the
interval leaves the published ratio out.

"""
_TAIL = """
## How a result gets here
`./inv studies --keep ID` takes the id of a study that was held, of one of its tournaments, or `latest`. It writes
`docs/studies/STUDY/STEP/`: `result.json` (each published ratio with what was measured, machine, software, deviations),
`report.md` and `report.html` (the report without its single laps and without Rally's command lines). Folders and hosts,
the machine's name and its user are taken out, but not what you called contenders, nor what nodes of your own clusters
are called: look at what is left before you commit it. The table above is then made anew, which `./inv studies --table`
does alone. Only what was held by the study's own files is kept, and options that changed it are deviations. A result
takes the place of an earlier one of the same step, but the quick form that of a full one, or fewer pairs that of more,
only with `--replace`.
"""


def render_page(known: Sequence[Study], kept: Sequence[KeptStep]) -> str:
    """The whole page."""
    by_step = {(one.study, one.step): one for one in kept}
    headers = (
        "study",
        "step",
        "compared",
        "published ratio",
        "measured ratio",
        "direction",
        "held",
        "machine",
        "deviations",
    )
    lines = [f"| {' | '.join(headers)} |", f"|{' --- |' * len(headers)}"]
    details: list[str] = []
    for study in known:
        details += [f"\n## {study.name}\n{study.question} Published: {study.source}.\n"]
        for name in study.steps:
            step = by_step.get((study.name, name))
            if step is None:
                waiting, deviations = _waiting(study, name)
                lines += [_row(study.name, name, *cells, "", "", str(len(deviations) or "")) for cells in waiting]
                details += [f"`{name}` is not held yet.\n", *(f"- Deviation: {one}" for one in deviations), ""]
                continue
            where = f"[{step.form}, {step.held[:10]}](studies/{step.study}/{step.step}/{REPORT})"
            for cells in _cells(step):
                lines.append(_row(study.name, name, *cells, where, _machine(step), str(len(step.deviations) or "")))
            details += list(_details(step))
    steps = {(study.name, name) for study in known for name in study.steps}
    for one in kept:
        if (one.study, one.step) not in steps:
            details.append(f"\n`{one.study}/{one.step}` is kept, and no study has it any more: delete its folder.\n")
    return _HEAD + "\n".join(lines) + "\n" + "\n".join(details) + _TAIL


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _waiting(study: Study, step: str) -> tuple[list[tuple[str, str, str, str]], tuple[str, ...]]:
    """Of a step that was not held, what there is to compare, and the deviations of its whole form."""
    if step not in tournament_names():
        told = study.published.get(step, {})
        return [(name, text, "", NOT_HELD) for name, text in told.items()], study.deviations.get(step, ())
    tournament = read_tournament(find_file(step), sampled=False)
    published = tournament.published
    if published is None:
        return [("", "", "", NOT_HELD)], ()
    ratios = {
        name: one for name, one in published.ratios_to(tournament.baseline).items() if name != tournament.baseline
    }
    against = f"against {tournament.baseline}, {tournament.metric.name}"
    if not ratios:
        return [(f"{tournament.metric.name}, no published ratio", "", "", NOT_HELD)], published.deviations
    if len(ratios) > LISTED:
        return [(f"{len(ratios)} contenders {against}", _span([*ratios.values()]), "", NOT_HELD)], published.deviations
    rows = [(f"{name} {against}", numbers.ratio(one), "", NOT_HELD) for name, one in ratios.items()]
    return rows, published.deviations


def _cells(step: KeptStep) -> Iterator[tuple[str, str, str, str]]:
    """What was compared, published, measured, and the direction; a line each."""
    for name, text in step.published.items():
        yield name, text, step.figures.get(name, numbers.NOTHING), ""
    for metric in dict.fromkeys(one.metric for one in step.compared):
        mine = [one for one in step.compared if one.metric == metric]
        if len(mine) > LISTED:
            counts = Counter(_DIRECTIONS[one.finding] for one in mine)
            directions = ", ".join(f"{number} {word}" for word, number in counts.items())
            claimed, found = [one.claimed for one in mine], [one.ratio for one in mine if one.ratio is not None]
            what = f"{len(mine)} contenders against {step.baseline}, {metric}"
            yield what, _span(claimed), _span(found), directions
            continue
        for one in mine:
            yield (
                f"{one.contender} against {step.baseline}, {metric}",
                numbers.ratio(one.claimed),
                _measured(one),
                ", ".join(filter(None, (_DIRECTIONS[one.finding], one.beside_published))),
            )


def _span(values: Sequence[float]) -> str:
    return f"{numbers.ratio(min(values))} to {numbers.ratio(max(values))}" if values else numbers.NOTHING


def _measured(one: Compared) -> str:
    if one.ratio is None:
        return numbers.NOTHING
    limits = numbers.interval(one.low, one.high)
    told = "too few pairs for an interval" if limits == numbers.UNBOUNDED else limits
    return f"{numbers.ratio(one.ratio)} ({told}), {one.scope}"


def _machine(step: KeptStep) -> str:
    cores, cpu = step.machine.get("cores", ""), step.machine.get("CPU", "")
    named = " of ".join(filter(None, [f"{cores} cores" if cores else "", cpu]))
    version = step.software.get("Elasticsearch", "")
    return ", ".join(
        filter(None, [named, step.machine.get("memory", ""), f"Elasticsearch {version}" if version else ""])
    )


def _details(step: KeptStep) -> Iterator[str]:
    took = f", {step.minutes:g} minutes" if step.minutes else ""
    yield f"`{step.step}`, {step.form} form, {step.held}{took}: {step.verdict}\n"
    held = [f"{name}: {text}" for name, text in step.circumstances.items()]
    sentences = (
        *step.findings,
        *(f"Published without a figure that could be compared: {text}" for text in step.statements),
        *(f"Deviation: {text}" for text in step.deviations),
        *([f"Held with {'; '.join(held)}."] if held else []),
    )
    if step.figures:
        names = dict.fromkeys([*step.published, *step.figures])
        yield "| figure | published | measured |\n| --- | --- | --- |"
        for name in names:
            yield _row(name, step.published.get(name, ""), step.figures.get(name, ""))
        yield ""
    for text in sentences:
        yield f"- {text}"
    yield ""


def write_page(page: Path = PAGE, folder: Path = FOLDER) -> Path:
    """Make the page anew of everything that is kept."""
    keep(page, render_page(studies(), kept_steps(folder)))
    return page
