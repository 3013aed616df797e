"""What is written down while a race runs, so that the next command can clear up after one that was killed.

Whoever clears up holds the lock on races, which the kernel frees when its holder ends: every watcher that is written
down is then gone. A home may be shared by machines, containers and users. Of a race whose processes cannot be seen from
here only the password is removed, which nothing that still runs reads again; the rest may be in use, and is named.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from paddock import paths
from paddock.files import read_record, write_json
from paddock.locks import locked
from paddock.plain_values import built
from paddock.rally.processes import RaceProcesses, Watcher, end, this_process


@dataclass(frozen=True)
class Ledger:
    """One running race.

    :param folder: Rally's folder of the race.
    :param watcher: the process that watches over it.
    :param started: epoch seconds, for people; nothing is decided by it.
    :param data_path: a folder outside Rally's that the node fills, or None.
    """

    race_id: str
    folder: str
    watcher: Watcher
    started: float
    data_path: str | None = None

    @property
    def file(self) -> Path:
        """Where it is written."""
        return _folder() / f"{self.race_id}.json"

    def __str__(self) -> str:
        since = time.strftime("%H:%M", time.localtime(self.started))
        # An id from elsewhere may be anybody's here.
        known = self.watcher.shares_process_ids
        how = f"where 'kill {self.watcher.pid}' ends it" if known else "whose processes cannot be seen from here"
        return f"the race {self.race_id}, running since {since} (on {self.watcher.host_name}, {how})"


def running() -> list[Ledger]:
    """The races that are written down, watched or not, here or elsewhere; what is no ledger is left out."""
    return [ledger for file in sorted(_folder().glob("*.json")) if (ledger := _read(file))]


def secrets_file(race_id: str) -> Path:
    """Where the race's client options lie while it runs, if they stand in no file of the user's."""
    return paths.state_folder() / "races" / race_id / "client-options.json"


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
def written_down(race_id: str, data_path: Path | None = None) -> Iterator[Ledger]:
    """Keep the race in the ledger while the block runs; at its end, whatever ended it, clear up after it."""
    ledger = Ledger(
        race_id,
        str(paths.races_folder() / race_id),
        this_process(),
        time.time(),
        str(data_path) if data_path else None,
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
    processes = RaceProcesses(ledger.race_id, Path(ledger.folder)).all()
    ended = [process.pid for process in processes]
    still_there = end(processes)
    for folder in _on_disk(ledger):
        shutil.rmtree(folder, ignore_errors=True)
    _remove_secrets(ledger.race_id)
    if not still_there:
        ledger.file.unlink(missing_ok=True)
    return ended


def _clear_abandoned() -> list[str]:
    """Clear up after races whose watching process is gone (kill -9, power cut); one sentence for each, for the user."""
    sentences = []
    for file in sorted(_folder().glob("*.json")):
        ledger = _read(file)
        if ledger is None:
            _remove_secrets(file.stem)
            kept = read_record(file).get("data_path")
            data = f", and remove {kept}" if isinstance(kept, str) and _is_data_path(kept, file.stem) else ""
            with contextlib.suppress(OSError):
                file.unlink()
                sentences.append(
                    f"{file} did not say enough of a race to end anything for it, and was removed: "
                    f"if something of the race {file.stem} is still running, end that by hand{data}."
                )
        elif not ledger.watcher.can_be_seen:
            _remove_secrets(ledger.race_id)
            left = ", ".join(map(str, [*_on_disk(ledger), file]))
            sentences.append(
                f"The race {ledger.race_id} was cut off on {ledger.watcher.host_name}, and its processes cannot be "
                f"seen from here: the next race there clears up. If that container or machine is gone, remove {left}."
            )
        elif not ledger.watcher.is_alive:
            ended = _clear(ledger)
            what = f"{len(ended)} processes of it were ended" if ended else "nothing of it was running any more"
            sentences.append(f"The race {ledger.race_id} was cut off before; {what}, and its installation was removed.")
    return sentences


def _on_disk(ledger: Ledger) -> list[Path]:
    """The folders that the race leaves behind; no installation to which a symbolic link leads: it is another's."""
    folder = paths.races_folder().resolve() / ledger.race_id
    installations = [one for one in folder.glob("*/install") if one.resolve() == one]
    data = [Path(ledger.data_path)] if ledger.data_path else []
    return [one for one in (*installations, *data) if one.is_dir()]


def _remove_secrets(race_id: str) -> None:
    """Remove the race's client options, unless they are somebody else's or a symbolic link leads to them."""
    file = secrets_file(race_id)
    if file.parent.resolve() == file.parent.parent.resolve() / race_id:
        with contextlib.suppress(OSError):
            file.unlink()


def _read(file: Path) -> Ledger | None:
    """The ledger in that file; None if it is none, or one of another version."""
    try:
        ledger: Ledger = built(Ledger, read_record(file), str(file))
    except ValueError:
        return None
    # Whoever clears up may be root, and the file somebody else's: nothing is deleted that is not named like a race's.
    named = ledger.race_id == Path(ledger.folder).name == file.stem
    return ledger if named and (ledger.data_path is None or _is_data_path(ledger.data_path, file.stem)) else None


def _is_data_path(path: str, race_id: str) -> bool:
    return Path(path).name == f"paddock-{race_id}"


def _folder() -> Path:
    return paths.state_folder() / "running"
