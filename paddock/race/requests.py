"""The 95th percentile of service times, from the journal that the tracks keep of every bulk and search.

race.json has none. The journal knows neither tasks nor warm-up, so what belongs to a task is found by Rally's own
figures: the requests in which every percentile that race.json has comes out the same are those that Rally counted.
Where none do (a journal that is not whole, requests sent from another machine) there is no 95th percentile, and it is
said so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from paddock.plain_values import Figure, Missing, known
from paddock.race.race_results import TOO_FEW, TaskResult
from paddock.race.summary import FEWEST_FOR_P95, ServiceTimes

# Rally pauses for a second at least between two tasks, and clients of one begin within a moment.
_PAUSE_SECONDS = 0.5
# By which share Rally's figures may differ from ours: race.json has them in full. Beyond that, a request or two.
_SAME, _NEARLY = 1e-6, 0.02
# What reading the first documents of a load takes at most.
_EARLIER_SECONDS = 1.0
_UNKNOWN = "The journal of requests does not have what Rally counted for this task."


@dataclass(frozen=True)
class SentRequest:
    """One request.

    :param operation: Rally's operation type: "bulk" or "search".
    :param client: which of Rally's clients sent it; another one in every task.
    :param sent: seconds since 1970.
    :param milliseconds: its service time.
    """

    operation: str
    client: str
    sent: float
    milliseconds: float


def read_requests(path: Path) -> tuple[SentRequest, ...]:
    """The requests in that journal; none if there is none. A line that a crash has cut off is passed over."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    found = []
    for text in lines:
        try:
            line = json.loads(text)
            found.append(
                SentRequest(
                    str(line["operation"]), str(line["client"]), float(line["sent"]), float(line["milliseconds"])
                )
            )
        except (ValueError, TypeError, KeyError):
            continue
    return tuple(found)


def with_p95(
    results: Sequence[TaskResult], requests: Sequence[SentRequest], warmups: Mapping[str, Sequence[float]]
) -> list[TaskResult]:
    """The tasks, with the 95th percentile of their service times where the journal tells it.

    :param results: in the order in which they ran.
    :param warmups: what may have been the warm-up of a task, by operation type: of "bulk" seconds, of "search" requests
        of each client. None at all is always tried, too.
    """
    if not requests:
        return list(results)
    left, found = _groups(requests), []
    for result in results:
        times = result.requests.service_times
        if not isinstance(times.p95, Missing) or isinstance(times.maximum, Missing):
            found.append(result)
            continue
        operation = "bulk" if result.indexes_documents else "search"
        told: Figure = Missing(_UNKNOWN)
        for place, group in enumerate(left):
            counted = _counted(group, times, warmups.get(operation, ())) if group[0].operation == operation else None
            if counted is not None:
                enough = len(counted) >= FEWEST_FOR_P95
                told = percentile(counted, 95) if enough else Missing(TOO_FEW.format(FEWEST_FOR_P95))
                left = [*left[:place], *left[place + 1 :]]
                break
        found.append(replace(result, requests=replace(result.requests, service_times=replace(times, p95=told))))
    return found


def _groups(requests: Sequence[SentRequest]) -> list[list[SentRequest]]:
    """The requests of each task, in the order of the tasks: its clients are at it at the same time."""
    by_client: dict[str, list[SentRequest]] = {}
    for one in sorted(requests, key=lambda each: each.sent):
        by_client.setdefault(f"{one.operation} {one.client}", []).append(one)
    groups: list[list[SentRequest]] = []
    latest: dict[str, tuple[list[SentRequest], float]] = {}  # by operation: a search may run beside a load
    for of in by_client.values():  # in the order of their first requests
        group, end = latest.get(of[0].operation, ([], -math.inf))
        if of[0].sent > end + _PAUSE_SECONDS:
            group = []
            groups.append(group)
        group += of
        latest[of[0].operation] = group, max(end, *map(_end, of))
    return groups


def _counted(group: Sequence[SentRequest], times: ServiceTimes, warmups: Sequence[float]) -> list[float] | None:
    """The sorted service times that Rally counted, in milliseconds; None if these requests are not that task's.

    Requests at the very end of a warm-up may be counted or not by a millisecond that the journal does not tell. So all
    ends near by are tried, and where none fits exactly, one that is off by a request or two will do. A warm-up that is
    a number of requests leaves no doubt.
    """
    nearly = None
    for counted in _candidates(group, warmups):
        off = _off(counted, times)
        if off <= _SAME:
            return counted
        if group[0].operation == "bulk" and off <= _NEARLY and (nearly is None or off < nearly[0]):
            nearly = off, counted
    return None if nearly is None else nearly[1]


def _candidates(group: Sequence[SentRequest], warmups: Sequence[float]) -> Iterator[list[float]]:
    """What may have been counted: sorted, never empty."""
    by_client: dict[str, list[SentRequest]] = {}
    for one in group:
        by_client.setdefault(one.client, []).append(one)
    if group[0].operation == "bulk":
        # Rally looks at the clock when the request before is answered, and begins to count before the first is read.
        since = []
        for of in by_client.values():
            since.append((0.0, of[0].milliseconds))
            since += [(_end(before) - of[0].sent, one.milliseconds) for before, one in pairwise(of)]
        for warmup in warmups:
            near = (passed for passed, _ in since if warmup - _EARLIER_SECONDS <= passed < warmup)
            for end in (warmup, *sorted(near, reverse=True)):
                yield sorted(milliseconds for passed, milliseconds in since if passed >= end)
    else:
        for warmup in warmups:
            yield sorted(one.milliseconds for of in by_client.values() for one in of[int(warmup) :])
    yield sorted(one.milliseconds for one in group)


def _end(one: SentRequest) -> float:
    return one.sent + one.milliseconds / 1000


def _off(counted: Sequence[float], times: ServiceTimes) -> float:
    """By which share the percentiles that Rally tells differ at most from those of these; infinite for none."""
    told = {50: times.p50, 90: times.p90, 99: times.p99, 100: times.maximum}
    figures = {share: figure for share, value in told.items() if (figure := known(value)) is not None}
    if not counted or not figures:
        return math.inf
    return max(
        abs(percentile(counted, share) / figure - 1) if figure else math.inf for share, figure in figures.items()
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """As Rally takes it: interpolated between the two nearest.

    :param ordered: at least one, ascending.
    :param share: 0 to 100.
    """
    rank = share / 100 * (len(ordered) - 1)
    below = math.floor(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (rank - below) * (ordered[above] - ordered[below])


def possible_warmups(params: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """What may have been the warm-up of a race's tasks, as its track parameters say; see ``with_p95``."""
    told = {**defaults, **params}
    names = {"bulk": "warmup_time_period", "search": "search_warmup_iterations"}
    return {
        operation: (float(value),) if isinstance(value := told.get(name), (int, float)) else ()
        for operation, name in names.items()
    }
