"""Time stamps of logs: read in any of the usual forms, with zones and missing years resolved, written in ISO 8601."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from paddock.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_SECOND = datetime.timedelta(seconds=1)
_A_DAY = 86_400
_LONGEST = 100  # characters of a time in one of the usual forms
_CACHED = 50_000  # minutes; then it begins anew, so that memory stays constant

_ZONE = r"(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?"
_OFFSET = re.compile(r"[+-]\d\d(?::?[0-5]\d)?", re.ASCII)
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
_MONTH_NAME = r"(?P<name>[A-Za-z]{3})[a-z]*"

# What logs write, most frequent first; the fraction and the zone may be missing in each.
_SHAPES = tuple(
    re.compile(rf"{shape}\s?{_ZONE}", re.ASCII)
    for shape in (
        rf"(?P<year>\d{{4}})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T ]{_CLOCK}",
        rf"(?P<day>\d\d)/{_MONTH_NAME}/(?P<year>\d{{4}}):{_CLOCK}",  # Apache
        rf"{_MONTH_NAME} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK}",  # RFC 3164: no year
        rf"{_MONTH_NAME} {{1,2}}(?P<day>\d{{1,2}}) (?P<year>\d{{4}}) {_CLOCK}",  # Cisco
        rf"(?P<day>\d\d)[- ]{_MONTH_NAME}[- ](?P<year>\d{{4}}) {_CLOCK}",  # Tomcat, log4j's DATE
        rf"(?:[A-Z][a-z]{{2}},? )?(?P<day>\d{{1,2}}) {_MONTH_NAME} (?P<year>\d{{4}}) {_CLOCK}",  # RFC 2822
        rf"[A-Z][a-z]{{2}} {_MONTH_NAME} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK} (?P<year>\d{{4}})",  # ctime
        rf"(?P<year>\d\d)/(?P<month>\d\d)/(?P<day>\d\d) {_CLOCK}",  # Hadoop and Spark
        rf"(?P<month>\d\d)-?(?P<day>\d\d) {_CLOCK}",  # Android, klog
        r"(?P<year>\d\d)(?P<month>\d\d)(?P<day>\d\d) (?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)",  # HDFS
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)"
        r"(?:[.,](?P<fraction>\d{1,9}))?",
    )
)
# Consecutive lines share their minute, so that is what is worth remembering.
_TO_THE_MINUTE = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:|.*\d\d:\d\d:)([0-5]\d)(?:[.,](\d{1,3})\d{0,6})?((?:\D.*)?)", re.ASCII
)
_SECONDS = [f"{number:02d}." for number in range(60)]
_THOUSANDTHS = [f"{number:03d}Z" for number in range(1000)]
_NUMBER = re.compile(r"-?\d{1,19}(?:\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class YearRule:
    """How a year is found where a log has none.

    :param reference: seconds since 1970 UTC.
    :param before: True: the latest year that is not after the reference (a file's modification time);
        False: the earliest one that is not before it (the file's first line). Both with a day to spare.
    """

    reference: float
    before: bool = True


@dataclass
class TimeRange:
    """The times of consecutive events, milliseconds since 1970 UTC; None as long as there are none.

    :param backwards: events whose time is before that of the event before them.
    """

    first: int | None = None
    last: int | None = None
    earliest: int | None = None
    latest: int | None = None
    backwards: int = 0

    def saw(self, milliseconds: int) -> None:
        """An event of that time came next."""
        if self.last is None or self.earliest is None or self.latest is None:
            self.first = self.earliest = self.latest = milliseconds
        elif milliseconds < self.last:
            self.backwards += 1
            self.earliest = min(self.earliest, milliseconds)
        elif milliseconds > self.latest:
            self.latest = milliseconds
        self.last = milliseconds

    def saw_all(self, moments: np.ndarray) -> None:
        """Events of those times came next."""
        if len(moments):
            first, last = int(moments[0]), int(moments[-1])
            backwards = int((moments[1:] < moments[:-1]).sum())
            self.then(TimeRange(first, last, int(moments.min()), int(moments.max()), backwards))

    def then(self, other: TimeRange) -> None:
        """The events of another range came next."""
        if other.first is None or other.last is None or other.earliest is None or other.latest is None:
            return
        self.saw(other.first)
        self.backwards += other.backwards
        self.last = other.last
        self.earliest = other.earliest if self.earliest is None else min(self.earliest, other.earliest)
        self.latest = other.latest if self.latest is None else max(self.latest, other.latest)


class Clock:
    """Reads time stamps of one log.

    :param zone: of times that have none (an IANA name).
    :param form: None for any of the usual forms; "epoch", "epoch-ms" or a strptime format otherwise.
    :ivar assumed: "year" and "zone" if times lacked them.
    :ivar has_form: whether times are read in a form that was given.
    :raises UsageError: if there is no such zone or the format cannot be used.
    """

    def __init__(self, zone: str = "UTC", form: str | None = None):
        self.assumed: set[str] = set()
        self._zone = read_zone(zone)
        self._read: Callable[[str], int] = self._usual
        self.has_form = form is not None
        if form in ("epoch", "epoch-ms"):
            factor = 1000 if form == "epoch" else 1
            self._read = lambda text: int(float(text) * factor)
        elif form is not None:
            self._read = _strptime_reader(form, self)
        self._rule = YearRule(datetime.datetime.now(datetime.timezone.utc).timestamp())
        self._known: dict[tuple[str, str], int] = {}

    def follow(self, rule: YearRule) -> None:
        """Resolve missing years by this rule from now on."""
        if rule != self._rule:
            self._rule = rule
            self._known.clear()

    def milliseconds(self, text: str) -> int:
        """The time in milliseconds since 1970 UTC; finer digits are cut off.

        :raises ValueError: if it is no time.
        """
        if not self.has_form and len(text) > _LONGEST:
            raise ValueError("too long for a time")
        parts = _TO_THE_MINUTE.fullmatch(text) if not self.has_form else None
        if parts is None:
            return self._read(text)
        begin, second, fraction, end = parts.groups()
        value = self._known.get((begin, end))
        if value is None:
            value = self._read(f"{begin}00{end}")
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[begin, end] = value
        return value + int(second + (fraction or "").ljust(3, "0"))

    def _usual(self, text: str) -> int:
        for shape in _SHAPES:
            found = shape.fullmatch(text)
            if found:
                return self._from_parts(found.groupdict())
        if _NUMBER.fullmatch(text):
            return _from_number(text)
        raise ValueError(f"no time: {text[:40]}")

    def _from_parts(self, parts: dict[str, str | None]) -> int:
        month = int(parts["month"] or 0) if "month" in parts else _MONTHS.get((parts["name"] or "").lower(), 0)
        day = int(parts["day"] or 0)
        # A leap second counts as the one before.
        clock = (int(parts["hour"] or 0), int(parts["minute"] or 0), min(int(parts["second"] or 0), 59))
        zone = _offset(parts.get("zone")) or self.zone
        milliseconds = int(f"{parts.get('fraction') or '':0<3.3}")
        year = parts.get("year")
        if year is None:
            return self.in_some_year(month, day, clock, zone) * 1000 + milliseconds
        full_year = int(year) + 2000 if len(year) == 2 else int(year)
        moment = datetime.datetime(full_year, month, day, clock[0], clock[1], clock[2], tzinfo=zone)
        return seconds_of(moment) * 1000 + milliseconds

    def in_some_year(self, month: int, day: int, clock: tuple[int, int, int], zone: datetime.tzinfo) -> int:
        """Seconds since 1970 UTC of a time without a year.

        :raises ValueError: if it is no time in any year near the reference.
        """
        self.assumed.add("year")
        about = (_EPOCH + self._rule.reference * _SECOND).year
        candidates = []
        # 29 February may be up to eight years away.
        for year in range(about - 8, about + 9):
            try:
                moment = datetime.datetime(year, month, day, clock[0], clock[1], clock[2], tzinfo=zone)
            except ValueError:
                continue
            candidates.append(seconds_of(moment))
        reference = self._rule.reference
        if self._rule.before:
            return max(each for each in candidates if each <= reference + _A_DAY)
        return min(each for each in candidates if each >= reference - _A_DAY)

    @property
    def zone(self) -> datetime.tzinfo:
        """The zone of times that have none."""
        self.assumed.add("zone")
        return self._zone


class IsoTimes:
    """Writes milliseconds since 1970 as 2026-01-05T08:00:00.123Z."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def text(self, milliseconds: int) -> str:
        """The time in ISO 8601, UTC.

        :raises OverflowError: if it is before year 1 or after 9999.
        """
        minute, rest = divmod(milliseconds, 60_000)
        known = self._known.get(minute)
        if known is None:
            if len(self._known) >= _CACHED:
                self._known.clear()
            known = self._known[minute] = (_EPOCH + minute * 60 * _SECOND).isoformat()[:17]
        return known + _SECONDS[rest // 1000] + _THOUSANDTHS[rest % 1000]


def read_zone(name: str) -> datetime.tzinfo:
    """The time zone of that IANA name, or of an offset such as +02:00.

    :raises UsageError: if there is none.
    """
    try:
        return (_offset(name) if _OFFSET.fullmatch(name) else None) or ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            f"There is no time zone '{name}': use a name such as Europe/Berlin, America/New_York or UTC, or an offset "
            f"such as +02:00."
        ) from None


def seconds_of(moment: datetime.datetime) -> int:
    """Whole seconds since 1970 UTC; of a time that the clock shows twice, the first."""
    return (moment - _EPOCH) // _SECOND


def _offset(text: str | None) -> datetime.tzinfo | None:
    if not text:
        return None
    if not text[1:2].isdigit():
        return datetime.timezone.utc
    digits = text[1:].replace(":", "").ljust(4, "0")
    delta = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return datetime.timezone(-delta if text[0] == "-" else delta)


def _from_number(text: str) -> int:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by their size."""
    whole = int(text.partition(".")[0])
    size = abs(whole)
    if size < 100_000_000_000:
        return int(float(text) * 1000 + (0.5 if whole >= 0 else -0.5)) if "." in text else whole * 1000
    for factor in (1, 1_000, 1_000_000):
        if size < 100_000_000_000_000 * factor:
            return whole // factor
    raise ValueError(f"no time: {text[:40]}")


def _strptime_reader(form: str, clock: Clock) -> Callable[[str], int]:
    """A function that reads times in a strptime format."""
    if "%" not in form:
        raise UsageError(
            f"The time format '{form}' is neither 'epoch', 'epoch-ms' nor a strptime format such as "
            f"'%d.%m.%Y %H:%M:%S'."
        )
    has_year = any(sign in form for sign in ("%Y", "%y", "%c", "%x", "%G", "%s"))

    def parse(text: str) -> datetime.datetime:
        # Without a year strptime means 1900, which had no 29 February.
        if has_year:
            return datetime.datetime.strptime(text, form)
        return datetime.datetime.strptime(f"2000 {text}", f"%Y {form}")

    def read(text: str) -> int:
        moment = parse(text)
        zone: Any = moment.tzinfo or clock.zone
        if has_year:
            seconds = seconds_of(moment.replace(tzinfo=zone, microsecond=0))
        else:
            parts = (moment.hour, moment.minute, moment.second)
            seconds = clock.in_some_year(moment.month, moment.day, parts, zone)
        return seconds * 1000 + moment.microsecond // 1000

    try:
        parse(datetime.datetime(2000, 2, 29, tzinfo=datetime.timezone.utc).strftime(form))
    except (ValueError, re.error) as error:  # a directive twice ends up in a regular expression
        raise UsageError(f"The time format '{form}' cannot be used: {error}.") from None
    return read
