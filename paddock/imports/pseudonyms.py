"""Pseudonyms: keyed replacements of names, addresses and values that keep length and kind of characters.

Each character becomes another one of its kind (a digit a digit, a small letter a small letter), chosen by the HMAC of
the whole text (RFC 2104, with SHA-256): the same text always becomes the same pseudonym, and without the key nobody can
tell which text it was. Lengths and punctuation stay. Two long texts practically never share a pseudonym; two texts of
one to four characters may, because there are only so many.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote_to_bytes

# Ranges of characters that replace one another: a script each, roughly, and of one length in UTF-8 each.
_RANGES = (
    (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A),
    (0x00A0, 0x024F), (0x0250, 0x036F), (0x0370, 0x03FF), (0x0400, 0x052F), (0x0530, 0x07FF), (0x0800, 0x33FF),
    (0x3400, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7A3), (0xDC80, 0xDCFF), (0xE000, 0xFFFF), (0x10000, 0x1FFFF),
    (0x20000, 0x10FFFF),
)  # fmt: skip
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_DIGIT_STARTS = (0, 0, 10, 100)  # the least octet of so many digits
_OCTETS = (0, 10, 90, 156)  # and how many there are
_REMEMBERED = 1 << 15  # texts
_BEYOND_LONG = str(1 << 63)
_HEXADECIMAL = "0123456789abcdef"


class Pseudonyms:
    """Replacements under one key.

    :param key: 16 to 64 bytes.
    """

    def __init__(self, key: bytes):
        self._hmac = hmac.new(key, digestmod="sha256")  # a copy of it takes half the time of hmac.digest
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._stream)

    def word(self, text: str) -> str:
        """A text of the same length and pattern; punctuation and spaces stay where they are."""
        spans = [_SPANS[character] for character in text]
        numbers = iter(self._numbers("word", text, len(text) - spans.count(None)))
        result = "".join(
            [
                chr(span[0] + next(numbers) % span[1]) if span else character
                for character, span in zip(text, spans, strict=True)
            ]
        )
        # A short text may meet itself.
        return result if result != text else "".join(map(_next, text))

    def number(self, text: str) -> str:
        """A number in JSON of as many digits, its sign and exponent the same; a long stays one."""
        digits, exponent, power = text.lstrip("-").partition("e")
        replaced = self.word(digits)
        begins_with_zero = replaced[0] == "0" and replaced[1:2].isdigit()
        if begins_with_zero or (len(digits) == len(_BEYOND_LONG) and digits < _BEYOND_LONG <= replaced):
            replaced = ("2" if digits == "1" + replaced[1:] else "1") + replaced[1:]
        return "-" * (text[0] == "-") + replaced + exponent + power

    def hexadecimal(self, text: str) -> str:
        """Hexadecimal digits for hexadecimal digits, as in MAC addresses and UUIDs; all else stays."""
        lower = text.lower()
        numbers = iter(self._numbers("hexadecimal", lower, sum(map(_HEXADECIMAL.__contains__, lower))))
        digits = "".join([_HEXADECIMAL[next(numbers) % 16] if each in _HEXADECIMAL else each for each in lower])
        return digits.upper() if text == text.upper() else digits

    def value(self, text: str) -> str:
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
            return ".".join(self.octets(text.split(".")))
        ipaddress.IPv6Address(text)
        groups, percent, zone = text.partition("%")
        dotted = ""
        if "." in groups:
            groups, _, dotted = groups.rpartition(":")
            dotted = f":{self.address(dotted)}"
        upper = groups != groups.lower()
        numbers = iter(self._numbers("ipv6", groups.lower(), groups.count(":") + 1))
        replaced = []
        for group in groups.split(":"):
            # No leading zero where there was none, so that the address is written as usual.
            first, end = 16 ** (len(group) - 1) if group else 0, 16 ** len(group)
            if len(group) == 1 or group[:1] == "0":
                first, end = 0, 16 if len(group) == 1 else first
            other = format(first + next(numbers) % (end - first), f"0{len(group)}{'X' if upper else 'x'}")
            replaced.append(other if group else "")
        return ":".join(replaced) + (percent and percent + self.word(zone)) + dotted

    def octets(self, octets: list[str]) -> list[str]:
        """The four numbers of another IPv4 address, each with as many digits."""
        numbers = self._numbers("ipv4", ".".join(octets), 4)
        return [
            str(_DIGIT_STARTS[len(octet)] + number % _OCTETS[len(octet)]).zfill(len(octet))
            for octet, number in zip(octets, numbers, strict=False)
        ]

    def _numbers(self, kind: str, text: str, count: int) -> Sequence[int]:
        """So many pseudorandom numbers of 32 bits, at the least."""
        found = self._stream(f"{kind} {text}".encode("utf-8", "surrogatepass"), count)
        return struct.unpack(f">{len(found) // 4}I", found)

    def numbers(self, texts: Iterable[bytes], counts: Iterable[int]) -> bytes:
        """For each short text so many numbers of 32 bits, in eights, the highest byte first."""
        return b"".join(map(self._remembered, texts, counts))

    def _stream(self, text: bytes, count: int) -> bytes:
        """HMAC in counter mode."""
        found = block = self._digest(text)
        for number in range(1, (count + 7) // 8):
            block = self._digest(block + number.to_bytes(8, "big"))
            found += block
        return found

    def _digest(self, text: bytes) -> bytes:
        keyed = self._hmac.copy()
        keyed.update(text)
        return keyed.digest()


class _Spans(dict[str, "tuple[int, int] | None"]):
    """For each character the first one of its kind and how many there are; None if it stays."""

    def __missing__(self, character: str) -> tuple[int, int] | None:
        code = ord(character)
        found = next(((first, last - first + 1) for first, last in _RANGES if first <= code <= last), None)
        if code < 128:
            self[character] = found
        return found


_SPANS = _Spans()


def _next(character: str) -> str:
    span = _SPANS[character]
    return chr(span[0] + (ord(character) + 1 - span[0]) % span[1]) if span else character


def _percent_encoded(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
