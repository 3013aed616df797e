"""Lines of text formats become documents: the compiled machine reads them, Python looks at what it hands back.

That are times that are not known yet, documents with escapes or parts, and lines whose ends were lost.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from paddock.imports import machine
from paddock.imports.formats.base import NO_TIME_READ, TOO_LONG, BadLine
from paddock.imports.formats.layouts import (
    CAPITALS,
    LAYOUTS,
    MESSAGE,
    NAME,
    PART,
    PATTERNS,
    TEXT,
    TRACE,
    TRACE_LINE,
    WHOLE_NUMBER,
    Layout,
    as_expression,
)
from paddock.imports.formats.patterns import Code, Tables, compile_pattern, expanded
from paddock.imports.machine import Known, Program
from paddock.imports.shape import NUMBERS, TIME_FIELD, WHOLE_NUMBERS, Fitter, Shape
from paddock.imports.sources import Block
from paddock.imports.text import decoded, is_utf8, readable, to_json
from paddock.imports.times import Clock, IsoTimes, YearRule

if TYPE_CHECKING:
    from paddock.imports.parsing import Parsed

_HOUR = 3_600_000
_ROOM = 16 << 20
_ROWS = 1 << 16
_CLOCK = re.compile(rb":\d\d:\d\d")
_BITS = {
    TEXT: 0, NAME: machine.TRIM, CAPITALS: machine.UPPER, WHOLE_NUMBER: machine.NUMBER, PART: machine.MEND,
    MESSAGE: machine.MESSAGE,
}  # fmt: skip
_TEXTS = ("keyword", "text", "wildcard")


class LayoutReader:
    """Reads blocks of one format.

    :param name: of a layout.
    """

    def __init__(self, name: str, clock: Clock, shape: Shape, fitter: Fitter):
        self._layout = LAYOUTS[name]
        self._clock, self._fitter = clock, fitter
        self._iso = IsoTimes()
        self._shape = shape
        self._labels, self._program = _program(name, shape, clock.has_form)
        unfit = self._layout.wrong or (f"not the format {name}",) * 2
        self._reasons = {
            machine.NOT_FORMAT: unfit[1],
            machine.BEGINS_OTHERWISE: unfit[0],
            machine.NO_TIME: "no time",
            machine.TIME_UNREAD: NO_TIME_READ,
            machine.OUT_OF_RANGE: "the time is out of range",
            machine.TOO_LONG: TOO_LONG,
        }
        second = self._layout.second
        self._second = re.compile(as_expression(second).encode("ascii")) if second else None
        self._known = Known(
            np.zeros((machine.KNOWN_TIMES, machine.LONGEST_TIME), np.uint8),
            np.full((machine.KNOWN_TIMES, 4), -1, np.int64),
            np.zeros(machine.KNOWN_TIMES, np.int64),
            np.zeros(machine.KNOWN_TIMES * 28, np.uint8),
        )
        self._next = 0
        self._years: YearRule | None = None
        self._out = np.empty(_ROOM, np.uint8)
        self._rows = np.empty((_ROWS, machine.COLUMNS), np.int64)
        self._state = np.zeros(machine.STATES, np.int64)

    def read(self, block: Block, parsed: Parsed) -> bytes:
        """The block's documents; what is to be said of them is added to ``parsed``."""
        if block.years != self._years:
            self._years = block.years
            self._known.sizes[:] = -1
        data, text = block.data, None
        if not data.isascii():
            try:
                data.decode("utf-8")
            except UnicodeDecodeError:
                text = decoded(data)
                parsed.not_utf8 += sum(not is_utf8(line) for line in text.split("\n"))
                data = readable(text).encode("utf-8")
        lines = functools.cache(lambda: decoded(block.data).split("\n"))
        dropped = np.zeros(len(self._labels), np.int64)
        result = self._events(data, block.line, lines, dropped, parsed)
        parsed.left_out.update(
            {name: count for name, count in zip(self._labels, dropped.tolist(), strict=True) if count}
        )
        return result

    def _events(
        self, data: bytes, first_line: int, lines: Callable[[], list[str]], dropped: np.ndarray, parsed: Parsed
    ) -> bytes:
        """Documents of lines, whose first one has that number.

        :param lines: all of them as they were.
        """
        source = np.frombuffer(data, np.uint8)
        pieces: list[bytes] = []
        at = counted = 0
        line = first_line
        while at < len(data):
            machine.read_events(source, at, self._program, self._known, self._out, self._rows, dropped, self._state)
            state = self._state.copy()
            rows = self._rows[: state[machine.ROWS]]
            at = int(state[machine.READ])
            parsed.blank += int(state[machine.BLANK])
            parsed.fields += int(state[machine.FIELDS])
            fine = rows[:, machine.KIND] == 0
            if not fine.all():
                rows = rows.copy()  # the machine may be asked again for a part
            out = self._out[: rows[-1, machine.WRITTEN] if len(rows) else 0].tobytes()
            written = timed = 0
            for number in np.flatnonzero(~fine).tolist():
                kind, _, begin, end, behind, joined, _ = rows[number].tolist()
                before = int(rows[number - 1, machine.WRITTEN]) if number else 0
                pieces.append(out[written:before])
                written = behind
                line, counted = line + data.count(b"\n", counted, begin), begin
                try:
                    if kind & ~machine.TO_MEND and (parts := self._parts(data[begin:end])):
                        parsed.times.saw_all(rows[timed:number, machine.MOMENT][fine[timed:number]])
                        timed = number
                        pieces.append(self._apart(parts, line, dropped, parsed))
                        continue
                    if kind >= machine.NOT_FORMAT:
                        raise BadLine(self._reason(kind, data[begin:end]))
                    document = out[before:behind]
                    pieces.append(self._mended(document) if kind & machine.TO_MEND else document)
                    fine[number] = True
                except BadLine as reason:
                    texts = lines()[line - first_line : line - first_line + joined + 1]
                    parsed.bad += [
                        (line + each, str(reason), text.removesuffix("\r")) for each, text in enumerate(texts)
                    ]
            pieces.append(out[written:])
            parsed.documents += int(fine.sum())
            parsed.joined += int(rows[fine, machine.JOINED].sum())
            parsed.traces += int(rows[fine, machine.TRACED].sum())
            parsed.times.saw_all(rows[timed:, machine.MOMENT][fine[timed:]])
            if state[machine.UNKNOWN] >= 0:
                unread = self._learn(data, *state[machine.UNKNOWN :].tolist())
                parsed.unread = parsed.unread or unread
        return b"".join(pieces)

    # --- what is handed back ----------------------------------------------------------------------

    def _mended(self, document: bytes) -> bytes:
        values: dict[str, Any] = orjson.loads(document)
        time = values.pop(TIME_FIELD)
        return b"%b\n" % to_json({TIME_FIELD: time, **self._fitter.fit(self._layout.mend(values))})

    def _parts(self, event: bytes) -> list[bytes]:
        """The records of an event whose first line has several, because ends of lines were lost."""
        if self._second is None or len(_CLOCK.findall(event)) < 2:
            return []
        begins = [found.start() for found in self._second.finditer(event.partition(b"\n")[0])]
        return [event[begin:end] for begin, end in pairwise([0, *begins, len(event)])] if begins else []

    def _apart(self, parts: list[bytes], line: int, dropped: np.ndarray, parsed: Parsed) -> bytes:
        """The documents of records of one line, which is the number of them all."""
        data = b"".join(part + b"\n" for part in parts)  # the last line may be an empty one
        bad = len(parsed.bad)
        lines = functools.cache(lambda: decoded(data).split("\n"))
        documents = self._events(data, line, lines, dropped, parsed)
        parsed.bad[bad:] = [
            (max(line, number - len(parts) + 1), reason, text) for number, reason, text in parsed.bad[bad:]
        ]
        parsed.further += len(parts) - 1
        return documents

    def _reason(self, kind: int, event: bytes) -> str:
        if kind == machine.NOT_FORMAT and self._layout.request and len(_CLOCK.findall(event)) > 1:
            return "two records on one line"
        if kind < machine.BAD_FIELD:
            return self._reasons[kind]
        label = self._labels[kind - machine.BAD_FIELD]
        if label == "severity":
            return "a priority above 191"
        mapping = self._shape.properties[label]
        return f"'{label}' is no {mapping['type']}, as the track {self._shape.track} has it"

    def _learn(self, data: bytes, begin: int, prefix: int, zone: int, end: int) -> str:
        """Have the clock read a time at which the machine stopped: its hour, its minute, or all of it.

        :returns: the time if it cannot be read.
        """
        number, self._next = self._next, (self._next + 1) % machine.KNOWN_TIMES
        behind = decoded(data[zone:end])
        level, text, base, bad = 2, data[begin:zone], 0, 0
        try:
            if prefix >= 0:
                level, text = 0, data[begin:prefix]
                base = self._clock.milliseconds(f"{decoded(text)}00:00{behind}")
                if self._clock.milliseconds(f"{decoded(text)}59:59{behind}") - base != _HOUR - 1000:
                    # The clocks are changed within the hour.
                    level, text = 1, data[begin : prefix + 3]
                    base = self._clock.milliseconds(f"{decoded(text)}00{behind}")
            else:
                base = self._clock.milliseconds(readable(decoded(text)))
            hours = "".join(self._iso.text(base + later)[:14] for later in (0, _HOUR)).encode("ascii")
            self._known.hours[28 * number : 28 * (number + 1)] = np.frombuffer(hours, np.uint8)
        except ValueError:
            bad = machine.TIME_UNREAD
        except OverflowError:
            bad = machine.OUT_OF_RANGE
        whole = text + data[zone:end]
        self._known.texts[number, : len(whole)] = np.frombuffer(whole, np.uint8)
        self._known.sizes[number] = len(text), end - zone, level, bad
        self._known.bases[number] = base
        return readable(decoded(data[begin:end])) if bad else ""


# --- programs -------------------------------------------------------------------------------------


def taken_as_they_are(name: str, shape: Shape) -> bool:
    """Whether a track has a place for all fields of a format, and any values of them."""
    _, program = _program(name, shape, whole_times=False)
    return not program.mend_all and not (program.fields[:, 3] & machine.DROP).any()


def _fields(layout: Layout, shape: Shape) -> tuple[list[tuple[str, int, int]], bool]:
    """The names of a format's fields, how they are written, and the largest number; and whether a track takes them.

    If it does not, Python has to look at each document.
    """
    every = {**layout.fields, **({} if layout.request and shape.strict else {MESSAGE: MESSAGE})}
    every |= {TRACE: TEXT} if layout.start else {}
    fields, fits = [], True
    for label, how in every.items():
        bits = _BITS[how] if isinstance(how, str) else machine.LOOKUP
        limit = -1
        members = {label} if isinstance(how, str) else {member for meaning in how.values() for member in meaning}
        for member in members:
            mapping = shape.properties.get(member)
            kind = "" if mapping is None else mapping.get("type", "object")
            if bits & machine.NUMBER and kind in WHOLE_NUMBERS:
                limit = (1 << WHOLE_NUMBERS[kind]) - 1
            elif kind == "ip" and not bits & ~machine.TRIM:
                bits |= machine.ADDRESS
            elif kind and kind not in _TEXTS and not (bits & machine.NUMBER and kind in NUMBERS):
                fits = False
            if shape.strict and mapping is None and how != PART:
                bits, fits = bits | machine.DROP, fits and isinstance(how, str)
        fields.append((label, bits, limit))
    if not fits:
        fields = [(label, bits & ~(machine.DROP | machine.ADDRESS), -1) for label, bits, _ in fields]
    return fields, fits


@functools.lru_cache(maxsize=64)
def _program(name: str, shape: Shape, whole_times: bool) -> tuple[list[str], Program]:
    """The names of a format's fields and how the machine reads them."""
    layout, tables = LAYOUTS[name], Tables()
    steps: Code = []
    begins = []
    for pattern in (layout.pattern, layout.start and f"{layout.start}.*", TRACE_LINE):
        begins.append(len(steps) if pattern else -1)
        steps += compile_pattern(expanded(pattern, PATTERNS), tables) if pattern else []
    fields, fits = _fields(layout, shape)
    rows, lookups = [], np.zeros((256, 2), np.int64)
    for label, bits, limit in fields:
        how = layout.fields.get(label, "")
        for value, meanings in () if isinstance(how, str) else how.items():
            text = "".join(f',"{member}":"{meaning}"' for member, meaning in meanings.items())
            lookups[int(value) if value.isdigit() else ord(value)] = tables.kept(text.encode("ascii"))
        begin, size = tables.kept((f',"{label}":' if bits & machine.NUMBER else f',"{label}":"').encode("ascii"))
        rows.append((begin, size, tables.names.setdefault(label, len(tables.names)), bits, limit))
    classes = np.zeros((len(tables.classes), 256), np.bool_)
    for members, number in tables.classes.items():
        classes[number, list(members)] = True
    return [label for label, _, _ in fields], Program(
        np.array(steps, np.int64),
        np.frombuffer(bytes(tables.pool), np.uint8),
        classes,
        np.array(rows, np.int64),
        lookups,
        2 * len(tables.names),
        begins[1],
        begins[2],
        tables.names[MESSAGE] if layout.second and not layout.request else -1,
        layout.escapes,
        not fits,
        whole_times,
    )
