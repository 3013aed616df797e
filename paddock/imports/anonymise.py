"""What is replaced in an anonymised import: addresses, hosts, names of users, secrets and values of queries.

A text is cut into words; what a word becomes depends on the word alone (an address, a path, name=value, ...; see
words.py) and is remembered, for it and all that is like it (alike.py), or on a keyword before or behind it (user X,
password: X, X(uid=0); see neighbours.py). Both ways a text is gone through once, so no rule takes more than linear
time. What has no form (a customer's name in a sentence) is not found: the words that stay are counted, for a person to
look through (audit.py).
"""

from __future__ import annotations

import re
import secrets

import numpy as np

from paddock.imports import alike, cutting
from paddock.imports.neighbours import Neighbours, may_be_name
from paddock.imports.pseudonyms import Pseudonyms
from paddock.imports.text import to_json, unescaped_json
from paddock.imports.words import KINDS, LONGEST_PATH, NUMERIC, Words, kind_of_field, kind_of_word

_MARKS = ".:=!?-*#/"  # not counted as parts of words
_PIECE = 1 << 18  # bytes replaced at a time
_MOST_ENTRIES, _MOST_BYTES = 200_000, 1 << 24  # of the table; then it begins anew, so that memory stays constant
_INNER = re.compile(r"[^\w.-]+")


class Anonymiser:
    """Replaces in documents under one key.

    :param key: 16 to 64 bytes; two imports under one key agree.
    :param numeric: fields whose numbers say nothing of anybody, which are neither changed nor counted.
    """

    def __init__(self, key: bytes, numeric: frozenset[str] = frozenset()):
        self._numeric = numeric
        self._pseudonyms = Pseudonyms(key)
        self._words, self._marked = Words(self._pseudonyms), Words(alike.Marks())
        self._neighbours = Neighbours(self._words, self._pseudonyms)
        self._seed = secrets.randbits(62)  # nobody can write a log whose words all have one hash
        self._kept: tuple[list[str], list[int]] = [], []
        self._begin()

    def _begin(self) -> None:
        self._table = cutting.table(_MOST_ENTRIES + 2 * _PIECE, _MOST_BYTES + 5 * _PIECE)
        self._audited = [""]  # of each entry what of it stays if it does
        self._paths = {0: ""}  # by entry
        self._fields: dict[str, int] = {}  # and their entries

    # --- documents --------------------------------------------------------------------------------

    def lines(self, data: bytes) -> bytes:
        """Documents with every value in them replaced, whatever its depth; names of fields stay.

        :param data: a line of JSON each, as ``text.to_json`` writes it, its time first, which stays.
        :returns: as many bytes.
        """
        pieces = []
        at = 0
        while at < len(data):
            end = data.rfind(b"\n", at, at + _PIECE) + 1 or data.find(b"\n", at) + 1
            pieces.append(self._replaced(data[at:end]))
            at = end
        return b"".join(pieces)

    def _replaced(self, data: bytes) -> bytearray:
        source, size = np.frombuffer(data, np.uint8), len(data)
        self._make_room(size)
        values = np.empty((size // 2 + 1, 4), np.int32)
        values = values[: cutting.find_values(self._table, source, self._seed, values)]
        self._learn()
        kinds = self._table.entries[values[:, 2], cutting.KIND]
        numeric = kinds == KINDS.index(NUMERIC)
        kinds[numeric] = cutting.WORD
        values, kinds = values[~numeric | (values[:, 3] == 1)], kinds[~numeric | (values[:, 3] == 1)]
        numbers = np.where((kinds == cutting.USERS) | (kinds == cutting.SECRETS), cutting.NUMBERS, cutting.WORD)
        domains = np.where(values[:, 3], kinds, numbers)
        self._find_proxied(data, values, domains)
        rows, marked = np.empty((size // 2 + 1, 4), np.int32), np.empty(size // 2 + 1, np.bool_)
        count = cutting.cut(self._table, source, self._seed, values, domains, rows, marked)
        self._learn()
        out = bytearray(data)
        cutting.put(self._table, rows[:count], np.frombuffer(out, np.uint8))
        self._put_by_context(data, rows[:count], marked[:count], out)
        return out

    def _find_proxied(self, data: bytes, values: np.ndarray, domains: np.ndarray) -> None:
        """The path that a proxy was asked to connect to is a host."""
        if b'"method":"CONNECT"' not in data or not {"path", "method"} <= self._fields.keys():
            return
        paths = values[values[:, 2] == self._fields["path"], :2]
        for begin, end in values[values[:, 2] == self._fields["method"], :2].tolist():
            if data[begin:end] == b"CONNECT":
                line, line_end = data.rfind(b"\n", 0, begin) + 1, data.find(b"\n", begin)
                at = np.searchsorted(paths[:, 0], line)
                if at < len(paths) and paths[at, 0] < line_end:
                    domains[np.searchsorted(values[:, 0], paths[at, 0])] = cutting.HOSTS

    # --- words ------------------------------------------------------------------------------------

    def _make_room(self, size: int) -> None:
        """For all that so many bytes of documents can hold."""
        entries, used = self._table.used.tolist()
        if entries > _MOST_ENTRIES or used > _MOST_BYTES:
            self._count()
            self._begin()
        self._grow(size)

    def _grow(self, size: int) -> None:
        entries, used = self._table.used.tolist()
        room, bytes_room = len(self._table.entries), len(self._table.bytes)
        if room < entries + size + 1 or bytes_room < used + 4 * size + 1:
            self._table = cutting.table(room + 2 * size, bytes_room + 5 * size, self._table)

    def _learn(self) -> None:
        """What the new entries of the table become."""
        table, first = self._table, len(self._audited)
        last = int(table.used[0])
        if last == first:
            return
        alike.find_alike(table, first, last, self._seed)
        texts = self._texts(first)
        self._audited += [text.strip(_MARKS) for text in texts]
        for entry in range(last, first + len(texts)):
            self._judge_skeleton(entry, texts[entry - first])
        like = table.entries[first:last, cutting.ALIKE]
        by_itself = (like == 0) | (table.entries[like, cutting.CHANGES] == alike.OWN)
        for number in np.flatnonzero(by_itself).tolist():
            self._judge(first + number, texts[number])
        size = int(table.used[1] - table.entries[first, cutting.START])
        spans, pieces = np.empty((size, 4), np.int32), np.empty(8 * size, np.uint8)
        count, length = alike.follow(table, first, last, pieces, spans)
        spans = spans[:count]
        numbers = self._pseudonyms.numbers(pieces[:length].tobytes().split(b"\n"), spans[:, 3].tolist())
        same = alike.put_pseudonyms(table, spans, np.frombuffer(numbers, ">u4").astype(np.uint32))
        for place in spans[:same, 0].tolist():
            entry = int(np.searchsorted(table.entries[first:last, cutting.START], place, "right")) - 1 + first
            table.entries[entry, cutting.CHANGES] = False
            self._judge(entry, texts[entry - first])

    def _texts(self, first: int) -> list[str]:
        """Those of the entries from one on."""
        last, end = self._table.used.tolist()
        if last == first:
            return []
        begin = int(self._table.entries[first, cutting.START])
        return self._table.bytes[begin : end - 1].tobytes().decode("utf-8").split("\n")

    def _judge_skeleton(self, entry: int, text: str) -> None:
        """Where what is like it changes, and what it says of its neighbours."""
        row = self._table.entries[entry]
        domain = int(row[cutting.DOMAIN]) - cutting.SKELETONS
        try:
            if "eyJ" in text:
                raise ValueError("a token in parts, which may be changed twice")
            marks = alike.marks(self._becomes(self._marked, domain, text), text)
        except ValueError:
            row[cutting.CHANGES] = alike.OWN
            return
        if domain == cutting.WORD:
            row[cutting.KIND] = KINDS.index(kind_of_word(text))
        if marks:
            row[cutting.CHANGES] = True
            self._table.becomes.data[row[cutting.START] : row[cutting.START] + len(text)] = marks

    def _judge(self, entry: int, text: str) -> None:
        """What becomes of one entry that is like no other."""
        row = self._table.entries[entry]
        domain = int(row[cutting.DOMAIN])
        plain = text
        if "\\" in text:
            plain = unescaped_json(text)
            self._audited[entry] = plain.strip(_MARKS)
        if domain >= cutting.PATHS:
            path = f"{self._paths[domain - cutting.PATHS]}.{plain}" if domain > cutting.PATHS else plain
            path = path[-LONGEST_PATH:]
            self._paths[entry], self._fields[path] = path, entry
            row[cutting.KIND] = KINDS.index(kind_of_field(path) or (NUMERIC if path in self._numeric else ""))
            return
        if domain == cutting.WORD:
            row[cutting.KIND] = KINDS.index(kind_of_word(plain))
        changed = self._becomes(self._words, domain, plain)
        if changed != plain:
            row[cutting.CHANGES] = True
            begin = int(row[cutting.START])
            self._table.becomes.data[begin : begin + len(text.encode("utf-8"))] = _put(changed, "\\" in text)

    def _becomes(self, words: Words, domain: int, text: str) -> str:
        if domain == cutting.WORD:
            return words.word(text)
        if domain == cutting.NUMBERS:
            return self._pseudonyms.number(text)
        if domain == cutting.NAMES:
            return words.user(text) if may_be_name(text) else text
        return words.whole[KINDS[domain]](text)

    def kept(self) -> tuple[bytes, np.ndarray]:
        """Words that stood in the texts since the last call and stayed, and of changed words the parts that did.

        :returns: them, a newline between each and the next one, and how often; some are there more than once, or empty.
        """
        self._count()
        (texts, counts), self._kept = self._kept, ([], [])
        return "\n".join(texts).encode("utf-8"), np.array(counts, np.int64)

    def _count(self) -> None:
        first = len(self._audited)
        changing = (self._table.entries[:first, cutting.CHANGES] > 0) & (self._table.entries[:first, cutting.COUNT] > 0)
        starts = self._table.entries[: first + 1, cutting.START].copy()
        starts[-1] = self._table.used[1]
        self._grow(int(np.diff(starts)[changing].sum()))
        alike.count_parts(self._table, first, self._seed)
        self._audited += self._texts(first)
        entries = self._table.entries[: len(self._audited)]
        counts = entries[:, cutting.COUNT]
        seen = np.flatnonzero(counts > 0)
        changed = entries[seen, cutting.CHANGES] > 0
        texts, numbers = self._kept
        for entry in seen[changed].tolist():
            parts = self._parts(entry)
            texts += parts
            numbers += [int(counts[entry])] * len(parts)
        seen = seen[~changed]
        texts += map(self._audited.__getitem__, seen.tolist())
        numbers += counts[seen].tolist()
        counts[:] = 0
        entries[entries[:, cutting.DOMAIN] == cutting.PARTS, cutting.KIND] = 0

    def _parts(self, entry: int) -> set[str]:
        """What stays of a word that changes."""
        begin, end = self._table.entries[entry, cutting.START], self._table.entries[entry + 1, cutting.START] - 1
        if end < begin:
            end = self._table.used[1] - 1
        both = self._table.bytes[begin:end], self._table.becomes[begin:end]
        plain, changed = (unescaped_json(each.tobytes().decode("utf-8")) for each in both)
        return {*_INNER.split(plain)} & {*_INNER.split(changed)} if _INNER.search(plain) else set()

    # --- words that others give away --------------------------------------------------------------

    def _put_by_context(self, data: bytes, rows: np.ndarray, marked: np.ndarray, out: bytearray) -> None:
        found, named = np.empty((len(rows), 4), np.int32), np.empty((len(rows), 2), np.int32)
        source = np.frombuffer(data, np.uint8)
        count, names = cutting.find_telling(self._table, source, self._seed, rows, marked, found, named)
        self._learn()
        marked[:] = False
        cutting.put_names(self._table, rows, named[:names], marked, np.frombuffer(out, np.uint8))
        spans = rows.reshape(-1).data
        target, changed = memoryview(out), []
        for place, word in self._neighbours.given_away(found[:count].tolist(), data, spans).items():
            at = slice(spans[4 * place], spans[4 * place + 1])
            replaced = _put(word, b"\\" in data[at])
            if target[at] != replaced:
                target[at] = replaced
                changed.append(place)
        places = np.array(changed, np.intp)
        np.subtract.at(self._table.entries[:, cutting.COUNT], rows[places[~marked[places]], 2], 1)


def _put(text: str, escaped: bool) -> bytes:
    """What stands for a text in JSON, where it is put by memory views: they refuse all that is not as long."""
    return to_json(text)[1:-1] if escaped else text.encode("utf-8")
