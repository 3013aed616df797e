"""What documents cost: a file of prices, and from processor time and bytes to money per million documents and month.

Pure but for the file. All amounts are in the file's currency, a gigabyte is 10 ** 9 bytes, a month a twelfth of a year.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.errors import FileError
from paddock.structured_files import read_yaml

DAYS_PER_MONTH = 365.25 / 12
_GIGABYTE = 1e9
_MILLION = 1e6
_HOUR = 3600.0
_MOST = 1e15  # of what a file of prices may say
# What is paid for, and the keys of the file that price it.
PROCESSORS, STORAGE, SCANNING, MEMORY = "processors", "storage", "scanning", "memory"
_KEYS = {
    PROCESSORS: "cpu_hour",
    STORAGE: "gigabyte_month",
    SCANNING: "gigabyte_scanned",
    MEMORY: "memory_gigabyte_month",
}


@dataclass(frozen=True)
class Prices:
    """A file of prices; None for what has none.

    :param currency: a text beside every amount.
    :param cpu_hour: an hour of processor time of the nodes.
    :param gigabyte_month: a gigabyte on disk for a month.
    :param memory_gigabyte_month: a gigabyte of the nodes' memory for a month.
    :param gigabyte_scanned: a gigabyte of the index that queries go through.
    :param copies: how often what was measured is kept.
    :param scans_per_day: how often queries go through all that is kept.
    """

    currency: str
    cpu_hour: float | None = None
    gigabyte_month: float | None = None
    memory_gigabyte_month: float | None = None
    gigabyte_scanned: float | None = None
    documents_per_day: float | None = None
    retention_days: float | None = None
    copies: float = 1.0
    scans_per_day: float | None = None

    @property
    def millions_per_month(self) -> float | None:
        """Millions of documents that come in a month; None if nobody said how many."""
        return None if self.documents_per_day is None else self.documents_per_day * DAYS_PER_MONTH / _MILLION

    @property
    def priced(self) -> tuple[str, ...]:
        """What is paid for, of PROCESSORS, STORAGE, SCANNING and MEMORY."""
        return tuple(part for part, key in _KEYS.items() if getattr(self, key) is not None)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The file in sentences, for those who decide by what comes of it."""
        told = {
            "cpu_hour": "an hour of processor time",
            "gigabyte_month": "a GB on disk for a month",
            "memory_gigabyte_month": "a GB of the nodes' memory for a month",
            "gigabyte_scanned": "a GB that queries go through",
        }
        prices = [f"{what} {getattr(self, key):g}" for key, what in told.items() if getattr(self, key) is not None]
        found = [f"Prices in {self.currency}: {', '.join(prices)}."]
        volume = []
        if self.documents_per_day is not None:
            volume.append(f"{self.documents_per_day:,.0f} documents come in a day")
        if self.retention_days is not None:
            times = f", {self.copies:g} times what was measured" if self.copies != 1 else ""
            volume.append(f"each is kept for {self.retention_days:g} days{times}")
        if self.scans_per_day is not None:
            volume.append(f"queries go through all that is kept {self.scans_per_day:g} times a day")
        if volume:
            found.append(f"Assumed: {'; '.join(volume)}.")
        return tuple(found)


@dataclass(frozen=True)
class Usage:
    """What documents took, as it was measured; None for what was not.

    :param cpu_seconds: processor time of the nodes per million documents.
    :param bytes_each: of the index per document, replicas included.
    :param memory_bytes: of all nodes, at most.
    """

    cpu_seconds: float | None
    bytes_each: float | None
    memory_bytes: float | None


@dataclass(frozen=True)
class Cost:
    """Money per million documents, kept as long as the prices say.

    :param parts: by PROCESSORS, STORAGE, SCANNING and MEMORY, those that have a price.
    """

    parts: Mapping[str, float]

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.parts.values())

    def of_month(self, prices: Prices) -> Cost | None:
        """What a month costs once documents come and go; None if nobody said how many come."""
        millions = prices.millions_per_month
        return None if millions is None else Cost({part: each * millions for part, each in self.parts.items()})


@dataclass(frozen=True)
class ContenderCost:
    """What a contender costs, in the currency of the result's prices.

    :param million: of a million documents, the means of its laps.
    :param month: of a month once documents come and go; None where the prices do not say how many come.
    :param saved: of a million documents, what it saves against the baseline: the ratio of the pairs, of the baseline's
        mean; None for the baseline, and without a valid pair. ``saved_low`` and ``saved_high`` are those of the ratio's
        interval, infinite where it has no end.
    :param laps: how many laps there are in which all was measured.
    """

    contender: str
    million: Cost
    month: Cost | None
    laps: int
    saved: float | None = None
    saved_low: float = -math.inf
    saved_high: float = math.inf


def cost_of(usage: Usage, prices: Prices) -> Cost | None:
    """What a million documents cost; None if something that has a price was not measured.

    Storage is that of the whole time that a document is kept, so is scanning; memory is there all month, and each
    document bears its share of it.
    """
    parts: dict[str, float] = {}
    for part in prices.priced:
        found = _part(part, usage, prices)
        if found is None:
            return None
        parts[part] = found
    return Cost(parts)


def _part(part: str, usage: Usage, prices: Prices) -> float | None:
    if part == PROCESSORS:
        return None if usage.cpu_seconds is None else usage.cpu_seconds / _HOUR * (prices.cpu_hour or 0)
    if part == MEMORY:
        millions = prices.millions_per_month
        if usage.memory_bytes is None or not millions:
            return None
        return usage.memory_bytes / _GIGABYTE * (prices.memory_gigabyte_month or 0) / millions
    if usage.bytes_each is None or prices.retention_days is None:
        return None
    gigabytes = usage.bytes_each * _MILLION / _GIGABYTE
    if part == STORAGE:
        kept = gigabytes * prices.copies
        return kept * prices.retention_days / DAYS_PER_MONTH * (prices.gigabyte_month or 0)
    return gigabytes * prices.retention_days * (prices.scans_per_day or 0) * (prices.gigabyte_scanned or 0)


def read_prices(path: Path) -> Prices:
    """The prices in a YAML file, which docs/costs.md describes.

    :raises FileError: if it is no such file; with the line.
    """
    content = read_yaml(path, "prices")
    for name, value in content.items():
        # Neither is .nan smaller than that, nor an integer of more digits than a float can have.
        if name != "currency" and not value < _MOST:
            raise FileError(path, f"{name} is no amount: write a number below {_MOST:.0e}.")
    amounts = {name: float(value) for name, value in content.items() if name != "currency"}
    prices = Prices(content["currency"], **amounts)
    if not any(getattr(prices, key) for key in _KEYS.values()):
        raise FileError(path, f"there is no price above 0: name one of {', '.join(_KEYS.values())}.")
    return prices
