"""What a race with a long load says of how it held: its seconds, the onset of its fluctuation, and its trend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.race.over_time import RATE, OverTime, load_seconds
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

    seconds: OverTime
    run: LongRun
    stretches: tuple[Stretch, ...]


def sustained_load(samples: Sequence[Sample], tasks: Sequence[BulkTask]) -> SustainedLoad | None:
    """How the load of a race held; None of several loads, of a short one, or where a schedule sets the pace."""
    if len(tasks) != 1 or tasks[0].latencies is not None or tasks[0].expectation.rate is not None:
        return None
    if (seconds := load_seconds(samples)) is None or (run := _run(seconds, tasks[0])) is None:
        return None
    middle = run.onset.at if run.onset else float((run.begin + run.end) // 2)
    names = ("before it fluctuates", "after that") if run.onset else ("first half", "second half")
    spans = ((run.begin, middle), (middle, run.end))
    series = [one for one in seconds.series if one.column]
    return SustainedLoad(
        seconds,
        run,
        tuple(
            Stretch(name, *span, {one.column: one.mean(span) for one in series})
            for name, span in zip(names, spans, strict=True)
        ),
    )


def _run(seconds: OverTime, task: BulkTask) -> LongRun | None:
    rates = rate.values if (rate := seconds.whole(RATE)) else ()
    if not rates or any(one is None for one in rates):
        return None
    return long_run([one or 0.0 for one in rates], task.expectation.warmup_seconds)
