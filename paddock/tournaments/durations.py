"""How long laps and starts take: a small model, and what earlier tournaments on this machine say.

Journals are long, so what one teaches is written down beside it once, when somebody first asks.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from paddock.cars import combine, known_cars
from paddock.errors import PaddockError
from paddock.files import read_record, write_json
from paddock.limits import Limits
from paddock.plain_values import built, plain
from paddock.race.headroom import Headroom
from paddock.statistics.starts import FEWEST_STARTS
from paddock.tournaments.cautions import expected_driver_load
from paddock.tournaments.clusters import clusters_of, distinct, runs_side_by_side
from paddock.tournaments.laps import DONE, laps_of
from paddock.tournaments.load_shape import index_settings, load_shape
from paddock.tournaments.model import Contender, Tournament
from paddock.tournaments.pairing import counting, measured_blocks, rivals, spreads
from paddock.tournaments.schedule import Start
from paddock.tournaments.store import History, Stored, tournament_ids

# Where nothing has been measured yet: two cores shared by the node and the load driver.
DOCS_PER_SECOND = 30_000.0
# What a bulk costs beside its documents: a round trip and the translog's fsync.
SECONDS_PER_BULK = 0.004
# From the end of one lap's load to the begin of the next one's: count, merges, a new index.
SECONDS_BETWEEN_LAPS = 1.3
# A round of a lap's searches, each query once: eight queries took 93 ms over a million documents of app-logs, and over
# hardly any a request of about a millisecond each is left.
SECONDS_PER_ROUND = 0.01
SECONDS_PER_ROUND_AND_DOCUMENT = 1e-7
# Rounds before them that do not count, as in tracks/shared/lap_searches.py.
SEARCH_WARM_UP = 5
# After searches a lap waits until the nodes look at their processor time anew, which they do once a second.
SECONDS_AFTER_SEARCHES = 1.0
# Rally's own beginning and end, and the node's.
SECONDS_PER_START = 70.0
# Where nodes are started while the race runs: until they are there again, and for Rally to install each of them.
SECONDS_PER_RESTART = 20.0
SECONDS_PER_INSTALLATION = 5.0
# Standard deviation of the logs of laps and of starts, method.md: 10-15 % and 3-8 %.
LAP_SD = 0.12
START_SD = 0.05
# Of the log ratio of two nodes of the same start that are alive side by side, beyond that of its blocks: 0.05 for ten
# blocks of two identical nodes, eight starts.
START_PAIR_SD = 0.03
# And of the log ratios of blocks in bytes per document, each index merged to one segment: 0.0025 and 0.0030 in ten
# blocks of logsdb --quick.
SIZE_SD = 0.003
# Fewer blocks say little of how much blocks vary.
FEWEST_BLOCKS = 8
DEFAULT_REFRESH_INTERVAL = "1s"
Key = TypeVar("Key")
_UNITS = {"nanos": 1e-9, "micros": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class Experience:
    """What earlier tournaments have measured on this machine; the model's assumptions where they have not.

    :param lap_seconds: (track, what the contender is, documents) -> seconds of load of a lap that counts, the median.
    :param warmup_lap_seconds: the same of a lap of the warm-up, the mean: the first ones take several times as long.
    :param between_laps: seconds from the end of a load to the begin of the next, without searches between them and
        without waiting for a phase of the refresh.
    :param between_searching_laps: the same with searches: (track, documents, searches) -> seconds, the median.
    :param per_start: seconds of a start beside its laps.
    :param restart: seconds between two starts of nodes side by side, in one race.
    :param start_sds: metric -> standard deviation of the log ratios of starts of nodes side by side, beyond that.
    :param block_sds: metric -> standard deviation of the log ratios of blocks: sizes differ by less than speeds do.
    :param tournaments: how many it comes from.
    :param driver_load: as ``lap_seconds``: processor seconds of the load driver per second of load, the median.
    :param capped: those of ``lap_seconds`` whose nodes have limits: they tell nothing of others.
    """

    lap_seconds: Mapping[tuple[str, str, int], float] = field(default_factory=dict)
    between_laps: float = SECONDS_BETWEEN_LAPS
    per_start: float = SECONDS_PER_START
    restart: float = SECONDS_PER_RESTART
    block_sds: Mapping[str, float] = field(default_factory=dict)
    start_sds: Mapping[str, float] = field(default_factory=dict)
    tournaments: int = 0
    between_searching_laps: Mapping[tuple[str, int, int], float] = field(default_factory=dict)
    driver_load: Mapping[tuple[str, str, int], float] = field(default_factory=dict)
    capped: frozenset[tuple[str, str, int]] = frozenset()
    warmup_lap_seconds: Mapping[tuple[str, str, int], float] = field(default_factory=dict)


def assumed_block_sd(tournament: Tournament) -> float:
    """Standard deviation of the log ratios of blocks in the tournament's metric, before this machine has told one."""
    if tournament.metric.name == "bytes/doc" and tournament.force_merge:
        return SIZE_SD
    return LAP_SD * math.sqrt(2)


def identity(tournament: Tournament, contender: Contender) -> str:
    """What decides how fast a contender is, as a text: the same in another tournament is the same contender."""
    params = sorted({**tournament.track_params, **contender.track_params}.items())
    level = contender.level_object if contender.level is None else contender.level
    plain = str({**level, "name": ""}) if isinstance(level, Mapping) else f"{tournament.challenge} {level}"
    # One node is not said: laps of before were all of one.
    nodes = contender.nodes or (tournament.nodes if tournament.nodes > 1 else None)
    node = {"version": contender.version, "nodes": nodes, "data_path": contender.data_path}
    node |= {"java": contender.java, "engine": contender.engine, "hosts": contender.target_hosts}
    node |= tournament.car_params_of(contender)
    own = [f"{name} {value}" for name, value in node.items() if value is not None]
    if tournament.driver_processes > 1:
        own.append(f"driver processes {tournament.driver_processes}")
    if tournament.growing:
        own.append("growing")
    return " ".join([plain, str(sorted(tournament.cars_of(contender))), str(params), *own])


def lap_seconds(tournament: Tournament, contender: Contender, experience: Experience) -> float:
    """Seconds of load of one lap of this contender."""
    if tournament.lap_seconds is not None:
        return tournament.lap_seconds
    known = experience.lap_seconds.get(_key(tournament, contender))
    if known is not None:
        return known
    return tournament.lap_documents * _seconds_per_document(tournament, contender, experience)


def warmup_lap_seconds(tournament: Tournament, contender: Contender, experience: Experience) -> float:
    """The same of a lap of the warm-up, on average; as of any other lap where none has been run here."""
    expected = lap_seconds(tournament, contender, experience)
    if tournament.lap_seconds is not None:
        return expected
    return experience.warmup_lap_seconds.get(_key(tournament, contender), expected)


def lap_documents(tournament: Tournament, contender: Contender, experience: Experience) -> int:
    """Documents of one lap of this contender: of a slice of so many seconds, as many as are expected."""
    if tournament.lap_seconds is None:
        return tournament.lap_documents
    return int(tournament.lap_seconds / _seconds_per_document(tournament, contender, experience))


def _seconds_per_document(tournament: Tournament, contender: Contender, experience: Experience) -> float:
    """What nobody has measured yet."""
    size, clients = load_shape(tournament, contender)
    at_once = max(1, min(clients, os.cpu_count() or 1))
    guess = 1 / DOCS_PER_SECOND + SECONDS_PER_BULK / size / at_once
    # How much slower than the model this machine has been with this track, in laps of whatever contenders.
    measured = [
        seconds / (documents / DOCS_PER_SECOND)
        for (track, what, documents), seconds in experience.lap_seconds.items()
        if track == tournament.track and documents and (track, what, documents) not in experience.capped
    ]
    return guess * (statistics.median(measured) if measured else 1.0) / _share_of_cores(tournament, contender)


def _share_of_cores(tournament: Tournament, contender: Contender) -> float:
    """Of this machine's cores, those that limits leave to the contender's node; 1 without such limits."""
    limits = limits_of(tournament, contender)
    most = [limits.quota, limits.cores, len(limits.cpus) or None]
    own = min((one for one in most if one is not None), default=None)
    return 1.0 if own is None else min(1.0, own / (os.cpu_count() or 1))


def limits_of(tournament: Tournament, contender: Contender) -> Limits:
    """What its node may have at most."""
    chosen = tournament.cars_of(contender)
    if contender.target_hosts or not chosen:
        return Limits()
    try:
        return combine(chosen, known_cars(), tournament.car_params_of(contender)).limits
    except PaddockError:
        return Limits()  # cars of an earlier tournament that are there no longer


def pause_seconds(tournament: Tournament, experience: Experience) -> float:
    """Seconds from the end of one lap's load to the begin of the next one's, searches included."""
    if not tournament.searches:
        return experience.between_laps
    known = experience.between_searching_laps.get(searching(tournament))
    if known is not None:
        return known
    a_round = SECONDS_PER_ROUND + SECONDS_PER_ROUND_AND_DOCUMENT * tournament.lap_documents
    return experience.between_laps + (SEARCH_WARM_UP + tournament.searches) * a_round + SECONDS_AFTER_SEARCHES


def searching(tournament: Tournament) -> tuple[str, int, int]:
    """What decides how long the searches of a lap take, apart from the contender."""
    return tournament.track, tournament.lap_documents, tournament.searches


def start_seconds(tournament: Tournament, start: Start, experience: Experience) -> float:
    """Seconds of a start with all its laps; the first one of nodes side by side has the race's own, too."""
    contenders = {contender.name: contender for contender in tournament.raced}
    pause = pause_seconds(tournament, experience)
    laps = sum(
        (warmup_lap_seconds if block < start.warmup_blocks else lap_seconds)(tournament, contenders[name], experience)
        + pause
        for block, order in enumerate(start.orders)
        for name in order
    )
    beside = experience.per_start
    if runs_side_by_side(tournament):
        nodes = sum(one.nodes for one in distinct(clusters_of(tournament)))
        beside = experience.restart if start.number > 1 else beside + nodes * SECONDS_PER_INSTALLATION
    return beside + laps + phase_seconds(tournament, start)


def phase_seconds(tournament: Tournament, start: Start) -> float:
    """Seconds that the laps of a start wait until their load may begin, which they do where freshness is probed.

    In each measured block that is the phase's share of the longest refresh interval, the same for every lap.
    """
    longest = max(
        refresh_seconds(tournament, contender)
        for contender in tournament.contenders
        if contender.name in start.contenders
    )
    measured = start.orders[start.warmup_blocks :]
    return sum(phase * longest * len(order) for phase, order in zip(start.phases, measured, strict=False))


def refresh_seconds(tournament: Tournament, contender: Contender) -> float:
    """The refresh interval of a contender; 0 where its index is never refreshed."""
    value = index_settings(tournament, contender).get("refresh_interval")
    found = re.fullmatch(r"([0-9]+)([a-z]+)", DEFAULT_REFRESH_INTERVAL if value is None else str(value))
    return int(found[1]) * _UNITS.get(found[2], 0.0) if found else 0.0


def driver_load(
    tournament: Tournament, contender: Contender, experience: Experience, headroom: Headroom | None = None
) -> float:
    """Processor seconds of each process of the load driver per second of load: measured, or what a sink asks for."""
    known = experience.driver_load.get(_key(tournament, contender))
    if known is not None:
        return known
    size, clients = load_shape(tournament, contender)
    seconds = lap_seconds(tournament, contender, experience)
    load = expected_driver_load(lap_documents(tournament, contender, experience), size, seconds, headroom)
    return load / min(tournament.driver_processes, clients)


def _key(tournament: Tournament, contender: Contender) -> tuple[str, str, int]:
    return tournament.track, identity(tournament, contender), tournament.lap_documents


# Old ones tell of another machine or version more often than of this one.
_LATEST = 20


@dataclass(frozen=True)
class LapExperience:
    """Laps of one contender: medians of their seconds of load, and of the load driver's processor seconds in each.

    :param warmup_seconds: seconds of load of a lap of its warm-up, the mean; None without any.
    :param capped: whether its node had limits.
    """

    identity: str
    seconds: float
    driver_load: float | None
    warmup_seconds: float | None
    capped: bool = False


@dataclass(frozen=True)
class Lesson:
    """What one tournament teaches; None where it does not tell.

    :param metric: what its verdict is about.
    :param laps: of each contender.
    :param pause: seconds from the end of a lap's load to the begin of the next one's, searches included.
    :param per_start: seconds of a start beside its laps.
    :param restart: seconds between two starts that one race spans.
    :param block_sd: standard deviation of the log ratios of blocks, and ``start_sd`` of starts of nodes side by side.
    """

    track: str
    lap_documents: int
    searches: int
    metric: str
    laps: tuple[LapExperience, ...]
    pause: float | None
    per_start: float | None
    block_sd: float | None
    restart: float | None = None
    start_sd: float | None = None


def gather_experience() -> Experience:
    """From the latest tournaments that have ended; one whose files cannot be read any more is left out."""
    lessons = [lesson for one in tournament_ids()[-_LATEST:] if (lesson := _lesson(Stored(one))) is not None]
    laps = [((one.track, lap.identity, one.lap_documents), lap) for one in lessons for lap in one.laps]
    # Whatever happens beside a load takes a node with limits longer, and all that are alive beside it wait for it.
    free = [one for one in lessons if not any(lap.capped for lap in one.laps)] or lessons
    return Experience(
        lap_seconds=_medians((key, lap.seconds) for key, lap in laps),
        between_laps=_median(one.pause for one in free if not one.searches) or SECONDS_BETWEEN_LAPS,
        per_start=_median(one.per_start for one in free) or SECONDS_PER_START,
        restart=_median(one.restart for one in free) or SECONDS_PER_RESTART,
        block_sds=_medians((one.metric, one.block_sd) for one in lessons),
        start_sds=_medians((one.metric, one.start_sd) for one in lessons),
        tournaments=len(lessons),
        between_searching_laps=_medians(
            ((one.track, one.lap_documents, one.searches), one.pause) for one in lessons if one.searches
        ),
        driver_load=_medians((key, lap.driver_load) for key, lap in laps),
        capped=frozenset(key for key, lap in laps if lap.capped),
        warmup_lap_seconds=_medians((key, lap.warmup_seconds) for key, lap in laps),
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
    laps = laps_of(history.attempts, tournament)
    if not laps:
        return None
    who = {contender.name: identity(tournament, contender) for contender in tournament.raced}
    seconds = _medians((who[lap.contender], lap.seconds) for lap in counting(laps))
    driver = _medians((who[lap.contender], lap.driver_load) for lap in counting(laps))
    cold: dict[str, list[float]] = defaultdict(list)
    for lap in laps:
        if lap.warmup and lap.void is None:
            cold[who[lap.contender]].append(lap.seconds)
    capped = {who[one.name] for one in tournament.raced if limits_of(tournament, one)}
    side_by_side = runs_side_by_side(tournament)
    pauses: list[float] = []
    per_start: list[float] = []
    for attempt in history.attempts:
        timed = [record for record in attempt.records if record.lap.seconds > 0]
        if attempt.outcome != DONE or attempt.ended is None or len(timed) < 2:
            continue
        # Where freshness is probed, a lap waits before its load; how long is planned, and nothing to learn.
        gaps = [
            max(0.0, later.lap.began - sooner.lap.began - sooner.lap.seconds - later.waited)
            for sooner, later in itertools.pairwise(timed)
        ]
        pauses += gaps
        first, last = timed[0].lap, timed[-1].lap
        # The last lap searches, too, and other starts do not.
        searched = statistics.median(gaps) if tournament.searches else 0.0
        beside = attempt.ended - attempt.began - (last.began + last.seconds - first.began) - searched
        # Nodes side by side are installed before, and started anew between, which a start of one node is not.
        if not side_by_side:
            per_start.append(max(0.0, beside))
    restarts = [
        max(0.0, later.began - sooner.ended)
        for sooner, later in itertools.pairwise(history.attempts)
        # Nodes that did not start have taken as long as their patience.
        if sooner.race_id == later.race_id and sooner.ended is not None and later.records
    ]
    # Early evidence chose the number of blocks, and few of them say little of how they vary.
    enough = not history.decided and tournament.blocks * tournament.starts >= FEWEST_BLOCKS
    going_on = [name for name in rivals(tournament) if name not in history.dropped]
    varying = spreads(laps, tournament, tournament.metric, going_on).values()
    # Of two starts every third estimate and more is 0, whatever starts differ by.
    several = side_by_side and len({start for start, _ in measured_blocks(laps)}) >= FEWEST_STARTS
    return Lesson(
        tournament.track,
        tournament.lap_documents,
        tournament.searches,
        tournament.metric.name,
        tuple(
            LapExperience(
                one, value, driver.get(one), statistics.fmean(cold[one]) if cold[one] else None, one in capped
            )
            for one, value in seconds.items()
        ),
        _median(pauses),
        _median(per_start),
        _median(one.block for one in varying) if enough else None,
        _median(restarts),
        _median(one.start for one in varying) if enough and several else None,
    )


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _medians(values: Iterable[tuple[Key, float | None]]) -> dict[Key, float]:
    """The median of each key's values, without those that are not known."""
    found: dict[Key, list[float]] = defaultdict(list)
    for key, value in values:
        if value is not None:
            found[key].append(value)
    return {key: statistics.median(known) for key, known in found.items()}
