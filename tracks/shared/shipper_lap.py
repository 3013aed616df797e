"""The load of a lap by a shipper: started and fed, until Elasticsearch has counted what it was given, and ended.

Rally is told of a shipper's lap what it is told of one by its own clients. What is counted is ``indexing.index_total``
of the index's statistics, which needs no refresh: a document counts as soon as it is indexed.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
import os
import re
import shutil
import socket
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esrally import exceptions
from esrally.utils import io

from shared.freshness import FreshnessProbe
from shared.lap_documents import slices, sources
from shared.lap_load import Load
from shared.request_contexts import unmeasured
from shared.shipper_parsing import SYSLOG, syslog_line
from shared.shipper_place import Place, place_of
from shared.shipper_process import GENERATOR, SHIPPER, Child, Use
from shared.shipper_programs import PROGRAMS, refused

if TYPE_CHECKING:
    from shared.lap_plan import Lap

# Seconds between two looks at how many documents there are; fewer when the last ones are due.
_LOOK, _LAST_LOOK = 0.05, 0.01
_LAST_SHARE = 0.9
# Letters of what somebody else has said, in a sentence of ours.
_LONGEST_WORDS = 300
# Seconds in which nothing must have come, for nothing to come any more; of a shipper that has complained more, for it
# waits for a second before it sends again.
_AT_REST, _AT_REST_AFTER_TROUBLE = 0.5, 1.5
# Seconds between two looks at what the shipper has used.
_USE_LOOK = 0.5
# Seconds that the process that feeds it has to say what it has handed over.
_END_PATIENCE = 10.0
# What a lap's folder lies in: the race's own, which whoever clears up after a killed race removes.
_RACE_FOLDER = "PADDOCK_RACE"
FOLDER = "shippers"
_GENERATOR = Path(__file__).with_name("shipper_generator.py")


@dataclass(frozen=True)
class Counted:
    """What the statistics of an index say: documents that were indexed, and bulks with their bytes."""

    documents: int
    bulks: int
    bulk_bytes: int


async def counted(es: Any, lap: Lap) -> Counted:
    """Ask for them; the bulks of several shards are told by each of them, and so only about."""
    answer = await es.indices.stats(index=lap.index, metric="indexing,bulk")
    primaries = answer["_all"]["primaries"]
    bulk = primaries.get("bulk", {})
    bulks = round(bulk.get("total_operations", 0) / int(lap.body["settings"].get("index.number_of_shards") or 1))
    return Counted(primaries["indexing"]["index_total"], bulks, bulk.get("total_size_in_bytes", 0))


class Shipment:
    """One lap's shipper, from its configuration to its end; :meth:`close` must be called whatever happens."""

    def __init__(self, es: Any, lap: Lap) -> None:
        assert lap.shipper is not None  # noqa: S101 - for the type checker
        self.settings = lap.shipper
        self.program = PROGRAMS[lap.shipper.name]
        self._es = es
        self._lap = lap
        self._folder: Path | None = None
        self._shipper: Child | None = None
        self._generator: Child | None = None
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="generator")
        self._used = Use(0.0, 0)
        self._version = ""
        self._place: Place | None = None
        self._handed: dict[str, Any] = {}
        self._before = self._sent = Counted(0, 0, 0)
        self._said_before = ""

    async def prepare(self) -> None:
        """Render and check the configuration, start the shipper, and wait until it and what feeds it are ready.

        :raises exceptions.RallyTaskAssertionError: if it is not there, refuses its configuration, or does not begin.
        """
        try:
            await self._prepare()
        except OSError as error:
            raise exceptions.RallyTaskAssertionError(
                f"{self.settings.name} could not be started ({error.strerror or error})"
            ) from None

    async def _prepare(self) -> None:
        self._version = await asyncio.to_thread(_version, self.settings.name)
        place = self._place = place_of(self._es, self._lap.index, self.program)
        folder = self._folder = _folder(self._lap, place.has_secrets)
        (folder / "state").mkdir(mode=0o700)
        place = place.with_authority_in(folder)
        file, port = folder / "state" / "documents.json", _free_port()
        fed_by: dict[str, Any] = {"file": str(file)} if self.settings.input == "file" else {"port": port}
        if "file" in fed_by:
            file.touch()
        for name, text in self.program.render(folder, self.settings, place, fed_by).items():
            (folder / name).write_text(text, encoding="utf-8")
        why = await asyncio.to_thread(refused, self.program, folder)
        if why is not None:
            raise exceptions.RallyTaskAssertionError(f"{self.settings.name} refuses its configuration: {why}")
        words = [self.program.path or self.program.program, *self.program.start_words(folder)]
        component = f"{SHIPPER}{self.settings.name}"
        self._shipper = Child(words, component, folder, folder / "output.log", self.settings.processors)
        await self._until_it_takes(file if "file" in fed_by else port)
        if place.has_secrets:
            # It has been read: nobody who is killed from here on leaves a password.
            for name in self.program.files:
                (folder / name).unlink()
        into = {"into": str(file)} if "file" in fed_by else {"port": port, "patience": self.program.starts_within}
        what = _documents(self._lap)
        if self.settings.parsing == SYSLOG:
            what = await asyncio.to_thread(_syslog_lines, self._lap, folder / "state" / "lines.log")
        words = [sys.executable, "-I", "-S", str(_GENERATOR), json.dumps({**what, **into})]
        self._generator = Child(words, GENERATOR, folder, None, self.settings.generator_processors)
        ready = self._threads.submit(_line, self._generator)
        if (said := await _heard(ready, self.program.starts_within + _END_PATIENCE)) != "ready\n":
            raise exceptions.RallyTaskAssertionError(
                f"what feeds {self.settings.name} did not begin: {said.strip() or 'it said nothing'}{self._said()}"
            )

    async def look(self) -> None:
        """See what the index has before the lap."""
        self._before = await counted(self._es, self._lap)

    async def load(self, probe: FreshnessProbe | None, problems: list[str]) -> Load:
        """Feed it, and wait until all that it was given is counted, or until nothing comes any more.

        :param problems: gets a sentence for what makes the lap void, but for documents that are missing or too many.
        :raises elasticsearch.ApiError, elasticsearch.TransportError: if Elasticsearch does not tell how many there are.
        """
        shipper, generator = self._shipper, self._generator
        assert shipper is not None and generator is not None  # noqa: S101 - prepare has made them
        load, name = Load(), self.settings.name
        used_before, looked = shipper.use(), 0.0
        self._said_before = self._said()
        self._es.on_request_start()
        load.first_sent = last_news = time.perf_counter()
        _tell(generator)
        handed: Future[str] = self._threads.submit(_line, generator)
        while True:
            await asyncio.sleep(self._until_next_look(load))
            # Before the count: what was handed over by then is in it, or will be.
            done = handed.done()
            if done and not self._handed:
                self._handed = _told(handed.result())
            with unmeasured(self._es):
                there = await counted(self._es, self._lap)
            now = time.perf_counter()
            come = there.documents - self._before.documents - (probe.arrived if probe else 0)
            if come > load.documents_acknowledged:
                load.acknowledgements.append((now, come - load.documents_acknowledged))
                load.documents_acknowledged, load.last_acknowledged, last_news = come, now, now
            all_there = bool(self._handed) and load.documents_acknowledged >= self._handed["generated"]
            # Of one that has ended nothing can be asked any more; each look costs more than one at the index.
            if (all_there or now - looked > _USE_LOOK) and (used := shipper.use()).cpu_seconds:
                self._used, looked = used, now
            if all_there:
                break
            if shipper.exit_code is not None:
                problems.append(f"{name} ended in the middle of the lap ({_ended(shipper.exit_code)}){self._said()}")
                break
            if now - last_news > self.settings.patience:
                problems.append(self._standstill(load.documents_acknowledged))
                break
        self._es.on_request_end()
        if not self._handed:
            generator.process.terminate()
            self._handed = _told(await _heard(handed, _END_PATIENCE))
        self._used = Use(round(max(0.0, self._used.cpu_seconds - used_before.cpu_seconds), 3), self._used.peak_bytes)
        load.documents_sent = self._handed["generated"]
        if self._handed["problem"] and not problems:
            problems.append(f"{name} was not given all documents: {self._handed['problem']}{self._said()}")
        return load

    async def end(self) -> int:
        """End the shipper, so that nobody sends any more once documents are counted for good; how many bulks came.

        What it still has in hand comes before that: documents that came twice stood for these in the count.
        """
        if self._shipper is not None:
            await self._until_at_rest(self._shipper)
            await self._shipper.end()
        after, before = await counted(self._es, self._lap), self._before
        # Of one that has ended before its time Elasticsearch may still have bulks in hand.
        while after.documents - before.documents < (self._handed.get("generated") or 0):
            await asyncio.sleep(_AT_REST)
            earlier, after = after, await counted(self._es, self._lap)
            if after == earlier:
                break
        self._sent = Counted(0, after.bulks - before.bulks, after.bulk_bytes - before.bulk_bytes)
        return self._sent.bulks

    async def _until_at_rest(self, shipper: Child) -> None:
        """Wait until nothing comes any more; at most as long as a lap waits, for some send the same for ever."""
        deadline = time.monotonic() + self.settings.patience
        earlier, now = None, await counted(self._es, self._lap)
        while now != earlier and shipper.exit_code is None and time.monotonic() < deadline:
            await asyncio.sleep(_AT_REST if self._said() == self._said_before else _AT_REST_AFTER_TROUBLE)
            earlier, now = now, await counted(self._es, self._lap)

    def record(self, documents_counted: int | None) -> dict[str, Any]:
        """What the lap's record has of it.

        :param documents_counted: in the index at the end; None if nobody has counted.
        """
        settings, generated = self.settings, self._handed.get("generated")
        told = generated is not None and documents_counted is not None
        return {
            "name": settings.name,
            "version": self._version,
            "batch": settings.batch,
            "workers": settings.workers,
            "queue": settings.queue,
            "queue_size": settings.queue_size,
            "main_queue": None if settings.main is None else dataclasses.asdict(settings.main),
            "parsing": settings.parsing,
            "retries": settings.retries,
            "input": settings.input,
            "processors": list(settings.processors) or None,
            "generator_processors": list(settings.generator_processors) or None,
            "cpu_seconds": self._used.cpu_seconds,
            "peak_memory_bytes": self._used.peak_bytes or None,
            "generator_cpu_seconds": round(self._handed.get("cpu_seconds", 0.0), 3),
            "generator_seconds": round(self._handed.get("seconds", 0.0), 3),
            "generated": generated,
            "bytes": self._handed.get("bytes"),
            "counted": documents_counted,
            "lost": max(0, generated - documents_counted) if told else None,
            "duplicates": max(0, documents_counted - generated) if told else None,
            "bulk_bytes": self._sent.bulk_bytes,
        }

    @property
    def cpu_seconds(self) -> float:
        """Processor time of the shipper and of what feeds it, during the load."""
        return self._used.cpu_seconds + self.generator_cpu_seconds

    @property
    def generator_cpu_seconds(self) -> float:
        """Processor time of what feeds the shipper alone."""
        return float(self._handed.get("cpu_seconds", 0.0))

    def close(self, keep: bool = False) -> None:
        """End what still runs, and remove what it has left.

        :param keep: whether to leave its configuration and its logs, for a look at what went wrong.
        """
        for child in (self._generator, self._shipper):
            if child is not None:
                child.kill()
        self._threads.shutdown(wait=False)
        if self._folder is None:
            return
        if not keep or self._place is None or self._place.has_secrets:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        shutil.rmtree(self._folder / "state", ignore_errors=True)

    async def _until_it_takes(self, what: int | Path) -> None:
        """Wait until the shipper listens at a port, or has the file open, which not all do while it is empty."""
        assert self._shipper is not None  # noqa: S101 - prepare has made it
        deadline = time.monotonic() + self.program.starts_within
        while time.monotonic() < deadline:
            if self._shipper.exit_code is not None:
                code = _ended(self._shipper.exit_code)
                raise exceptions.RallyTaskAssertionError(
                    f"{self.settings.name} ended before it took a document ({code}){self._said()}"
                )
            if isinstance(what, int) and await asyncio.to_thread(self._shipper.listens, what):
                return
            if isinstance(what, Path) and await asyncio.to_thread(self._shipper.has_open, what):
                return
            await asyncio.sleep(0.05)
        if isinstance(what, int):
            raise exceptions.RallyTaskAssertionError(
                f"{self.settings.name} does not listen at port {what} after "
                f"{self.program.starts_within:g} s{self._said()}"
            )

    def _until_next_look(self, load: Load) -> float:
        generated = self._handed.get("generated")
        return _LAST_LOOK if generated and load.documents_acknowledged > _LAST_SHARE * generated else _LOOK

    def _standstill(self, come: int) -> str:
        name, patience = self.settings.name, f"{self.settings.patience:g} s"
        if not self._handed:
            main, own = self.settings.main, f"{self.settings.queue_size:,} events"
            full = f"its queue of {own} is" if main is None else f"its queues of {main.size:,} and {own} are"
            return (
                f"{name} stood still: no document was counted for {patience}, and it took no more of them ({full} "
                f"full, or nobody reads its input); {come:,} had come"
                f"{self._said()}"
            )
        return f"no document was counted for {patience} after {come:,} of {self._handed['generated']:,}{self._said()}"

    def _said(self) -> str:
        """Why Elasticsearch refused documents, or the last line that the shipper has said; empty if it said nothing."""
        if self._folder is None or self._shipper is None:
            return ""
        # Rsyslog writes down what was refused: requests and replies, texts in JSON.
        reasons = re.findall(r'reason\\*": *\\*"([^"\\]+)', _text(self._folder / "refused.log"))
        if reasons:
            return f"; Elasticsearch refused documents: {reasons[-1][:_LONGEST_WORDS]}"
        words = self._shipper.last_words() or _text(self._folder / "said.log").rstrip().rpartition("\n")[2]
        return f"; it said last: {words[:_LONGEST_WORDS]}" if words else ""


@functools.cache
def _version(name: str) -> str:
    """The version of a shipper, once it was seen to be there.

    :raises exceptions.RallyTaskAssertionError: if it is not installed.
    """
    if missing := PROGRAMS[name].missing():
        raise exceptions.RallyTaskAssertionError(missing.rstrip("."))
    return PROGRAMS[name].version


async def _heard(line: Future[str], patience: float) -> str:
    """A line of what a program says; empty if it says none in so many seconds."""
    try:
        return await asyncio.wait_for(asyncio.wrap_future(line), patience)
    except asyncio.TimeoutError:
        return ""


def _documents(lap: Lap) -> dict[str, Any]:
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


def _syslog_lines(lap: Lap, into: Path) -> dict[str, Any]:
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


def _folder(lap: Lap, secret: bool) -> Path:
    """A folder of the lap's own, which nobody else may read.

    :param secret: whether there will be a password in it; then its name says so to whoever clears up.
    """
    race = os.environ.get(_RACE_FOLDER)
    if race is None:
        return Path(tempfile.mkdtemp(prefix="paddock-shipper-"))
    above = Path(race) / FOLDER
    above.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{'secret-' if secret else ''}lap-{lap.number}-", dir=above))


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _tell(child: Child) -> None:
    assert child.process.stdin is not None  # noqa: S101 - a generator has one
    child.process.stdin.write(b"go\n")
    child.process.stdin.flush()


def _line(child: Child) -> str:
    try:
        return "" if child.process.stdout is None else child.process.stdout.readline().decode("utf-8")
    except (OSError, ValueError):
        return ""  # closed meanwhile


def _told(line: str) -> dict[str, Any]:
    """What the generator says at its end."""
    if not line:
        return {"generated": 0, "bytes": 0, "problem": "the process that feeds it has ended", "seconds": 0.0}
    told: dict[str, Any] = json.loads(line)
    return told


def _ended(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _text(file: Path) -> str:
    """Of a file that may not be there."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
