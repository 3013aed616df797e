"""What is written down while a race runs, so that the next command can clear up after one that was killed."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from paddock import paths
from paddock.files import write_json
from paddock.rally.processes import RaceProcesses, end, is_alive


@dataclass(frozen=True)
class Ledger:
    """One running race.

    :param pid: the process that watches over it.
    :param create_time: when that process was started, epoch seconds: process ids come back.
    :param data_path: a folder outside Rally's that the node fills, or None.
    :param secrets: a temporary file with client options, or None.
    """

    race_id: str
    pid: int
    create_time: float
    started: float
    data_path: str | None = None
    secrets: str | None = None

    @property
    def file(self) -> Path:
        """Where it is written."""
        return _folder() / f"{self.race_id}.json"

    @property
    def watched(self) -> bool:
        """Whether the process that watches over the race is still there."""
        return is_alive(self.pid, self.create_time)


def running() -> list[Ledger]:
    """The races that are written down, watched or not; unreadable entries are dropped."""
    found = []
    for file in sorted(_folder().glob("*.json")):
        try:
            found.append(Ledger(**json.loads(file.read_text(encoding="utf-8"))))
        except (ValueError, TypeError, OSError):
            file.unlink(missing_ok=True)
    return found


@contextmanager
def written_down(race_id: str, data_path: Path | None = None, secrets: Path | None = None) -> Iterator[Ledger]:
    """Keep the race in the ledger while the block runs; at its end, whatever ended it, clear up after it."""
    ledger = Ledger(
        race_id,
        os.getpid(),
        psutil.Process().create_time(),
        time.time(),
        str(data_path) if data_path else None,
        str(secrets) if secrets else None,
    )
    write_json(ledger.file, asdict(ledger))
    try:
        yield ledger
    finally:
        clear(ledger)


def clear(ledger: Ledger) -> list[int]:
    """End what is left of that race and remove what it left on disk; its logs and its race.json stay.

    :returns: ids of the processes that were ended.
    """
    processes = RaceProcesses(ledger.race_id).all()
    ended = [process.pid for process in processes]
    still_there = end(processes)
    for installation in (paths.races_folder() / ledger.race_id).glob("*/install"):
        shutil.rmtree(installation, ignore_errors=True)
    if ledger.data_path:
        shutil.rmtree(ledger.data_path, ignore_errors=True)
    if ledger.secrets:
        Path(ledger.secrets).unlink(missing_ok=True)
    if not still_there:
        ledger.file.unlink(missing_ok=True)
    return ended


def clear_abandoned() -> list[str]:
    """Clear up after races whose watching process is gone (kill -9, power cut).

    :returns: one sentence for each, for the user.
    """
    sentences = []
    for ledger in running():
        if not ledger.watched:
            ended = clear(ledger)
            what = f"{len(ended)} processes of it were ended" if ended else "nothing of it was running any more"
            sentences.append(f"The race {ledger.race_id} was cut off before; {what}, and its installation was removed.")
    return sentences


def _folder() -> Path:
    return paths.state_folder() / "running"
