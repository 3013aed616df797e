"""Results that look like real ones: noise, drift and warm-up from a fixed seed; verdicts worked out simply."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from paddock.race.bottleneck import (
    BUSY_CPU,
    BUSY_DISK,
    BUSY_DRIVER,
    BUSY_MACHINE,
    DISK,
    DRIVER_CPU,
    FULL_HEAP,
    HEAP_FULL,
    MACHINE_CPU,
    MUCH_COLLECTION,
    NODE_CPU,
    Bottleneck,
    Suspect,
)
from paddock.race.headroom import Headroom, Shape
from paddock.tournaments.model import (
    EQUIVALENT,
    FASTER,
    SLOWER,
    UNDECIDED,
    Absolute,
    Contender,
    Disturbance,
    Lap,
    Markers,
    Metric,
    MetricResult,
    Result,
    Tournament,
    Verdict,
    VoidStart,
)
from paddock.tournaments.published import Published

BEGAN = 1_790_000_000.0
RATE = Metric("docs/s", "docs/s", True)
PRICES = (
    Metric("node CPU s/M docs", "s", False),
    Metric("bytes/doc", "B", False),
    Metric("bulk p50 ms", "ms", False),
)
CIRCUMSTANCES = {
    "Elasticsearch": "8.8.2 (Lucene 9.6.0), embedded",
    "Java": "OpenJDK 21.0.8, G1, heap 1 GiB",
    "Rally": "2.13.0",
    "CPU": "2 x AMD EPYC 7763, 7.6 GiB of memory",
    "Corpus": "apache, 1,000,000 documents, sha256 5d41402abc4b2a76b9719d911017c592ae3f1c7b0d2f5c6f8e4a9d7b6c5e4f30",
}
COMMAND = (
    "esrally race --track-path=tracks/apache --challenge=refresh-interval --on-error=abort "
    "--pipeline=from-distribution --distribution-version=8.8.2 --team-path=. --car=1gheap "
    "--track-params=order-1.json --user-tags=paddock:0.1.0,engine:embedded"
)


def simulated(
    speeds: Mapping[str, float],
    starts: int = 1,
    blocks: int = 12,
    warmup_blocks: int = 3,
    seconds: int = 6,
    noise: float = 0.08,
    seed: int = 7,
    freshness: Mapping[str, float] | None = None,
    void: Callable[[int, int, str], str | None] = lambda start, block, name: None,
) -> tuple[Lap, ...]:
    """Laps of contenders with these true rates: warm-up from a third of the speed, drift, noise.

    :param freshness: milliseconds until half of the documents can be found, by contender.
    :param void: the reason why that lap is void, or None.
    """
    chance = random.Random(seed)
    now, laps = 0.0, []
    for start in range(1, starts + 1):
        now += 40
        for block in range(1, warmup_blocks + blocks + 1):
            order = list(speeds)
            chance.shuffle(order)
            drift = 1 + 0.06 * math.sin((BEGAN + now) / 190)
            warmth = 1 - 0.65 * math.exp(-(block - 1) / 1.2)
            for position, name in enumerate(order, 1):
                rate = speeds[name] * drift * warmth * math.exp(chance.gauss(0, noise))
                rates = [rate * math.exp(chance.gauss(0, 0.1)) for _ in range(seconds)]
                rates.append(rate * chance.random() * 0.8)
                documents = round(sum(rates))
                reason = void(start, block, name)
                p50 = freshness[name] * math.exp(chance.gauss(0, 0.1)) if freshness else 0.0
                seen = _markers(freshness[name], 1000 * documents / rate, chance) if freshness else None
                laps.append(
                    Lap(
                        start=start,
                        block=block,
                        position=position,
                        contender=name,
                        warmup=block <= warmup_blocks,
                        documents=documents,
                        counted=documents - (173 if reason else 0),
                        seconds=round(documents / rate, 3),
                        began=round(now, 2),
                        void=reason,
                        rates=tuple(round(one, 1) for one in rates),
                        freshness={"p50": round(p50, 1), "n": 12.0} if freshness else None,
                        markers=seen,
                        prices={
                            PRICES[0].name: round(1.6e6 / speeds[name] * math.exp(chance.gauss(0, 0.02)), 2),
                            PRICES[1].name: round(137 * (speeds[name] / 30_000) ** 0.2 + chance.gauss(0, 0.6), 2),
                            PRICES[2].name: round(3.9e6 / rate, 1),
                        },
                    )
                )
                now += seconds + 2.2
    return tuple(laps)


def watched(laps: Sequence[Lap], far: Sequence[int], nodes_elsewhere: int = 0) -> tuple[Lap, ...]:
    """The laps with what else the machine did: little, but in those at the places ``far`` a third of its cores."""
    chance = random.Random(17)
    return tuple(
        replace(
            lap,
            disturbance=Disturbance(
                cores=2,
                nodes_here=1 - min(1, nodes_elsewhere),
                nodes_elsewhere=nodes_elsewhere,
                steal=round(chance.uniform(0, 0.02) + (0.12 if place in far else 0), 4),
                others=round(chance.uniform(0.02, 0.1) + (0.55 if place in far else 0), 3),
                cpu_pressure=round(chance.uniform(0.3, 0.5), 4),
                io_pressure=round(chance.uniform(0, 0.06), 4),
                memory_pressure=0.0,
            ),
        )
        for place, lap in enumerate(laps)
    )


def _markers(median: float, lap: float, chance: random.Random) -> Markers:
    """Markers of a lap of that many milliseconds, found after 0 to twice the median unless the lap ends before."""
    sent = [lap * number / 12 for number in range(12)]
    found = [chance.uniform(0, 2 * median) for _ in sent]
    pairs = list(zip(sent, found, strict=True))
    return Markers(
        tuple(round(wait, 1) for begin, wait in pairs if begin + wait <= lap),
        tuple(round(lap - begin, 1) for begin, wait in pairs if begin + wait > lap),
    )


def measured(
    metric: Metric,
    laps: Sequence[Lap],
    names: Sequence[str],
    baseline: str,
    value: Callable[[Lap], float],
    margin: float = 0.03,
) -> MetricResult:
    """Verdicts from the mean log ratio and its normal interval: plain, but of the right shape."""
    counting = [lap for lap in laps if not lap.warmup and lap.void is None]
    by_place = {(lap.start, lap.block, lap.contender): value(lap) for lap in counting}
    verdicts, absolutes = [], []
    for name in names:
        values = [value(lap) for lap in counting if lap.contender == name]
        if values:
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            mean, middle = statistics.fmean(values), statistics.median(values)
            absolutes.append(Absolute(name, round(mean, 4), round(spread, 4), round(middle, 4), len(values)))
        else:
            absolutes.append(Absolute(name, 0.0, 0.0, 0.0, 0))
        if name == baseline:
            continue
        logs = [
            math.log(figure / by_place[start, block, baseline])
            for (start, block, contender), figure in by_place.items()
            if contender == name and (start, block, baseline) in by_place
        ]
        verdicts.append(_verdict(metric, name, logs, margin))
    return MetricResult(metric, tuple(verdicts), tuple(absolutes))


def _verdict(metric: Metric, name: str, logs: Sequence[float], margin: float) -> Verdict:
    scope = "for this JVM"
    if not logs:
        decide = "It needs a pair first: find out why its laps are void."
        return Verdict(name, UNDECIDED, None, 0.0, math.inf, 0.0, 0, 1.0, scope, decide)
    middle = statistics.fmean(logs)
    if len(logs) < 6:
        ratio = round(math.exp(middle), 4)
        decide = f"{6 - len(logs)} more blocks, about 1 minute, at least."
        return Verdict(name, UNDECIDED, ratio, 0.0, math.inf, 0.95, len(logs), 1.0, scope, decide)
    half = 2.2 * statistics.stdev(logs) / math.sqrt(len(logs))
    low, high = round(math.exp(middle - half), 4), round(math.exp(middle + half), 4)
    word = UNDECIDED
    if low > 1 / (1 + margin) and high < 1 + margin:
        word = EQUIVALENT
    elif not low <= 1 <= high:
        word = FASTER if (low > 1) == metric.higher_is_better else SLOWER
    decide = f"{3 * len(logs)} more blocks, about {3 * len(logs) // 4} minutes." if word == UNDECIDED else ""
    p_value = 0.41 if word == UNDECIDED else 0.0005
    return Verdict(name, word, round(math.exp(middle), 4), low, high, 0.95, len(logs), p_value, scope, decide)


def result(
    name: str,
    contenders: Sequence[Contender],
    laps: Sequence[Lap],
    notes: Sequence[str] = (),
    **differences: Any,
) -> Result:
    """A result of those laps; the first contender is the baseline.

    :param differences: fields of the tournament.
    """
    tournament = replace(
        Tournament(
            name=name,
            description="Which refresh interval indexes an access log fastest?",
            track="apache",
            challenge="refresh-interval",
            cars=("1gheap",),
            baseline=contenders[0].name,
            contenders=tuple(contenders),
            metric=RATE,
            node_level=False,
            documents=1_000_000,
            lap_documents=180_000,
            blocks=12,
            warmup_blocks=3,
            starts=1,
            margin=0.03,
            budget_minutes=20.0,
            checksum="9f86d081884c7d65",
        ),
        **differences,
    )
    names = [contender.name for contender in contenders]
    others = [
        measured(price, laps, names, tournament.baseline, lambda lap, key=price.name: lap.prices[key])
        for price in PRICES
        if all(price.name in lap.prices for lap in laps)
    ]
    return Result(
        id=f"20261121-060000-{name}",
        tournament=tournament,
        seed=20261121,
        began=BEGAN,
        seconds=max((lap.began + lap.seconds for lap in laps), default=0.0) + 12,
        main=measured(RATE, laps, names, tournament.baseline, lambda lap: lap.docs_per_second),
        others=tuple(others),
        laps=tuple(laps),
        notes=tuple(notes),
        circumstances=CIRCUMSTANCES,
        commands=tuple([COMMAND] * tournament.starts),
        efficiency=0.71,
        stopped="all blocks done",
    )


def decided() -> Result:
    """Two contenders, both decided: one faster, one slower."""
    speeds = {"flush 512mb": 27_000.0, "flush 2gb": 34_000.0, "flush 16mb": 22_500.0}
    contenders = [Contender(name, {"flush": name.split()[1]}) for name in speeds]
    notes = ("Warm-up: 3 blocks were left out; no further block had to be.",)
    return result("translog-flush", contenders, watched(simulated(speeds), [20, 33]), notes)


def undecided() -> Result:
    """One contender with the baseline's own speed, and too few blocks to say so."""
    speeds = {"mmapfs": 27_000.0, "hybridfs": 27_300.0}
    contenders = [Contender(name, {"index.store.type": name}) for name in speeds]
    laps = simulated(speeds, blocks=7, noise=0.12, seed=3)
    found = result("store-type", contenders, laps, description="Which store type?", budget_minutes=5.0)
    alone = Headroom(Shape(1000, 8), 171_300.0, 158_900.0, 63.6e6, 5.81e-3, 5.81e-6, 0.021)
    return replace(found, headroom=dict.fromkeys(speeds, alone), bottlenecks=saturated())


def saturated() -> dict[str, Bottleneck]:
    """A node at its limit, and a contender whose laps are too short to tell."""
    suspects = (
        Suspect(NODE_CPU, "the node", "1.96 of 2 cores", 0.98, BUSY_CPU),
        Suspect(MACHINE_CPU, "this machine", "88 % busy (cores: the node 1.96, load driver 0.31)", 0.88, BUSY_MACHINE),
        Suspect(HEAP_FULL, "the node", "5.1 % of the time in collections", 0.051, MUCH_COLLECTION),
        Suspect(DRIVER_CPU, "load driver", "its busiest process 0.31 of 1 core", 0.31, BUSY_DRIVER),
        Suspect(HEAP_FULL, "the node", "never less than 310 MiB of 1.00 GiB in use", 0.303, FULL_HEAP),
        Suspect(DISK, "vda", "12 % of the time at work", 0.12, BUSY_DISK),
    )
    full = "Saturated was the CPU of the node: 1.96 of 2 cores; more or faster cores there would bring more."
    short = "What was saturated is not known: no two samples lie within the load of one lap."
    return {
        "mmapfs": Bottleneck(0.0, 35.0, suspects, ("The heaps in use were not noted.",), full),
        "hybridfs": Bottleneck(
            0.0, 0.0, (replace(suspects[3], used="its busiest process 0.85", share=0.85),), (), short
        ),
    }


def grid(rows: Sequence[int] = (125, 500, 1000), columns: Sequence[int] = (1, 2, 3, 4), blocks: int = 6) -> Result:
    """Clients by bulk size; speed levels off in both; the baseline is a cell in the middle of its first row."""
    speeds, contenders = {}, []
    for clients in columns:
        for size in rows:
            name = f"clients {clients}, bulk {size}"
            speeds[name] = 34_000 * (1 - math.exp(-0.9 * clients)) * (1 - math.exp(-size / 260))
            contenders.append(Contender(name, {}, coordinates={"clients": clients, "bulk size": size}))
    contenders.sort(key=lambda one: one.name != "clients 1, bulk 500")
    laps = simulated(speeds, blocks=blocks, warmup_blocks=1, seconds=4, seed=11)
    return result("workers-by-batch", contenders, laps, description="How many clients, how large a bulk?")


def codecs() -> Result:
    """A grid of names that are long and have a factor in common, as that of tournaments/disk.yml in its quick form."""
    sorts = {"unsorted": 1.0, "@timestamp desc": 0.97, "user_agent.keyword,@timestamp desc": 0.9, "referrer": 0.93}
    speeds, contenders = {}, []
    for codec, factor in (("default", 1.0), ("best_compression", 0.8)):
        for sort, share in sorts.items():
            coordinates = {"codec": codec, "sort": sort, "mode": "standard"}
            name = f"codec {codec}, sort {sort}, mode standard"
            speeds[name] = 30_000 * factor * share
            contenders.append(Contender(name, {"index.codec": codec}, coordinates=coordinates))
    laps = simulated(speeds, blocks=8, warmup_blocks=1, noise=0.02, seed=19)
    notes = (f"Of {contenders[1].name} no lap was void.",)
    return result("codecs", contenders, laps, notes, challenge="codec-and-sort")


def study_grid() -> Result:
    """A grid with published means and standard deviations, a misprint among either, and a cell of laps too short."""
    base = grid((16, 125, 1250), (1, 2, 4))
    names = [contender.name for contender in base.tournament.contenders]
    figures_of = {name: 470.0 + 290 * number for number, name in enumerate(names)}
    misprint = "clients 2, bulk 16"
    published = Published(
        source="A seminar paper, 2017",
        unit="docs/s",
        figures={**figures_of, misprint: 99_999.0},
        deviations=("Bulk clients stand for pipeline workers.",),
        excluded={misprint: "Printed as 99999, an evident misprint."},
        sds={name: round(0.3 * figure, 1) for name, figure in figures_of.items() if name != "clients 4, bulk 16"},
        excluded_sds={"clients 4, bulk 16": "Printed as 186936.7, an evident misprint."},
    )
    laps = tuple(
        replace(lap, rates=lap.rates[:1]) if lap.contender == "clients 4, bulk 1250" else lap for lap in base.laps
    )
    return result("study-workers-by-batch", base.tournament.contenders, laps, published=published)


def study() -> Result:
    """The refresh interval with a freshness probe, and published figures of which one is left out."""
    speeds = {"refresh 1s": 26_000.0, "refresh 5s": 28_400.0, "refresh 30s": 31_000.0, "refresh off": 31_500.0}
    waits = {"refresh 1s": 540.0, "refresh 5s": 2_600.0, "refresh 30s": 14_800.0, "refresh off": 22_000.0}
    contenders = [Contender(name, {"index.refresh_interval": name.split()[1]}) for name in speeds]
    published = Published(
        source="Sematext, Elasticsearch refresh interval vs indexing performance, 2013 (Elasticsearch 0.90.0)",
        unit="docs/s",
        figures={"refresh 1s": 2000.0, "refresh 5s": 2500.0, "refresh 30s": 3400.0, "refresh off": 186936.7},
        deviations=(
            "One node instead of three, no replica.",
            "A size-based flush threshold instead of 50,000 operations.",
        ),
        excluded={"refresh off": "an evident misprint."},
        sds={"refresh 1s": 430.0, "refresh 5s": 610.0},
        excluded_sds={"refresh 30s": "it is printed as 186936.7, an evident misprint."},
    )
    return result(
        "study-refresh-interval",
        contenders,
        watched(simulated(speeds, starts=5, blocks=8, warmup_blocks=2, freshness=waits, seed=5), [100], 3),
        ("5 of 5 starts came to their end.",),
        published=published,
        freshness=True,
        starts=5,
        track_params={"bulk_size": 3000, "bulk_indexing_clients": 2},
    )


def with_voids() -> Result:
    """Some void laps, a start void as a whole, one dead before its first lap, a contender without a valid pair."""

    def void(start: int, block: int, name: str) -> str | None:
        if name == "request durability":
            return "173 documents of the lap are not in the index."
        if start == 2:
            return "The node did not answer any more."
        return "2 bulks were rejected." if block in (5, 9) and name == "sync 30s" else None

    speeds = {"sync 5s": 25_000.0, "sync 30s": 27_500.0, "request durability": 9_000.0}
    contenders = [Contender(name, {}) for name in speeds]
    laps = simulated(speeds, starts=2, blocks=8, void=void, seed=13)
    held = result("translog-sync", contenders, laps, ("Start 2 failed twice and is void.",), starts=3)
    return replace(held, void_starts=(VoidStart(3, "The race failed. The port 39200 is taken. More in rally.log."),))


ALL = {
    "decided": decided,
    "undecided": undecided,
    "grid": grid,
    "study": study,
    "study-grid": study_grid,
    "voids": with_voids,
}
