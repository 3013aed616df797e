"""The compiled loop that turns access-log lines without anything unusual into documents, straight from bytes to bytes.

A line that it cannot vouch for (an escape, a byte outside ASCII, a client that is no address, an odd date, ...) it
leaves alone: formats/access.py parses it. What it does write is what that would write.
"""

from __future__ import annotations

import numpy as np

from paddock.compilation import compiled

COMMON, COMBINED, NGINX = 0, 1, 2
# The columns of what the kernel returns in `state`.
READ, WRITTEN, DOCUMENTS, FIRST, LAST, EARLIEST, LATEST, BACKWARDS = range(8)
MOST_ADDED = 192  # a document is longer than its line by the names of its fields, which are fewer bytes than this

_TIME_LENGTH = 26  # 05/Jan/2026:10:00:00 +0100
_ISO_LENGTH = 24
_MONTHS = np.frombuffer(b"JanFebMarAprMayJunJulAugSepOctNovDec", np.uint8)
_DAYS = np.array([31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_QUOTE, _BACKSLASH, _SPACE, _DASH, _SLASH, _COLON, _QUESTION = (ord(each) for each in '"\\ -/:?')
_ZERO, _DOT, _NEWLINE, _RETURN = ord("0"), ord("."), ord("\n"), ord("\r")


def _text(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("ascii"), np.uint8)


_BEGIN = _text('{"@timestamp":"')
_CLIENT = _text('","clientip":"')
_USER = _text('","user":"')
_METHOD = _text('","method":"')
_PATH = _text('","path":"')
_QUERY = _text('","query":"')
_STATUS = _text('","status":')
_BYTES = _text(',"bytes":')
_REFERRER = _text(',"referrer":"')
_VERSION = _text(',"http_version":"')
_VERSION_BEHIND_TEXT = _text('","http_version":"')
_AGENT = _text('","user_agent":"')
_END = _text('"}\n')
_HTTP = _text("HTTP/")


@compiled
def _put(out, at, text):  # type: ignore[no-untyped-def]  # compiled: numba infers the types
    """Append a text; returns where it ends."""
    for place in range(text.size):
        out[at + place] = text[place]
    return at + text.size


@compiled
def _copy(out, at, data, begin, end):  # type: ignore[no-untyped-def]
    """Append a part of the log; returns where it ends."""
    for place in range(begin, end):
        out[at + place - begin] = data[place]
    return at + end - begin


@compiled
def _number(data, begin, count):  # type: ignore[no-untyped-def]
    """The number that so many digits are; -1 if one is none."""
    value = 0
    for place in range(begin, begin + count):
        digit = np.int64(data[place]) - _ZERO
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value


@compiled
def _put_number(out, at, value, digits):  # type: ignore[no-untyped-def]
    """A number with leading zeros."""
    for place in range(at + digits - 1, at - 1, -1):
        out[place] = _ZERO + value % 10
        value //= 10


@compiled
def _plain_end(data, begin, end, stop):  # type: ignore[no-untyped-def]
    """Where the byte ``stop`` comes; -1 if something that JSON or UTF-8 minds comes first."""
    for place in range(begin, end):
        byte = data[place]
        if byte == stop:
            return place
        if byte < 32 or byte > 126 or byte in (_QUOTE, _BACKSLASH):
            return -1
    return -1


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
        digit = np.int64(byte) - _ZERO
        if digit < 0 or digit > 9 or (digits > 0 and value == 0):
            return False
        value, digits = value * 10 + digit, digits + 1
        if value > 255:
            return False
    return octets == 4 and digits > 0


@compiled
def _is_ipv6(data, begin, end):  # type: ignore[no-untyped-def]
    """Eight groups of up to four hexadecimal digits, or fewer around one double colon."""
    groups, digits, double, place = 0, 0, False, begin
    while place < end:
        byte = data[place] | 32
        if (48 <= data[place] <= 57) or (97 <= byte <= 102):
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
            if digits == 0:
                return False
            groups += 1
            place += 1
            if place == end:
                return False
        digits = 0
    groups += 1 if digits else 0
    return groups <= 7 if double else groups == 8


@compiled
def _seconds(data, begin):  # type: ignore[no-untyped-def]
    """Seconds since 1970 UTC of Apache's time; -1 if it is none, or before 1971 or after 9998."""
    day, year = _number(data, begin, 2), _number(data, begin + 7, 4)
    hour, minute, second = _number(data, begin + 12, 2), _number(data, begin + 15, 2), _number(data, begin + 18, 2)
    zone_hours, zone_minutes = _number(data, begin + 22, 2), _number(data, begin + 24, 2)
    sign = data[begin + 21]
    if (
        data[begin + 2] != _SLASH
        or data[begin + 6] != _SLASH
        or data[begin + 11] != _COLON
        or data[begin + 14] != _COLON
        or data[begin + 17] != _COLON
        or data[begin + 20] != _SPACE
        or (sign != 43 and sign != _DASH)
        or not 0 <= hour <= 23
        or not 0 <= minute <= 59
        or not 0 <= second <= 59
        or not 0 <= zone_hours <= 14
        or not 0 <= zone_minutes <= 59
        or not 1971 <= year <= 9998
    ):
        return -1
    month = 0
    for number in range(12):
        at = number * 3
        if data[begin + 3] == _MONTHS[at] and data[begin + 4] == _MONTHS[at + 1] and data[begin + 5] == _MONTHS[at + 2]:
            month = number + 1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == 0 or day < 1 or day > _DAYS[month - 1] or (month == 2 and day == 29 and not leap):
        return -1
    # Days since 1970-01-01 (Howard Hinnant's days_from_civil).
    shifted_year = year - 1 if month <= 2 else year
    era = shifted_year // 400
    of_era = shifted_year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    days = era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
    offset = (zone_hours * 60 + zone_minutes) * 60
    return days * 86400 + hour * 3600 + minute * 60 + second - (offset if sign == 43 else -offset)


@compiled
def _write_iso(out, seconds):  # type: ignore[no-untyped-def]
    """YYYY-MM-DDThh:mm:ss.000Z (Howard Hinnant's civil_from_days)."""
    days = seconds // 86400
    rest = seconds - days * 86400
    shifted = days + 719468
    era = shifted // 146097
    of_era = shifted - era * 146097
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * of_year + 2) // 153
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    _put_number(out, 0, year_of_era + era * 400 + (1 if month <= 2 else 0), 4)
    _put_number(out, 5, month, 2)
    _put_number(out, 8, of_year - (153 * shifted_month + 2) // 5 + 1, 2)
    _put_number(out, 11, rest // 3600, 2)
    _put_number(out, 14, rest // 60 % 60, 2)
    _put_number(out, 17, rest % 60, 2)


@compiled
def write_documents(data, begin, kind, out, state):  # type: ignore[no-untyped-def]
    """Write documents from ``data[begin:]`` until a line is unusual, or until the end.

    :param kind: COMMON, COMBINED or NGINX.
    :param out: with room for as many bytes as ``data[begin:]`` and MOST_ADDED for each line.
    :param state: int64, one for each column; is filled in. Times are seconds since 1970 UTC, unset without documents.
    """
    iso = np.zeros(_ISO_LENGTH, dtype=np.uint8)
    for place, character in (
        (4, 45),
        (7, 45),
        (10, 84),
        (13, 58),
        (16, 58),
        (19, 46),
        (20, 48),
        (21, 48),
        (22, 48),
        (23, 90),
    ):
        iso[place] = character
    end = data.size
    known_time = -1  # where the time stands that `iso` holds
    seconds = np.int64(0)
    at, written, documents, backwards = begin, 0, 0, 0
    first = last = earliest = latest = np.int64(0)
    while at < end:
        # client - user [time] "method path?query HTTP/version" status bytes
        client_end = _plain_end(data, at, end, _SPACE)
        if client_end < 0 or client_end + 4 > end:
            break
        if not _is_ipv4(data, at, client_end) and not _is_ipv6(data, at, client_end):
            break
        user = client_end + 3
        if data[client_end + 1] != _DASH or data[client_end + 2] != _SPACE:
            break
        user_end = _plain_end(data, user, end, _SPACE)
        time = user_end + 2
        request = time + _TIME_LENGTH + 3
        if user_end <= user or request >= end:
            break
        if data[user_end + 1] != 91 or data[request - 3] != 93 or data[request - 2] != _SPACE:
            break
        if data[request - 1] != _QUOTE:
            break
        same = known_time >= 0
        if same:
            for place in range(_TIME_LENGTH):
                if data[time + place] != data[known_time + place]:
                    same = False
                    break
        if not same:
            seconds = _seconds(data, time)
            if seconds < 0:
                break
            _write_iso(iso, seconds)
        known_time = time
        method_end = request
        while method_end < end and 97 <= (data[method_end] | 32) <= 122:
            method_end += 1
        if method_end == request or method_end >= end or data[method_end] != _SPACE:
            break
        target_end = _plain_end(data, method_end + 1, end, _SPACE)
        if target_end < 0:
            break
        path_end = method_end + 1
        while path_end < target_end and data[path_end] != _QUESTION:
            path_end += 1
        version = target_end + 6
        if path_end == method_end + 1 or version + 8 >= end:
            break
        usual = True
        for place in range(_HTTP.size):
            usual = usual and data[target_end + 1 + place] == _HTTP[place]
        version_end = version + 3 if data[version + 1] == _DOT else version + 1
        status = version_end + 2
        if (
            not usual
            or _number(data, version, 1) < 0
            or (version_end > version + 1 and _number(data, version + 2, 1) < 0)
        ):
            break
        if data[version_end] != _QUOTE or data[version_end + 1] != _SPACE or status + 5 > end:
            break
        if _number(data, status, 3) < 100 or data[status + 3] != _SPACE:
            break
        size = status + 4
        size_end = size
        while size_end < end and 48 <= data[size_end] <= 57:
            size_end += 1
        if size_end == size and data[size] == _DASH:
            size_end = size + 1
        elif size_end == size or size_end - size > 18 or (data[size] == _ZERO and size_end - size > 1):
            break
        # "referrer" "agent"
        line_end = size_end
        referrer = referrer_end = agent = agent_end = 0
        if kind != COMMON:
            referrer = size_end + 2
            if referrer >= end or data[size_end] != _SPACE or data[size_end + 1] != _QUOTE:
                break
            referrer_end = _plain_end(data, referrer, end, _QUOTE)
            agent = referrer_end + 3
            if referrer_end < 0 or agent >= end:
                break
            if data[referrer_end + 1] != _SPACE or data[referrer_end + 2] != _QUOTE:
                break
            agent_end = _plain_end(data, agent, end, _QUOTE)
            if agent_end < 0:
                break
            line_end = agent_end + 1
        if line_end < end and data[line_end] == _RETURN:
            line_end += 1
        if line_end >= end or data[line_end] != _NEWLINE:
            break

        to = _put(out, written, _BEGIN)
        to = _put(out, to, iso)
        to = _put(out, to, _CLIENT)
        to = _copy(out, to, data, at, client_end)
        if user_end - user != 1 or data[user] != _DASH:
            to = _put(out, to, _USER)
            to = _copy(out, to, data, user, user_end)
        to = _put(out, to, _METHOD)
        to = _copy(out, to, data, request, method_end)
        to = _put(out, to, _PATH)
        to = _copy(out, to, data, method_end + 1, path_end)
        if target_end - path_end > 1:
            to = _put(out, to, _QUERY)
            to = _copy(out, to, data, path_end + 1, target_end)
        to = _put(out, to, _STATUS)
        to = _copy(out, to, data, status, status + 3)
        if data[size] != _DASH:
            to = _put(out, to, _BYTES)
            to = _copy(out, to, data, size, size_end)
        referred = referrer_end - referrer > 1 or (referrer_end - referrer == 1 and data[referrer] != _DASH)
        if referred:
            to = _put(out, to, _REFERRER)
            to = _copy(out, to, data, referrer, referrer_end)
        to = _put(out, to, _VERSION_BEHIND_TEXT if referred else _VERSION)
        to = _copy(out, to, data, version, version_end)
        if agent_end - agent > 1 or (agent_end - agent == 1 and data[agent] != _DASH):
            to = _put(out, to, _AGENT)
            to = _copy(out, to, data, agent, agent_end)
        written = _put(out, to, _END)

        if documents == 0:
            first = earliest = latest = seconds
        elif seconds < last:
            backwards += 1
        last = seconds
        earliest, latest = min(earliest, seconds), max(latest, seconds)
        documents += 1
        at = line_end + 1
    state[READ], state[WRITTEN], state[DOCUMENTS] = at, written, documents
    state[FIRST], state[LAST], state[EARLIEST], state[LATEST], state[BACKWARDS] = (
        first,
        last,
        earliest,
        latest,
        backwards,
    )
