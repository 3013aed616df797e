"""The compiled machine that turns lines into documents, straight from bytes to bytes.

It follows the program of a format (see formats/patterns.py), which notes where fields are (spans), and writes them as
JSON. What cannot be an event is noted with its reason, and so is what Python has to look at once more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paddock.compilation import compiled
from paddock.imports.scanning import follow, is_digit, is_ipv4, is_ipv6
from paddock.imports.sources import LONGEST_LINE

# How fields are written (bits): to the end of the message and even if it is nothing, in capitals, as a number, as the
# members that stand for it; what has to be an address; what the track has no place for; what Python has to look at;
# without spaces around it.
MESSAGE, UPPER, NUMBER, LOOKUP, ADDRESS, DROP, MEND, TRIM = (1 << bit for bit in range(8))
# What became of an event: a document (bits: to be mended, perhaps two records on a line), or why it is none; from
# BAD_FIELD on the number of the field.
TO_MEND, PERHAPS_TWO = 1, 2
NOT_FORMAT, BEGINS_OTHERWISE, NO_TIME, TIME_UNREAD, OUT_OF_RANGE, TOO_LONG, BAD_FIELD = range(4, 11)
# Columns of rows: that, milliseconds since 1970, where the event begins and ends, where its document ends, and how many
# further lines it has, and of those of stack traces.
KIND, MOMENT, BEGIN, END, WRITTEN, JOINED, TRACED, COLUMNS = range(8)
# Columns of the state: up to where it was read, rows, blank lines, fields written, and a time that is not known.
READ, ROWS, BLANK, FIELDS, UNKNOWN, PREFIX, ZONE, ZONE_END, STATES = range(9)
MOST_ADDED = 1024  # bytes by which a document is longer than its fields, at the most
MOST_GROWN = 12  # bytes that a byte becomes in JSON, at the most: \u0001, in a request and in its path
KNOWN_TIMES, LONGEST_TIME, MOST_MARKS = 16, 64, 64
_HOUR, _MINUTE = 3_600_000, 60_000

_QUOTE, _BACKSLASH, _SPACE, _DASH, _COLON, _DOT, _NEWLINE, _RETURN = (ord(each) for each in '"\\ -:.\n\r')
_PLAIN = np.array([byte >= 32 and byte not in b'"\\' for byte in range(256)])
_SHORT = np.zeros(256, np.uint8)  # escapes of a letter
_SHORT[[*b'"\\\b\t\n\f\r']] = [*b'"\\btnfr']
_BLANK = np.array([byte in b" \t\r\v\f" for byte in range(256)])
_BEGIN = np.frombuffer(b'{"@timestamp":"', np.uint8)


class Program(NamedTuple):
    """A format as the machine has it.

    :param steps, pool, classes: see formats/patterns.py.
    :param fields: rows of: where the name is in the pool, its length, its span, how it is written, and the largest
        number (-1: any). The last one is the stack trace, if events may have several lines.
    :param lookups: where members are in the pool, and their length, by number or first byte of the value.
    :param spans: how many begins and ends of spans there are.
    :param start, trace: the first steps of what begins an event (-1: every line does), and a line of a stack trace.
    :param message: the span in which a second record may begin; -1 if none may.
    :param escapes, mend_all, whole_times: whether escapes of the log are to be mended, all documents are, and times are
        known as a whole only.
    """

    steps: np.ndarray
    pool: np.ndarray
    classes: np.ndarray
    fields: np.ndarray
    lookups: np.ndarray
    spans: int
    start: int
    trace: int
    message: int
    escapes: bool
    mend_all: bool
    whole_times: bool


class Known(NamedTuple):
    """Times that Python has read: to the hour, to the minute, or as a whole.

    :param texts: what stands before minutes, seconds or the end, and the zone.
    :param sizes: the lengths of both, the level (0 an hour, 1 a minute, 2 a whole time), and the kind of the row if it
        is no time.
    :param bases: milliseconds since 1970; ``hours`` their hour and the next one in UTC, as text of 14
        bytes each.
    """

    texts: np.ndarray
    sizes: np.ndarray
    bases: np.ndarray
    hours: np.ndarray


@compiled
def _two(data, at):  # type: ignore[no-untyped-def]
    """The number of two digits."""
    return (np.int64(data[at]) - 48) * 10 + np.int64(data[at + 1]) - 48


@compiled
def _known_time(data, found, known, latest):  # type: ignore[no-untyped-def]
    """Which of the known times one is in; -1 if none."""
    begin, zone = found[0], found[2]
    behind = found[3] - zone
    for number in range(KNOWN_TIMES):
        entry = (latest + number) % KNOWN_TIMES
        size, level = known.sizes[entry, 0], known.sizes[entry, 2]
        whole = found[1] < 0
        prefix = (zone if whole else found[1] + 3 * (level == 1)) - begin
        if size != prefix or known.sizes[entry, 1] != behind or (level == 2) != whole:
            continue
        same = True
        for place in range(prefix):
            if data[begin + place] != known.texts[entry, place]:
                same = False
                break
        for place in range(behind):
            if data[zone + place] != known.texts[entry, prefix + place]:
                same = False
                break
        if same:
            return entry
    return -1


@compiled
def _put_text(data, begin, end, out, to):  # type: ignore[no-untyped-def]
    """Write bytes as JSON has them, without the carriage returns at the ends of lines; returns where they end."""
    for place in range(begin, end):
        byte = data[place]
        if _PLAIN[byte]:
            out[to] = byte
            to += 1
            continue
        if byte == _RETURN and place + 1 < end and data[place + 1] == _NEWLINE:
            continue
        out[to] = _BACKSLASH
        if _SHORT[byte]:
            out[to + 1] = _SHORT[byte]
            to += 2
        else:  # \u00
            out[to + 1], out[to + 2], out[to + 3], out[to + 4] = 117, 48, 48, 48 + byte // 16
            low = byte % 16
            out[to + 5] = low + (48 if low < 10 else 87)
            to += 6
    return to


@compiled
def _put(data, begin, end, out, to):  # type: ignore[no-untyped-def]
    for place in range(begin, end):
        out[to + place - begin] = data[place]
    return to + end - begin


@compiled
def _number(data, begin, end):  # type: ignore[no-untyped-def]
    """The value of up to 18 digits; of more or others -1."""
    if end - begin > 18:
        return -1
    value = 0
    for place in range(begin, end):
        if not is_digit(data[place]):
            return -1
        value = value * 10 + np.int64(data[place]) - 48
    return value


@compiled
def _judge(data, program, spans):  # type: ignore[no-untyped-def]
    """What becomes of an event by its fields; spans are put right: -1 is what is not written."""
    result = 0
    for field in range(program.fields.shape[0]):
        span, bits, limit = program.fields[field, 2], program.fields[field, 3], program.fields[field, 4]
        begin, end = spans[2 * span], spans[2 * span + 1]
        if bits & MESSAGE:
            continue
        while bits & TRIM and begin < end and data[begin] == _SPACE:
            begin += 1
        while bits & TRIM and begin < end and data[end - 1] == _SPACE:
            end -= 1
        spans[2 * span], spans[2 * span + 1] = begin, end
        if begin >= end or (end == begin + 1 and data[begin] == _DASH):
            if bits & ADDRESS:
                return BAD_FIELD + field
            spans[2 * span] = -1
            continue
        if bits & ADDRESS and not is_ipv4(data, begin, end) and not is_ipv6(data, begin, end):
            return BAD_FIELD + field
        if bits & MEND:
            result = TO_MEND
        if bits & NUMBER:
            while begin + 1 < end and data[begin] == 48:
                begin += 1
            spans[2 * span] = begin
            if limit >= 0 and data[begin] != _DASH:
                value = _number(data, begin, end)
                if value < 0 or value > limit:
                    return BAD_FIELD + field
        elif bits & LOOKUP:
            value = np.int64(data[begin])
            if is_digit(value):
                value = _number(data, begin, end)
            if value < 0 or value >= program.lookups.shape[0] or program.lookups[value, 1] == 0:
                return BAD_FIELD + field
    return result


@compiled
def _has_clock(data, begin, end):  # type: ignore[no-untyped-def]
    """Whether there is a time in a text, with which perhaps another record begins."""
    for place in range(begin, end - 5):
        clock = data[place] == _COLON and data[place + 3] == _COLON
        if clock and is_digit(data[place + 1]) and is_digit(data[place + 2]) and is_digit(data[place + 4]):
            return True
    return False


@compiled
def _find_time(data, spans, whole, found):  # type: ignore[no-untyped-def]
    """The milliseconds of an event's time, -1 if it has none.

    :param found: where it begins, its minutes (-1 if they are not told apart), and its zone's begin and end.
    """
    if spans[0] < 0:
        return -1
    end = max(spans[1], spans[3], spans[5], spans[7])
    found[0], found[1], found[2], found[3] = spans[0], -1, end, end
    milliseconds = 0
    if spans[2] >= 0 and not whole:
        found[1] = spans[2]
        found[2] = spans[6] if spans[6] >= 0 else end
        factor = 100
        for place in range(spans[4], min(spans[4] + 3, spans[5])):
            milliseconds += (np.int64(data[place]) - 48) * factor
            factor //= 10
    return milliseconds


@compiled
def read_events(data, begin, program, known, out, rows, dropped, state):  # type: ignore[no-untyped-def]
    """Read events from ``data[begin:]`` until a time is not known, rows or room run out, or until the end.

    :param data: UTF-8.
    :param out: the documents, a line each; with room for the longest one.
    :param dropped: of each field how often it was there and had no place.
    :param state: is filled in, see the columns above.
    """
    stack, trail = np.empty((MOST_MARKS, 3), np.int64), np.empty((MOST_MARKS, 2), np.int64)
    spans, found = np.empty(MOST_MARKS, np.int64), np.zeros(4, np.int64)
    at, written, count, latest, blank, fields = begin, 0, 0, 0, 0, 0
    state[UNKNOWN] = -1
    size = data.size
    while at < size and count < rows.shape[0]:
        end, escaped = at, False
        while end < size and data[end] != _NEWLINE:
            escaped |= data[end] == _BACKSLASH
            end += 1
        after = end + 1
        if end > at and data[end - 1] == _RETURN:
            end -= 1
        first = at
        while first < end and _BLANK[data[first]]:
            first += 1
        if first >= end:
            blank += 1
            at = after
            continue
        joined, traced, trace, message_end, event_end = 0, 0, -1, end, end
        while program.start >= 0 and after < size:
            further = after
            while further < size and data[further] != _NEWLINE:
                further += 1
            line_end = further - 1 if further > after and data[further - 1] == _RETURN else further
            if follow(data, after, line_end, program, program.start, stack, trail) >= 0:
                break
            if follow(data, after, line_end, program, program.trace, stack, trail) >= 0:
                trace = after if trace < 0 else trace
                traced += 1
            if trace < 0:
                message_end = line_end
            joined, event_end, after = joined + 1, line_end, further + 1
        length = event_end - at
        kind, moment, milliseconds, minute, second = 0, np.int64(0), np.int64(0), 0, 0
        marks = follow(data, at, end, program, 0, stack, trail) if length <= LONGEST_LINE else -1
        if length > LONGEST_LINE:
            kind = TOO_LONG
        elif marks < 0:
            begins = program.start < 0 or follow(data, at, end, program, program.start, stack, trail) >= 0
            kind = NOT_FORMAT if begins else BEGINS_OTHERWISE
        else:
            for span in range(program.spans):
                spans[span] = -1
            for mark in range(marks):
                spans[trail[mark, 0]] = trail[mark, 1]
            kind = _judge(data, program, spans)
        if kind < NOT_FORMAT:
            milliseconds = _find_time(data, spans, program.whole_times, found)
            if milliseconds < 0:
                kind = NO_TIME
            elif found[3] - found[0] > LONGEST_TIME:
                kind = TIME_UNREAD
            elif found[1] >= 0:
                minute, second = _two(data, found[1]), _two(data, found[1] + 3)
                kind = TIME_UNREAD if minute > 59 or second > 60 else kind
        if kind < NOT_FORMAT:
            entry = _known_time(data, found, known, latest)
            if entry < 0:
                state[UNKNOWN], state[PREFIX], state[ZONE], state[ZONE_END] = found[0], found[1], found[2], found[3]
                break
            latest = entry
            if known.sizes[entry, 3] > 0:
                kind = known.sizes[entry, 3]
        if kind < NOT_FORMAT:
            if written + MOST_GROWN * length + MOST_ADDED > out.size:
                break
            minute = 0 if known.sizes[entry, 2] else minute
            moment = known.bases[entry] + minute * _MINUTE + min(second, 59) * 1000 + milliseconds
            rest = known.bases[entry] % _HOUR + moment - known.bases[entry]
            to = _put(_BEGIN, 0, _BEGIN.size, out, written)
            hour = 28 * entry + 14 * (rest // _HOUR)
            to = _put(known.hours, hour, hour + 14, out, to)
            rest %= _HOUR
            minute, second, rest = rest // _MINUTE, rest % _MINUTE // 1000, rest % 1000
            out[to], out[to + 1], out[to + 2] = 48 + minute // 10, 48 + minute % 10, _COLON
            out[to + 3], out[to + 4], out[to + 5] = 48 + second // 10, 48 + second % 10, _DOT
            out[to + 6], out[to + 7], out[to + 8] = 48 + rest // 100, 48 + rest // 10 % 10, 48 + rest % 10
            out[to + 9], out[to + 10] = 90, _QUOTE
            to += 11
            if program.mend_all or (escaped and program.escapes):
                kind |= TO_MEND
            if program.message >= 0 and _has_clock(data, spans[2 * program.message], spans[2 * program.message + 1]):
                kind |= PERHAPS_TWO
            last = program.fields.shape[0] - 1
            for field in range(last + 1):
                name, span, bits = program.fields[field, 0], program.fields[field, 2], program.fields[field, 3]
                from_, until = spans[2 * span], spans[2 * span + 1]
                if bits & MESSAGE:
                    from_, until = max(from_, 0), message_end if until == end else max(until, 0)
                elif program.start >= 0 and field == last:
                    from_, until = trace, event_end
                if from_ < 0:
                    continue
                if bits & DROP:
                    dropped[field] += 1
                    continue
                fields += 1
                if bits & LOOKUP:
                    value = np.int64(data[from_])
                    if is_digit(value):
                        value = _number(data, from_, until)
                    name = program.lookups[value, 0]
                    to = _put(program.pool, name, name + program.lookups[value, 1], out, to)
                    continue
                to = _put(program.pool, name, name + program.fields[field, 1], out, to)
                if bits & NUMBER:
                    to = _put(data, from_, until, out, to)
                    continue
                value_begin = to
                to = _put_text(data, from_, until, out, to)
                if bits & MESSAGE and until < end:  # further lines stand behind the logger (Kafka's layout)
                    to = _put_text(data, end, message_end, out, to)
                if bits & UPPER:
                    for place in range(value_begin, to):
                        if 97 <= out[place] <= 122:
                            out[place] -= 32
                out[to] = _QUOTE
                to += 1
            out[to], out[to + 1] = 125, _NEWLINE
            written = to + 2
        rows[count, KIND], rows[count, MOMENT], rows[count, BEGIN], rows[count, END] = kind, moment, at, event_end
        rows[count, WRITTEN], rows[count, JOINED], rows[count, TRACED] = written, joined, traced
        count += 1
        at = after
    state[READ], state[ROWS], state[BLANK], state[FIELDS] = min(at, size), count, blank, fields
