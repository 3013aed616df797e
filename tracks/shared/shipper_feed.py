"""What feeds a shipper: what its generator is told of a lap's documents, and what it says (shipper_generator.py)."""

from __future__ import annotations

import asyncio
import json
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esrally import exceptions
from esrally.utils import io

from shared.lap_documents import slices, sources
from shared.shipper_parsing import syslog_line
from shared.shipper_process import Child

if TYPE_CHECKING:
    from shared.lap_plan import Lap

_GENERATOR = Path(__file__).with_name("shipper_generator.py")


def generator_words(what: dict[str, Any]) -> list[str]:
    """The command line of a generator that is told that."""
    return [sys.executable, "-I", "-S", str(_GENERATOR), json.dumps(what)]


async def heard(line: Future[str], patience: float) -> str:
    """A line of what a program says; empty if it says none in so many seconds."""
    try:
        return await asyncio.wait_for(asyncio.wrap_future(line), patience)
    except asyncio.TimeoutError:
        return ""


def documents_of(lap: Lap) -> dict[str, Any]:
    """What the generator is told of the documents of a lap."""
    files = [(one.document_file, one.number_of_documents) for one in lap.documents_sent]
    number, first, _ = next(slices([documents for _, documents in files], lap.first_document, 1))
    with open(files[number][0], "rb") as file:  # noqa: PTH123 - Rally's own helper wants such a file
        io.skip_lines(files[number][0], file, first)
        offset = file.tell()
    left = files[number][1] - first
    return {
        "files": files,
        "file": number,
        "offset": offset,
        "left": left,
        "count": lap.count,
        "seconds": lap.seconds,
    }


def syslog_lines(lap: Lap, into: Path) -> dict[str, Any]:
    """What the generator is told of lines of syslog, which are made of the documents of a lap and put into that file.

    :raises exceptions.RallyTaskAssertionError: if a document is none that a line could be made of.
    """
    with into.open("wb") as file:
        try:
            file.writelines(map(syslog_line, sources(lap.documents, lap.first_document, lap.count)))
        except ValueError as error:
            raise exceptions.RallyTaskAssertionError(f"no line can be made of a document: {error}") from None
    whole = {"files": [(str(into), lap.count)], "file": 0, "offset": 0, "left": lap.count}
    return {**whole, "count": lap.count, "seconds": None}


def say_go(generator: Child) -> None:
    """Let it begin."""
    assert generator.process.stdin is not None  # noqa: S101 - a generator has one
    generator.process.stdin.write(b"go\n")
    generator.process.stdin.flush()


def next_line(generator: Child) -> str:
    """The next line that it says, which may take as long as a lap; empty if it says no more."""
    try:
        return "" if generator.process.stdout is None else generator.process.stdout.readline().decode("utf-8")
    except (OSError, ValueError):
        return ""  # closed meanwhile


def given(line: str) -> dict[str, Any]:
    """What it has handed over, by what it says at its end."""
    if not line:
        return {"generated": 0, "bytes": 0, "problem": "the process that feeds it has ended", "seconds": 0.0}
    found: dict[str, Any] = json.loads(line)
    return found
