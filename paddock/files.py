"""Writing files so that a reader never sees half of one; room on disk; locks between processes."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paddock.errors import MachineError

# The disk, or the user's share of it, is full.
_FULL = (errno.ENOSPC, errno.EDQUOT)


def full_disk(error: OSError, path: Path | str) -> MachineError | None:
    """The sentence for a write to ``path`` that failed because the disk is full; None if it failed otherwise."""
    if error.errno not in _FULL:
        return None
    return MachineError(
        f"{path} could not be written, because its disk is full ({error.strerror}): free some space there, or set "
        f"RALLY_HOME to a folder on a larger disk."
    )


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file where a block that writes to it fails because the disk is full.

    :raises MachineError: then; other errors stay what they are.
    """
    try:
        yield
    except OSError as error:
        if sentence := full_disk(error, path):
            raise sentence from None
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path``; renamed onto it (after fsync) if the block succeeds, removed if it does not.

    :raises MachineError: if the disk is full.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def read_record(path: Path) -> dict[str, Any]:
    """The JSON object in that file; empty if there is none or it is damaged: what it vouched for is made anew."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def files_below(folder: Path, *suffixes: str) -> list[Path]:
    """The files of those suffixes below the folder, sorted; no hidden ones, such as the links by which editors lock."""
    found = (path for path in folder.rglob("*") if path.suffix in suffixes and not path.name.startswith("."))
    return sorted(path for path in found if path.is_file())


def checksum(path: Path, algorithm: str = "sha256", progress: Callable[[int], None] | None = None) -> str:
    """The file's checksum in hexadecimal, read in pieces of 8 MiB; ``progress`` gets the bytes read so far."""
    digest = hashlib.new(algorithm)
    done = 0
    with path.open("rb") as source:
        while piece := source.read(8 << 20):
            digest.update(piece)
            done += len(piece)
            if progress:
                progress(done)
    return digest.hexdigest()


def require_room(folder: Path, needed: int, purpose: str) -> None:
    """Check that the file system of ``folder`` has ``needed`` bytes free.

    :raises MachineError: if it has not.
    """
    existing = folder
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    if free < needed:
        raise MachineError(
            f"{purpose} needs {gibibytes(needed)} in {folder}, but only {gibibytes(free)} are free there: "
            f"free some space, or set RALLY_HOME to a folder on a larger disk."
        )


def gibibytes(size: int) -> str:
    """A size in bytes for a sentence: GiB from one GiB on, MiB from one MiB on, else KiB."""
    if size >= 2**30:
        return f"{size / 2**30:.1f} GiB"
    return f"{size / 2**20:.0f} MiB" if size >= 2**20 else f"{-(-size // 2**10)} KiB"


@contextmanager
def locked(path: Path, holder: str, wait: bool = True) -> Iterator[None]:
    """Hold the lock of that file while the block runs.

    :param holder: what holds it otherwise, for the message.
    :param wait: whether to wait for it; without waiting a taken lock is an error.
    :raises MachineError: if the lock is taken and ``wait`` is false, or the file cannot be opened or locked.
    """
    handle = _open(path)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                raise MachineError(f"This has to wait for {holder}: try again when that has ended.") from None
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            raise MachineError(
                f"The file system of {path} cannot lock files ({error.strerror}), and without a lock two races would "
                f"disturb each other: set RALLY_HOME to a folder on a local disk."
            ) from None
        yield
    finally:
        os.close(handle)


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock of that file at this moment; False where there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Linux forbids O_CREAT on another user's file in a sticky folder, so first without.
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise MachineError(
            f"The lock file {path} cannot be opened ({error.strerror}): check who owns its folder."
        ) from None
