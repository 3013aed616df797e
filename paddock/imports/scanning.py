"""What bytes are, in compiled code: characters, addresses, and lines that meet the program of a format.

Who changes anything here touches the files that use it: numba compiles a file anew only when that one has changed.
"""

from __future__ import annotations

import numpy as np

from paddock.compilation import compiled
from paddock.imports.formats import patterns

_BACKSLASH, _DOT, _COLON = (ord(each) for each in "\\.:")


@compiled
def is_digit(byte):  # type: ignore[no-untyped-def]  # compiled: numba infers the types
    """0 to 9."""
    return 48 <= byte <= 57


@compiled
def is_letter(byte):  # type: ignore[no-untyped-def]
    """A to Z, small or not."""
    return 97 <= (byte | 32) <= 122


@compiled
def is_hexadecimal(byte):  # type: ignore[no-untyped-def]
    """0 to 9 and A to F, small or not."""
    return 48 <= byte <= 57 or 97 <= (byte | 32) <= 102


@compiled
def is_ipv4(data, begin, end):  # type: ignore[no-untyped-def]
    """Four numbers up to 255 without leading zeros."""
    octets, value, digits = 1, 0, 0
    for place in range(begin, end):
        byte = data[place]
        if byte == _DOT:
            if digits == 0:
                return False
            octets, value, digits = octets + 1, 0, 0
            continue
        if not is_digit(byte) or (digits > 0 and value == 0):
            return False
        value, digits = value * 10 + np.int64(byte) - 48, digits + 1
        if value > 255:
            return False
    return octets == 4 and digits > 0


@compiled
def is_ipv6(data, begin, end):  # type: ignore[no-untyped-def]
    """Eight groups of up to four hexadecimal digits, or fewer around one double colon; the last two may be IPv4."""
    groups, digits, double, place = 0, 0, False, begin
    while place < end:
        if is_hexadecimal(data[place]):
            digits += 1
            if digits > 4:
                return False
            place += 1
            continue
        if data[place] == _DOT:
            if not is_ipv4(data, place - digits, end):
                return False
            groups, digits = groups + 2, 0
            break
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
def follow(data, at, end, program, step, stack, trail):  # type: ignore[no-untyped-def]
    """Whether a line meets the steps from one on: how many begins and ends of spans it left in the trail, or -1."""
    depth = marks = 0
    steps, classes, pool = program.steps, program.classes, program.pool
    while True:
        kind, one, two, three = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3]
        failed = False
        if kind == patterns.SPAN:
            begin = at
            limit = end if three < 0 else min(end, at + three)
            if one == 0:
                at = limit
            else:
                while at < limit and classes[one, data[at]]:
                    at += 1
            failed = at - begin < two
        elif kind == patterns.LITERAL:
            failed = at + two > end
            if not failed:
                for place in range(two):
                    if data[at + place] != pool[one + place]:
                        failed = True
                        break
                at += two
        elif kind == patterns.MARK:
            trail[marks, 0], trail[marks, 1] = one, at
            marks += 1
        elif kind == patterns.CHOICE:
            if three >= 0 and (at >= end or not classes[three, data[at]]):
                step += one
                continue
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = step + one, at, marks
            depth += 1
        elif kind == patterns.COMMIT:
            depth -= 1
            step += one
            continue
        elif kind == patterns.ESCAPED:
            begin = at
            while at < end:
                if data[at] == _BACKSLASH and at + 1 < end:
                    at += 2
                elif classes[one, data[at]]:
                    at += 1
                else:
                    break
            failed = at - begin < two
        elif kind == patterns.LOOP:
            if stack[depth - 1, 1] == at:
                depth -= 1
            else:
                stack[depth - 1, 1], stack[depth - 1, 2] = at, marks
                step += one
                continue
        elif kind == patterns.AHEAD:
            depth -= 1
            at, marks = stack[depth, 1], stack[depth, 2]
            step += one
            continue
        elif kind == patterns.NOT:
            depth -= 1
            failed = True
        elif kind == patterns.FAIL:
            failed = True
        elif kind == patterns.EDGE:
            failed = at != end
        else:
            break
        step += 1
        if failed:
            if depth == 0:
                return -1
            depth -= 1
            step, at, marks = stack[depth, 0], stack[depth, 1], stack[depth, 2]
    return marks
