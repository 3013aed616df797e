"""Which Elasticsearch versions can be raced and on which Java; those that can be had embedded, with their checksums."""

from __future__ import annotations

import re
from dataclasses import dataclass

from paddock.errors import UsageError, nearest

DEFAULT_VERSION = "8.8.2"


@dataclass(frozen=True)
class Release:
    """One release of the integ-test distribution.

    :param sha512: checksum of the zip on Maven Central.
    :param java: major versions of Java that run it, the preferred first.
    """

    version: str
    sha512: str
    java: tuple[int, ...]


# Rally needs GET / to answer: from 8.9 on that lives in a module that the integ-test distribution lacks,
# and before 8.0 the client that Rally pins refuses the flavour. So the list ends where it ends.
RELEASES = {
    release.version: release
    for release in (
        Release(
            "8.8.2",
            "da7cb1799f703a1965643c53197b4a0562ee04383f59d77781cfdd0f478a590e4116420fa280f18299448fe0f807b84b8398fca952349dc4b69d39244cc3fef4",
            (21, 20, 19, 18, 17),
        ),
    )
}


# What Rally 2.13.0 and our cars can both drive. Rally: from 6.8 on (min-es-version.txt), but its client takes none of
# the flavour "oss". The cars started nodes of 7.17.9, 7.17.28, 8.8.2, 8.19.4 and 9.2.0; races ran on 7.17.28, 8.8.2
# and 9.2.0.
OLDEST = (7, 17, 0)
LARGEST_MAJOR = 9


def check_supported(version: str) -> None:
    """Refuse an Elasticsearch that cannot be raced, before anything of it is downloaded.

    :raises UsageError: if it is too old, or newer than what is known.
    """
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


def _numbers(version: str) -> tuple[int, int, int]:
    match = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    if not match:
        raise UsageError(f"'{version}' is no Elasticsearch version: write it in full, for example {DEFAULT_VERSION}.")
    return int(match[1]), int(match[2]), int(match[3])


def release(version: str) -> Release:
    """The embedded release of that version.

    :raises UsageError: if there is none.
    """
    if version not in RELEASES:
        near = nearest(version, RELEASES) or [DEFAULT_VERSION]
        raise UsageError(
            f"Elasticsearch {version} is not available embedded (nearest: {', '.join(near)}): "
            f"name one of {', '.join(sorted(RELEASES))}, or add --engine official to race Elastic's tarball."
        )
    return RELEASES[version]
