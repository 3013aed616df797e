"""From nothing to a result as an ordinary user with the system's own Python and an empty home."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.paths import PROJECT

pytestmark = pytest.mark.race

USER = "paddock-test-user"


@pytest.fixture
def home() -> Iterator[Path]:
    """A new user's home with a checkout of this working copy in it."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a user; the other tests ran as an ordinary user already")
    if not shutil.which("useradd") or not Path("/usr/bin/python3").exists():
        pytest.skip("this machine has no useradd or no system Python")
    subprocess.run(["userdel", "--remove", USER], capture_output=True, check=False)
    subprocess.run(["useradd", "--create-home", USER], check=True, capture_output=True)
    folder = Path(pwd.getpwnam(USER).pw_dir)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        target = folder / "paddock" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, target)
    subprocess.run(["chown", "-R", f"{USER}:", str(folder)], check=True)
    yield folder
    subprocess.run(["userdel", "--remove", USER], check=True, capture_output=True)


def test_one_command_from_an_empty_home(home: Path) -> None:
    """./inv race alone: environment, engine, corpus, race, summary, exit code 0."""
    user = pwd.getpwnam(USER)
    result = subprocess.run(
        ["./inv", "race", "--documents", "200000", "--params", "warmup_time_period:0"],
        cwd=home / "paddock",
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert "Race id:" in result.stdout
    assert "200,000" in result.stdout
    assert (home / ".rally" / "benchmarks" / "distributions").is_dir()
