"""From the lap runner's lines, while the file grows, to laps with their place in the tournament; which of them count.

What becomes of the laps of an attempt that did not come to its end, because Rally or the node failed, or because it was
cut off (Ctrl-C, kill -9, power):
- at index level blocks with a lap of every contender count: both sides of a pair were run on one warmed node, each lap
  has proven itself, and what ended the race came after them. A started block is void. A further attempt warms up anew
  and goes on with the next block; a start whose race has failed twice stays as short as it is.
- at node level all are void and the start is repeated, because there the start as a whole is the unit.
A contender that was dropped, because the evidence had decided it, is missing from no later block.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paddock.rally.clusters import DEFAULT_CLUSTER
from paddock.tournaments.model import FEWEST_FOR_P99, Answer, Disturbance, Lap, Markers, Tournament
from paddock.tournaments.schedule import Start

DONE, FAILED, CUT_OFF = "done", "failed", "cut off"
MERGE_WAIT = "merge wait s/M docs"
_MILLION = 1_000_000
# By so much may the time of day seem to have run slower than the steady clock in a lap.
_CLOCK_STEP_SECONDS = 0.05
# What of the figures of an index a result keeps.
_INDEX = (
    *("segments", "refreshes", "refresh_ms", "merges", "merge_ms", "merge_bytes", "merge_throttled_ms"),
    *("flushes", "flush_ms"),
)


class LapLines:
    """Reads a growing file of JSON lines, each line once.

    :param known: lines that were taken before, from the beginning of the file.
    """

    def __init__(self, file: Path, known: int = 0) -> None:
        self._file = file
        self._skip = known
        self._offset = 0

    def read(self) -> list[dict[str, Any]]:
        """The laps whose lines have been completed since the last call; half a line waits for its other half."""
        if not self._file.exists():
            return []
        with self._file.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        whole = text.rfind(b"\n") + 1
        self._offset += whole
        laps = []
        for line in text[:whole].splitlines():
            try:
                lap = json.loads(line)
            except ValueError:
                continue  # cut off by a crash; the lap runner has begun a new line after it
            if self._skip:
                self._skip -= 1
            else:
                laps.append(lap)
        return laps


@dataclass(frozen=True)
class LapRecord:
    """A line of the lap runner's journal: the lap, and what a result does not keep of it.

    :param waited: seconds before its load, for a phase of the refresh where freshness is probed.
    :param seconds_per_document: of equal shares of its documents, one per bulk unless those are many; empty where the
        journal does not tell.
    :param settings: those of its index, as the node told them.
    :param cluster: Rally's name for the one that it ran on.
    :param load: a time in which its load ran for certain, begin and end by the machine's steady clock; None if unknown.
    :param node_cores: cores that all nodes together used from the load to the end of the merges that it left.
    :param stopped: the same of the time in which collections stopped nodes, per second, all nodes together.
    """

    lap: Lap
    waited: float
    seconds_per_document: tuple[float, ...]
    settings: Mapping[str, str]
    cluster: str = DEFAULT_CLUSTER
    load: tuple[float, float] | None = None
    node_cores: float | None = None
    stopped: float | None = None


@dataclass
class Attempt:
    """One race of a start.

    :param skipped: measured blocks that earlier attempts have done, and this one left out.
    :param at: when it began, epoch seconds.
    :param monotonic: when it began, by the machine's steady clock; None in journals from before.
    :param began, ended: seconds that the tournament had been running then; ``ended`` is None while it runs.
    :param outcome: DONE, FAILED or CUT_OFF; an attempt that nobody saw end was cut off.
    :param dropped: contender -> the last block that has to have a lap of it, 0 if it was dropped before. The block that
        follows may have one, where it had begun already.
    """

    start: int
    number: int
    race_id: str
    command: str
    skipped: int
    at: float
    monotonic: float | None
    began: float
    ended: float | None = None
    outcome: str = CUT_OFF
    reason: str = "it was cut off"
    circumstances: dict[str, str] = field(default_factory=dict)
    records: list[LapRecord] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)

    def add(self, line: Mapping[str, Any]) -> None:
        """Take a line of the lap runner's journal (tracks/shared/lap.py has its keys; a void lap may lack any figure).

        :raises KeyError: if it is none.
        """
        documents, seconds = line.get("documents_sent") or 0, line.get("seconds") or 0.0
        void = line.get("void")
        if void is None and (documents <= 0 or seconds <= 0):
            void = "nothing was measured"
        probe, searches = line.get("freshness") or {}, line.get("searches") or {}
        driver = _busiest(line)
        lap = Lap(
            start=self.start,
            # Each attempt numbers its measured blocks from the beginning again.
            block=line["block"] if line["warm_up"] else line["block"] + self.skipped,
            position=line["position"],
            contender=line["level"],
            warmup=bool(line["warm_up"]),
            documents=documents,
            counted=line.get("documents_counted"),
            seconds=seconds,
            began=self._lap_began(line),
            void=void,
            rates=tuple(float(rate) for rate in line.get("documents_per_second") or ()),
            freshness=_freshness(probe),
            markers=_markers(probe),
            disturbance=_disturbance(line.get("disturbance")),
            prices=_prices(line, documents),
            bulks=line.get("bulks") or 0,
            driver_load=driver / seconds if driver is not None and seconds > 0 else None,
            actions=line.get("load_actions") or {},
            answers={
                name: Answer(query["hits"], query.get("digest"))
                for name, query in (searches.get("queries") or {}).items()
            },
            read_back=_read_back(line.get("read_back")),
            documents_before=line.get("documents_before"),
            merges_go_on=bool(line.get("merges_go_on")),
            index={name: value for name, value in (line.get("index_figures") or {}).items() if name in _INDEX},
        )
        shares = line.get("share_ms") or ()
        each = documents / len(shares) if shares else 0
        self.records.append(
            LapRecord(
                lap,
                (line.get("rest_seconds") or 0.0) + (line.get("wait_seconds") or 0.0),
                tuple(ms / 1000 / each for ms in shares) if each else (),
                {name: _setting(value) for name, value in (line.get("settings") or {}).items()},
                line.get("cluster") or DEFAULT_CLUSTER,
                _surely_loading(line),
                *(_per_second(line, name) for name in ("node_cpu_ms", "node_gc_ms")),
            )
        )

    def _lap_began(self, line: Mapping[str, Any]) -> float:
        """By the steady clock, where the lap runner told it; a journal from before has only the time of day."""
        if self.monotonic is not None and line.get("started_monotonic") is not None:
            since = line["started_monotonic"] - self.monotonic
        else:
            since = (line.get("started_at") or self.at) - self.at
        return self.began + max(0.0, float(since))

    def expected(self, names: Iterable[str], block: int) -> set[str]:
        """Who of these has to have a lap in that block."""
        return {name for name in names if block <= self.dropped.get(name, block)}

    def whole_blocks(self, names: Sequence[str]) -> set[int]:
        """The measured blocks in which everybody of these who has to has had a lap."""
        laps: dict[int, set[str]] = {}
        for record in self.records:
            if not record.lap.warmup:
                laps.setdefault(record.lap.block, set()).add(record.lap.contender)
        return {block for block, had in laps.items() if had >= self.expected(names, block)}

    def missing(self, start: Start) -> int:
        """How many laps it lacks.

        :param start: what it was to run: of a start that was cut off what was left.
        """
        had = {(record.lap.block, record.lap.contender) for record in self.records}
        lacking = 0
        for number, order in enumerate(start.orders, start=1):
            block = number if number <= start.warmup_blocks else number + self.skipped
            lacking += sum((block, name) not in had for name in self.expected(order, block))
        return lacking

    def laps(self, tournament: Tournament, running: bool = False) -> list[Lap]:
        """Its laps, those void that do not count.

        :param running: whether it is still running: its laps are then as good as those of one that is done.
        """
        laps = [record.lap for record in self.records]
        if self.outcome == DONE or running:
            return laps
        reason = f"the race {self.race_id} failed" if self.outcome == FAILED else "the start was cut off"
        if tournament.node_level:
            return [_void(lap, reason) for lap in laps]
        kept = self.whole_blocks([one.name for one in tournament.raced])
        return [lap if lap.warmup or lap.block in kept else _void(lap, f"{reason} in this block") for lap in laps]


def blocks_done(attempts: Sequence[Attempt], tournament: Tournament, start: int) -> int:
    """Measured blocks of that start that count although an attempt has not come to its end, over all its attempts."""
    if tournament.node_level:
        return 0
    names = [one.name for one in tournament.raced]
    return sum(len(one.whole_blocks(names)) for one in attempts if one.start == start)


def laps_of(attempts: Sequence[Attempt], tournament: Tournament, running: bool = False) -> tuple[Lap, ...]:
    """All laps in the order of their running, those void that do not count.

    :param running: whether the last attempt is still running.
    """
    laps: list[Lap] = []
    for attempt in attempts:
        laps += attempt.laps(tournament, running and attempt is attempts[-1] and attempt.ended is None)
    return tuple(laps) if tournament.different_answers else _with_same_answers(laps, tournament)


def block_of(lap: Lap, tournament: Tournament) -> tuple[int, int]:
    """What laps that belong together share: the start, at node level the group of starts, from 1; and the block."""
    # The schedule gives each group one start of every contender, and numbers starts through.
    each = len(tournament.raced) if tournament.node_level else 1
    return (lap.start - 1) // each + 1, lap.block


def _with_same_answers(laps: Sequence[Lap], tournament: Tournament) -> tuple[Lap, ...]:
    """Laps whose searches found something else than the baseline's in the same block are void.

    All laps of a block index the same documents, so the same query must find the same: a wrong answer that comes faster
    must not win.
    """
    expected = {
        block_of(lap, tournament): lap.answers
        for lap in laps
        if lap.contender == tournament.baseline and lap.void is None
    }
    checked = []
    for lap in laps:
        wanted = expected.get(block_of(lap, tournament), {})
        both = wanted.keys() & lap.answers.keys()
        wrong = sorted(name for name in both if wanted[name].contradicts(lap.answers[name]))
        if wrong and lap.void is None:
            lap = _void(lap, f"the query '{wrong[0]}' found something else than in the baseline's lap of its block")
        checked.append(lap)
    return tuple(checked)


def _void(lap: Lap, reason: str) -> Lap:
    return replace(lap, void=f"{lap.void}; {reason}" if lap.void else reason)


def _surely_loading(line: Mapping[str, Any]) -> tuple[float, float] | None:
    """When the load of a lap ran for certain.

    It ran for ``seconds`` somewhere between two moments that are a little further apart, because the first bulks are
    read before it and a shipper is looked at after it: wherever it lay between them, it covers what is returned.
    """
    times = [line.get(name) for name in ("started_monotonic", "started_at", "ended_at", "seconds")]
    if None in times:
        return None
    started, began, ended, seconds = (float(one or 0.0) for one in times)
    before = ended - began - seconds
    # Where the time of day was set back meanwhile, nobody knows.
    known = before > -_CLOCK_STEP_SECONDS and seconds > before
    return (started + max(before, 0.0), started + seconds) if known else None


def _per_second(line: Mapping[str, Any], name: str) -> float | None:
    """Milliseconds that were counted until a lap's merges had ended, as seconds per second."""
    seconds = (line.get("seconds") or 0.0) + (line.get("merge_wait_seconds") or 0.0)
    return line[name] / 1000 / seconds if line.get(name) is not None and seconds > 0 else None


def _freshness(probe: Mapping[str, Any]) -> dict[str, float] | None:
    """Milliseconds; None where no probe ran to the end."""
    if not probe or probe.get("problem"):
        return None
    figures = {name: 1000.0 * probe[name] for name in ("p50", "p95", "p99") if probe.get(name) is not None}
    if (probe.get("markers") or 0) < FEWEST_FOR_P99:
        figures.pop("p99", None)  # in journals from before the lap runner left it out
    return {**figures, "n": float(probe.get("markers") or 0)}


def _markers(probe: Mapping[str, Any]) -> Markers | None:
    """The same marker by marker; milliseconds, too."""
    if not probe:
        return None
    found, waiting = (
        tuple(round(1000.0 * seconds, 1) for seconds in probe.get(name) or ())
        for name in ("found_seconds", "waiting_seconds")
    )
    return Markers(found, waiting, probe.get("problem"))


def _disturbance(figures: Mapping[str, Any] | None) -> Disturbance | None:
    """None where the lap runner could not tell, or is from before it did."""
    if not figures:
        return None
    return Disturbance(
        cores=figures["cores"],
        nodes_here=figures["nodes_here"],
        nodes_elsewhere=figures["nodes_elsewhere"],
        steal=figures["steal_share"],
        others=figures["others_cores"],
        **{f"{name}_pressure": figures[f"{name}_pressure_share"] for name in ("cpu", "io", "memory")},
    )


def _busiest(line: Mapping[str, Any]) -> float | None:
    """Processor seconds of the busiest process of the load driver; None in a journal that does not tell."""
    drivers = line.get("drivers")
    if shipper := line.get("shipper"):  # then one process feeds it, and Rally's own only counts
        return float(shipper["generator_cpu_seconds"])
    return max(float(one["cpu_seconds"]) for one in drivers) if drivers else line.get("driver_cpu_seconds")


def _read_back(told: Mapping[str, Any] | None) -> tuple[int, Mapping[str, int]] | None:
    return (told["documents"], {name: one["documents"] for name, one in told["fields"].items()}) if told else None


def _setting(value: str | list[str]) -> str:
    """A setting as the node told it; some, such as the fields of a sort, are lists."""
    return ",".join(value) if isinstance(value, list) else value


def _prices(line: Mapping[str, Any], documents: int) -> dict[str, float]:
    """What the lap cost, beside the time it took."""
    if not documents:
        return {}
    prices: dict[str, float] = {}
    if line.get("node_cpu_ms") is not None:
        prices["node CPU s/M docs"] = line["node_cpu_ms"] / 1000 / documents * _MILLION
    if line.get("driver_cpu_seconds") is not None:
        prices["driver CPU s/M docs"] = line["driver_cpu_seconds"] / documents * _MILLION
    if shipper := line.get("shipper"):
        prices["shipper CPU s/M docs"] = shipper["cpu_seconds"] / documents * _MILLION
        if shipper.get("peak_memory_bytes"):
            prices["shipper memory MiB"] = shipper["peak_memory_bytes"] / 2**20
    if line.get("index_figures"):
        # That of a growing index is of all of its documents.
        prices["bytes/doc"] = line["index_figures"]["store_bytes"] / (documents + (line.get("documents_before") or 0))
        if "merge_throttled_ms" in line["index_figures"]:
            prices["throttled s/M docs"] = line["index_figures"]["merge_throttled_ms"] / 1000 / documents * _MILLION
        for name in ("refresh", "merge"):
            if f"{name}_ms" in line["index_figures"]:
                prices[f"{name} s/M docs"] = line["index_figures"][f"{name}_ms"] / 1000 / documents * _MILLION
    if line.get("slice_seconds") is not None:
        prices["documents"] = float(documents)
    if line.get("node_gc_ms") is not None:
        prices["GC s/M docs"] = line["node_gc_ms"] / 1000 / documents * _MILLION
    if line.get("node_written_bytes") is not None:
        prices["written bytes/doc"] = line["node_written_bytes"] / documents
    if line.get("node_peak_memory_bytes") is not None:
        prices["node memory MiB"] = line["node_peak_memory_bytes"] / 2**20
    if line.get("documents_before") is not None and line.get("merge_wait_seconds") is not None:
        prices[MERGE_WAIT] = line["merge_wait_seconds"] / documents * _MILLION
    for name in ("p50", "p95", "p99"):
        if (line.get("latency_ms") or {}).get(name) is not None:
            prices[f"bulk {name} ms"] = line["latency_ms"][name]
    if line.get("searches"):
        for name in ("p50", "p90", "p95"):
            if line["searches"].get(f"{name}_ms") is not None:
                prices[f"query {name} ms"] = line["searches"][f"{name}_ms"]
    return prices
