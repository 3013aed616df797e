"""Log lines as servers write them, made up here: addresses of documentation blocks, invented names."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from paddock.imports.formats.catalogue import FormatChoice
from paddock.imports.parsing import BlockParser, Parsed, ParsingPlan
from paddock.imports.shape import Shape
from paddock.imports.sources import Block
from paddock.imports.text import encoded
from paddock.imports.times import YearRule

ANY_SHAPE = Shape("", strict=False, properties={})
NEW_YEAR_2026 = YearRule(datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.timezone.utc).timestamp())

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"
USUAL = (
    f'203.0.113.9 - - [05/Jan/2026:10:00:00 +0100] "GET /shop/lamp?colour=red HTTP/1.1" 200 5120 '
    f'"https://shop.example/" "{BROWSER}"'
)
ERRORS = (
    # cut off in the middle, a stray line of another log, a request without an end
    '203.0.113.9 - - [05/Jan/2026:10:00:01 +0100] "GET /shop',
    "AH00558: apache2: Could not reliably determine the server's fully qualified domain name",
    '198.51.100.4 - - [31/Feb/2026:10:00:01 +0100] "GET / HTTP/1.1" 200 1 "-" "-"',
    'client.example - - [05/Jan/2026:10:00:01 +0100] "GET / HTTP/1.1" 200 1 "-" "-"',
)


def access_log(count: int, begin: datetime.datetime | None = None) -> list[str]:
    """Combined lines, two a second, from ten clients."""
    moment = begin or datetime.datetime(2026, 1, 5, 9, tzinfo=datetime.timezone.utc)
    lines = []
    for number in range(count):
        time = (moment + datetime.timedelta(seconds=number // 2)).strftime("%d/%b/%Y:%H:%M:%S +0000")
        user = "bob" if number % 7 == 0 else "-"
        size = "-" if number % 11 == 0 else str(100 + number)
        lines.append(
            f"203.0.113.{number % 10} - {user} [{time}] "
            f'"GET /item/{number % 30}?page={number % 4} HTTP/1.1" {200 if number % 13 else 304} {size} '
            f'"{"-" if number % 3 else "https://shop.example/list"}" "{BROWSER}"'
        )
    return lines


def counted(kept: tuple[bytes, np.ndarray]) -> Counter[str]:
    """What stayed in an anonymised block, and how often."""
    found: Counter[str] = Counter()
    for text, count in zip(kept[0].decode("utf-8").split("\n"), kept[1].tolist() or [0], strict=True):
        found[text] += count
    del found[""]
    return found


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """A log file of these lines."""
    path.write_bytes(b"".join(encoded(line) + b"\n" for line in lines))
    return path


def parsed(
    format: str,  # noqa: A002 - as the option is called
    lines: Iterable[str],
    shape: Shape = ANY_SHAPE,
    key: bytes | None = None,
    years: YearRule = NEW_YEAR_2026,
    quick: bool = True,
    **choice: str,
) -> Parsed:
    """What a format makes of lines; not ``quick``: JSON as the standard library reads it."""
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    block = Block("sample.log", 1, data.count(b"\n"), data, years)
    parser = BlockParser(ParsingPlan(FormatChoice(format, **choice), shape, key))
    if not quick:
        parser._objects = None
    return parser.parse(block)
