"""Turns --version, --engine and --java into what Rally has to be told."""

from __future__ import annotations

import platform
import re
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paddock import paths
from paddock.engine import download, versions
from paddock.engine.download import TAR_WORKS
from paddock.engine.versions import Java, choose_java
from paddock.errors import MachineError, UsageError
from paddock.files import checksum, replacing, require_room

# The kind of engine that is raced unless another is asked for.
EMBEDDED = "embedded"
# Rally's own word for "use the JDK inside the archive".
BUNDLED = "bundled"
OFFICIAL_URL = "https://artifacts.elastic.co/downloads/elasticsearch/elasticsearch-{{VERSION}}-linux-{{ARCH}}.tar.gz"


@dataclass(frozen=True)
class Engine:
    """An Elasticsearch that Rally can provision: "embedded", "official" or an "archive".

    :param archive: the file in Rally's distribution cache; None if Rally has to download it.
    :param java: the Java that runs it; None for the one inside the archive.
    :param car_params: car variables that lead Rally to the archive.
    :param offline: whether everything is at hand, so that Rally need not go to the network.
    :param ingest: whether it has Elastic's module of ingest processors, ingest-common.
    """

    kind: str
    version: str
    archive: Path | None
    java: Java | None
    car_params: Mapping[str, str] = field(default_factory=dict)
    offline: bool = True
    notes: tuple[str, ...] = ()
    ingest: bool = False

    @property
    def runtime_jdk(self) -> str:
        """The value for Rally's --runtime-jdk."""
        return str(self.java.major) if self.java else BUNDLED

    @property
    def environment(self) -> dict[str, str]:
        """What must be in the environment for Rally to find the Java."""
        return self.java.environment if self.java else {}


def choose_engine(
    version: str | None, engine: str | None, java: str | None, progress: download.Progress, fetch: bool = True
) -> Engine:
    """The engine for these command line options.

    :param engine: "embedded" (or None), "official", or the path of an archive.
    :param fetch: whether to download what is missing; without, only to say what would be used.
    :raises UsageError: contradictory or unknown options.
    :raises MachineError: no network, no room, no fitting Java.
    """
    wanted = version or versions.DEFAULT_VERSION
    if engine in (None, EMBEDDED):
        release = versions.release(wanted)
        fitting, notes = choose_java(release.java, java, modules=release.java_modules)
        archive = download.fetch(release, progress) if fetch else download.archive_path(wanted)
        # Where it is no .tar.gz, the cars do not know its name.
        urls = {} if TAR_WORKS else _urls(archive.as_uri())
        return Engine(EMBEDDED, wanted, archive, fitting, urls, notes=tuple(notes))
    if engine == "official":
        _require_tar("Elastic's tarball")
        versions.check_supported(wanted)
        chosen = choose_java(versions.java_majors(wanted), java)[0] if java else None
        return Engine("official", wanted, None, chosen, _urls(OFFICIAL_URL), offline=False, ingest=True)
    return _archive(Path(engine or ""), version, java, fetch)


def _archive(source: Path, version: str | None, java: str | None, fetch: bool) -> Engine:
    path = source.expanduser().absolute()
    if not path.is_file():
        raise UsageError(f"--engine is 'embedded', 'official' or the path of an archive, and there is no file {path}.")
    if not path.name.endswith((".tar.gz", ".tgz")):
        raise UsageError(f"{path} is no .tar.gz: Rally unpacks zip files without their permissions; repack it.")
    _require_tar(str(path))
    found, has_jdk, ingest = _look_into(path)
    if version and version != found:
        raise UsageError(
            f"{path} holds Elasticsearch {found}, not {version}: leave --version out, or name another file."
        )
    versions.check_supported(found)
    name = f"paddock-archive-{checksum(path)[:16]}.tar.gz"
    cached = paths.distributions_folder() / name
    if fetch and not cached.exists():
        download.require_writable(cached.parent)
        require_room(cached.parent, path.stat().st_size, f"A copy of {path}")
        with replacing(cached) as growing:
            shutil.copyfile(path, growing)
    chosen = None if has_jdk and not java else choose_java(versions.java_majors(found), java)[0]
    return Engine("archive", found, cached, chosen, _urls(cached.as_uri()), ingest=ingest)


def _urls(url: str) -> dict[str, str]:
    """Car variables for an archive: Rally looks in its cache for what follows the last slash."""
    return {"jdk.bundled.release_url": url, "jdk.unbundled.release_url": url}


def _require_tar(what: str) -> None:
    if not TAR_WORKS:
        raise MachineError(
            f"Rally cannot unpack {what} on Python {platform.python_version()} (it needs 3.10.12, 3.11.4 or newer): "
            f"set PADDOCK_PYTHON to a newer one and remove .venv, or race the embedded engine."
        )


def _look_into(path: Path) -> tuple[str, bool, bool]:
    """The Elasticsearch version in an archive, whether it brings a JDK, and whether the module ingest-common."""
    try:
        with tarfile.open(path) as archive:
            names = archive.getnames()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise UsageError(f"{path} cannot be read as an archive ({error}): is it complete?") from None
    jar = re.compile(r"(?:\./)?[^/]+/lib/elasticsearch-(\d+\.\d+\.\d+)\.jar")
    found = [match[1] for name in names if (match := jar.fullmatch(name))]
    if not found:
        raise UsageError(f"{path} holds no Elasticsearch: it has no lib/elasticsearch-VERSION.jar.")
    there = [any(part in name for name in names) for part in ("/jdk/bin/java", "/modules/ingest-common")]
    return found[0], there[0], there[1]
