"""Brute force beside the index: a scan of all documents by zgrep, or by a program that parses every line.

What runs is what anybody would run on an archive of gzipped logs: processes of their own, their output read to its end.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from esrally import exceptions

from shared import scan_program
from shared.growth import added_documents
from shared.log_queries import (
    LATEST,
    LATEST_SIZE,
    PER_15_MINUTES,
    TEXT_COUNT,
    TEXT_HITS,
    TIME,
    Answer,
    Asked,
    LogQueryPlan,
    quarters_answer,
    times_answer,
)
from shared.scan_files import ScannedFile, scanned_files

ZGREP, JSON = WAYS = ("zgrep", "json")
_PROGRAMS = ("zgrep", "awk", "tac", "tail", "sh")
_QUARTERS = (
    'awk -F \'"@timestamp": *"\' \'{ t = substr($2, 1, 16); b = substr(t, 1, 14) sprintf("%02d", '
    "int(substr(t, 15, 2) / 15) * 15); n[b]++ } END { for (b in n) print b, n[b] }'"
)
# Log files are written in the order of time, so that the last lines are the latest. "$@": grep's options and the files.
_PIPES = {
    TEXT_COUNT: "zgrep -h -c \"$@\" | awk '{ n += $1 } END { print n + 0 }'",
    TEXT_HITS: 'zgrep -h "$@" | tac',
    LATEST: f'zgrep -h "$@" | tail -n {LATEST_SIZE} | tac',
    PER_15_MINUTES: f'zgrep -h "$@" | {_QUARTERS}',
}
_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in ".[]()*+?{}|^$\\"})


class ScanPlan(LogQueryPlan):
    """What one task scans for, and the files. Parameters: those of :class:`LogQueryPlan`, and ``way`` (of WAYS)."""

    def __init__(self, track: Any, params: dict[str, Any], **kwargs: Any):
        super().__init__(track, params, **kwargs)
        self.way = params["way"]
        if self.way not in WAYS:
            raise exceptions.InvalidSyntax(f"scan_ways may name {' and '.join(WAYS)}, but has {self.way!r}.")
        self._files: list[ScannedFile] = []

    @property
    def files(self) -> list[ScannedFile]:
        """What is scanned; made at the first call, if it is not there."""
        if not self._files:
            steps = self._params["growth-steps"]
            sizes = [added_documents(self.available, {**self._params, "growth-step": one})[1] for one in steps]
            self._files = scanned_files(self.track, sizes, self.documents)
        return self._files

    @property
    def command(self) -> list[str]:
        """What runs."""
        files = [str(file.path) for file in self.files]
        if self.way == ZGREP:
            return ["sh", "-c", _PIPES[self.query], "sh", *grep_options(self.query, self.asked), *files]
        asked = {"query": self.query, "text": self.asked.text, "field": self.asked.field, "values": self.asked.values}
        return [sys.executable, "-I", "-S", scan_program.__file__, json.dumps(asked), *files]


def grep_options(query: str, asked: Asked) -> list[str]:
    """What grep looks for: the text, or the field with one of its values as JSON has them."""
    if query in (TEXT_COUNT, TEXT_HITS) or asked.field is None:
        # As it stands in a line of JSON, where quotes and backslashes are escaped.
        return ["-F", "-e", json.dumps(asked.text, ensure_ascii=False)[1:-1]]
    names = dict.fromkeys((asked.field, asked.field.rpartition(".")[2]))
    values = (json.dumps(one, ensure_ascii=False).translate(_SPECIAL) for one in asked.values)
    keys = "|".join(name.translate(_SPECIAL) for name in names)
    return ["-E", "-e", f'"({keys})": *({"|".join(values)}) *[,}}]']


@dataclass(frozen=True)
class Scanned:
    """One scan.

    :param cpu_seconds: of all its processes.
    """

    output: bytes
    cpu_seconds: float


def scan(command: Sequence[str]) -> Scanned:
    """Run it and read what it writes.

    :raises exceptions.RallyTaskAssertionError: if a program is missing, fails or complains.
    """
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=complaints,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
            )
        except OSError as error:
            raise exceptions.RallyTaskAssertionError(f"{command[0]} cannot be run: {error.strerror}.") from error
        with process.stdout as stream:  # type: ignore[union-attr]
            output = stream.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip()
    # zgrep that finds nothing ends with 1, but it never is the last of its pipe.
    if process.returncode or said:
        reason = said.splitlines()[-1] if said else f"exit code {process.returncode}"
        raise exceptions.RallyTaskAssertionError(f"The scan by {Path(command[0]).name} has failed: {reason}")
    return Scanned(output, usage.ru_utime + usage.ru_stime)


def scan_answer(query: str, output: bytes) -> Answer:
    """What a scan has written."""
    lines = output.decode("utf-8").splitlines() if query != TEXT_HITS and query != LATEST else output.split(b"\n")[:-1]
    if query == TEXT_COUNT:
        return Answer(int(lines[0]))
    if query == PER_15_MINUTES:
        return quarters_answer(lines)
    return times_answer(str(json.loads(line)[TIME]) for line in lines)


class RunScan:
    """Scans once. Parameters: those of :class:`ScanPlan`."""

    async def __call__(self, es: Any, params: dict[str, Any]) -> dict[str, Any]:
        """The files are made, and the answer is looked at, outside of what is measured.

        :raises exceptions.RallyTaskAssertionError: if the scan cannot be run.
        """
        plan: ScanPlan = params["plan"]
        loop = asyncio.get_running_loop()
        if plan.way == ZGREP:
            check_programs()
        command = await loop.run_in_executor(None, lambda: plan.command)
        began, start = time.time(), time.perf_counter()
        es.on_request_start()
        try:
            scanned = await loop.run_in_executor(None, scan, command)
        finally:
            es.on_request_end()
        seconds = time.perf_counter() - start
        answer = scan_answer(plan.query, scanned.output)
        sizes = {
            "read_bytes": sum(file.path.stat().st_size for file in plan.files),
            "raw_bytes": sum(file.raw_bytes for file in plan.files),
        }
        plan.written(params, plan.way, began, seconds, answer, cpu_seconds=round(scanned.cpu_seconds, 6), **sizes)
        return {"weight": 1, "unit": "ops", "success": True, "hits": answer.number}

    def __repr__(self) -> str:
        return "log-scan"


def check_programs(programs: Sequence[str] = _PROGRAMS) -> None:
    """Whether what zgrep's pipes are made of is here.

    :raises exceptions.RallyTaskAssertionError: if not; with the name.
    """
    missing = [one for one in programs if shutil.which(one) is None]
    if missing:
        raise exceptions.RallyTaskAssertionError(
            f"{missing[0]} is not on the PATH of the load driver, and scans by zgrep need it (Debian: apt-get install "
            f'gzip grep mawk coreutils): install it, or race with scan_ways:["{JSON}"].'
        )
