"""The compiled loop that turns usual lines of a log into documents, straight from bytes to bytes.

It follows a program: steps that a line has to meet one after the other, which note where its fields are (spans), and
then the fields to be written. What a line has to look like says quick.py. A line that meets no program, or that holds
what JSON would have to escape (but quotes) or a time that is not known yet, is handed back.
"""

from __future__ import annotations

import numpy as np

from paddock.compilation import compiled

# Steps: a number, and two arguments.
LITERAL, SPACES, TIME, RUN, RUN_OR_NONE, ONE, OPTION, BEGIN, END, REST, ADDRESS, LEVEL, NO_SPACE = range(13)
# How fields are written: left out where the log has nothing, or "-" as well (DASH_OUT), as a number too (NUMBER);
# written even if it is nothing (ALWAYS); as severity and facility (PRIORITY). A "-" elsewhere makes a line unusual.
TEXT, DASH_OUT, NUMBER, ALWAYS, PRIORITY = range(5)
# What a time may have behind it (bits).
DOT, COMMA, ANY_ZONE, COLON_ZONE, PLAIN_ZONE = 1, 2, 4, 8, 16
# The columns of what the kernel returns in `state`.
READ, WRITTEN, DOCUMENTS, FIRST, LAST, EARLIEST, LATEST, BACKWARDS, UNKNOWN, PREFIX, ZONE, ZONE_END, STATES = range(13)
MOST_ADDED = 256  # a document is longer than its line by the names of its fields, which are fewer bytes than this
SPANS, KNOWN_HOURS, LONGEST_HOUR = 12, 16, 40

_QUOTE, _BACKSLASH, _SPACE, _DASH, _COLON, _DOT, _BRACKET = (ord(each) for each in '"\\ -:.[')
_NEWLINE, _RETURN, _ZERO = ord("\n"), ord("\r"), ord("0")


@compiled
def _digit(byte):  # type: ignore[no-untyped-def]  # compiled: numba infers the types
    return 48 <= byte <= 57


@compiled
def _two(data, at):  # type: ignore[no-untyped-def]
    """The number of two digits; 99 if they are none."""
    if not _digit(data[at]) or not _digit(data[at + 1]):
        return 99
    return (np.int64(data[at]) - 48) * 10 + np.int64(data[at + 1]) - 48


@compiled
def _is_ipv4(data, begin, end):  # type: ignore[no-untyped-def]
    """Four numbers up to 255 without leading zeros."""
    octets, value, digits = 1, 0, 0
    for place in range(begin, end):
        byte = data[place]
        if byte == _DOT:
            if digits == 0:
                return False
            octets, value, digits = octets + 1, 0, 0
            continue
        if not _digit(byte) or (digits > 0 and value == 0):
            return False
        value, digits = value * 10 + np.int64(byte) - _ZERO, digits + 1
        if value > 255:
            return False
    return octets == 4 and digits > 0


@compiled
def _is_ipv6(data, begin, end):  # type: ignore[no-untyped-def]
    """Eight groups of up to four hexadecimal digits, or fewer around one double colon."""
    groups, digits, double, place = 0, 0, False, begin
    while place < end:
        if _digit(data[place]) or 97 <= (data[place] | 32) <= 102:
            digits += 1
            if digits > 4:
                return False
            place += 1
            continue
        if data[place] != _COLON:
            return False
        if place + 1 < end and data[place + 1] == _COLON:
            if double:
                return False
            double = True
            groups += 1 if digits else 0
            place += 2
        else:
            if digits == 0 or place + 1 == end:
                return False
            groups += 1
            place += 1
        digits = 0
    groups += 1 if digits else 0
    return groups <= 7 if double else groups == 8


@compiled
def _time(data, at, end, pool, patterns, first, flags, found):  # type: ignore[no-untyped-def]
    """Where a time ends; -1: there is none. Notes in ``found``: its minutes, its zone's begin and end, milliseconds."""
    for number in range(first, patterns.shape[0]):
        begin, size = patterns[number, 0], patterns[number, 1]
        if size == 0:
            return -1
        if at + size > end:
            continue
        fits = True
        for place in range(size):
            wanted, byte = pool[begin + place], data[at + place]
            if wanted == 100:  # d
                fits = _digit(byte)
            elif wanted == 65:  # A
                fits = 65 <= byte <= 90
            elif wanted == 97:  # a
                fits = 97 <= byte <= 122
            elif wanted == 115:  # s: a digit, or a space in its place
                fits = _digit(byte) or byte == _SPACE
            elif wanted == 95:  # _: a T, or a space in its place
                fits = byte == 84 or byte == _SPACE
            else:
                fits = byte == wanted
            if not fits:
                break
        if not fits:
            continue
        place = at + size
        found[0], found[3] = place - 5, 0
        if place + 1 < end and ((flags & 1 and data[place] == _DOT) or (flags & 2 and data[place] == 44)):
            begin, place, factor = place + 1, place + 1, 100
            while place < end and place < begin + 9 and _digit(data[place]):
                found[3] += (np.int64(data[place]) - 48) * factor
                factor //= 10
                place += 1
            if place == begin:
                return -1
        found[1] = place
        zone = place
        if flags & 12 and zone < end and data[zone] == 90:
            zone += 1
        else:
            if zone < end and data[zone] == _SPACE and not flags & 8:
                zone += 1
            if zone + 5 <= end and (data[zone] == 43 or data[zone] == 45) and _two(data, zone + 1) < 99:
                colon = 1 if data[zone + 3] == _COLON and flags & 12 else 0
                if zone + 5 + colon <= end and _two(data, zone + 3 + colon) < 60 and (colon or not flags & 8):
                    zone += 5 + colon
                else:
                    zone = place
            else:
                zone = place
        if flags & 28 == 0:
            zone = place
        elif flags & 24 and zone == place:
            return -1
        found[2] = zone
        return zone
    return -1


@compiled
def _known_hour(data, begin, found, hours, sizes, latest):  # type: ignore[no-untyped-def]
    """Which of the known hours a time is in; -1 if none."""
    prefix, zone = found[0] - begin, found[2] - found[1]
    for number in range(KNOWN_HOURS):
        hour = (latest + number) % KNOWN_HOURS
        if sizes[hour, 0] != prefix or sizes[hour, 1] != zone:
            continue
        same = True
        for place in range(prefix):
            if data[begin + place] != hours[hour, place]:
                same = False
                break
        for place in range(zone):
            if data[found[1] + place] != hours[hour, prefix + place]:
                same = False
        if same:
            return hour
    return -1


@compiled
def _follow(data, at, end, steps, pool, classes, patterns, spans, found):  # type: ignore[no-untyped-def]
    """Whether a line meets all steps; its spans are noted, and its time (its begin in the span 0)."""
    spans[:] = -1
    step = 0
    while step < steps.shape[0] and steps[step, 0] >= 0:
        kind, one, two = steps[step, 0], steps[step, 1], steps[step, 2]
        step += 1
        if kind == LITERAL:
            if at + two > end:
                return False
            for place in range(two):
                if data[at + place] != pool[one + place]:
                    return False
            at += two
        elif kind in (RUN, RUN_OR_NONE):
            begin = at
            while at < end and classes[one, data[at]]:
                at += 1
            if at == begin and kind == RUN:
                return False
            if two >= 0:
                spans[two, 0], spans[two, 1] = begin, at
        elif kind == SPACES:
            begin = at
            while at < end and data[at] == _SPACE:
                at += 1
            if at - begin < one:
                return False
        elif kind == ONE:
            if at >= end or not classes[one, data[at]]:
                return False
            at += 1
        elif kind == OPTION:
            if at >= end or data[at] != one:
                step += two
        elif kind == BEGIN:
            spans[two, 0] = at
        elif kind == END:
            spans[two, 1] = at
        elif kind == NO_SPACE:
            if at < end and (data[at] == _SPACE or data[at] > 127):
                return False
        elif kind == TIME:
            spans[0, 0] = at
            at = _time(data, at, end, pool, patterns, one, two, found)
            if at < 0:
                return False
        elif kind == ADDRESS:
            if not _is_ipv4(data, spans[two, 0], spans[two, 1]) and not _is_ipv6(data, spans[two, 0], spans[two, 1]):
                return False
        elif kind == LEVEL:
            # One of the words in the pool, each with a space before and behind it.
            size, matched = spans[two, 1] - spans[two, 0], False
            for word in range(one, pool.size - size - 1):
                if pool[word] == 0:
                    break
                if pool[word] == _SPACE and pool[word + size + 1] == _SPACE:
                    matched = True
                    for place in range(size):
                        if pool[word + 1 + place] != data[spans[two, 0] + place]:
                            matched = False
                            break
                    if matched:
                        break
            if not matched:
                return False
        else:  # REST; perhaps another record begins in it
            for place in range(at, end - 5):
                clock = data[place] == _COLON and data[place + 3] == _COLON
                if clock and _two(data, place + 1) < 99 and _two(data, place + 4) < 99:
                    return False
            spans[two, 0], spans[two, 1] = at, end
            at = end
    return at == end


@compiled
def _writable(data, begin, end, kind):  # type: ignore[no-untyped-def]
    """0: not to be written; 1: to be written; -1: the line is unusual."""
    size = end - begin
    dash = size == 1 and data[begin] == _DASH
    if begin < 0 or size <= 0:
        return 1 if kind == ALWAYS else 0
    if dash:
        return 0 if kind in (DASH_OUT, NUMBER) else -1
    if kind in (NUMBER, PRIORITY):
        if size > 18 or (size > 1 and data[begin] == _ZERO):
            return -1
        value = 0
        for place in range(begin, end):
            if not _digit(data[place]):
                return -1
            value = value * 10 + np.int64(data[place]) - 48
        if kind == PRIORITY and value > 191:
            return -1
    return 1


@compiled
def write_documents(  # type: ignore[no-untyped-def]
    data, begin, many, allowed, steps, fields, pool, classes, patterns, names, hours, sizes, bases, times, out, state
):
    """Write documents from ``data[begin:]`` until a line is unusual, or until the end.

    :param many: whether events may have several lines: a line ends one only if the next one begins with a time.
    :param allowed: for each byte whether a line with it is usual.
    :param steps, fields: programs (see ``_follow``); fields are rows of: where the name is in the pool, its length,
        span and how it is written.
    :param names: of priorities: where its two members are in the pool, and their length.
    :param hours, sizes, bases, times: known hours: the text before the minutes and the zone, their lengths,
        milliseconds since 1970 at the full hour (-1: unusual) and minutes of UTC then, and both UTC hours as text.
    :param out: with room for ``data[begin:]``, its quotes once more, and MOST_ADDED for each line.
    :param state: is filled in, see the columns above. If a time's hour is unknown, UNKNOWN is where that time begins.
    """
    spans = np.empty((SPANS, 2), np.int64)
    found = np.zeros(4, np.int64)
    following = np.zeros(4, np.int64)
    at, written, documents, backwards, program, hour = begin, 0, 0, 0, 0, 0
    first = last = earliest = latest = np.int64(0)
    state[UNKNOWN] = -1
    while at < data.size:
        end, usual = at, True
        while end < data.size and data[end] != _NEWLINE:
            usual = usual and allowed[data[end]]
            end += 1
        line_end = end - 1 if end > at and data[end - 1] == _RETURN else end
        if line_end < end:  # the return at the end is the only byte that was not allowed
            usual = True
            for place in range(at, line_end):
                usual = usual and allowed[data[place]]
        if not usual or line_end == at:
            break
        met = False
        for number in range(steps.shape[0]):
            tried = (program + number) % steps.shape[0]
            if _follow(data, at, line_end, steps[tried], pool, classes, patterns, spans, found):
                program, met = tried, True
                break
        if not met:
            break
        minute, second = _two(data, found[0]), _two(data, found[0] + 3)
        if minute > 59 or second > 59:
            break
        if many and end + 1 < data.size:
            start = end + 1
            bracket = data[start] == _BRACKET
            start = _time(data, start + bracket, data.size, pool, patterns, 0, DOT | COMMA | ANY_ZONE, following)
            if start < 0 or start + 1 >= data.size:
                break
            start += data[start] == 93
            if data[start] != _SPACE and data[start] != _BRACKET:
                break
        usual = True
        for field in range(fields.shape[1]):
            if fields[program, field, 1] > 0:
                span, kind = fields[program, field, 2], fields[program, field, 3]
                usual = usual and _writable(data, spans[span, 0], spans[span, 1], kind) >= 0
        if not usual:
            break
        hour = _known_hour(data, spans[0, 0], found, hours, sizes, hour)
        if hour < 0:
            state[UNKNOWN], state[PREFIX], state[ZONE], state[ZONE_END] = spans[0, 0], found[0], found[1], found[2]
            break
        if bases[hour, 0] < 0:
            break

        moment = bases[hour, 0] + minute * 60_000 + second * 1000 + found[3]
        minute += bases[hour, 1]
        to = written
        for place in range(15):  # {"@timestamp":"
            out[to + place] = pool[place]
        to += 15
        for place in range(14):  # 2026-01-05T10:
            out[to + place] = times[hour, minute // 60, place]
        to += 14
        minute %= 60
        milliseconds = found[3]
        out[to], out[to + 1], out[to + 2] = 48 + minute // 10, 48 + minute % 10, _COLON
        out[to + 3], out[to + 4], out[to + 5] = 48 + second // 10, 48 + second % 10, _DOT
        out[to + 6], out[to + 7] = 48 + milliseconds // 100, 48 + milliseconds // 10 % 10
        out[to + 8], out[to + 9], out[to + 10] = 48 + milliseconds % 10, 90, _QUOTE
        to += 11
        for field in range(fields.shape[1]):
            name, size, span, kind = fields[program, field]
            if size == 0 or _writable(data, spans[span, 0], spans[span, 1], kind) == 0:
                continue
            if kind == PRIORITY:
                value = 0
                for place in range(spans[span, 0], spans[span, 1]):
                    value = value * 10 + np.int64(data[place]) - 48
                for place in range(names[value, 1]):
                    out[to] = pool[names[value, 0] + place]
                    to += 1
                continue
            for place in range(size):
                out[to] = pool[name + place]
                to += 1
            for place in range(spans[span, 0], spans[span, 1]):
                if data[place] == _QUOTE:
                    out[to] = _BACKSLASH
                    to += 1
                out[to] = data[place]
                to += 1
            if kind != NUMBER:
                out[to] = _QUOTE
                to += 1
        out[to], out[to + 1] = 125, _NEWLINE
        written = to + 2
        if documents == 0:
            first = earliest = latest = moment
        elif moment < last:
            backwards += 1
        last = moment
        earliest, latest = min(earliest, moment), max(latest, moment)
        documents += 1
        at = min(end + 1, data.size)
    state[READ], state[WRITTEN], state[DOCUMENTS], state[BACKWARDS] = at, written, documents, backwards
    state[FIRST], state[LAST], state[EARLIEST], state[LATEST] = first, last, earliest, latest
