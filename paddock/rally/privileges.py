"""As whom Rally runs: Elasticsearch refuses root, and containers and CI are root."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddock.errors import MachineError

NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
# Whose identity is taken where namespaces are forbidden; PADDOCK_USER names another.
FALLBACK_USER = "nobody"
# Root may lift the limit on locked memory before it becomes somebody else.
LOCK_MEMORY = ("prlimit", "--memlock=unlimited:unlimited")


@dataclass(frozen=True)
class Identity:
    """How to start a program so that it is not root to itself: words before it, arguments of Popen, variables."""

    prefix: tuple[str, ...] = ()
    popen: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


def choose_identity(
    provisions: bool,
    memory_lock: bool,
    needed: tuple[Path, ...],
    writable: tuple[Path, ...],
    rewritten: tuple[Path, ...] = (),
) -> Identity:
    """The identity for a race.

    :param provisions: whether Rally starts a node; without one even root may race.
    :param memory_lock: whether the node is to lock its memory.
    :param needed: files that an unprivileged user must be able to read.
    :param writable: folders in which that user must be able to make files; they are made, and handed over if they are
        root's, without what is in them.
    :param rewritten: files that, where they exist, that user must be able to write; handed over likewise.
    :raises MachineError: if root can become nobody else here.
    """
    if os.geteuid() != 0 or not provisions:
        return Identity()
    if namespaces_work():
        limited = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] != resource.RLIM_INFINITY
        prefix = (*LOCK_MEMORY, *NAMESPACE) if memory_lock and limited else NAMESPACE
        return Identity(prefix)
    return _other_user(needed, writable, rewritten)


def runs_as(provisions: bool) -> str:
    """As whom :func:`choose_identity` lets a race run, in words; nothing is changed for it."""
    if os.geteuid() != 0:
        return "an ordinary user"
    if not provisions:
        return "root"
    return "root in a user namespace" if namespaces_work() else "an ordinary user in the place of root"


def pasted_before(provisions: bool) -> tuple[str, ...]:
    """What root types before Rally's command to be the one that :func:`choose_identity` makes of it."""
    if os.geteuid() != 0 or not provisions:
        return ()
    return NAMESPACE if namespaces_work() else ("runuser", "-u", _other_name(), "--")


def namespaces_work() -> bool:
    """Whether this kernel lets us make a user namespace."""
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0


def _other_name() -> str:
    return os.environ.get("PADDOCK_USER", FALLBACK_USER)


def _other_user(needed: tuple[Path, ...], writable: tuple[Path, ...], rewritten: tuple[Path, ...]) -> Identity:
    name = _other_name()
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise MachineError(
            f"Elasticsearch refuses root, user namespaces are forbidden here, and there is no user '{name}': "
            f"set PADDOCK_USER to an unprivileged user, or call ./inv as one."
        ) from None
    identity: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    for path in needed:
        readable = subprocess.run(["test", "-r", str(path)], check=False, **identity).returncode == 0
        if not readable:
            raise MachineError(
                f"Elasticsearch refuses root, user namespaces are forbidden here, and the user '{name}' may not read "
                f"{path}: put Paddock into a folder that it may read, or set PADDOCK_USER, or call ./inv as that user."
            )
    for folder in writable:
        folder.mkdir(parents=True, exist_ok=True)
    for place in (*writable, *filter(Path.exists, rewritten)):
        _hand_over(place, user)
        if subprocess.run(["test", "-w", str(place)], check=False, **identity).returncode != 0:
            raise MachineError(
                f"Elasticsearch refuses root, user namespaces are forbidden here, and the user '{name}' cannot write "
                f"to {place}: set RALLY_HOME to a folder that it can reach, for example /var/tmp/paddock."
            )
    return Identity((), identity, {"HOME": str(writable[0].parent)})


def _hand_over(place: Path, user: pwd.struct_passwd) -> None:
    """Make a folder or file of root's that user's.

    Nobody else's, no symbolic link and not what one points to, and no file with a second name, which may be a hard
    link to one elsewhere. Everything is asked of the open file, so that nothing can take its place in between.
    """
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        found = os.fstat(handle)
        alone = stat.S_ISDIR(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)
        if alone and found.st_uid == 0:
            os.fchown(handle, user.pw_uid, user.pw_gid)
    finally:
        os.close(handle)
