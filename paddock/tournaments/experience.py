"""What earlier tournaments say about how long things take on this machine.

Journals are long, so what one teaches is written down beside it once, when somebody first asks.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from paddock.errors import PaddockError
from paddock.files import read_record, write_json
from paddock.plain_values import built, plain
from paddock.tournaments.durations import SECONDS_BETWEEN_LAPS, SECONDS_PER_START, Experience, identity
from paddock.tournaments.journal import DONE, Attempt, History
from paddock.tournaments.laps import laps_of, read_lap
from paddock.tournaments.model import Lap, Tournament
from paddock.tournaments.pairing import rivals, units
from paddock.tournaments.store import Stored, tournament_ids

# Old ones tell of another machine or version more often than of this one.
_LATEST = 20


@dataclass(frozen=True)
class LapExperience:
    """Laps of one contender: medians of their seconds of load, and of the load driver's processor seconds in each."""

    identity: str
    seconds: float
    driver_load: float | None


@dataclass(frozen=True)
class Lesson:
    """What one tournament teaches; None where it does not tell.

    :param laps: of each contender.
    :param pause: seconds from the end of a lap's load to the begin of the next one's, searches included.
    :param per_start: seconds of a start beside its laps.
    :param block_sd: standard deviation of the log ratios of blocks.
    """

    track: str
    lap_documents: int
    searches: int
    laps: tuple[LapExperience, ...]
    pause: float | None
    per_start: float | None
    block_sd: float | None


def gather_experience() -> Experience:
    """From the latest tournaments that have ended; one whose files cannot be read any more is left out."""
    lessons = [lesson for one in tournament_ids()[-_LATEST:] if (lesson := _lesson(Stored(one))) is not None]
    seconds: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    driver: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    with_searches: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    for lesson in lessons:
        for lap in lesson.laps:
            key = (lesson.track, lap.identity, lesson.lap_documents)
            seconds[key].append(lap.seconds)
            if lap.driver_load is not None:
                driver[key].append(lap.driver_load)
        if lesson.searches and lesson.pause is not None:
            with_searches[lesson.track, lesson.lap_documents, lesson.searches].append(lesson.pause)
    return Experience(
        lap_seconds={key: statistics.median(values) for key, values in seconds.items()},
        between_laps=_median([one.pause for one in lessons if not one.searches]) or SECONDS_BETWEEN_LAPS,
        per_start=_median([one.per_start for one in lessons]) or SECONDS_PER_START,
        block_sd=_median([one.block_sd for one in lessons]),
        tournaments=len(lessons),
        between_searching_laps={key: statistics.median(values) for key, values in with_searches.items()},
        driver_load={key: statistics.median(values) for key, values in driver.items()},
    )


def _lesson(stored: Stored) -> Lesson | None:
    """As it was written down, or worked out and written down now; None of a tournament that has no laps or no end."""
    file = stored.folder / "lesson.json"
    try:
        if written := read_record(file):
            lesson: Lesson = built(Lesson, written, "the lesson")
            return lesson
    except ValueError:
        pass  # by another version of Paddock
    if stored.ended_because() is None:
        return None
    try:
        history = stored.history()
        learned = _learn(history, stored.tournament(history))
    except (PaddockError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if learned is not None:
        with contextlib.suppress(PaddockError, OSError):  # a full disk, or somebody else's
            write_json(file, plain(learned))
    return learned


def _learn(history: History, tournament: Tournament) -> Lesson | None:
    laps = laps_of(history, tournament)
    if not laps:
        return None
    seconds: dict[str, list[float]] = defaultdict(list)
    driver: dict[str, list[float]] = defaultdict(list)
    contenders = {contender.name: identity(tournament, contender) for contender in tournament.contenders}
    for lap in laps:
        if lap.void is None and not lap.warmup:
            seconds[contenders[lap.contender]].append(lap.seconds)
            if lap.driver_load is not None:
                driver[contenders[lap.contender]].append(lap.driver_load)
    pauses: list[float] = []
    per_start: list[float] = []
    for attempt in history.attempts:
        if attempt.outcome == DONE and attempt.ended is not None:
            _take_attempt(attempt, tournament, pauses, per_start)
    return Lesson(
        tournament.track,
        tournament.lap_documents,
        tournament.searches,
        tuple(LapExperience(who, statistics.median(of), _median(driver[who])) for who, of in seconds.items()),
        _median(pauses),
        _median(per_start),
        _median(_block_sds(history, tournament, laps)),
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


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
