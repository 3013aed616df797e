"""The Elasticsearch versions that can be had embedded, with their checksums."""

from __future__ import annotations

from dataclasses import dataclass

from paddock.errors import UsageError
from paddock.suggestions import nearest

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
