"""One race as a user sees it: run it, watch it, sum it up, show the summary in a terminal, and say how to repeat it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID

from paddock.cars import this_machine
from paddock.console import (
    ENDLESS,
    NARROWEST,
    PLAIN_INTERVAL,
    columns,
    drawn,
    messages,
    progress_columns,
    say,
    styled,
    warn,
    wrapped,
)
from paddock.corpora.store import TEST_MODE_DOCUMENTS
from paddock.errors import Interrupted
from paddock.files import write_json
from paddock.race.bottleneck import allowed
from paddock.race.costs import cost_figures
from paddock.race.figures import NamedFigure
from paddock.race.full_disk import FULL_DISK_TASK, FullDisk, read_full_disk
from paddock.race.load import LOAD_JOURNAL_FILE, journal_of
from paddock.race.options import PreparedRace
from paddock.race.over_time import SAMPLES_FILE, load_seconds, write_seconds
from paddock.race.replay import Replay, read_replay
from paddock.race.replay_check import LEAD, REPLAY_TASK
from paddock.race.replay_sentences import render_replay
from paddock.race.requests import possible_warmups, read_requests
from paddock.race.resources import WINDOWS, Resources
from paddock.race.shippers import pinned
from paddock.race.summarise import summarise
from paddock.race.summary import Expectation, Missing, RaceRecord, RequestTask, Summary
from paddock.rally.leftovers import RaceProcesses
from paddock.rally.limited import launches, limits_file, limits_held
from paddock.rally.preflight import bytes_that_need_room
from paddock.rally.process import Note, TaskProgress, seconds_left
from paddock.rally.request import RaceRequest, printable
from paddock.rally.run import race_records, run_race
from paddock.sampling import ClusterObserver, Endpoint, Sampler, read_samples
from paddock.sampling.records import read_circumstances

# What Rally says that a user of Paddock need not read: the race id and the summary come from us.
_UNINTERESTING = ("Race id is", "SUCCESS", "FAILURE", "Racing on track", "Executing benchmark with", "Skipping")


# What our challenges call the task that indexes the corpus.
BULK_TASK = "bulk"
# ... and those that do so by a schedule, and can write down every request.
PACED_TASK = "paced-bulk"
LOG_QUERY_TASK = "text-count-by-index-at-1x"
LOAD_JOURNAL = "load_journal"
SECONDS_FILE = "series.csv"
FAILED_PROOF = "failed_proof"
REQUESTS_FILE = "requests.jsonl"


class _Watch:
    """Observes a race: shows its progress on stderr, a bar on a terminal and lines elsewhere, and samples beside it."""

    def __init__(self, race: PreparedRace, samples: Path):
        self._race = race
        self._samples = samples
        self._sampler: Sampler | None = None
        self._terminal = messages().is_terminal
        self._bar: Progress | None = None
        self._bar_task: TaskID | None = None
        self._task = ""
        self._task_began = 0.0
        self._said = 0.0
        self._began = time.monotonic()

    def started(self, processes: RaceProcesses) -> None:
        endpoint = Endpoint.from_client_options(self._race.request.hosts, self._race.request.client_options.values)
        self._sampler = Sampler(ClusterObserver(endpoint), self._samples, processes.component_pids)
        self._sampler.start()

    def progress(self, event: TaskProgress | Note) -> None:
        if isinstance(event, Note):
            self._note(event)
        else:
            self._progress(event)

    def tick(self) -> None:
        """Nothing to do between events: the sampler has its own clock."""

    def interrupted(self) -> None:
        """Rally ends the race by itself."""

    def ended(self) -> None:
        if self._bar:
            self._bar.stop()
        if self._sampler:
            self._sampler.stop()
            if self._sampler.problem:
                warn(f"The samples end early: {self._sampler.problem}")

    def _note(self, note: Note) -> None:
        # Errors are told once the race has failed, with their cause.
        if note.level == "WARNING":
            warn(f"Rally: {note.text}")
        elif note.level == "INFO" and not note.text.startswith(_UNINTERESTING):
            say(f"Rally: {note.text}")

    def _progress(self, event: TaskProgress) -> None:
        now = time.monotonic()
        if event.task != self._task:
            self._task, self._task_began, self._said = event.task, now, now
            if self._terminal:
                self._begin_bar(event.task)
            else:
                say(f"[{now - self._began:4.0f} s] {event.task} ...")
        if self._bar and self._bar_task is not None:
            self._bar.update(self._bar_task, completed=event.percent)
        elif now - self._said >= PLAIN_INTERVAL:
            self._said = now
            left = seconds_left(event.percent, now - self._task_began)
            rest = f", about {left:.0f} s left" if left is not None else ""
            say(f"[{now - self._began:4.0f} s] {event.task}: {event.percent} %{rest}")

    def _begin_bar(self, task: str) -> None:
        if self._bar is None:
            self._bar = progress_columns()
            self._bar.start()
        elif self._bar_task is not None:
            self._bar.remove_task(self._bar_task)
        self._bar_task = self._bar.add_task(task, total=100)


def run(race: PreparedRace) -> RaceRecord:
    """Run the race and sum it up; the summary is kept beside the samples.

    :raises RaceError: if it failed.
    :raises MachineError: if something is in its way.
    :raises Interrupted: if the user stopped it.
    """
    for note in race.notes:
        warn(note)
    records = race_records(race.request.race_id)
    samples = records / SAMPLES_FILE
    samples.parent.mkdir(parents=True, exist_ok=True)
    try:
        outcome = run_race(_with_journal(race, records), _Watch(race, samples), say, _bytes_to_index(race))
    except Interrupted as stopped:
        raise Interrupted(f"{stopped} What it had measured is discarded.") from None
    for sentence in limits_held(limits_file(outcome.race_id)):
        say(sentence)
    taken = read_samples(samples)
    defaults = {parameter.name: parameter.default for parameter in race.track.parameters}
    summary = summarise(
        outcome.race,
        taken,
        _expectations(race),
        read_requests(records / REQUESTS_FILE),
        possible_warmups(race.request.track_params, defaults),
        allowed(
            read_circumstances(samples),
            [*launches(limits_file(outcome.race_id)), *pinned(race.request.track_params)],
            this_machine().processors,
        ),
    )
    if (seconds := load_seconds(taken, len(summary.bulk_tasks))) is not None:
        write_seconds(seconds, records / SECONDS_FILE)
    record = RaceRecord(
        outcome.race_id,
        summary,
        outcome.race,
        str(outcome.file),
        str(samples),
        printable(race.request, anew=True),
        outcome.error_rates,
        race.prices,
    )
    write_json(records / "summary.json", record.as_json())
    return record


def _bytes_to_index(race: PreparedRace) -> int:
    """For a look at the disk; how much a load that a clock ends will bring is not known."""
    asked = race.request.track_params.get("sustained_documents")
    if asked is None or not race.corpus_documents:
        return race.corpus_bytes
    return bytes_that_need_room(race.corpus_bytes, race.corpus_documents, asked)


def _with_journal(race: PreparedRace, records: Path) -> RaceRequest:
    """The request, told where to write down its requests; whoever repeats the race need not do so.

    A proof that fails is told there as well, so that the race comes to its results all the same.
    """
    challenge = next(one for one in race.track.challenges if one.name == race.request.challenge)
    own: dict[str, Any] = {}
    if {PACED_TASK, REPLAY_TASK, LOG_QUERY_TASK, FULL_DISK_TASK} & set(challenge.tasks):
        own[LOAD_JOURNAL] = str(records / LOAD_JOURNAL_FILE)
    if {REPLAY_TASK, FULL_DISK_TASK} & set(challenge.tasks):
        own[FAILED_PROOF] = "report"
    given = {name: value for name, value in race.request.track_params.items() if value is not None}
    params = {**race.request.track_params, **own, **given}
    return replace(race.request, track_params=params, request_journal=records / REQUESTS_FILE)


def replay_of(record: RaceRecord) -> Replay | None:
    """The replay of a race that has ended; None if it was none."""
    return read_replay(journal_of(record.race, race_records(record.race_id)))


def full_disk_of(record: RaceRecord) -> FullDisk | None:
    """What came of the full disk in a race that has ended; None if it was none."""
    return read_full_disk(journal_of(record.race, race_records(record.race_id)))


def _expectations(race: PreparedRace) -> dict[str, Expectation]:
    """Of both tasks of which race.json says too little."""
    return {BULK_TASK: _expectation(race), REPLAY_TASK: Expectation(idle_seconds=LEAD)}


def _expectation(race: PreparedRace) -> Expectation:
    """What the bulk task is to index, where that is known beforehand, and how long its warm-up lasts."""
    params = {parameter.name: parameter.default for parameter in race.track.parameters} | dict(
        race.request.track_params
    )
    documents = race.corpus_documents
    if race.request.test_mode:  # of an imported corpus there may be fewer
        documents = min(TEST_MODE_DOCUMENTS, documents or TEST_MODE_DOCUMENTS)
    if documents is not None and params.get("document_count") is not None:
        documents = min(documents, int(params["document_count"]))
    elif documents is not None and params.get("ingest_percentage") is not None:
        documents = math.ceil(documents * float(params["ingest_percentage"]) / 100)
    if params.get("time_period") is not None or params.get("conflicts") is not None:
        documents = None
    warmup = 0.0 if race.request.test_mode else float(params.get("warmup_time_period") or 0)
    rate = None if race.request.test_mode else params.get("target_throughput")
    return Expectation(documents, warmup, None if rate is None else float(rate))


def render(record: RaceRecord, width: int, colours: bool, replay: Replay | None = None) -> str:
    """The summary, what a replay was like, the race's id and the command to repeat it."""
    return "\n".join(
        [
            render_summary(record.summary, width, colours, cost_figures(record)),
            "",
            *([render_replay(replay, width, colours), ""] if replay else []),
            f"Race id:  {record.race_id}",
            f"Results:  {record.race_file}",
            f"Samples:  {record.samples_file}",
            f"Report:   ./inv report {record.race_id}",
            f"Repeat with plain Rally:\n{record.command}",
        ]
    )


@dataclass
class _Footnotes:
    """Reasons why figures are missing, each told once."""

    reasons: list[str] = field(default_factory=list)

    def mark(self, missing: Missing) -> str:
        """The sign that stands beside a figure's hyphen."""
        if missing.reason not in self.reasons:
            self.reasons.append(missing.reason)
        return f"[{self.reasons.index(missing.reason) + 1}]"

    def digits(self, one: NamedFigure) -> str:
        """The figure's digits, or a hyphen and its sign."""
        return f"- {self.mark(one.figure)}" if isinstance(one.figure, Missing) else one.digits


def render_summary(summary: Summary, width: int = 100, colours: bool = False, costs: Sequence[NamedFigure] = ()) -> str:
    """The summary as lines no longer than ``width`` columns (60 at least), without a line end behind the last.

    :param colours: whether to use ANSI escape sequences.
    :param costs: what its documents cost in money; empty without prices.
    """
    width = max(width, NARROWEST)
    notes = _Footnotes()
    blocks = [wrapped(summary.title, width)]

    def block(heading: str, text: str) -> None:
        blocks.append(f"{styled(heading, 'bold', colours)}\n{text}")

    for task in summary.bulk_tasks:
        block(f"Load: {task.name}", _listed(task.figures, notes, width, colours))
    if summary.request_tasks:
        block("Requests", _requests(summary.request_tasks, notes, width))
    block("Nodes and indices, whole race", _listed(summary.race.figures, notes, width, colours))
    if summary.resources:
        note = styled(wrapped(WINDOWS, width, "  ", "  "), "dim", colours)
        block("Resources under load", f"{_resources(summary.resources, width)}\n{note}")
    if summary.bottleneck:
        block("Bottleneck", wrapped(summary.bottleneck.sentence, width, "  ", "  "))
    if costs:
        block("Cost", _listed(costs, notes, width, colours))
    if summary.warnings:
        warnings = "\n".join(wrapped(text, width, "  ! ", "    ") for text in summary.warnings)
        block("Warnings", styled(warnings, "yellow", colours))
    reasons = [wrapped(reason, width, f"[{number}] ", "    ") for number, reason in enumerate(notes.reasons, 1)]
    return "\n\n".join([*blocks, styled("\n".join(reasons), "dim", colours)] if reasons else blocks)


def _listed(figures: Sequence[NamedFigure], footnotes: _Footnotes, width: int, colours: bool) -> str:
    """One line per figure; notes only where they fit."""
    cells = [
        ("-", footnotes.mark(one.figure)) if isinstance(one.figure, Missing) else one.form(one.figure)
        for one in figures
    ]
    digits, units = (max(len(cell[part]) for cell in cells) for part in (0, 1))
    room = width - 2 - max(len(one.name) for one in figures) - 2 - digits - 1 - units - 2
    rows = [
        (
            one.name,
            f"{value:>{digits}} {unit:<{units}}",
            "" if isinstance(one.figure, Missing) or len(one.note) > room else one.note,
        )
        for one, (value, unit) in zip(figures, cells, strict=True)
    ]
    return drawn(columns((), rows, faint=2), width, colours)


def _resources(found: Resources, width: int) -> str:
    """A line per component; what fits of it."""
    for left_out in (0, 2, 3):
        headers, *rows = (row[: len(row) - left_out] for row in (found.headers, *found.rows))
        lines = drawn(columns(headers, rows, range(1, len(headers))), ENDLESS, False)
        if max(map(len, lines.splitlines())) <= width:
            break
    return lines


def _requests(tasks: Sequence[RequestTask], footnotes: _Footnotes, width: int) -> str:
    """A line per task, and one for its latencies if it had a schedule.

    Too wide, names have lines of their own, and if that is not enough the 90th percentile is left out.
    """
    rows: list[tuple[str, ...]] = []
    for task in tasks:
        rows.append((task.name, *map(footnotes.digits, task.figures)))
        if task.latencies:
            rows.append(("  latency", *map(footnotes.digits, task.latencies.figures("latency")), "", ""))
    headers = ("", *(one.short for one in tasks[0].figures))
    lines = drawn(columns(headers, rows, range(1, len(headers))), width, False).splitlines()
    if max(map(len, lines)) > width:
        names = [f"  {row[0]}" for row in rows]
        for left_out in (0, headers.index("p90 ms")):
            cells = [("", *(cell for place, cell in enumerate(row) if place not in (0, left_out))) for row in rows]
            heads = ("", *(cell for place, cell in enumerate(headers) if place not in (0, left_out)))
            first, *figures = drawn(columns(heads, cells, range(1, len(heads))), width, False).splitlines()
            lines = [first, *(part for both in zip(names, figures, strict=True) for part in both)]
            if len(first) <= width:
                break
    return "\n".join(lines)
