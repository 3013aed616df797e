"""What is alike fares alike: of words and values that differ in digits alone, one is judged, and compiled code follows.

What stands for them, their skeleton, has zeros for digits. It is judged by the rules of words.py once, with marks in
place of pseudonyms; where the marks are, all that are like it get pseudonyms of their own. The numbers that these are
made of (an HMAC, see pseudonyms.py) come from Python; what is done with them here is what is done there.
"""

from __future__ import annotations

import numpy as np

from paddock.compilation import compiled
from paddock.imports.cutting import (
    ALIKE,
    CHANGES,
    COUNT,
    DOMAIN,
    KIND,
    NUMBERS,
    PARTS,
    PATHS,
    SKELETONS,
    START,
    entry_of,
    hash_of,
)
from paddock.imports.scanning import is_digit, is_hexadecimal, is_ipv6, is_letter

# Whether a skeleton changes (``CHANGES``): no, where the marks are, or what is like it has to be judged by itself.
OWN = 2
# Marks: what stays, what goes on, and what begins a name, an IPv4 address, hexadecimal digits, and an IPv6 address.
_STAYS, _GOES_ON, _NAME, _OCTETS, _DIGITS, _GROUPS = range(6)
_HAS_SKELETON = np.array([domain < PARTS and domain != NUMBERS for domain in range(PATHS + 1)])
_LONGEST = 128
_MOST_RANDOM = 24  # so many letters and digits in a row may be a token
_PREFIXES = np.zeros((6, 13), np.uint8)  # a zero behind each
for _kind, _text in ((_NAME, b"word "), (_OCTETS, b"ipv4 "), (_DIGITS, b"hexadecimal "), (_GROUPS, b"ipv6 ")):
    _PREFIXES[_kind, : len(_text)] = [*_text]
_LEAST, _COUNTS = np.array((0, 0, 10, 100)), np.array((1, 10, 90, 156))  # octets of so many digits
_ZERO, _NINE, _A, _DOT, _COLON, _NEWLINE, _PERCENT, _BACKSLASH = (ord(each) for each in "09a.:\n%\\")
_IN_PARTS = np.array([chr(byte).isalnum() or byte in b"_.-" for byte in range(256)])
_MARK = 0xE000  # the first character for private use


class Marks:
    """In place of pseudonyms.

    :raises ValueError: (all methods) if a pseudonym would be made of another one.
    """

    def word(self, text: str) -> str:
        """A name."""
        return _marked(_NAME, text)

    value = word

    def hexadecimal(self, text: str) -> str:
        """Hexadecimal digits."""
        return _marked(_DIGITS, text)

    def octets(self, octets: list[str]) -> list[str]:
        """The four numbers of an IPv4 address."""
        return [_marked(_GOES_ON if number else _OCTETS, octet) for number, octet in enumerate(octets)]

    def address(self, text: str) -> str:
        """An IPv6 address; one that can be followed has no dots and no zone."""
        array = np.frombuffer(text.encode("ascii"), np.uint8)
        if not is_ipv6(array, 0, array.size):
            raise ValueError("no IPv6 address")
        return _marked(_GROUPS, text)


def _marked(mark: int, text: str) -> str:
    if not text.isascii():
        raise ValueError("marked already")
    if not any(map(str.isalnum, text)):
        return text  # punctuation stays
    return chr(_MARK + mark) + chr(_MARK + _GOES_ON) * (len(text) - 1)


def marks(text: str, skeleton: str) -> bytes | None:
    """A judged skeleton's marks, a byte each; None if there are none.

    :raises ValueError: if anything else was changed, or may be: numbers beside hexadecimal digits may become an address
        with some of those.
    """
    if text == skeleton:
        return None
    found = bytes(ord(each) - _MARK if each >= chr(_MARK) else _STAYS for each in text)
    stays = [number for number, mark in enumerate(found) if mark == _STAYS]
    numbers = _OCTETS in found or any(text[number].isdigit() for number in stays)
    if any(text[number] != skeleton[number] for number in stays) or (_DIGITS in found and numbers):
        raise ValueError("changed without a mark")
    return found


@compiled
def _is_device(data, begin, end):  # type: ignore[no-untyped-def]
    """Whether it is the address of a device, with colons: six times two hexadecimal digits."""
    for at in range(begin, end):
        if (data[at] != _COLON) if (at - begin) % 3 == 2 else not is_hexadecimal(data[at]):
            return False
    return end - begin == 17


@compiled
def _is_network(data, begin, end):  # type: ignore[no-untyped-def]
    """Whether it is an IPv6 address without dots, perhaps with a port."""
    port = end
    for at in range(begin, end):
        if data[at] == _COLON:
            port = at
        elif not is_hexadecimal(data[at]):
            return False
    if is_ipv6(data, begin, end):
        return True
    for at in range(port + 1, end):
        if not is_digit(data[at]):
            return False
    return is_ipv6(data, begin, port)


@compiled
def _skeleton(data, begin, end, skeleton):  # type: ignore[no-untyped-def]
    """Whether what becomes of a text does not depend on which digits it has, and the text with zeros for them.

    Hexadecimal digits with a digit among them become zeros as well, but for an a where a letter begins or ends them, or
    there are others within; where they may be parts of an address, only from the first letter to the last, and
    a number that is too large for one becomes nines. Addresses of IPv6 and of devices have zeros alone.
    What may be a token, and what is encoded, is not told this way.
    """
    dots = dashes = underscores = colons = digits = 0
    double = False
    for at in range(begin, end):
        byte = data[at]
        skeleton[at - begin] = byte
        dots += byte == _DOT
        dashes += byte == 45
        underscores += byte == 95
        colons += byte == _COLON
        digits += is_digit(byte)
        double = double or (byte == _COLON and at > begin and data[at - 1] == _COLON)
        if byte >= 128 or byte in (_PERCENT, _BACKSLASH):
            return False
    if digits == 0 or dashes > 4:
        return False
    if double or colons > 4:
        for at in range(begin, end):
            if data[at] != _COLON:
                skeleton[at - begin] = _ZERO
        return _is_device(data, begin, end) or _is_network(data, begin, end)
    may_be_address, ids = dots > 2 or dashes > 2 or underscores > 2, 0
    at = begin
    while at < end:
        run, numbers, hexadecimal, letter, last_letter = at, 0, True, end, end
        while at < end and (is_digit(data[at]) or is_letter(data[at])):
            hexadecimal = hexadecimal and is_hexadecimal(data[at])
            if is_digit(data[at]):
                numbers += 1
                skeleton[at - begin] = _ZERO
            else:
                letter, last_letter = min(letter, at), at
            at += 1
        size = at - run
        if size >= _MOST_RANDOM:
            return False
        if hexadecimal and 0 < numbers < size:
            ids += 1
            if may_be_address and ids > 1:
                return False  # hardly any other is like it
            for place in range(run, at):
                inner = place == run + 1 and letter > run and last_letter < at - 1
                outer = (place == run and letter == run) or (place == at - 1 and last_letter == place)
                stays = letter <= place <= last_letter if may_be_address else inner or outer
                skeleton[place - begin] = _A if stays else _ZERO
        at += size == 0
    at = begin if may_be_address else end
    while at < end:
        run, value = at, 0
        while at < end and is_digit(data[at]):
            value, at = min(10 * value + np.int64(data[at]) - _ZERO, 1000), at + 1
        if at == run + 3 and value > 255 and skeleton[run - begin] == _ZERO and skeleton[at - 1 - begin] == _ZERO:
            skeleton[run - begin : at - begin] = _NINE
        at += at == run
    return True


@compiled
def _end(table, start):  # type: ignore[no-untyped-def]
    while table.bytes[start] != _NEWLINE:
        start += 1
    return start


@compiled
def find_alike(table, first, last, seed):  # type: ignore[no-untyped-def]
    """Enter the skeletons of these entries."""
    skeleton = np.empty(_LONGEST, np.uint8)
    for number in range(first, last):
        domain, start = table.entries[number, DOMAIN], table.entries[number, START]
        end = _end(table, start)
        if (
            domain < PATHS
            and domain != NUMBERS
            and end - start <= _LONGEST
            and _skeleton(table.bytes, start, end, skeleton)
        ):
            size = end - start
            hashed = hash_of(skeleton, 0, size, seed)
            table.entries[number, ALIKE] = entry_of(table, skeleton, 0, size, SKELETONS + domain, hashed)


@compiled
def follow(table, first, last, texts, spans):  # type: ignore[no-untyped-def]
    """Have these entries follow their skeletons, but for the pseudonyms.

    :param texts: what these are made of, a newline behind each.
    :param spans: rows of a pseudonym's place, length and mark, and of how many numbers it takes.
    :returns: how many spans and bytes of texts there are.
    """
    count = size = 0
    for number in range(first, last):
        entry = table.entries[number]
        skeleton = table.entries[entry[ALIKE]]
        if entry[ALIKE] == 0 or skeleton[CHANGES] == OWN:
            continue
        entry[KIND], entry[CHANGES] = skeleton[KIND], skeleton[CHANGES]
        if not skeleton[CHANGES]:
            continue
        at, to_marks = entry[START], np.int64(skeleton[START]) - entry[START]
        while table.bytes[at] != _NEWLINE:
            mark, begin, numbers = table.becomes[at + to_marks], at, 0
            table.becomes[at] = table.bytes[at]
            if mark == _STAYS:
                at += 1
                continue
            prefix = 0
            while _PREFIXES[mark, prefix]:
                texts[size + prefix] = _PREFIXES[mark, prefix]
                prefix += 1
            size += prefix
            dots = 0
            while at == begin or table.becomes[at + to_marks] == _GOES_ON or (mark == _OCTETS and dots < 3):
                byte = table.bytes[at]
                if byte == _NEWLINE:
                    break
                table.becomes[at] = byte
                if mark == _OCTETS and not is_digit(byte):
                    byte, dots = _DOT, dots + 1
                elif mark in (_DIGITS, _GROUPS) and 65 <= byte <= 90:
                    byte |= 32
                numbers += byte == _COLON if mark == _GROUPS else is_digit(byte) or (is_letter(byte))
                texts[size] = byte
                size, at = size + 1, at + 1
            texts[size] = _NEWLINE
            size += 1
            numbers = 4 if mark == _OCTETS else numbers + (mark == _GROUPS)
            spans[count, 0], spans[count, 1], spans[count, 2], spans[count, 3] = begin, at - begin, mark, numbers
            count += 1
    return count, size


@compiled
def _put_hexadecimal(table, at, digit, upper):  # type: ignore[no-untyped-def]
    table.becomes[at] = digit + (_ZERO if digit < 10 else 55 if upper else 87)


@compiled
def _put_span(table, at, end, mark, numbers, taken):  # type: ignore[no-untyped-def]
    """Write a pseudonym, see ``Pseudonyms``.

    :param taken: where its numbers begin.
    """
    same, upper, lower = True, False, False
    for place in range(at, end):
        upper = upper or 65 <= table.bytes[place] <= 90
        lower = lower or 97 <= table.bytes[place] <= 122
    begin = at
    while at < end:
        byte = table.bytes[at]
        if mark == _NAME and (is_digit(byte) or is_letter(byte)):
            kind, many = (_ZERO, 10) if is_digit(byte) else (_A if byte & 32 else 65, 26)
            table.becomes[at] = kind + numbers[taken] % many
            same = same and table.becomes[at] == byte
            taken += 1
        elif mark == _DIGITS and is_hexadecimal(byte):
            _put_hexadecimal(table, at, numbers[taken] % 16, not lower)
            taken += 1
        elif mark in (_OCTETS, _GROUPS) and byte != _COLON and is_hexadecimal(byte):
            stop = at
            while stop < end and is_hexadecimal(table.bytes[stop]):
                stop += 1
            size = stop - at
            if mark == _OCTETS:
                value, base = _LEAST[size] + numbers[taken] % _COUNTS[size], 10
            else:
                base = 16
                low, high = np.int64(16) ** (size - 1), np.int64(16) ** size
                if size == 1 or byte == _ZERO:
                    low, high = 0, 16 if size == 1 else low
                value = low + numbers[taken] % (high - low)
            for place in range(stop - 1, at - 1, -1):
                _put_hexadecimal(table, place, value % base, upper)
                value //= base
            at = stop - 1
            taken += mark == _OCTETS
        taken += mark == _GROUPS and byte == _COLON
        at += 1
    for place in range(begin, end if mark == _NAME and same else begin):  # a short text may meet itself
        byte = table.bytes[place]
        if is_digit(byte) or is_letter(byte):
            kind, many = (_ZERO, 10) if is_digit(byte) else (_A if byte & 32 else 65, 26)
            table.becomes[place] = kind + (byte + 1 - kind) % many


@compiled
def put_pseudonyms(table, spans, numbers):  # type: ignore[no-untyped-def]
    """Write the pseudonyms of spans.

    :param spans: see ``follow``; at the end their first rows are those of spans that met themselves, as short addresses
        may.
    :param numbers: of 32 bits, for each span in eights.
    :returns: how many these are.
    """
    taken = same = 0
    for row in range(spans.shape[0]):
        begin, end, mark, many = spans[row, 0], spans[row, 0] + spans[row, 1], spans[row, 2], spans[row, 3]
        _put_span(table, begin, end, mark, numbers, taken)
        taken += 8 * max(1, (many + 7) // 8)
        at = begin
        while at < end and table.bytes[at] == table.becomes[at]:
            at += 1
        if at == end:
            spans[same, 0] = begin
            same += 1
    return same


@compiled
def count_parts(table, last, seed):  # type: ignore[no-untyped-def]
    """Count the parts that stay of entries that change, each part of an entry once.

    What is encoded or beyond ASCII is left for Python; the others' counts become 0.
    """
    for number in range(1, last):
        entry = table.entries[number]
        count, at, start = entry[COUNT], entry[START], entry[START]
        if not entry[CHANGES] or count <= 0 or entry[DOMAIN] >= PARTS:
            continue
        end = _end(table, at)
        several = simple = False
        for place in range(at, end):
            simple = table.bytes[place] < 128 and table.bytes[place] != _BACKSLASH
            several = several or not _IN_PARTS[table.bytes[place]]
            if not simple:
                break
        if not simple:
            continue
        entry[COUNT] = 0
        while several and start <= end:
            stays, at = True, start
            while at < end and _IN_PARTS[table.bytes[at]]:
                stays = stays and table.bytes[at] == table.becomes[at]
                at += 1
            if stays and at > start:
                part = entry_of(table, table.bytes, start, at, PARTS, hash_of(table.bytes, start, at, seed))
                if table.entries[part, KIND] != number:
                    table.entries[part, KIND] = number
                    table.entries[part, COUNT] += count
            start = at + 1
