"""As whom Rally runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from paddock.errors import MachineError
from paddock.rally.privileges import choose_identity, namespaces_work, pasted_before, runs_as

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")


@pytest.fixture
def no_namespaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that forbids user namespaces: unshare fails there."""
    unshare = tmp_path / "bin" / "unshare"
    unshare.parent.mkdir()
    unshare.write_text("#!/bin/sh\nexit 1\n")
    unshare.chmod(0o755)
    monkeypatch.setenv("PATH", f"{unshare.parent}:{os.environ['PATH']}")
    assert not namespaces_work()


def test_an_ordinary_user_stays_who_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is put before the command."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    identity = choose_identity(True, False, (), ())
    assert (identity.prefix, dict(identity.popen)) == ((), {})
    assert runs_as(provisions=True) == "an ordinary user"


def test_against_an_existing_cluster_root_may_stay_root() -> None:
    """Rally starts no node there, so nobody objects."""
    assert choose_identity(False, False, (), ()).prefix == ()
    assert runs_as(provisions=False) in ("root", "an ordinary user")


@as_root
def test_where_namespaces_are_forbidden_root_pastes_a_command_that_works(no_namespaces: None) -> None:
    """What is printed to repeat a race makes root the user that the race ran as."""
    done = subprocess.run([*pasted_before(provisions=True), "id", "-un"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "nobody"
    assert pasted_before(provisions=False) == ()


def let_others_in(folder: Path) -> None:
    """Pytest keeps its folders to itself; with several processes there is one more of them."""
    for place in (folder, *folder.parents):
        if place.stat().st_uid == os.geteuid() and place.name.startswith(("test_", "popen-", "pytest-")):
            place.chmod(0o755)


@as_root
def test_in_a_namespace_root_is_somebody_else_and_still_owns_its_files(tmp_path: Path) -> None:
    """To itself the program is not root; what it writes belongs to root outside."""
    if not namespaces_work():
        pytest.skip("this kernel forbids user namespaces")
    identity = choose_identity(True, False, (), ())
    file = tmp_path / "made"
    seen = subprocess.run(
        [*identity.prefix, "sh", "-c", f"id -u; touch {file}"], capture_output=True, text=True, check=True
    )
    assert seen.stdout.strip() != "0"
    assert runs_as(provisions=True) == "root in a user namespace"
    assert file.stat().st_uid == 0


@as_root
def test_without_namespaces_another_user_is_taken(no_namespaces: None, tmp_path: Path) -> None:
    """The command really runs as that user, and the folders handed over can be written to by it."""
    shared = tmp_path / "shared"
    let_others_in(tmp_path)
    identity = choose_identity(True, False, (Path("/bin/sh"),), (shared,))
    subprocess.run(["sh", "-c", f"touch {shared}/made"], check=True, **identity.popen)
    assert (shared / "made").stat().st_uid != 0
    assert runs_as(provisions=True) == "an ordinary user in the place of root"


@as_root
def test_only_what_the_race_needs_changes_its_owner(no_namespaces: None, tmp_path: Path) -> None:
    """Folders without their contents, files by name; no hard link, no link's target, nothing of somebody else's."""
    let_others_in(tmp_path)
    elsewhere, home = tmp_path / "elsewhere", tmp_path / "home"
    (home / "races" / "of old").mkdir(parents=True)
    elsewhere.mkdir()
    for file in (elsewhere / "precious", elsewhere / "target", home / "races" / "of old" / "race.json", home / "log"):
        file.write_text("precious")
    (home / "hard").hardlink_to(elsewhere / "precious")
    (home / "soft").symlink_to(elsewhere / "target")
    (home / "folder").symlink_to(elsewhere)
    (home / "of somebody").touch()
    os.chown(home / "of somebody", 4711, 4711)
    choose_identity(True, False, (), (home, home / "races"), (home / "log", home / "absent"))
    nobody = home.stat().st_uid
    assert nobody != 0
    assert [(home / name).stat().st_uid for name in ("races", "log")] == [nobody, nobody]
    assert not (home / "absent").exists()
    untouched = (elsewhere, elsewhere / "precious", elsewhere / "target", home / "races" / "of old")
    assert {place.stat().st_uid for place in (*untouched, home / "races" / "of old" / "race.json")} == {0}
    for name in ("hard", "soft", "of somebody"):
        with pytest.raises(MachineError, match=rf"'nobody' cannot write to .*{name}"):
            choose_identity(True, False, (), (home,), (home / name,))
    with pytest.raises(MachineError, match=r"'nobody' cannot write to .*folder"):
        choose_identity(True, False, (), (home, home / "folder"))
    assert {place.stat().st_uid for place in untouched} == {0}
    assert (home / "of somebody").stat().st_uid == 4711


@as_root
def test_what_that_user_cannot_read_or_reach_is_named(no_namespaces: None, tmp_path: Path) -> None:
    """Paddock in /root: the sentence names the file and the ways out."""
    secret = tmp_path / "private" / "file"
    secret.parent.mkdir(mode=0o700)
    secret.touch()
    with pytest.raises(MachineError, match=r"'nobody' may not read .*private/file.*PADDOCK_USER"):
        choose_identity(True, False, (secret,), ())
    with pytest.raises(MachineError, match=r"'nobody' cannot write to .*RALLY_HOME"):
        choose_identity(True, False, (), (secret.parent / "home",))


@as_root
def test_an_unknown_user_is_named(no_namespaces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """PADDOCK_USER must exist."""
    monkeypatch.setenv("PADDOCK_USER", "no-such-user")
    with pytest.raises(MachineError, match="no user 'no-such-user'"):
        choose_identity(True, False, (), ())
