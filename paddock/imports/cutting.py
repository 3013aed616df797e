"""The compiled loops of the anonymisation: the values of documents, their words, and what those become.

Words and whole values are looked up in a hash table, so that each distinct one is judged once (see anonymise.py). The
table also has the paths of fields, and skeletons: words whose digits have become 0, which stand for all words alike.
Documents are lines of compact JSON that escapes only what it must; nothing here changes their length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paddock.compilation import compiled

# What an entry of the table is (its domain): a word of a text, a value that goes whole, a name behind a word that says
# so without a sign, a part that stays of what changes, a skeleton (SKELETONS and the domain of what it stands for, see
# alike.py), or the path of a field, PATHS and the entry of the path before it.
WORD, USERS, SECRETS, QUERIES, HOSTS, NUMBERS, NAMES, PARTS, PATHS = (*range(8), 16)
SKELETONS = 8
# Kinds of words, besides the first five above.
UID, COMMAND, FOR, NAMED, CONNECT = (*range(5, 9), 12)
# Classes of bytes: of words, gaps between them, escapes, and the first bytes of spaces beyond ASCII.
_PLAIN, _GAP, _ESCAPE, _SPACES = range(4)
_SLOTS = 1 << 18
_FACTOR = 0x5851F42D4C957F2D

_USER, _INVALID, _ILLEGAL, _FROM = (
    np.frombuffer(each, np.uint8) for each in (b"user", b"invalid", b"illegal", b"from")
)
_NO_ASSIGNMENT = np.zeros(256, np.bool_)  # in the gap behind a name, unless there is a sign as well
_NO_ASSIGNMENT[[*b",;|)]}{<"]] = True
_CLASSES = np.zeros(256, np.uint8)
_CLASSES[[ord(each) for each in " \"'()[]{},;|<>\t\n\r\v\f\x1c\x1d\x1e\x1f"]] = _GAP
_CLASSES[ord("\\")] = _ESCAPE
_CLASSES[[0xC2, 0xE1, 0xE2, 0xE3]] = _SPACES
_QUOTE, _APOSTROPHE, _BACKSLASH, _NEWLINE, _COLON, _EQUALS, _LESS, _AT = (ord(each) for each in "\"'\\\n:=<@")
_OPENING, _CLOSING, _OPEN_LIST, _CLOSE_LIST, _DASH, _SMALL_N, _OPEN, _CLOSE, _MORE = (ord(each) for each in "{}[]-n()>")


class Table(NamedTuple):
    """A hash table whose entries never move; those of one slot are chained.

    Code that is compiled already looks for it by this name, also in a checkout that has been updated.

    The first entry is the empty word, and the path of the documents themselves.

    :param entries: rows of what the columns below say.
    :param bytes, becomes: the bytes of all entries, a newline behind each; and what they become, in the same places.
    :param used: how many entries and bytes there are.
    """

    slots: np.ndarray
    entries: np.ndarray
    bytes: np.ndarray
    becomes: np.ndarray
    used: np.ndarray


# Columns of ``Table.entries``: where the bytes begin; the next entry of the slot; the skeleton that stands for a
# word (0: none does); how often a word was met; what a word says of its neighbours, what the values of a path are, or
# whether words like a skeleton need a look of their own; and whether an entry becomes something else.
HASH, DOMAIN, START, _NEXT, ALIKE, COUNT, KIND, CHANGES, _COLUMNS = range(9)


def table(entries: int, size: int, of: Table | None = None) -> Table:
    """A table with room for so many entries and bytes; with those ``of`` another one."""
    slots, rows = np.full(_SLOTS, -1, np.int32), np.zeros((entries, _COLUMNS), np.int32)
    new = Table(slots, rows, np.zeros(size, np.uint8), np.zeros(size, np.uint8), np.ones(2, np.int64))
    new.bytes[0] = _NEWLINE
    for target, source in zip(new, of or (), strict=False):
        target[: len(source)] = source
    return new


@compiled
def entry_of(table, data, begin, end, domain, number):  # type: ignore[no-untyped-def]  # compiled: types are inferred
    """The entry of ``data[begin:end]``, whose hash is a number; made if there is none."""
    number ^= domain * _FACTOR
    number ^= number >> 32
    slot, size = number & (_SLOTS - 1), end - begin
    entry, short = table.slots[slot], np.int32(number >> 18)
    while entry >= 0:
        known = table.entries[entry]
        if known[HASH] == short and known[DOMAIN] == domain and table.bytes[known[START] + size] == _NEWLINE:
            start, same = known[START], True
            for place in range(size):
                if table.bytes[start + place] != data[begin + place]:
                    same = False
                    break
            if same:
                return entry
        entry = known[_NEXT]
    entry, start = np.int32(table.used[0]), table.used[1]
    new = table.entries[entry]
    new[HASH], new[DOMAIN], new[START], new[_NEXT] = short, domain, start, table.slots[slot]
    table.slots[slot] = entry
    for place in range(size):
        table.bytes[start + place] = data[begin + place]
    table.bytes[start + size] = _NEWLINE
    table.used[0], table.used[1] = entry + 1, start + size + 1
    return entry


@compiled
def _mixed(number, byte):  # type: ignore[no-untyped-def]
    """The hash of a text and one byte more."""
    return (number ^ np.int64(byte)) * _FACTOR


@compiled
def hash_of(data, begin, end, seed):  # type: ignore[no-untyped-def]
    """The hash of a text for ``entry_of``."""
    number = seed
    for place in range(begin, end):
        number = _mixed(number, data[place])
    return number


@compiled
def count_texts(table, texts, counts, totals, seed):  # type: ignore[no-untyped-def]
    """Enter texts, with a newline behind each, and add their counts to those of the entries; none to the empty one."""
    begin = number = 0
    for at in range(texts.size):
        if texts[at] == _NEWLINE:
            if at > begin:
                totals[entry_of(table, texts, begin, at, WORD, hash_of(texts, begin, at, seed))] += counts[number]
            begin, number = at + 1, number + 1


@compiled
def find_values(table, data, seed, values):  # type: ignore[no-untyped-def]
    """Find the texts and numbers in lines of JSON, but the first one of each line, which is its time.

    :param values: rows of begin, end, the entry of the path, and whether it is a text; with room for as many as there
        can be, a third of the bytes.
    :returns: how many there are.
    """
    outer = np.empty(data.size, np.int32)  # the paths of the objects and lists around the place
    at, count, depth, path, is_time = 0, 0, 0, np.int32(0), True
    while at < data.size:
        byte = data[at]
        at += 1
        if byte == _QUOTE:
            begin = at
            while data[at] != _QUOTE:
                at += 2 if data[at] == _BACKSLASH else 1
            if data[at + 1] == _COLON:
                domain = PATHS + outer[depth - 1]
                path = entry_of(table, data, begin, at, domain, hash_of(data, begin, at, seed))
                at += 2
                continue
            if not is_time:
                values[count, 0], values[count, 1], values[count, 2], values[count, 3] = begin, at, path, 1
                count += 1
            is_time = False
            at += 1
        elif byte in (_OPENING, _OPEN_LIST):
            outer[depth] = path
            depth += 1
        elif byte in (_CLOSING, _CLOSE_LIST):
            depth -= 1
            path = outer[depth]
        elif byte == _DASH or 48 <= byte <= 57:
            begin = at - 1
            while data[at] not in (44, _CLOSING, _CLOSE_LIST):
                at += 1
            values[count, 0], values[count, 1], values[count, 2], values[count, 3] = begin, at, path, 0
            count += 1
        elif byte == _NEWLINE:
            path, is_time = np.int32(0), True
    return count


@compiled
def _gap(data, at, end):  # type: ignore[no-untyped-def]
    """How many bytes the character takes if it separates words; 0 if it does not."""
    kind = _CLASSES[data[at]]
    if kind <= _GAP:
        return kind
    first = data[at]
    if kind == _ESCAPE:
        if data[at + 1] == 117:  # \u000b, \u001c to \u001f
            code = data[at + 5]
            high = data[at + 4] == 49 and data[at + 3] == 48 and code >= 99
            return 6 if high or (data[at + 4] == 48 and data[at + 3] == 48 and code == 98) else 0
        return 0 if data[at + 1] == 98 else 2
    second = data[at + 1]
    if first == 0xC2:
        return 2 if second in (0x85, 0xA0) else 0
    third = data[at + 2]
    if first == 0xE2:
        if second == 0x80:
            return 3 if third <= 0x8A or third in (0xA8, 0xA9, 0xAF) else 0
        return 3 if second == 0x81 and third == 0x9F else 0
    if first == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    return 3 if second == 0x80 and third == 0x80 else 0


@compiled
def _names_mail(data, begin, end, mail, mail_end):  # type: ignore[no-untyped-def]
    """Whether a word may be the name before an address in < and >: with a capital, or in quotes."""
    at = False
    for place in range(mail, mail_end):
        at = at or data[place] == _AT
    first = data[begin]
    named = 65 <= first <= 90 or first > 127 or first == _BACKSLASH
    for place in range(end, mail):
        named = named or data[place] in (_QUOTE, _APOSTROPHE)
    return at and named


@compiled
def cut(table, data, seed, values, domains, rows, marked):  # type: ignore[no-untyped-def]
    """Cut values into words, and look these up.

    Gaps are spaces, quotes, brackets and the like, with a single : or = behind them on their line, and more of them on
    that line. Between two gaps there is a word; before the first gap, behind the last one and where a line ends behind
    a : or = there may be none.

    :param values, domains: as ``find_values`` has them, and what each is: WORD if it is to be cut.
    :param rows: of each word, or value as a whole: begin, end, entry, and the number of the value.
    :param marked: of each word whether the gap behind it is " : ", or has a < before a word with an @.
    :returns: how many rows there are.
    """
    row = 0
    for value in range(domains.size):
        at, end = values[value, 0], values[value, 1]
        if domains[value] != WORD:
            entry = entry_of(table, data, at, end, domains[value], hash_of(data, at, end, seed))
            rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3] = at, end, entry, value
            marked[row] = False
            row += 1
            continue
        less = False
        while True:
            begin, number, size = at, seed, 0
            while at < end:
                if _CLASSES[data[at]] != _PLAIN:
                    size = _gap(data, at, end)
                    if size:
                        break
                    if data[at] == _BACKSLASH:
                        number = _mixed(number, data[at])
                        at += 1
                number = _mixed(number, data[at])
                at += 1
            entry = np.int32(0)
            if at > begin:
                entry = entry_of(table, data, begin, at, WORD, number)
                table.entries[entry, COUNT] += 1
            rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3] = begin, at, entry, value
            marked[row] = False
            if less and _names_mail(data, rows[row - 1, 0], rows[row - 1, 1], begin, at):
                marked[row - 1] = True
            row += 1
            if at >= end:
                break
            gap, less, assigned, ends = at, False, False, False
            while at < end:
                size = _gap(data, at, end)
                if size == 0:
                    if assigned or ends or data[at] not in (_COLON, _EQUALS):
                        break
                    if at + 1 < end and data[at + 1] in (_COLON, _EQUALS):
                        break
                    assigned, size = True, 1
                ends = data[at] == _BACKSLASH and data[at + 1] == _SMALL_N
                if ends and assigned:
                    break
                less = less or data[at] == _LESS
                at += size
            marked[row - 1] = at - gap == 3 and data[gap] == 32 and data[gap + 1] == _COLON and data[gap + 2] == 32
    return row


@compiled
def put(table, rows, out):  # type: ignore[no-untyped-def]
    """Write what words and values become over them."""
    for row in range(rows.shape[0]):
        entry = table.entries[rows[row, 2]]
        if entry[CHANGES]:
            begin = rows[row, 0]
            for place in range(rows[row, 1] - begin):
                out[begin + place] = table.becomes[entry[START] + place]


@compiled
def _is(data, begin, end, text):  # type: ignore[no-untyped-def]
    if end - begin != text.size:
        return False
    same = True
    for place in range(text.size):
        same = same and data[begin + place] == text[place]
    return same


@compiled
def _may_assign(data, begin, end, behind, kind):  # type: ignore[no-untyped-def]
    """Whether a word may tell what the next one is, by a sign between them, as an option, or by its kind alone."""
    if data[end - 1] in (_COLON, _EQUALS) or (data[begin] == _DASH and data[begin + 1] == _DASH):
        return True
    quoted = False
    for place in range(end, behind):
        if data[place] in (_COLON, _EQUALS):
            return True
    for place in range(end, behind):
        if _NO_ASSIGNMENT[data[place]] or (kind != NAMED and data[place] in (_OPEN, _OPEN_LIST)):
            return False
        quoted = quoted or data[place] in (_QUOTE, _APOSTROPHE, _MORE)
    return quoted or kind == NAMED


@compiled
def _named_for(data, rows, row, last):  # type: ignore[no-untyped-def]
    """Of for X from, for invalid user X from, for user X from: the place of X; -1 if there is none, 0 if it may be."""
    name = row + 1
    while name < last:
        begin, end = rows[name, 0], rows[name, 1]
        if begin != rows[name - 1, 1] + 1 or data[begin - 1] != 32:
            return 0
        if not (_is(data, begin, end, _USER) or _is(data, begin, end, _INVALID) or _is(data, begin, end, _ILLEGAL)):
            if not _is(data, rows[name + 1, 0], rows[name + 1, 1], _FROM):
                return -1
            return name if rows[name + 1, 0] == end + 1 and data[end] == 32 else 0
        name += 1
    return -1


@compiled
def find_telling(table, data, seed, rows, marked, found, named):  # type: ignore[no-untyped-def]
    """Find the words that may tell something of their neighbours.

    :param found: rows of the word's place, the first and the last place of its text, and its kind.
    :param named: rows of the place and the entry of names that a space before them gives away; the rest of their text
        cannot say otherwise.
    :returns: how many there are of both.
    """
    count = names = first = last = 0
    plain = True  # nothing that may be more than a name has been found in the text so far
    for row in range(rows.shape[0]):
        if row > last or row == 0:
            first = last = row
            plain = True
            while last + 1 < rows.shape[0] and rows[last + 1, 3] == rows[row, 3]:
                last += 1
        kind = table.entries[rows[row, 2], KIND]
        if not marked[row]:
            if kind == 0 or first == last or (row == last and kind >= FOR):
                continue
            begin, end = rows[row, 0], rows[row, 1]
            if kind <= HOSTS or kind == NAMED:
                if row == last or not _may_assign(data, begin, end, rows[row + 1, 0], kind):
                    continue
            elif kind == UID:
                if row == first or data[begin - 1] != _OPEN:
                    continue
            elif kind == COMMAND:
                if row == first or data[rows[row - 1, 1]] != _CLOSE:
                    continue
            elif kind == CONNECT and not 48 <= data[rows[row + 1, 1] - 1] <= 57:
                continue
            name, domain = 0, NAMES
            if kind == FOR:
                name, domain = _named_for(data, rows, row, last), USERS
                if name < 0:
                    continue
            elif kind == NAMED and rows[row + 1, 0] == end + 1 and data[end] == 32:
                name = row + 1 if data[rows[row + 1, 1]] != _BACKSLASH else 0
            if name and plain and rows[name, 1] > rows[name, 0]:
                begin, end = rows[name, 0], rows[name, 1]
                entry = entry_of(table, data, begin, end, domain, hash_of(data, begin, end, seed))
                named[names, 0], named[names, 1] = name, entry
                names += 1
                continue
        plain = False
        found[count, 0], found[count, 1], found[count, 2], found[count, 3] = row, first, last, kind
        count += 1
    return count, names


@compiled
def put_names(table, rows, named, marked, out):  # type: ignore[no-untyped-def]
    """Write what names become over them, as words that stay no longer; they are marked."""
    for number in range(named.shape[0]):
        place, entry = named[number, 0], table.entries[named[number, 1]]
        begin, changed = rows[place, 0], False
        if entry[CHANGES]:
            for at in range(rows[place, 1] - begin):
                changed = changed or out[begin + at] != table.becomes[entry[START] + at]
                out[begin + at] = table.becomes[entry[START] + at]
        if changed and not marked[place]:
            table.entries[rows[place, 2], COUNT] -= 1
        marked[place] = changed or marked[place]
