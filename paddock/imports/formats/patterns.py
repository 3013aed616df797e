r"""Patterns of lines, written as regular expressions, as programs for the compiled machine (machine.py).

Loops take all they can, and of alternatives the first one that is met holds: nothing is tried twice, which takes linear
time. There are: literals, classes, \d \w \s \S, (?:...), (?P<name>...), (?=...), (?!...), (?i:...), | * + ? {n} {n,m}
and $; {name} stands for another pattern. All letters beyond ASCII are \w.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field

# Steps: a number and up to three arguments. Those of jumps are relative.
SPAN, LITERAL, MARK, CHOICE, COMMIT, LOOP, AHEAD, NOT, FAIL, ESCAPED, EDGE, MET = range(12)
Code = list[tuple[int, int, int, int]]
_ALL = bytes(range(256))
_DIGITS, _SPACES = string.digits.encode(), b" \t\r\v\f"
_WORD = (string.ascii_letters + string.digits + "_").encode() + bytes(range(128, 256))
_NAMED = {"d": _DIGITS, "w": _WORD, "s": _SPACES, "S": bytes(set(_ALL) - set(_SPACES)), "t": b"\t"}
_QUANTIFIER = re.compile(r"[*+?]|\{(\d+)(,(\d*))?\}")
_REFERENCE = re.compile(r"\{([a-z_]\w*)\}")


@dataclass
class Tables:
    """What programs share: the texts they compare with, classes of bytes, and the names of groups.

    The first groups are a time's: what stands before the minutes, minutes and seconds, digits behind these, the zone.
    """

    pool: bytearray = field(default_factory=bytearray)
    classes: dict[bytes, int] = field(default_factory=lambda: {_ALL: 0})
    names: dict[str, int] = field(default_factory=lambda: {"time": 0, "clock": 1, "fraction": 2, "zone": 3})

    def kept(self, text: bytes) -> tuple[int, int]:
        """Where a text is in the pool, and its length."""
        self.pool += text
        return len(self.pool) - len(text), len(text)

    def class_of(self, members: bytes) -> int:
        """The number of a class of bytes."""
        return self.classes.setdefault(bytes(sorted(set(members))), len(self.classes))


def compile_pattern(pattern: str, tables: Tables) -> Code:
    """The steps of a pattern that has to be met up to the end of the line."""
    return [*_Parser(pattern, tables).whole(), (EDGE, 0, 0, 0), (MET, 0, 0, 0)]


def expanded(pattern: str, others: Mapping[str, str]) -> str:
    """A pattern without references: what they stand for, in groups."""
    return _REFERENCE.sub(lambda reference: f"(?:{expanded(others[reference[1]], others)})", pattern)


class _Parser:
    def __init__(self, text: str, tables: Tables):
        self._text, self._tables = text, tables
        self._at = 0
        self._any_case = False

    def whole(self) -> Code:
        code = self._alternatives()
        if self._at < len(self._text):
            raise ValueError(f"the pattern ends at {self._text[self._at :]}")
        return code

    def _take(self, text: str) -> bool:
        taken = self._text.startswith(text, self._at)
        self._at += len(text) if taken else 0
        return taken

    def _alternatives(self) -> Code:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        code = branches.pop()
        for branch in reversed(branches):
            code = [self._choice(branch, 2), *branch, (COMMIT, len(code) + 1, 0, 0), *code]
        return code

    def _choice(self, code: Code, further: int) -> tuple[int, int, int, int]:
        """Try the code; where it is not met (which its first byte often tells), go on behind it."""
        return (CHOICE, len(code) + further, 0, self._first(code))

    def _first(self, code: Code) -> int:
        """The class of bytes with which the code is met, or -1."""
        place = 0
        while code[place : place + 1] and code[place][0] == MARK:
            place += 1
        kind, one, two, _ = code[place] if place < len(code) else (MET, 0, 0, 0)
        if kind == LITERAL:
            return self._tables.class_of(bytes([self._tables.pool[one]]))
        return one if kind == SPAN and two else -1

    def _sequence(self) -> Code:
        code: Code = []
        literal = b""
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            atom = self._atom()
            quantifier = _QUANTIFIER.match(self._text, self._at)
            if isinstance(atom, bytes) and not quantifier and len(atom) == 1:
                literal += atom
                continue
            if literal:
                code.append((LITERAL, *self._tables.kept(literal), 0))
                literal = b""
            code += self._repeated(atom, quantifier)
        if literal:
            code.append((LITERAL, *self._tables.kept(literal), 0))
        return code

    def _repeated(self, atom: bytes | Code, quantifier: re.Match[str] | None) -> Code:
        least = most = 1
        if quantifier:
            self._at = quantifier.end()
            sign, number, comma, upper = quantifier[0], quantifier[1], quantifier[2], quantifier[3]
            least = int(number) if number else int(sign == "+")
            most = int(upper) if upper else (1 if sign == "?" else -1 if comma or not number else least)
        if isinstance(atom, bytes):
            return [(SPAN, self._tables.class_of(atom), least, most)]
        if (least, most) == (1, 1):
            return atom
        if [step[0] for step in atom] == [CHOICE, SPAN, COMMIT, LITERAL, SPAN] and most < 0:
            return [(ESCAPED, atom[1][1], least, 0)]  # (?:[class]|\\.)*
        code = atom * least
        if most < 0:
            return [*code, self._choice(atom, 2), *atom, (LOOP, -len(atom), 0, 0)]
        for _ in range(most - least):
            code += [self._choice(atom, 2), *atom, (COMMIT, 1, 0, 0)]
        return code

    def _atom(self) -> bytes | Code:
        """A class of bytes, or the code of a group."""
        if self._take("("):
            return self._group()
        if self._take("["):
            return self._class()
        if self._take("$"):
            return [(EDGE, 0, 0, 0)]
        if self._take("."):
            return _ALL
        if not self._text[self._at].isascii():
            self._at += 1
            return [(LITERAL, *self._tables.kept(self._text[self._at - 1].encode("utf-8")), 0)]
        found = self._character()
        return bytes({*found.lower(), *found.upper()}) if self._any_case else found

    def _group(self) -> Code:
        name = re.compile(r"\?(?:P<(\w+)>|:|=|!|i:)").match(self._text, self._at)
        if not name:
            raise ValueError(f"groups are (?:...) or (?P<name>...): {self._text[self._at :]}")
        self._at = name.end()
        case, self._any_case = self._any_case, self._any_case or name[0] == "?i:"
        code = self._alternatives()
        self._any_case = case
        if not self._take(")"):
            raise ValueError("a group has no end")
        if name[0] == "?=":
            return [self._choice(code, 2), *code, (AHEAD, 2, 0, 0), (FAIL, 0, 0, 0)]
        if name[0] == "?!":
            return [self._choice(code, 2), *code, (NOT, 0, 0, 0)]
        if name[1]:
            span = self._tables.names.setdefault(name[1], len(self._tables.names))
            return [(MARK, 2 * span, 0, 0), *code, (MARK, 2 * span + 1, 0, 0)]
        return code

    def _class(self) -> bytes:
        without = self._take("^")
        members = b""
        while not self._take("]"):
            found = self._character()
            if self._text[self._at] == "-" and self._text[self._at + 1] != "]":
                self._at += 1
                found = bytes(range(found[0], self._character()[0] + 1))
            members += found
        return bytes(set(_ALL) - set(members)) if without else members

    def _character(self) -> bytes:
        if not self._take("\\"):
            self._at += 1
            return self._text[self._at - 1].encode("ascii")
        self._at += 1
        letter = self._text[self._at - 1]
        return _NAMED.get(letter, letter.encode("ascii"))
