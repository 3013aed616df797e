"""Blocks parsed by several processes or threads, their results in the blocks' order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice

from paddock.errors import MachineError
from paddock.imports.blocks import Block, LongLine
from paddock.imports.parsing import BlockParser, Parsed, ParsingPlan

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
