"""Bytes of a log as text, and text as JSON.

Logs are read as UTF-8. Bytes that are no UTF-8 are read as Latin-1, one character each: most often that is what they
were. While a line is being taken apart such bytes are kept as Python's surrogate escapes, so that its bytes can be had
back exactly.
"""

from __future__ import annotations

import json
import re

import orjson

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_ESCAPED_BYTES = re.compile(r"(?:\\x[0-9A-Fa-f]{2})+")
_CONTROLS = {"b": "\b", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "f": "\f"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def decoded(data: bytes) -> str:
    """Bytes as text; those that are no UTF-8 as surrogate escapes."""
    return data.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes that ``decoded`` was given."""
    return text.encode("utf-8", "surrogateescape")


def readable(text: str) -> str:
    """Text in which bytes that are no UTF-8 have become the characters of Latin-1."""
    if text.isascii():
        return text
    return _NOT_UTF8.sub(lambda found: chr(ord(found[0]) - 0xDC00), text)


def is_utf8(text: str) -> bool:
    """Whether ``decoded`` met nothing but UTF-8."""
    return text.isascii() or _NOT_UTF8.search(text) is None


def unescaped(text: str) -> str:
    r"""A field of an access log as it was before the server escaped quotes and bytes (\", \\, \x16, \n)."""
    if "\\" not in text:
        return readable(text)
    text = _ESCAPED_BYTES.sub(lambda run: decoded(bytes.fromhex(run[0].replace("\\x", ""))), text)
    text = _ESCAPE.sub(lambda found: _CONTROLS.get(found[1], found[1]), text)
    return readable(text)


def to_json(value: object) -> bytes:
    """Compact JSON; half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD.

    :raises ValueError: if a number is not finite.
    """
    try:
        data = orjson.dumps(value)
    except TypeError:  # half surrogate pairs, whole numbers beyond 64 bits, great depth
        data = b"null"
    if b"null" not in data:  # or numbers that are not finite, of which orjson makes that
        return data
    text = _ENCODER.encode(value)
    return (text if text.isascii() else _HALF_PAIR.sub("\ufffd", text)).encode("utf-8")


def unescaped_json(text: str) -> str:
    """What stands between the quotes of a text of JSON."""
    found: str = orjson.loads(f'"{text}"')
    return found
