"""Locks between processes, released by the kernel whatever ends their holder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paddock.errors import MachineError


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
