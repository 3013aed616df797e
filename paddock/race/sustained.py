"""What a race with a long load says of how it held: its seconds, the onset of its fluctuation, and its trend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.race import sampled
from paddock.race.sampled import Window
from paddock.race.seconds import Seconds, seconds_of
from paddock.race.summary import BulkTask
from paddock.sampling.records import Sample
from paddock.statistics.sustained import LongRun, long_run


@dataclass(frozen=True)
class Stretch:
    """A part of the load, in seconds of it; and the mean of each column there, None where nothing is known."""

    name: str
    begin: float
    end: float
    means: dict[str, float | None]


@dataclass(frozen=True)
class SustainedLoad:
    """A load that went on for long enough to ask how it held.

    :param run: what its rate says.
    :param stretches: before and after the onset; the halves of the load where there is none.
    """

    seconds: Seconds
    run: LongRun
    stretches: tuple[Stretch, ...]


def load_seconds(samples: Sequence[Sample], tasks: int = 1) -> Seconds | None:
    """The whole seconds of all loads of a race; None if the samples show none.

    :param tasks: that index documents.
    """
    found = sampled.intervals(samples)
    windows = sampled.load_windows(found, tasks)
    if not windows:
        return None
    active = [one for one in found if one.total and windows[0].begin <= one.begin and one.end <= windows[-1].end]
    if len(active) < 3:
        return None
    # The load ended somewhere inside the last interval.
    whole = Window(active[0].begin, active[-2].end)
    return seconds_of(samples, whole, {key for one in active for key in one.documents})


def sustained_load(samples: Sequence[Sample], tasks: Sequence[BulkTask]) -> SustainedLoad | None:
    """How the load of a race held; None of several loads, of a short one, or where a schedule sets the pace."""
    if len(tasks) != 1 or tasks[0].latencies is not None or tasks[0].expectation.rate is not None:
        return None
    if (seconds := load_seconds(samples)) is None or (run := _run(seconds, tasks[0])) is None:
        return None
    middle = run.onset.at if run.onset else float((run.begin + run.end) // 2)
    names = ("before it fluctuates", "after that") if run.onset else ("first half", "second half")
    spans = ((run.begin, middle), (middle, run.end))
    return SustainedLoad(
        seconds,
        run,
        tuple(
            Stretch(name, begin, end, {column: seconds.mean(column, begin, end) for column in seconds.columns})
            for name, (begin, end) in zip(names, spans, strict=True)
        ),
    )


def _run(seconds: Seconds, task: BulkTask) -> LongRun | None:
    rates = seconds.columns["documents"]
    if any(rate is None for rate in rates):
        return None
    return long_run([rate or 0.0 for rate in rates], task.expectation.warmup_seconds)
