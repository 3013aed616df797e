"""Pseudonyms: keyed one-to-one replacements of names, addresses and values that keep length and kind of characters.

Each text becomes a row of digits of mixed bases (a lower-case letter is a digit of base 26, an octet of three
digits one of base 156), and eight rounds of a Feistel network, keyed with BLAKE2b, replace the row by another one of
the same bases. A Feistel network is a permutation: the same text always gets the same pseudonym, two texts never
share one, and so lengths and frequencies stay as they were. What the text looked like (letters, digits,
punctuation) stays too; that is intended, and it is no encryption of a text of one or two characters.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

_ROUNDS = 8
_DIGEST_BYTES = 64
_BYTES_PER_DIGIT = 4  # 32 random bits against bases of mostly less than 65,536: no bias worth the name

# Ranges of characters that replace one another: a script each, roughly, and of one length in UTF-8 each.
_RANGES = (
    (0x00A0, 0x024F), (0x0250, 0x036F), (0x0370, 0x03FF), (0x0400, 0x052F), (0x0530, 0x07FF), (0x0800, 0x33FF),
    (0x3400, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7A3), (0xE000, 0xFFFF), (0x10000, 0x1FFFF), (0x20000, 0x10FFFF),
)  # fmt: skip
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_OCTET_BASES = {1: (0, 10), 2: (10, 90), 3: (100, 156)}


class Pseudonyms:
    """Replacements under one key.

    :param key: 16 to 64 bytes.
    """

    def __init__(self, key: bytes):
        self._key = key

    def word(self, text: str) -> str:
        """A text of the same length and pattern; punctuation and spaces stay where they are."""
        units = [_unit(character) for character in text]
        if not any(base for base, _, _ in units):
            return text
        digits = self._permuted("word", text, units)
        return "".join(
            chr(first + digit) if base else character
            for character, (base, first, _), digit in zip(text, units, digits, strict=True)
        )

    def query_value(self, text: str) -> str:
        """A value of a query; what was percent-encoded stays so, whatever it means."""
        if "%" not in text:
            return self.word(text)
        # Decoded first: a value in Cyrillic has nothing but escapes, and they must not survive.
        plain, encoded, at = [], [], 0
        for run in [*_PERCENT.finditer(text), None]:
            piece = text[at : run.start() if run else len(text)]
            plain.append(piece)
            encoded += [False] * len(piece)
            if run is None:
                break
            characters = unquote_to_bytes(run[0]).decode("utf-8", "surrogateescape")
            plain.append(characters)
            encoded += [True] * len(characters)
            at = run.end()
        pseudonym = self.word("".join(plain))
        return "".join(
            _percent_encoded(character) if escape else character
            for character, escape in zip(pseudonym, encoded, strict=True)
        )

    def address(self, text: str) -> str:
        """Another IPv4 or IPv6 address, as long as this one.

        :raises ValueError: if it is no address.
        """
        if ":" not in text:
            ipaddress.IPv4Address(text)
            return self._ipv4(text)
        ipaddress.IPv6Address(text)
        groups, dotted = text, ""
        if "." in text:
            groups, _, dotted = text.rpartition(":")
            dotted = ":" + self._ipv4(dotted)
        groups, percent, zone = groups.partition("%")
        return self._ipv6(groups) + percent + self.word(zone) + dotted

    def _ipv4(self, text: str) -> str:
        octets = text.split(".")
        units = [(_OCTET_BASES[len(octet)][1], _OCTET_BASES[len(octet)][0], int(octet)) for octet in octets]
        digits = self._permuted("ipv4", text, units)
        return ".".join(str(first + digit) for (_, first, _), digit in zip(units, digits, strict=True))

    def _ipv6(self, text: str) -> str:
        groups = text.split(":")
        units = [_group_unit(group) for group in groups]
        digits = self._permuted("ipv6", text, units)
        form = "x" if text == text.lower() else "X"
        return ":".join(
            format(first + digit, f"0{len(group)}{form}") if group else ""
            for group, (_, first, _), digit in zip(groups, units, digits, strict=True)
        )

    def _permuted(self, kind: str, text: str, units: Sequence[tuple[int, int, int]]) -> list[int]:
        """The digits of the pseudonym; units of base 0 stay out of it.

        :param units: base, first value and value of each digit.
        """
        moving = [place for place, (base, _, _) in enumerate(units) if base]
        bases = [units[place][0] for place in moving]
        values = [units[place][2] - units[place][1] for place in moving]
        # Texts of other patterns are permuted by themselves, so the pattern belongs to the key.
        pattern = f"{kind} {','.join(f'{base}.{first}' for base, first, _ in units)}".encode("ascii")
        keyed = hashlib.blake2b(pattern, key=self._key, digest_size=32).digest()
        half = len(values) // 2
        for number in range(_ROUNDS):
            source, target = (
                (slice(0, half), slice(half, None)) if number % 2 == 0 else (slice(half, None), slice(half))
            )
            stream = _stream(keyed, number, values[source], len(bases[target]))
            values[target] = [
                (value + step) % base for value, step, base in zip(values[target], stream, bases[target], strict=True)
            ]
        result = [0] * len(units)
        for place, value in zip(moving, values, strict=True):
            result[place] = value
        return result


def _stream(key: bytes, number: int, values: Sequence[int], count: int) -> list[int]:
    """``count`` pseudorandom numbers from the other half's digits."""
    message = number.to_bytes(1, "big") + b"".join(value.to_bytes(4, "big") for value in values)
    data = b""
    block = 0
    while len(data) < count * _BYTES_PER_DIGIT:
        salt = block.to_bytes(8, "big")
        data += hashlib.blake2b(message, key=key, salt=salt, digest_size=_DIGEST_BYTES).digest()
        block += 1
    return [
        int.from_bytes(data[at : at + _BYTES_PER_DIGIT], "big")
        for at in range(0, count * _BYTES_PER_DIGIT, _BYTES_PER_DIGIT)
    ]


def _unit(character: str) -> tuple[int, int, int]:
    """Base, first value and value of a character as a digit; base 0 if it stays as it is."""
    code = ord(character)
    if character.islower() and code < 128:
        return 26, ord("a"), code
    if character.isupper() and code < 128:
        return 26, ord("A"), code
    if "0" <= character <= "9":
        return 10, ord("0"), code
    if code < 128:
        return 0, 0, 0
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return 128, 0xDC80, code
    for first, last in _RANGES:
        if first <= code <= last:
            return last - first + 1, first, code
    return 0, 0, 0


def _group_unit(group: str) -> tuple[int, int, int]:
    """A group of an IPv6 address as a digit; a leading zero stays one."""
    if not group:
        return 0, 0, 0
    first, end = 16 ** (len(group) - 1), 16 ** len(group)
    if len(group) == 1 or group[0] == "0":
        first, end = 0, end if len(group) == 1 else first
    return end - first, first, int(group, 16)


def _percent_encoded(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
