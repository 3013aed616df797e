"""From the lap runner's lines, while the file grows, to laps with their place in the tournament.

What becomes of the laps of an attempt that did not come to its end, because Rally or the node failed, or because it was
cut off (Ctrl-C, kill -9, power):
- at index level blocks with a lap of every contender count: both sides of a pair were run on one warmed node, each lap
  has proven itself, and what ended the race came after them. A started block is void. A further attempt warms up anew
  and goes on with the next block; a start whose race has failed twice stays as short as it is.
- at node level all are void and the start is repeated, because there the start as a whole is the unit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paddock.tournaments.freshness import FEWEST_FOR_P99
from paddock.tournaments.journal import DONE, FAILED, Attempt, History
from paddock.tournaments.model import Answer, Disturbance, Lap, Markers, Tournament


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


_MILLION = 1_000_000


@dataclass(frozen=True)
class Pace:
    """How fast a lap went inside.

    :param bulks: bulks sent.
    :param seconds_per_document: of equal shares of its documents, one per bulk unless those are many; empty where the
        journal does not tell.
    """

    lap: Lap
    bulks: int
    seconds_per_document: tuple[float, ...]


def read_lap(record: Mapping[str, Any], attempt: Attempt, warmup_blocks: int) -> Lap:
    """The lap in one line of the lap runner's journal.

    :param attempt: the race that it was run in; blocks that earlier attempts have done are counted.
    """
    block = record["block"] if record["block"] <= warmup_blocks else record["block"] + attempt.skipped
    documents = record.get("documents_sent") or 0
    seconds = record.get("seconds") or 0.0
    void = record.get("void")
    if void is None and (documents <= 0 or seconds <= 0):
        void = "nothing was measured"
    return Lap(
        start=attempt.start,
        block=block,
        position=record["position"],
        contender=record["level"],
        warmup=bool(record["warm_up"]),
        documents=documents,
        counted=record.get("documents_counted") or 0,
        seconds=seconds,
        began=_began(record, attempt),
        void=void,
        rates=tuple(float(rate) for rate in record.get("documents_per_second") or ()),
        freshness=_freshness(record.get("freshness")),
        markers=_markers(record.get("freshness")),
        disturbance=_disturbance(record.get("disturbance")),
        prices=_prices(record, documents),
        bulks=record.get("bulks") or 0,
        driver_load=_driver_load(record, seconds),
        actions=record.get("load_actions") or {},
        answers={
            name: Answer(query["hits"], query.get("digest"))
            for name, query in ((record.get("searches") or {}).get("queries") or {}).items()
        },
    )


def _began(record: Mapping[str, Any], attempt: Attempt) -> float:
    """By the steady clock, where the lap runner told it; a journal from before has only the time of day."""
    if attempt.monotonic is not None and record.get("started_monotonic") is not None:
        since = record["started_monotonic"] - attempt.monotonic
    else:
        since = (record.get("started_at") or attempt.at) - attempt.at
    return attempt.began + max(0.0, float(since))


def whole_blocks(attempt: Attempt, warmup_blocks: int, contenders: int) -> list[int]:
    """The measured blocks of that attempt in which every contender has had its lap, as its race numbered them."""
    laps: dict[int, set[str]] = {}
    for record in attempt.laps:
        if record["block"] > warmup_blocks:
            laps.setdefault(record["block"], set()).add(record["level"])
    return sorted(block for block, levels in laps.items() if len(levels) == contenders)


def blocks_kept(attempt: Attempt, tournament: Tournament) -> int:
    """Measured blocks that count although the attempt has not come to its end."""
    if tournament.node_level:
        return 0
    return len(whole_blocks(attempt, tournament.warmup_blocks, len(tournament.contenders)))


def blocks_done(history: History, tournament: Tournament, start: int) -> int:
    """Measured blocks of that start that count, over all its attempts."""
    return sum(blocks_kept(attempt, tournament) for attempt in history.attempts_of(start))


def void_starts(history: History, tournament: Tournament) -> dict[int, str]:
    """Starts that were given up after their races had failed, without a block that counts; each with the reason."""
    failed = history.failed_starts()
    return {start: reason for start, reason in failed.items() if not blocks_done(history, tournament, start)}


def laps_of(history: History, tournament: Tournament, running: bool = False) -> tuple[Lap, ...]:
    """All laps in the order of their running, those void that do not count.

    :param running: whether the last attempt is still running: its laps are then as good as those of a finished one.
    """
    laps: list[Lap] = []
    for attempt in history.attempts:
        read = [read_lap(record, attempt, tournament.warmup_blocks) for record in attempt.laps]
        going_on = running and attempt is history.attempts[-1] and attempt.ended is None
        laps += read if attempt.outcome == DONE or going_on else _marked(read, attempt, tournament)
    return tuple(laps) if tournament.different_answers else _with_same_answers(laps, tournament)


def paces(history: History, laps: Sequence[Lap]) -> Iterator[Pace]:
    """What a result does not keep of its laps.

    :param laps: all of ``laps_of(history, ...)``.
    """
    records = (record for attempt in history.attempts for record in attempt.laps)
    for lap, record in zip(laps, records, strict=True):
        shares = record.get("share_ms") or ()
        documents = lap.documents / len(shares) if shares else 0
        yield Pace(lap, record.get("bulks") or 0, tuple(ms / 1000 / documents for ms in shares))


def _marked(laps: list[Lap], attempt: Attempt, tournament: Tournament) -> list[Lap]:
    """The laps of an attempt that has not come to its end."""
    reason = f"the race {attempt.race_id} failed" if attempt.outcome == FAILED else "the start was cut off"
    if tournament.node_level:
        return [_void(lap, reason) for lap in laps]
    whole = whole_blocks(attempt, tournament.warmup_blocks, len(tournament.contenders))
    kept = {block + attempt.skipped for block in whole}
    return [lap if lap.warmup or lap.block in kept else _void(lap, f"{reason} in this block") for lap in laps]


def block_of(lap: Lap, tournament: Tournament) -> tuple[int, int]:
    """What laps that belong together share: the start, at node level the group of starts, from 1; and the block."""
    # The schedule gives each group one start of every contender, and numbers starts through.
    each = len(tournament.contenders) if tournament.node_level else 1
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
            lap = _void(
                lap,
                f"the query '{wrong[0]}' found something else than in the baseline's lap of its block",
            )
        checked.append(lap)
    return tuple(checked)


def _void(lap: Lap, reason: str) -> Lap:
    return replace(lap, void=f"{lap.void}; {reason}" if lap.void else reason)


def _freshness(record: Mapping[str, Any] | None) -> dict[str, float] | None:
    """Milliseconds; None where no probe ran to the end."""
    if not record or record.get("problem"):
        return None
    figures = {name: 1000.0 * record[name] for name in ("p50", "p99") if record.get(name) is not None}
    if (record.get("markers") or 0) < FEWEST_FOR_P99:
        figures.pop("p99", None)  # in journals from before the lap runner left it out
    return {**figures, "n": float(record.get("markers") or 0)}


def _markers(record: Mapping[str, Any] | None) -> Markers | None:
    """The same marker by marker; milliseconds, too."""
    if not record:
        return None
    found, waiting = (
        tuple(round(1000.0 * seconds, 1) for seconds in record.get(name) or ())
        for name in ("found_seconds", "waiting_seconds")
    )
    return Markers(found, waiting, record.get("problem"))


def _disturbance(record: Mapping[str, Any] | None) -> Disturbance | None:
    """None where the lap runner could not tell, or is from before it did."""
    if not record:
        return None
    return Disturbance(
        cores=record["cores"],
        nodes_here=record["nodes_here"],
        nodes_elsewhere=record["nodes_elsewhere"],
        steal=record["steal_share"],
        others=record["others_cores"],
        **{f"{name}_pressure": record[f"{name}_pressure_share"] for name in ("cpu", "io", "memory")},
    )


def _driver_load(record: Mapping[str, Any], seconds: float) -> float | None:
    spent = record.get("driver_cpu_seconds")
    return spent / seconds if spent is not None and seconds > 0 else None


def _prices(record: Mapping[str, Any], documents: int) -> dict[str, float]:
    """What the lap cost, beside the time it took."""
    if not documents:
        return {}
    prices: dict[str, float] = {}
    node_ms = record.get("node_cpu_ms_with_merges")
    if node_ms is None:
        node_ms = record.get("node_cpu_ms")
    if node_ms is not None:
        prices["node CPU s/M docs"] = node_ms / 1000 / documents * _MILLION
    if record.get("driver_cpu_seconds") is not None:
        prices["driver CPU s/M docs"] = record["driver_cpu_seconds"] / documents * _MILLION
    if record.get("index_figures"):
        prices["bytes/doc"] = record["index_figures"]["store_bytes"] / documents
    for name in ("p50", "p99"):
        if (record.get("latency_ms") or {}).get(name) is not None:
            prices[f"bulk {name} ms"] = record["latency_ms"][name]
    if record.get("searches"):
        for name in ("p50", "p90"):
            prices[f"query {name} ms"] = record["searches"][f"{name}_ms"]
    return prices
