"""What is written down while a race runs, so that the next command can clear up after one that was killed.

Whoever clears up holds the lock on races: the race of a ledger that is watched is then over. A home may be shared by
machines, containers and users; a ledger whose processes cannot be seen from here is left to those who can see them.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paddock import paths
from paddock.files import write_json
from paddock.locks import locked
from paddock.rally.processes import RaceProcesses, Watcher, end, this_process


@dataclass(frozen=True)
class Ledger:
    """One running race.

    :param folder: Rally's folder of the race.
    :param watcher: the process that watches over it.
    :param started: epoch seconds, for people; nothing is decided by it.
    :param data_path: a folder outside Rally's that the node fills, or None.
    :param secrets: a temporary file with client options, or None.
    """

    race_id: str
    folder: str
    watcher: Watcher
    started: float
    data_path: str | None = None
    secrets: str | None = None

    @property
    def file(self) -> Path:
        """Where it is written."""
        return _folder() / f"{self.race_id}.json"

    def __str__(self) -> str:
        since = time.strftime("%H:%M", time.localtime(self.started))
        pid, host = self.watcher.pid, self.watcher.host.partition(" ")[0]
        return f"the race {self.race_id}, running since {since} (on {host}, where 'kill {pid}' ends it)"


def running() -> list[Ledger]:
    """The races that are written down, watched or not, here or elsewhere; what is no ledger is left out."""
    return [ledger for file in sorted(_folder().glob("*.json")) if (ledger := _read(file))]


@contextmanager
def racing() -> Iterator[list[str]]:
    """Hold the lock on races, one per home, while the block runs; what killed races have left is cleared up first.

    :returns: a sentence for each race that was cleared up after.
    :raises MachineError: if a race is running.
    """
    holders = [ledger for ledger in running() if ledger.watcher.is_alive or not ledger.watcher.can_be_seen]
    named = " or ".join(map(str, holders)) or "the race or the tournament of another process"
    with locked(paths.state_folder() / "race.lock", named, wait=False):
        yield _clear_abandoned()


@contextmanager
def written_down(race_id: str, data_path: Path | None = None, secrets: Path | None = None) -> Iterator[Ledger]:
    """Keep the race in the ledger while the block runs; at its end, whatever ended it, clear up after it."""
    ledger = Ledger(
        race_id,
        str(paths.races_folder() / race_id),
        this_process(),
        time.time(),
        str(data_path) if data_path else None,
        str(secrets) if secrets else None,
    )
    write_json(ledger.file, asdict(ledger))
    try:
        yield ledger
    finally:
        _clear(ledger)


def _clear(ledger: Ledger) -> list[int]:
    """End what is left of that race and remove what it left on disk; its logs and its race.json stay.

    :returns: ids of the processes that were ended.
    """
    folder = Path(ledger.folder)
    processes = RaceProcesses(ledger.race_id, folder).all()
    ended = [process.pid for process in processes]
    still_there = end(processes)
    for installation in folder.glob("*/install"):
        shutil.rmtree(installation, ignore_errors=True)
    if ledger.data_path:
        shutil.rmtree(ledger.data_path, ignore_errors=True)
    if ledger.secrets:
        Path(ledger.secrets).unlink(missing_ok=True)
    if not still_there:
        ledger.file.unlink(missing_ok=True)
    return ended


def _clear_abandoned() -> list[str]:
    """Clear up after races whose watching process is gone (kill -9, power cut); one sentence for each, for the user."""
    sentences = []
    for file in sorted(_folder().glob("*.json")):
        ledger = _read(file)
        if ledger is None:
            with contextlib.suppress(OSError):
                file.unlink()
                sentences.append(
                    f"{file} did not say enough of a race to end anything for it, and was removed: "
                    f"if something of the race {file.stem} is still running, end that by hand."
                )
        elif ledger.watcher.can_be_seen and not ledger.watcher.is_alive:
            ended = _clear(ledger)
            what = f"{len(ended)} processes of it were ended" if ended else "nothing of it was running any more"
            sentences.append(f"The race {ledger.race_id} was cut off before; {what}, and its installation was removed.")
    return sentences


def _read(file: Path) -> Ledger | None:
    """The ledger in that file; None if it is none, or one of another version."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        ledger = Ledger(**{**content, "watcher": Watcher(**content["watcher"])})
    except (ValueError, TypeError, KeyError, OSError):
        return None
    # Whoever clears up may be root, and the file somebody else's: nothing is deleted that is not named like a race's.
    data_path = ledger.data_path or f"paddock-{ledger.race_id}"
    named = Path(ledger.folder).name == file.stem and Path(data_path).name == f"paddock-{file.stem}"
    return ledger if named else None


def _folder() -> Path:
    return paths.state_folder() / "running"
