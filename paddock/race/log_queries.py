"""What the challenge log-queries found: four questions to an index and to scans, at each size of the data.

It is read from the journal of the load; which lines that has, tracks/shared/log_queries.py says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.costs import DAYS_PER_MONTH, Prices
from paddock.plain_values import known
from paddock.race.load import journal_lines
from paddock.race.race_results import Size, Trend, trend
from paddock.race.summary import Summary
from paddock.statistics.crossing import Compared, Crossing, Median, crossing, median_of

INDEX = "index"
_HOUR, _GIGABYTE = 3600.0, 1e9


@dataclass(frozen=True)
class Asked:
    """One question, put in one way at one size of the data.

    :param seconds: from asking to the end of the answer, warm-up excluded.
    :param cpu_seconds: of all processes of a scan, the mean; None of an index, whose node does it.
    :param read_bytes: compressed, that a scan reads; ``raw_bytes`` before compression; 0 of an index.
    :param answers: how many documents were found and what tells them apart; more than one where runs do not agree.
    """

    documents: int
    seconds: Median
    runs: int
    cpu_seconds: float | None
    read_bytes: int
    raw_bytes: int
    answers: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Way:
    """One question, put in one way at all sizes.

    :param trend: None of fewer than three sizes.
    """

    name: str
    sizes: tuple[Asked, ...]
    trend: Trend | None


@dataclass(frozen=True)
class Against:
    """The index against one kind of scan.

    :param compared: at each size, in seconds; the index is the first.
    """

    way: str
    compared: tuple[Compared, ...]
    crossing: Crossing


@dataclass(frozen=True)
class Question:
    """One question, put in all ways.

    :param disagreements: a sentence for each size and scan whose answer is not that of the index.
    """

    name: str
    ways: tuple[Way, ...]
    against: tuple[Against, ...]
    disagreements: tuple[str, ...]

    @property
    def agreed(self) -> int:
        """How many scans of all sizes gave the answer of the index."""
        return sum(len(one.compared) for one in self.against) - len(self.disagreements)


@dataclass(frozen=True)
class LogQueries:
    """All of it.

    :param load_seconds: how long it took to index the documents of the largest size; None if that was not measured.
    """

    questions: tuple[Question, ...]
    load_seconds: float | None

    @property
    def largest(self) -> int:
        """How many documents the largest size has: whatever is said of all data is said of that alone."""
        return max(size.documents for one in self.questions for way in one.ways for size in way.sizes)


def read_log_queries(path: Path, summary: Summary) -> LogQueries | None:
    """The last race in that journal; None if it asked nothing that was measured."""
    lines = journal_lines(path)
    begins = [number for number, line in enumerate(lines) if line.get("kind") == "log-queries"]
    asked = [line for line in lines[begins[-1] :] if line.get("kind") == "log-query"] if begins else []
    if not any(not line["warm_up"] for line in asked):
        return None
    names = dict.fromkeys(line["query"] for line in asked)
    questions = tuple(_question(name, [line for line in asked if line["query"] == name]) for name in names)
    loads = [known(task.seconds) for task in summary.bulk_tasks]
    return LogQueries(questions, None if not loads or None in loads else sum(one or 0.0 for one in loads))


def _question(name: str, lines: Sequence[Mapping[str, Any]]) -> Question:
    ways = {}
    for way in dict.fromkeys(line["way"] for line in lines):
        of_way = [line for line in lines if line["way"] == way]
        sizes = tuple(
            _asked(size, [line for line in of_way if line["documents"] == size])
            for size in sorted({line["documents"] for line in of_way if not line["warm_up"]})
        )
        points = [Size(0, one.documents, one.seconds.value * 1000, None, 0.0) for one in sizes]
        ways[way] = Way(name=way, sizes=sizes, trend=trend(points))
    against, disagreements = [], []
    for way, scanned in ways.items():
        if way == INDEX or INDEX not in ways:
            continue
        at = {one.documents: one for one in ways[INDEX].sizes}
        both = [(at[one.documents], one) for one in scanned.sizes if one.documents in at]
        compared = tuple(Compared(one.documents, one.seconds, other.seconds) for one, other in both)
        if compared:
            against.append(Against(way, compared, crossing(compared)))
        disagreements += [_disagreement(name, way, one, other) for one, other in both if not agree(one, other)]
    return Question(name, tuple(ways.values()), tuple(against), tuple(disagreements))


def _asked(size: int, lines: Sequence[Mapping[str, Any]]) -> Asked:
    """Of one size and way; also runs of the warm-up have to give the same answer."""
    measured = [line for line in lines if not line["warm_up"]]
    cpu = [line["cpu_seconds"] for line in measured if "cpu_seconds" in line]
    return Asked(
        documents=size,
        seconds=median_of([line["seconds"] for line in measured]),
        runs=len(measured),
        cpu_seconds=sum(cpu) / len(cpu) if cpu else None,
        read_bytes=measured[-1].get("read_bytes", 0),
        raw_bytes=measured[-1].get("raw_bytes", 0),
        answers=tuple(sorted({(line["number"], line["digest"]) for line in lines})),
    )


def agree(one: Asked, other: Asked) -> bool:
    """Whether each gave one answer, and both the same."""
    return one.answers == other.answers and len(one.answers) == 1


def _disagreement(name: str, way: str, index: Asked, scanned: Asked) -> str:
    def told(asked: Asked) -> str:
        return " or ".join(dict.fromkeys(f"{number:,}" for number, _ in asked.answers))

    if told(index) != told(scanned):
        what = f"the index finds {told(index)} documents, {way} {told(scanned)}"
    else:
        what = f"both find {told(index)} documents, but not the same times of them"
    return f"{name} at {index.documents:,} documents: {what}."


@dataclass(frozen=True)
class ScanCost:
    """What one question costs when it is put to a scan, and what the index saves of it; in the prices' currency.

    :param scan: of one scan: processor time and what it reads; ``raw`` is the same by bytes before compression.
    :param query: of one query, taken as if it kept one processor busy from its beginning to its end: at most so much.
    :param pays_from: how many questions make the index cheaper; None where a scan costs no more than a query.
    """

    question: str
    way: str
    scan: float
    raw: float
    query: float
    pays_from: float | None


@dataclass(frozen=True)
class Keeping:
    """What it costs to have the data of the largest size at hand, in the prices' currency.

    :param index: to index it once, and to keep the index; ``files`` to keep the gzipped files.
    :param days: for how long.
    """

    index: float
    files: float
    days: float


def keeping(found: LogQueries, summary: Summary, prices: Prices) -> Keeping | None:
    """What the index and the files of the largest size cost; None if something that has a price was not measured."""
    ways = (way for one in found.questions for way in one.ways if way.name != INDEX)
    scans = [size for way in ways for size in way.sizes if size.documents == found.largest]
    cpu = [known(task.node_cpu_seconds) for task in summary.bulk_tasks]
    size = known(summary.race.index_bytes)
    if not scans or size is None or (prices.cpu_hour is not None and (not cpu or None in cpu)):
        return None
    days = prices.retention_days or DAYS_PER_MONTH
    months = days / DAYS_PER_MONTH
    disk = (prices.gigabyte_month or 0.0) * months * prices.copies / _GIGABYTE
    indexing = sum(one or 0.0 for one in cpu) / _HOUR * (prices.cpu_hour or 0.0)
    return Keeping(indexing + size * disk, scans[0].read_bytes * disk, days)


def scan_costs(found: LogQueries, prices: Prices, kept: Keeping) -> tuple[ScanCost, ...]:
    """Of each question and kind of scan, at the largest size; those that lack it are left out."""
    costs = []
    for question in found.questions:
        ways = {way.name: way.sizes[-1] for way in question.ways if way.sizes}
        for against in question.against:
            scanned, asked = ways[against.way], ways[INDEX]
            if {scanned.documents, asked.documents} != {found.largest}:
                continue
            busy = (scanned.cpu_seconds or 0.0) / _HOUR * (prices.cpu_hour or 0.0)
            each = (prices.gigabyte_scanned or 0.0) / _GIGABYTE
            scan, raw = busy + scanned.read_bytes * each, busy + scanned.raw_bytes * each
            query = asked.seconds.value / _HOUR * (prices.cpu_hour or 0.0)
            more = kept.index - kept.files
            pays = max(more, 0.0) / (scan - query) if scan > query else None
            costs.append(ScanCost(question.name, against.way, scan, raw, query, pays))
    return tuple(costs)
