"""Groups of shippers and of what feeds them: made before a race, joined as Rally runs, written down, and removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from paddock import paths
from paddock.errors import MachineError
from paddock.limits import Limits, plan_limits, try_out
from paddock.rally import leftovers, privileges
from paddock.rally.limited import launches, limits_held
from paddock.rally.limited_programs import LimitedProgram, ProgramGroups
from paddock.rally.privileges import Identity


def two() -> tuple[LimitedProgram, ...]:
    """A shipper's and a generator's limits, as far as this machine lets us."""
    try:
        held = [
            LimitedProgram(component, plan_limits(limits, paths.PROJECT, f"{component} of a", prefix=f"{component}_"))
            for component, limits in (
                ("shipper", Limits(quota=0.5, memory_bytes=64 << 20)),
                ("generator", Limits(quota=1)),
            )
        ]
        for one in held:
            try_out(one.plan)
    except MachineError as error:
        pytest.skip(str(error))
    return tuple(held)


def test_groups_are_there_while_the_race_is_and_what_they_counted_afterwards(rally_home: Path) -> None:
    """The track is told their folders, the user and the report what was held."""
    programs, file = ProgramGroups("race-1", two()), rally_home / "limits.json"
    assert {folder.name for folder in programs.folders} == {"paddock-race-1-shipper.1", "paddock-race-1-generator.2"}
    with leftovers.written_down("race-1", (), programs.folders):
        told = programs.make(Identity())
        assert set(told) == {"shipper_groups", "generator_groups"}
        assert {Path(one) for text in told.values() for one in text.split(",")} == set(programs.folders)
        assert all(folder.is_dir() for folder in programs.folders)
        programs.write_down(file)
    assert [folder for folder in programs.folders if folder.exists()] == []
    shipper, generator = launches(file)
    assert str(64 << 20) in shipper["files"].values()
    assert (shipper["lost"], generator["at most"]) == ([], {"cores": 1.0})
    sentence, _ = limits_held(file)
    assert sentence.startswith("The shipper of a was held to 0.5 cores of time (quota v")


def test_nodes_that_are_written_down_already_stay(rally_home: Path) -> None:
    """Both are in one file; a race without limited programs writes none."""
    file = rally_home / "limits.json"
    ProgramGroups("race-1", ()).write_down(file)
    assert not file.exists()
    file.write_text(json.dumps([{"node": "default-0", "limits": "core 1 (affinity)"}]))
    programs = ProgramGroups("race-1", two())
    with leftovers.written_down("race-1", (), programs.folders):
        programs.make(Identity())
        programs.write_down(file)
    assert [one.get("node", one.get("program")) for one in launches(file)] == [
        "default-0",
        "shipper of a",
        "generator of a",
    ]
    assert limits_held(file)[0] == "The node default-0 was held to core 1 (affinity)."


def test_they_can_be_joined_as_somebody_else(rally_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a user namespace, as root's races run; and as another user, who owns them then."""
    if os.geteuid() != 0 or not privileges.namespaces_work():
        pytest.skip("Only root's races run as somebody else.")
    identities = [Identity(privileges.NAMESPACE)]
    if everybodys := shutil.which("python3", path="/usr/bin"):
        monkeypatch.setattr(sys, "executable", everybodys)
        identities.append(Identity((), {"user": 65534, "group": 65534, "extra_groups": []}))
    for identity in identities:
        programs = ProgramGroups("race-1", two())
        with leftovers.written_down("race-1", (), programs.folders):
            if any(group.version == 2 for one in two() for group in one.plan.groups) and identity.popen:
                with pytest.raises(MachineError, match="nothing that Rally starts can join their groups"):
                    programs.make(identity)
            else:
                programs.make(identity)


def test_what_cannot_join_them_begins_no_race(rally_home: Path) -> None:
    """In the words of the program that could not."""
    programs = ProgramGroups("race-1", two())
    identity = Identity(("/bin/sh", "-c", "echo Never. >&2; exit 3", "sh"))
    with (
        leftovers.written_down("race-1", (), programs.folders),
        pytest.raises(MachineError, match=r"^The limits of the shipper of a cannot be held here, .*: Never\. Call"),
    ):
        programs.make(identity)
    assert [folder for folder in programs.folders if folder.exists()] == []


def test_memory_that_is_less_than_any_program_needs_begins_no_race(rally_home: Path) -> None:
    """Each lap would be void for it, and the first only after the nodes have started."""
    two()
    limits = Limits(memory_bytes=1 << 20)
    least = LimitedProgram("shipper", plan_limits(limits, paths.PROJECT, "shipper of a", prefix="shipper_"))
    programs = ProgramGroups("race-1", [least])
    with (
        leftovers.written_down("race-1", (), programs.folders),
        pytest.raises(MachineError, match=r"^The limit of the shipper of a on its memory .* make shipper_limit_mem"),
    ):
        programs.make(Identity())


def test_the_next_command_removes_those_of_a_killed_race(rally_home: Path) -> None:
    """Kill -9 leaves them with nothing in them, and the ledger, which names them."""
    folders = ProgramGroups("race-1", two()).folders
    program = textwrap.dedent("""
        import os, signal, sys
        sys.path.insert(0, sys.argv[1])
        from tests.rally.test_limited_programs import two
        from paddock.rally import leftovers
        from paddock.rally.limited_programs import ProgramGroups
        from paddock.rally.privileges import Identity
        programs = ProgramGroups("race-1", two())
        with leftovers.written_down("race-1", (), programs.folders):
            programs.make(Identity())
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    subprocess.run([sys.executable, "-c", program, str(paths.PROJECT)], check=False)
    assert all(folder.is_dir() for folder in folders)
    with leftovers.racing() as cleared:
        assert "The race race-1 was cut off before" in cleared[0]
    assert [folder for folder in folders if folder.exists()] == []
