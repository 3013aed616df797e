"""From blocks of lines to documents, bad lines and counts; in several processes or threads, a BlockParser in each."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.errors import MachineError
from paddock.imports.formats.base import TOO_LONG, BadLine, LineFormat
from paddock.imports.formats.catalogue import FormatChoice
from paddock.imports.formats.json_lines import JsonLines
from paddock.imports.formats.layouts import LAYOUTS
from paddock.imports.shape import TIME_FIELD, Fitter, Shape
from paddock.imports.sources import LONGEST_LINE, Block, LongLine
from paddock.imports.text import decoded, encoded, is_utf8, to_json
from paddock.imports.times import IsoTimes, TimeRange

if TYPE_CHECKING:  # imported where they are needed, because numba takes its time
    from paddock.imports.anonymise import Anonymiser
    from paddock.imports.reading import LayoutReader

_BEGIN = f'{{"{TIME_FIELD}":"'.encode("ascii")


@dataclass(frozen=True)
class ParsingPlan:
    """All that a parser needs to know; can be handed to another process.

    :param key: of the anonymisation; None without one.
    """

    choice: FormatChoice
    shape: Shape
    key: bytes | None = field(default=None, repr=False)

    @property
    def in_bulk(self) -> bool:
        """Whether the track has a place for all that the documents of this format have."""
        if self.choice.name not in LAYOUTS:
            return False
        from paddock.imports.reading import taken_as_they_are  # and with it numba, which takes its time

        return taken_as_they_are(self.choice.name, self.shape)

    @property
    def compiled(self) -> bool:
        """Whether most of the work leaves Python's global lock alone, so that threads do."""
        return self.choice.name in LAYOUTS and self.key is None


@dataclass
class Parsed:
    """What became of a block.

    Every line is counted once: lines + further = events + joined + blank + the lines of ``bad``.

    :param data: the documents, one per line.
    :param joined: lines that belong to the event of an earlier line; ``traces`` of them are of stack traces.
    :param bad: line number, reason, and the line as ``text.decoded`` has it.
    :param further: records behind the first one of a line whose end was lost.
    :param fields, left_out: how many values documents have (at the least), and how many the track has no place for,
        by field.
    :param assumed: "year" and "zone" if times lacked them.
    :param unread: a time that could not be read; "" if there is none.
    :param not_utf8: lines with bytes that are no UTF-8.
    :param kept: see ``Anonymiser.kept``.
    :param kinds: field and kind of its values, where the index takes any fields.
    """

    source: str
    data: bytes = b""
    lines: int = 0
    documents: int = 0
    joined: int = 0
    traces: int = 0
    blank: int = 0
    further: int = 0
    bad: list[tuple[int, str, str]] = field(default_factory=list)
    times: TimeRange = field(default_factory=TimeRange)
    not_utf8: int = 0
    assumed: set[str] = field(default_factory=set)
    unread: str = ""
    fields: int = field(default=0, compare=False)
    left_out: Counter[str] = field(default_factory=Counter)
    kinds: set[tuple[str, str]] = field(default_factory=set)
    kept: tuple[bytes, np.ndarray] = field(default=(b"", np.zeros(0, np.int64)), compare=False)


class BlockParser:
    """Parses blocks, one after another.

    :raises UsageError: if the format cannot be built.
    """

    def __init__(self, plan: ParsingPlan):
        self._format = plan.choice.build()
        self._times = IsoTimes()
        self._anonymiser: Anonymiser | None = None
        if plan.key:
            from paddock.imports.anonymise import Anonymiser

            self._anonymiser = Anonymiser(plan.key, plan.shape.numeric)
        self._objects = self._format if isinstance(self._format, JsonLines) else None
        self._fitter = Fitter(plan.shape, notes_kinds=self._objects is not None and not plan.shape.strict)
        self._reader: LayoutReader | None = None
        if plan.choice.name in LAYOUTS:
            from paddock.imports.reading import LayoutReader

            self._reader = LayoutReader(plan.choice.name, self._format.clock, plan.shape, self._fitter)

    def parse(self, block: Block) -> Parsed:
        """The block's documents and all that is to be said of it."""
        self._format.clock.follow(block.years)
        self._fitter.begin()
        parsed = Parsed(block.source, lines=block.lines)
        if isinstance(self._format, LineFormat):
            parsed.data = self._line_by_line(self._format, block, parsed)
        elif self._reader:
            parsed.data = self._reader.read(block, parsed)
        if self._anonymiser:
            parsed.data = self._anonymiser.lines(parsed.data)
            parsed.kept = self._anonymiser.kept()
        parsed.left_out += self._fitter.left_out
        parsed.kinds = self._fitter.kinds
        parsed.assumed = set(self._format.clock.assumed)
        return parsed

    def _line_by_line(self, of: LineFormat, block: Block, parsed: Parsed) -> bytes:
        pieces: list[bytes] = []
        for number, whole in enumerate(block.data.removesuffix(b"\n").split(b"\n"), block.line):
            line = whole.removesuffix(b"\r")
            try:
                event = self._objects.quickly(line) if self._objects else None
                if event:
                    pieces.append(self._written(*event, parsed))
                    continue
            except BadLine as reason:
                parsed.unread = parsed.unread or reason.value
                parsed.bad.append((number, str(reason), decoded(line)))
                continue
            text = decoded(line)
            parsed.not_utf8 += not is_utf8(text)
            if not text.strip():
                parsed.blank += 1
                continue
            records = of.records(text)
            parsed.further += len(records) - 1
            for record in records:
                try:
                    if len(line) > LONGEST_LINE and len(encoded(record)) > LONGEST_LINE:
                        raise BadLine(TOO_LONG)
                    pieces.append(self._written(*of.event(record), parsed))
                except BadLine as reason:
                    parsed.unread = parsed.unread or reason.value
                    parsed.bad.append((number, str(reason), record))
        return b"".join(pieces)

    def _written(self, milliseconds: int, document: dict[str, Any], parsed: Parsed) -> bytes:
        """The document as a line of JSON, its time first."""
        document = self._fitter.fit(document)
        fields = len(document)
        document.pop(TIME_FIELD, None)
        try:
            time = self._times.text(milliseconds)
            rest = to_json(document)
        except OverflowError:
            raise BadLine("the time is out of range") from None
        except ValueError:
            raise BadLine("a value that JSON cannot hold") from None
        parsed.fields += fields
        parsed.documents += 1
        parsed.times.saw(milliseconds)
        return b"".join((_BEGIN, time.encode("ascii"), b'",' if document else b'"', rest[1:], b"\n"))


_MOST_PROCESSES = 16
_parser: BlockParser | None = None  # one in each worker


def available_processes() -> int:
    """One for each CPU that this process may use."""
    return min(_MOST_PROCESSES, len(os.sched_getaffinity(0)))


def parse_all(
    items: Iterable[Block | LongLine], plan: ParsingPlan, processes: int | None = None
) -> Iterator[Parsed | LongLine]:
    """Parse blocks; lines that are too long pass through at their places.

    One block alone is parsed here, because a process of its own takes longer to start. Compiled code is shared out to
    threads.

    :param processes: None: as ``available_processes``.
    :raises MachineError: if a worker was killed.
    """
    count = processes or available_processes()
    stream = iter(items)
    first = list(islice(stream, 2))
    if len(first) < 2 or count == 1:
        parser = BlockParser(plan)
        for item in chain(first, stream):
            yield parser.parse(item) if isinstance(item, Block) else item
        return
    pool: Executor
    if plan.compiled:
        threads = threading.local()
        pool = ThreadPoolExecutor(count, initializer=lambda: setattr(threads, "parser", BlockParser(plan)))
        yield from _in_parallel(chain(first, stream), pool, lambda block: threads.parser.parse(block), count)
    else:
        # Not forked: a fork of a process with threads can hang.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(plan,))
        yield from _in_parallel(chain(first, stream), pool, _parse, count)


def _in_parallel(
    items: Iterator[Block | LongLine], pool: Executor, parse: Callable[[Block], Parsed], count: int
) -> Iterator[Parsed | LongLine]:
    running: deque[Future[Parsed] | LongLine] = deque()
    try:
        for item in items:
            running.append(pool.submit(parse, item) if isinstance(item, Block) else item)
            # So many blocks are in memory at a time.
            if len(running) > count + 1:
                yield _result(running.popleft())
        while running:
            yield _result(running.popleft())
    except BrokenProcessPool:
        raise MachineError(
            "A process that parses the logs was killed, most likely because memory ran out: "
            "free some, and import again."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _result(item: Future[Parsed] | LongLine) -> Parsed | LongLine:
    return item if isinstance(item, LongLine) else item.result()


def _begin(plan: ParsingPlan) -> None:
    """Set up a worker: Ctrl-C is the parent's to handle, and without the parent there is nothing to do."""
    global _parser
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    _parser = BlockParser(plan)


def _end_with(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(1)


def _parse(block: Block) -> Parsed:
    if _parser is None:
        raise RuntimeError("the worker was not set up")
    return _parser.parse(block)
