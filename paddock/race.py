"""One race as a user sees it: run it, watch it, sum it up, and say how to repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.console import say, warn
from paddock.files import write_json
from paddock.race_options import PreparedRace
from paddock.race_view import RaceView
from paddock.rally import command
from paddock.rally.outcome import Outcome
from paddock.rally.processes import RaceProcesses
from paddock.rally.progress import Note, TaskProgress
from paddock.rally.run import race_records, run_race
from paddock.sampling import Endpoint, Sampler, read_samples
from paddock.summary import Summary, render_summary, summarise, summary_as_json


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
    outcome = run_race(race.request, _Watch(race, samples), say, race.corpus_bytes)
    summary = summarise(outcome.race, read_samples(samples))
    finished = FinishedRace(outcome, summary, command.printable(race.request), samples)
    write_json(records / "summary.json", as_json_object(finished))
    return finished


def render(finished: FinishedRace, width: int, colours: bool) -> str:
    """The summary, the race's id and the command to repeat it."""
    return "\n".join(
        [
            render_summary(finished.summary, width, colours).rstrip(),
            "",
            f"Race id:  {finished.outcome.race_id}",
            f"Results:  {finished.outcome.file}",
            f"Samples:  {finished.samples}",
            f"Repeat with plain Rally (without --race-id):\n{finished.command}",
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
