"""What laps cannot tell: too short, few bulks, the load driver as their limit, a busy machine.

Said before a tournament from what is expected, and beside its result from what was measured.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from paddock.race.headroom import Headroom
from paddock.statistics.series import far_above
from paddock.tournaments.model import Disturbance, Lap, Metric
from paddock.tournaments.pairing import counting

# What has to be exceeded beside the others' own scatter, so that a quiet machine names no lap. Taken cores slow a lap
# down by as much; waiting for a disk or for memory may be part of what a lap does anyway.
LEAST_TAKEN = 0.05
LEAST_PRESSURE = 0.10
# Share of the cores that others may have in the median lap before it is said of the machine as a whole.
SHARED = 0.10
_NAMED = 5


@dataclass(frozen=True)
class DisturbedLap:
    """A lap far outside.

    It stays in: a disturbance hits whichever lap it finds, and leaving out what does not please is no method. Blocks in
    random order keep it from favouring anybody; to name it tells where an outlier may come from.

    :param signs: in what, with its figures, as text: "steal 12 %".
    """

    lap: Lap
    signs: tuple[str, ...]


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


# Its figure (None where unknown), how far above the others it has to be, and how it reads.
_SIGNS: tuple[tuple[Callable[[Disturbance], float | None], float, Callable[[Disturbance], str]], ...] = (
    (lambda one: one.steal, LEAST_TAKEN, lambda one: f"steal {_share(one.steal)}"),
    (lambda one: one.others / one.cores, LEAST_TAKEN, lambda one: f"{one.others:.2f} cores busy with others"),
    (lambda one: one.io_pressure, LEAST_PRESSURE, lambda one: f"waiting for disks {_share(one.io_pressure or 0.0)}"),
    (
        lambda one: one.memory_pressure,
        LEAST_PRESSURE,
        lambda one: f"waiting for memory {_share(one.memory_pressure or 0.0)}",
    ),
)


def disturbed_laps(laps: Sequence[Lap]) -> tuple[DisturbedLap, ...]:
    """Those of the laps that count, in their order, that lie far above the others of the same contender.

    Contenders are looked at one by one, because what is asked of a machine differs between them. Pressure on the
    processor is no sign: the nodes' own threads wait for each other, and what others take shows in their load.
    """
    signs: dict[int, list[str]] = {}
    told = [lap for lap in counting(laps) if lap.disturbance is not None]
    for contender in dict.fromkeys(lap.contender for lap in told):
        for figure, least, text in _SIGNS:
            known = [
                (lap, value, text(lap.disturbance))
                for lap in told
                if lap.contender == contender and lap.disturbance and (value := figure(lap.disturbance)) is not None
            ]
            for position in far_above([value for _, value, _ in known], least):
                lap, _, sign = known[position]
                signs.setdefault(id(lap), []).append(sign)
    return tuple(DisturbedLap(lap, tuple(signs[id(lap)])) for lap in told if id(lap) in signs)


def disturbance_notes(laps: Sequence[Lap]) -> Iterator[str]:
    """The laps far outside in one sentence, and whether others had a good part of the machine all the time."""
    found = disturbed_laps(laps)
    if found:
        named = [
            f"start {one.lap.start} block {one.lap.block} '{one.lap.contender}' ({', '.join(one.signs)})"
            for one in found[:_NAMED]
        ]
        more = [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
        yield (
            f"{len(found)} {'lap was' if len(found) == 1 else 'laps were'} disturbed far more than the others of the "
            f"same contender, and {'counts' if len(found) == 1 else 'count'} all the same, because their order is "
            f"random: {'; '.join([*named, *more])}."
        )
    taken = [lap.disturbance.taken for lap in counting(laps) if lap.disturbance]
    if taken and statistics.median(taken) > SHARED:
        yield (
            f"The machine was shared: others had {_share(statistics.median(taken))} of its cores during the median "
            f"lap, {_share(min(taken))} to {_share(max(taken))} in all of them. Absolute rates are those of what was "
            f"left."
        )
    if any(lap.disturbance is not None and lap.disturbance.nodes_elsewhere for lap in laps):
        yield (
            "Disturbances are those of the load driver's machine; nobody watched the machines of the nodes that run "
            "elsewhere."
        )


# Seconds of load that a lap should have at least; docs/method.md says why.
SHORTEST_LAP = 4.0
# The warm-up that every start has to have; docs/method.md says why.
WARMUP_SECONDS = 60
WARMUP_DOCUMENTS = 600_000
# Bulks that each client of a lap should send at least: with fewer, clients wait idly for the last ones.
FEWEST_BULKS_PER_CLIENT = 10
# Processor seconds of a process of the load driver per second of load from which on it, and not the node, decides the
# rate. Python runs on one core at a time in it, so 1 is all that it has.
DRIVER_LIMIT = 0.7
# What the load driver needs where its headroom has not been measured yet: a sink that answers as Elasticsearch does, on
# two cores of an EPYC, took 38,000 documents/s of 340 bytes at 100 a bulk, 210,000 at 1,000 and 560,000 at 5,000.
DRIVER_SECONDS_PER_BULK = 3.2e-3
DRIVER_SECONDS_PER_DOCUMENT = 1.3e-6
# What the rate of the driver enters into.
_RATES = ("docs/s", "bulk p50 ms", "bulk p99 ms")
# Beginning of an index setting -> what it makes the index do, as the lap runner counts it.
_ACTIONS = {
    "index.refresh_interval": "refreshes",
    "index.translog.flush_threshold": "flushes",
    "index.merge.": "merges",
}


def short_laps(seconds: float, lap_documents: int, verb: str) -> str | None:
    """A sentence about laps that are too short; None if they are not.

    :param seconds: the median of their load.
    :param lap_documents: that were asked for; 0 where laps are slices of so many seconds.
    :param verb: "took", or what says that it is expected.
    """
    if seconds >= SHORTEST_LAP or seconds <= 0:
        return None
    if not lap_documents:
        return f"slices {verb} {seconds:.1f} s (median), less than {SHORTEST_LAP:.0f} s: make lap_seconds longer."
    enough = _rounded_up(lap_documents * SHORTEST_LAP / seconds)
    return (
        f"laps {verb} {seconds:.1f} s (median), less than {SHORTEST_LAP:.0f} s: what each has once, such as its fresh "
        f"index, weighs too much, and refreshes of a longer interval do not happen; lap_documents: {enough} would be "
        f"enough, with a corpus of as many."
    )


def few_for_rates(seconds: float, documents: float) -> str:
    """What a warm-up lacks that absolute rates need; empty if nothing."""
    lacking = [f"{WARMUP_SECONDS} s"] if seconds < WARMUP_SECONDS else []
    lacking += [f"{WARMUP_DOCUMENTS:,} documents"] if documents < WARMUP_DOCUMENTS else []
    return f"less than the {' and the '.join(lacking)} that absolute rates need" if lacking else ""


def few_bulks(documents: int, shapes: Mapping[str, tuple[int, int]]) -> str | None:
    """A sentence about laps whose clients have too few bulks to send; None if there are none.

    With B bulks and C clients, C - B mod C of the C * ceil(B / C) turns of a lap's clients may stay empty.

    :param documents: of a lap.
    :param shapes: contender -> documents per bulk, clients.
    """
    idle: dict[str, float] = {}
    enough = 0
    for name, (size, clients) in shapes.items():
        bulks = math.ceil(documents / size)
        if bulks < FEWEST_BULKS_PER_CLIENT * clients:
            idle[name] = 1 - bulks / (clients * math.ceil(bulks / clients))
            enough = max(enough, FEWEST_BULKS_PER_CLIENT * clients * size)
    if not idle:
        return None
    worst = max(idle, key=lambda name: idle[name])
    return (
        f"laps of {_listed(idle)} have less than {FEWEST_BULKS_PER_CLIENT} bulks for each client, and up to "
        f"{100 * idle[worst]:.0f} % of the clients' turns stay empty in those of '{worst}': lap_documents: "
        f"{_rounded_up(enough)} would be enough."
    )


def expected_driver_load(documents: int, bulk_size: int, seconds: float, headroom: Headroom | None = None) -> float:
    """Processor seconds of the load driver per second of load, by what a sink took from it.

    :param headroom: what was measured here; None for what was measured elsewhere.
    """
    bulks = math.ceil(documents / bulk_size)
    if headroom is not None:
        return documents * headroom.cpu_seconds_per_document / seconds
    return (bulks * DRIVER_SECONDS_PER_BULK + documents * DRIVER_SECONDS_PER_DOCUMENT) / seconds


def driver_loads(laps: Sequence[Lap]) -> dict[str, float]:
    """The median driver load of each contender's laps that count, of its busiest process, where it is known."""
    return _medians(laps, lambda lap: lap.driver_load)


def median_rates(laps: Sequence[Lap]) -> dict[str, float]:
    """The median docs/s of each contender's laps that count."""
    return _medians(laps, lambda lap: lap.docs_per_second)


def driver_bound(
    loads: Mapping[str, float], shares: Mapping[str, float], processes: int = 1, expected: bool = False
) -> str | None:
    """A sentence about laps that measure the load driver; None if there are none.

    :param loads: contender -> processor seconds of the load driver per second of load, of several processes each one's.
    :param shares: contender -> its docs/s as a share of what the load driver alone pushes; those that are known.
    :param processes: that the load driver has.
    :param expected: whether both are what is expected.
    """
    bound = {name: load for name, load in loads.items() if load >= DRIVER_LIMIT}
    near = {name: share for name, share in shares.items() if share >= DRIVER_LIMIT}
    if near and not bound:
        most = max(near, key=lambda name: near[name])
        return (
            f"laps of {_listed(near)} {'are expected to reach' if expected else 'reached'} up to "
            f"{_share(near[most])} of what the load driver alone pushes (most: '{most}'): differences may be hidden "
            f"by it, so that contenders look more alike than they are. Larger bulks ask less of it."
        )
    if not bound:
        return None
    verb = "are expected to keep" if expected else "kept"
    most = max(bound, key=lambda name: bound[name])
    busy, all_it_is = "the load driver", "one process is all that it is"
    if processes > 1:
        busy, all_it_is = f"a process of the load driver's {processes}", "one core is all that it can use"
    return (
        f"laps of {_listed(bound)} {verb} {busy} busy for {min(bound[most], 1):.2f} s of every second (most: "
        f"'{most}'), and {all_it_is}: they measure it rather than the node, so that contenders look more alike than "
        f"they are. Larger bulks ask less of it, and more processes (driver_processes) share it, where there are cores."
    )


def hides_differences(
    metric: Metric, loads: Mapping[str, float], shares: Mapping[str, float], names: Iterable[str]
) -> bool:
    """Whether those may be alike in that metric only because the load driver was the limit of one of them.

    :param loads: as for ``driver_bound``, and ``shares``.
    """
    most = [max(loads.get(name, 0.0), shares.get(name, 0.0)) for name in names]
    return metric.name in _RATES and max(most) >= DRIVER_LIMIT


def never_acted(laps: Sequence[Lap], settings: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Sentences about settings that contenders differ in, and that did nothing while the laps ran.

    :param settings: contender -> index settings in force.
    """
    names = sorted({name for of in settings.values() for name in of})
    for name in names:
        values = {contender: of.get(name) for contender, of in settings.items()}
        action = next((does for begin, does in _ACTIONS.items() if name.startswith(begin)), None)
        if action is None or len(set(values.values())) == 1:
            continue
        counts = _found(laps, lambda lap, action=action: lap.actions.get(action))  # type: ignore[misc]
        # -1 switches refreshes and flushes by age off: it acts by doing nothing.
        asked = {contender: each for contender, each in counts.items() if values.get(contender) != "-1"}
        if idle := [contender for contender, each in asked.items() if not any(each)]:
            yield (
                f"{name} never acted in the laps of {_listed(idle)}: there were no {action} while they ran, so the "
                f"result says nothing of what those cost; longer laps (lap_documents) would."
            )
        if seldom := [one for one, each in asked.items() if any(each) and not statistics.median(each)]:
            yield (
                f"{name} acted in fewer than half of the laps of {_listed(seldom)}: in the others there were no "
                f"{action}, so the result says little of what those cost; longer laps (lap_documents) would."
            )


def _medians(laps: Sequence[Lap], of: Callable[[Lap], float | None]) -> dict[str, float]:
    """The median of each contender's laps that count, without those that do not tell."""
    return {name: statistics.median(values) for name, values in _found(laps, of).items()}


def _found(laps: Sequence[Lap], of: Callable[[Lap], float | None]) -> dict[str, list[float]]:
    """The same figure of each of these laps."""
    found: dict[str, list[float]] = {}
    for lap in counting(laps):
        if (value := of(lap)) is not None:
            found.setdefault(lap.contender, []).append(value)
    return found


def _listed(names: Iterable[str], most: int = 4) -> str:
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > most:
        quoted = [*quoted[: most - 1], f"{len(quoted) - most + 1} more"]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _rounded_up(documents: float) -> int:
    """To two digits."""
    step = int(10 ** max(0, math.floor(math.log10(documents)) - 1))
    return math.ceil(documents / step) * step
