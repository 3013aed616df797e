"""One race as a user sees it: run it, watch it, sum it up, and say how to repeat it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paddock.console import say, warn
from paddock.corpora.store import TEST_MODE_DOCUMENTS
from paddock.files import write_json
from paddock.race.options import PreparedRace
from paddock.race.render import render_summary
from paddock.race.summarise import summarise
from paddock.race.summary import Expectation, Summary, summary_as_json
from paddock.race.view import RaceView
from paddock.rally import command
from paddock.rally.process import Note, TaskProgress
from paddock.rally.processes import RaceProcesses
from paddock.rally.request import Outcome, RaceRequest
from paddock.rally.run import race_records, run_race
from paddock.sampling import Endpoint, Sampler, read_samples

# What our challenges call the task that indexes the corpus.
BULK_TASK = "bulk"
# ... and the one that does so by a schedule, and can write down every bulk.
PACED_TASK = "paced-bulk"
LOAD_JOURNAL = "load_journal"


@dataclass(frozen=True)
class FinishedRace:
    """A race and what it came to."""

    outcome: Outcome
    summary: Summary
    command: str
    samples: Path


class _Watch:
    """Observes a race: shows its progress and samples beside it."""

    def __init__(self, race: PreparedRace, samples: Path):
        self._race = race
        self._samples = samples
        self._view = RaceView()
        self._sampler: Sampler | None = None

    def started(self, processes: RaceProcesses) -> None:
        endpoint = Endpoint.from_client_options(self._race.request.hosts, self._race.client_options.values)
        self._sampler = Sampler(endpoint, self._samples, processes.driver_pids)
        self._sampler.start()

    def progress(self, event: TaskProgress | Note) -> None:
        self._view.event(event)

    def tick(self) -> None:
        """Nothing to do between events: the sampler has its own clock."""

    def ended(self) -> None:
        self._view.close()
        if self._sampler:
            self._sampler.stop()
            if self._sampler.problem:
                warn(f"The samples end early: {self._sampler.problem}")


def run(race: PreparedRace) -> FinishedRace:
    """Run the race and sum it up; the summary is kept beside the samples.

    :raises RaceError: if it failed.
    :raises MachineError: if something is in its way.
    :raises Interrupted: if the user stopped it.
    """
    for note in race.notes:
        warn(note)
    records = race_records(race.request.race_id)
    samples = records / "samples.jsonl"
    samples.parent.mkdir(parents=True, exist_ok=True)
    outcome = run_race(_with_journal(race, records), _Watch(race, samples), say, race.corpus_bytes)
    summary = summarise(outcome.race, read_samples(samples), {BULK_TASK: _expectation(race)})
    finished = FinishedRace(outcome, summary, command.printable(race.request, anew=True), samples)
    write_json(records / "summary.json", as_json_object(finished))
    return finished


def _with_journal(race: PreparedRace, records: Path) -> RaceRequest:
    """The request, told where to write down the bulks of a paced load; whoever repeats the race need not do so."""
    challenge = next(one for one in race.track.challenges if one.name == race.request.challenge)
    if PACED_TASK not in challenge.tasks or race.request.track_params.get(LOAD_JOURNAL) is not None:
        return race.request
    params = {**race.request.track_params, LOAD_JOURNAL: str(records / "load.jsonl")}
    return replace(race.request, track_params=params)


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


def render(finished: FinishedRace, width: int, colours: bool) -> str:
    """The summary, the race's id and the command to repeat it."""
    return "\n".join(
        [
            render_summary(finished.summary, width, colours).rstrip(),
            "",
            f"Race id:  {finished.outcome.race_id}",
            f"Results:  {finished.outcome.file}",
            f"Samples:  {finished.samples}",
            f"Report:   ./inv report {finished.outcome.race_id}",
            f"Repeat with plain Rally:\n{finished.command}",
        ]
    )


def as_json_object(finished: FinishedRace) -> dict[str, Any]:
    """The same for machines."""
    return {
        "race-id": finished.outcome.race_id,
        "race-file": str(finished.outcome.file),
        "samples-file": str(finished.samples),
        "command": finished.command,
        "error-rates": finished.outcome.error_rates,
        "summary": summary_as_json(finished.summary),
    }
