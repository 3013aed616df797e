"""What the journals of earlier tournaments say about how long things take on this machine."""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from collections.abc import Sequence

from paddock.errors import PaddockError
from paddock.tournaments.durations import SECONDS_BETWEEN_LAPS, SECONDS_PER_START, Experience, identity, searching
from paddock.tournaments.journal import DONE, Attempt, History
from paddock.tournaments.laps import laps_of, read_lap
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import rivals, units
from paddock.tournaments.store import Stored, tournament_ids

# Old ones tell of another machine or version more often than of this one.
_LATEST = 20


def gather_experience() -> Experience:
    """From the latest tournaments; one whose files cannot be read any more is left out."""
    seconds: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    between: list[float] = []
    with_searches: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    per_start: list[float] = []
    sds: list[float] = []
    read = 0
    for tournament_id in tournament_ids()[-_LATEST:]:
        stored = Stored(tournament_id)
        try:
            history = stored.history()
            tournament = stored.tournament(history)
        except (PaddockError, ValueError, KeyError, TypeError):
            continue
        laps = laps_of(history, tournament)
        if not laps:
            continue
        read += 1
        contenders = {contender.name: contender for contender in tournament.contenders}
        for lap in laps:
            if lap.void is None and not lap.warmup:
                key = (tournament.track, identity(tournament, contenders[lap.contender]), tournament.lap_documents)
                seconds[key].append(lap.seconds)
        for attempt in history.attempts:
            if attempt.outcome == DONE and attempt.ended is not None:
                pauses = with_searches[searching(tournament)] if tournament.searches else between
                _take_attempt(attempt, tournament, pauses, per_start)
        sds += _block_sds(history, tournament, laps)
    return Experience(
        {key: statistics.median(values) for key, values in seconds.items()},
        statistics.median(between) if between else SECONDS_BETWEEN_LAPS,
        statistics.median(per_start) if per_start else SECONDS_PER_START,
        statistics.median(sds) if sds else None,
        read,
        {key: statistics.median(values) for key, values in with_searches.items() if values},
    )


def _take_attempt(attempt: Attempt, tournament: Tournament, pauses: list[float], per_start: list[float]) -> None:
    laps = [read_lap(record, attempt, tournament.warmup_blocks) for record in attempt.laps]
    # Where freshness is probed, a lap waits before its load; how long is planned, and nothing to learn.
    waited = {
        lap.began: (record.get("rest_seconds") or 0.0) + (record.get("wait_seconds") or 0.0)
        for lap, record in zip(laps, attempt.laps, strict=True)
    }
    laps = [lap for lap in laps if lap.seconds > 0]
    if len(laps) < 2 or attempt.ended is None:
        return
    gaps = [
        max(0.0, later.began - sooner.began - sooner.seconds - waited[later.began])
        for sooner, later in itertools.pairwise(laps)
    ]
    pauses += gaps
    last = laps[-1].began + laps[-1].seconds
    # The last lap searches, too, and other starts do not.
    searched = statistics.median(gaps) if tournament.searches else 0.0
    per_start.append(max(0.0, attempt.ended - attempt.began - (last - laps[0].began) - searched))


def _block_sds(history: History, tournament: Tournament, laps: Sequence[Lap]) -> list[float]:
    """Standard deviations of the log ratios of blocks, one per contender; index level with one start alone."""
    if tournament.node_level or tournament.starts > 1 or history.decided:
        return []
    differences = [units(laps, tournament, tournament.metric)[rival].differences for rival in rivals(tournament)]
    return [statistics.stdev(values) for values in differences if len(values) >= 8]
