"""Usual lines in bulk: what a line of each format mostly looks like, as programs for kernel.py.

What no program meets (escapes, control characters, stack traces, other layouts) is handed back to be parsed line by
line; both ways write the same documents.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paddock.imports import kernel
from paddock.imports.formats.base import LineFormat
from paddock.imports.formats.lines import FACILITIES, SEVERITIES
from paddock.imports.shape import Shape
from paddock.imports.times import IsoTimes, TimeRange, YearRule

Step = tuple[int, Any, Any]
_HOUR = 3_600_000
_CLASSES: dict[str, Callable[[str], bool]] = {
    "text": lambda each: each not in ' "',
    "path": lambda each: each not in ' "?',
    "quoted": lambda each: each != '"',
    "letters": lambda each: each.isascii() and each.isalpha(),
    "digits": lambda each: each in "0123456789",
    "amount": lambda each: each in "0123456789-",
    "program": lambda each: each not in " :[",
    "bracketed": lambda each: each not in " []",
    "name": lambda each: each.isascii() and (each.isalnum() or each in "_$"),
    "logger": lambda each: each.isascii() and (each.isalnum() or each in "_$./"),
}
_TEXTS = "keyword text wildcard"
_LEVELS = " TRACE DEBUG INFO WARN WARNING ERROR FATAL SEVERE CONFIG FINE FINER FINEST CRITICAL NOTICE AUDIT "


def _exact(text: str) -> Step:
    return kernel.LITERAL, text, None


def _run(kind: str, span: str | None = None, least: int = 1) -> Step:
    return kernel.RUN if least else kernel.RUN_OR_NONE, kind, span


def _optional(*steps: Step) -> list[Step]:
    """Steps that are met only if the line goes on with the first one's character."""
    return [(kernel.OPTION, steps[0][1][0], len(steps)), *steps]


def _span(name: str, *steps: Step) -> list[Step]:
    return [(kernel.BEGIN, 0, name), *steps, (kernel.END, 0, name)]


@dataclass(frozen=True)
class Usual:
    """A format's usual lines.

    :param programs: the steps of each layout.
    :param fields: the documents' fields in their order: name, how it is written, and the types it can have in an index.
    :param times: lists of how times look: d is a digit, s a digit or space, A and a letters, _ T or space.
    :param zones: for each list what times may have behind them.
    """

    programs: tuple[list[Step], ...]
    fields: tuple[tuple[str, int, str], ...]
    times: tuple[tuple[str, ...], ...]
    zones: tuple[int, ...]


_TIME: Step = (kernel.TIME, 0, None)
_LEVEL: list[Step] = [_run("letters", "level"), (kernel.LEVEL, _LEVELS, "level")]
_SPACES: Step = (kernel.SPACES, 1, None)
_ANY_SPACES: Step = (kernel.SPACES, 0, None)
_MESSAGE: list[Step] = [(kernel.NO_SPACE, 0, None), (kernel.REST, 0, "message")]
_THREAD = [_exact("["), _run("bracketed", "thread"), _exact("]")]
_DIGIT: Step = (kernel.ONE, "digits", None)
_LOGGER = _span("logger", (kernel.ONE, "name", None), _run("logger", least=0))
_REQUEST: list[Step] = [
    _run("text", "clientip"), (kernel.ADDRESS, 0, "clientip"), _exact(" - "), _run("text", "user"), _exact(" ["), _TIME,
    _exact('] "'), _run("letters", "method"), _exact(" "), *_span("path", _exact("/"), _run("path", least=0)),
    *_optional(_exact("?"), _run("text", "query", 0)), _exact(" HTTP/"),
    *_span("http_version", _DIGIT, *_optional(_exact("."), _DIGIT)), _exact('" '),
    *_span("status", _DIGIT, _DIGIT, _DIGIT), _exact(" "),
    *_span("bytes", (kernel.ONE, "amount", None), _run("digits", least=0)),
]  # fmt: skip
_COMBINED: list[Step] = [
    *_REQUEST, _exact(' "'), _run("quoted", "referrer", 0), _exact('" "'), _run("quoted", "user_agent", 0), _exact('"'),
]  # fmt: skip
_ACCESS_FIELDS = (
    ("clientip", kernel.TEXT, "ip"), ("user", kernel.DASH_OUT, _TEXTS), ("method", kernel.TEXT, _TEXTS),
    ("path", kernel.TEXT, _TEXTS), ("query", kernel.TEXT, _TEXTS), ("status", kernel.NUMBER, "short integer long"),
    ("bytes", kernel.NUMBER, "long"), ("referrer", kernel.DASH_OUT, _TEXTS), ("http_version", kernel.TEXT, _TEXTS),
    ("user_agent", kernel.DASH_OUT, _TEXTS),
)  # fmt: skip


def _access(program: list[Step]) -> Usual:
    return Usual((program,), _ACCESS_FIELDS, (("dd/Aaa/dddd:dd:dd:dd",),), (kernel.PLAIN_ZONE,))


_TAG: list[Step] = [
    _exact(" "), _run("text", "host"), _exact(" "),
    *_span("syslogtag", _run("program"), *_optional(_exact("["), _run("bracketed"), _exact("]")), _exact(":")),
    *_optional(_exact(" ")), (kernel.REST, 0, "message"),
]  # fmt: skip
_PRIORITY = _optional(_exact("<"), _run("digits", "severity"), _exact(">"))
USUAL = {
    "apache-common": _access(_REQUEST),
    "apache-combined": _access(_COMBINED),
    "nginx": _access(_COMBINED),
    "syslog": Usual(
        ([*_PRIORITY, _TIME, *_TAG], [*_PRIORITY, (kernel.TIME, 1, None), *_TAG]),
        (("host", kernel.TEXT, _TEXTS), ("severity", kernel.PRIORITY, _TEXTS), ("syslogtag", kernel.TEXT, _TEXTS),
         ("message", kernel.ALWAYS, _TEXTS)),
        (("Aaa sd dd:dd:dd",), ("dddd-dd-ddTdd:dd:dd",)),
        (kernel.DOT, kernel.DOT | kernel.COLON_ZONE),
    ),
    "log4j": Usual(
        (
            [_TIME, _SPACES, *_LEVEL, _SPACES, *_THREAD, _SPACES, *_LOGGER, _exact(" - "), *_MESSAGE],
            [_TIME, _SPACES, *_THREAD, _SPACES, *_LEVEL, _SPACES, *_LOGGER, _exact(" - "), *_MESSAGE],
            [_TIME, _SPACES, *_LEVEL, _SPACES, *_LOGGER, _exact(": "), *_MESSAGE],
            [_TIME, _SPACES, *_LEVEL, _SPACES, *_THREAD, _SPACES, *_LOGGER, _exact(": "), *_MESSAGE],
            [_exact("["), _TIME, _exact("]["), *_LEVEL, _ANY_SPACES, _exact("]["), _run("bracketed", "logger"),
             _ANY_SPACES, _exact("] ["), _run("bracketed", "node"), _exact("] "), *_MESSAGE],
        ),
        (("level", kernel.TEXT, _TEXTS), ("thread", kernel.TEXT, _TEXTS), ("logger", kernel.TEXT, _TEXTS),
         ("node", kernel.TEXT, _TEXTS), ("message", kernel.ALWAYS, _TEXTS)),
        (("dddd-dd-dd_dd:dd:dd", "dddd/dd/dd_dd:dd:dd", "dd/dd/dd dd:dd:dd", "dd-Aaa-dddd dd:dd:dd"),),
        (kernel.DOT | kernel.COMMA | kernel.ANY_ZONE,),
    ),
}  # fmt: skip


def takes_usual(name: str, shape: Shape) -> bool:
    """Whether a track takes the documents of a format's usual lines as they are."""
    if name not in USUAL:
        return False
    types = {field: shape.properties.get(field, {}).get("type") for field, _, _ in USUAL[name].fields}
    # Other tracks' documents of an access log have the request as their message.
    free = "" if shape.strict or "clientip" in types else "keyword"
    return all((types[field] or free) in allowed.split() for field, _, allowed in USUAL[name].fields)


@dataclass(frozen=True)
class Stretch:
    """Consecutive lines: documents and their times, or if there are none, lines to be parsed one by one.

    :param line: number of the first one within the block, from 0.
    """

    line: int
    documents: int
    data: bytes
    times: TimeRange = field(default_factory=TimeRange)


class QuickLines:
    """Parses the usual lines of one format.

    :param of: the format, which parses the others; its clock resolves times, an hour at once.
    """

    def __init__(self, of: LineFormat, times: IsoTimes):
        self._clock = of.clock
        self._iso = times
        self._start = re.compile(b"^" + of.start.pattern.encode("ascii"), re.MULTILINE) if of.start else None
        self._tables = _tables(of.name)
        self._hours = np.zeros((kernel.KNOWN_HOURS, kernel.LONGEST_HOUR), np.uint8)
        self._sizes = np.full((kernel.KNOWN_HOURS, 2), -1, np.int64)
        self._bases = np.zeros((kernel.KNOWN_HOURS, 2), np.int64)
        self._texts = np.zeros((kernel.KNOWN_HOURS, 2, 14), np.uint8)
        self._next = 0
        self._years: YearRule | None = None
        self._out = np.empty(0, np.uint8)
        self._state = np.zeros(kernel.STATES, np.int64)

    def stretches(self, data: bytes, years: YearRule) -> Iterator[Stretch]:
        """The block in stretches, in order."""
        if years != self._years:
            self._years = years
            self._sizes[:] = -1
        room = len(data) + data.count(b'"') + (data.count(b"\n") + 1) * kernel.MOST_ADDED
        if self._out.size < room:
            self._out = np.empty(room, np.uint8)
        source, state = np.frombuffer(data, np.uint8), self._state
        allowed = _ALLOWED_UTF8 if _is_utf8(data) else _ALLOWED
        at = line = 0
        slow = 1  # lines to hand back: more and more, if they are usually unusual
        while at < len(data):
            known = (self._hours, self._sizes, self._bases, self._texts)
            kernel.write_documents(
                source, at, self._start is not None, allowed, *self._tables, *known, self._out, state
            )
            documents = int(state[kernel.DOCUMENTS])
            if documents:
                yield Stretch(line, documents, self._out[: state[kernel.WRITTEN]].tobytes(), self._times())
                line += documents
                at, slow = int(state[kernel.READ]), 1
            if at < len(data) and state[kernel.UNKNOWN] >= 0:
                self._learn(data)
            elif at < len(data):
                end = self._unusual_end(data, at, slow)
                yield Stretch(line, 0, data[at:end])
                line += data.count(b"\n", at, end)
                at, slow = end, min(2 * slow, _MOST_SLOW)

    def _unusual_end(self, data: bytes, at: int, lines: int) -> int:
        end = at
        for _ in range(lines):
            end = data.find(b"\n", end) + 1 or len(data)
        if self._start and end < len(data):
            found = self._start.search(data, end)
            return found.start() if found else len(data)
        return end

    def _learn(self, data: bytes) -> None:
        """Have the clock read the hour of the time at which the kernel stopped."""
        begin, prefix, zone, end = (int(self._state[column]) for column in _STOPPED)
        hour, behind = data[begin:prefix], data[zone:end]
        number, self._next = self._next, (self._next + 1) % kernel.KNOWN_HOURS
        self._hours[number, : len(hour + behind)] = np.frombuffer(hour + behind, np.uint8)
        self._sizes[number] = len(hour), len(behind)
        self._bases[number] = -1
        try:
            base, last = (
                self._clock.milliseconds(f"{hour.decode('ascii')}{rest}{behind.decode('ascii')}")
                for rest in ("00:00", "59:59")
            )
            texts = [self._iso.text(moment)[:14].encode("ascii") for moment in (base, base + _HOUR)]
        except (ValueError, OverflowError):
            return
        # Not where clocks are changed within the hour, nor before 1970.
        if last - base == _HOUR - 1000 and base % 60_000 == 0 and base >= 0:
            self._bases[number] = base, base // 60_000 % 60
            self._texts[number] = [np.frombuffer(text, np.uint8) for text in texts]

    def _times(self) -> TimeRange:
        columns = (kernel.FIRST, kernel.LAST, kernel.EARLIEST, kernel.LATEST, kernel.BACKWARDS)
        return TimeRange(*(int(self._state[column]) for column in columns))


_STOPPED = (kernel.UNKNOWN, kernel.PREFIX, kernel.ZONE, kernel.ZONE_END)
_MOST_SLOW = 1024
# JSON has to escape these; bytes above 127 are well where the whole block is UTF-8.
_ALLOWED_UTF8 = np.array([byte >= 32 and byte != ord("\\") for byte in range(256)])
_ALLOWED = np.array([32 <= byte < 128 and byte != ord("\\") for byte in range(256)])


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@functools.lru_cache
def _tables(name: str) -> tuple[np.ndarray, ...]:
    """A format's programs as the kernel has them: steps, fields, pool of texts, classes, times and priorities."""
    usual = USUAL[name]
    pool = bytearray(b'{"@timestamp":"')

    def kept(text: str) -> tuple[int, int]:
        pool.extend(text.encode("ascii") + b"\0")
        return len(pool) - len(text) - 1, len(text)

    patterns: list[tuple[int, int]] = []
    lists = []
    for texts in usual.times:
        lists.append(len(patterns))
        patterns += [*map(kept, texts), (0, 0)]
    order = list(_CLASSES)
    spans = {"": 0}  # the time's
    steps = np.full((len(usual.programs), max(map(len, usual.programs)) + 1, 3), -1, np.int64)
    for number, program in enumerate(usual.programs):
        for place, (kind, first, second) in enumerate(program):
            one: Any = first or 0
            two: Any = second
            if kind in (kernel.RUN, kernel.RUN_OR_NONE, kernel.ONE):
                one = order.index(first)
            elif kind == kernel.LITERAL:
                one, two = kept(first)
            elif kind == kernel.TIME:
                one, two = lists[one], usual.zones[one]
            elif kind == kernel.LEVEL:
                one = kept(first)[0]
            elif kind == kernel.OPTION:
                one = ord(first)
            if isinstance(second, str):
                two = spans.setdefault(second, len(spans))
            steps[number, place] = kind, one, -1 if two is None else two
    fields = np.zeros((len(usual.programs), len(usual.fields), 4), np.int64)
    for place, (label, kind, _) in enumerate(usual.fields):
        begin, size = kept(f',"{label}":' if kind == kernel.NUMBER else f',"{label}":"')
        fields[:, place] = begin, size, spans.setdefault(label, len(spans)), kind
    priorities = [
        kept(f',"severity":"{SEVERITIES[number % 8]}","facility":"{FACILITIES[number // 8]}"') for number in range(192)
    ]
    classes = np.array([[byte < 128 and chr(byte) not in " \x7f" and fits(chr(byte)) for byte in range(256)]
                        for fits in _CLASSES.values()])  # fmt: skip
    classes[order.index("quoted")] = [byte != ord('"') for byte in range(256)]
    return steps, fields, np.frombuffer(bytes(pool), np.uint8), classes, np.array(patterns), np.array(priorities)
