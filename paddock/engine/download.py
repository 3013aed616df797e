"""Fetches the integ-test distribution from Maven Central, checked, once, in the form that Rally can unpack here."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from paddock import paths
from paddock.engine.versions import Release
from paddock.errors import MachineError
from paddock.files import checksum, read_record, replacing, require_room, write_json
from paddock.locks import locked

# Rally unpacks tar files with an extraction filter (esrally/utils/io.py), which Python has from 3.10.12 and 3.11.4 on.
# On an older one, Debian 12's own 3.11.2 for example, it can unpack nothing but zip files.
TAR_WORKS = hasattr(tarfile, "data_filter")


def suffix() -> str:
    """The kind of archive for Rally on this Python: ".tar.gz" or ".zip"."""
    return ".tar.gz" if TAR_WORKS else ".zip"


def pack(zipped: Path, archive: Path, kind: str) -> None:
    """Write the contents of Elastic's zip to ``archive``, as that kind of archive.

    :raises MachineError: if the zip is damaged or reaches out of its folder.
    """
    if kind == ".zip":
        # Rally's unpacking loses the permissions; the cars' install hook makes the scripts executable again.
        shutil.copyfile(zipped, archive)
    else:
        repack(zipped, archive)


def repack(zipped: Path, tarball: Path) -> None:
    """Write the contents of ``zipped`` to ``tarball``.

    The launch scripts become executable, which a tar file keeps. Level 1, because the jars are compressed already.

    :raises MachineError: if the zip is damaged or reaches out of its folder.
    """
    try:
        with zipfile.ZipFile(zipped) as source, tarfile.open(tarball, "w:gz", compresslevel=1) as target:
            for entry in source.infolist():
                if entry.filename.startswith("/") or ".." in Path(entry.filename).parts:
                    raise MachineError(f"The archive {zipped} names a file outside itself ({entry.filename}).")
                target.addfile(*_member(source, entry))
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise MachineError(f"The archive {zipped} cannot be repacked: {error}.") from None


def _member(source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[tarfile.TarInfo, io.BytesIO | None]:
    member = tarfile.TarInfo(entry.filename.rstrip("/"))
    if entry.is_dir():
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        return member, None
    content = source.read(entry)
    member.size = len(content)
    member.mode = 0o755 if "bin" in Path(entry.filename).parts[:-1] else 0o644
    return member, io.BytesIO(content)


GROUP = "org.elasticsearch.distribution.integ-test-zip"
ARTIFACT = "elasticsearch"
# The zip, the repacked archive beside it, and some air.
ROOM = 400 * 2**20

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def archive_path(version: str) -> Path:
    """Where the archive lies; as .tar.gz it has the name that the base configuration of our cars ends in."""
    return paths.distributions_folder() / f"paddock-elasticsearch-{version}{suffix()}"


def is_present(release: Release) -> bool:
    """Whether the archive is there and is the one that its record, written after it, describes."""
    archive = archive_path(release.version)
    record = read_record(_record_path(archive))
    return (
        archive.is_file()
        and record.get("source-sha512") == release.sha512
        and record.get("bytes") == archive.stat().st_size
    )


def fetch(release: Release, progress: Progress) -> Path:
    """The archive of that release in Rally's distribution cache; downloaded and repacked if it is not there.

    Two processes at once: the second waits for the first. A process that is killed leaves a temporary
    folder, which the next call removes, and nothing that looks like an archive.

    :param progress: called with a description and the total in bytes; gives a function that takes
        the bytes that have come since its last call.
    :raises MachineError: no network, no room, or not the expected content.
    """
    archive = archive_path(release.version)
    if is_present(release):
        return archive
    downloads = paths.state_folder() / "downloads"
    with locked(downloads / "lock", f"the download of Elasticsearch {release.version} by another process"):
        if is_present(release):
            return archive
        for leftover in downloads.glob("fetch-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        require_room(paths.distributions_folder(), ROOM, f"The download of Elasticsearch {release.version}")
        temporary = Path(tempfile.mkdtemp(dir=downloads, prefix="fetch-"))
        try:
            zipped = _download(release, temporary, progress)
            _check(zipped, release)
            with replacing(archive) as growing:
                pack(zipped, growing, suffix())
            record = {"version": release.version, "source-sha512": release.sha512, "bytes": archive.stat().st_size}
            write_json(_record_path(archive), record)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return archive


def _record_path(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}.record.json")


def _download(release: Release, folder: Path, progress: Progress) -> Path:
    import requests
    from jgo.maven import MavenContext, PythonResolver

    mirror = os.environ.get("PADDOCK_MAVEN_REPOSITORY")
    context = MavenContext(
        repo_cache=folder,
        local_repos=[],
        remote_repos={"mirror": mirror.rstrip("/")} if mirror else None,
        resolver=PythonResolver(progress_callback=lambda name, total: progress(f"Downloading {name}", total)),
        timeout=30,
    )
    where = f"the mirror {_without_login(mirror)}" if mirror else "Maven Central"
    artifact = context.project(GROUP, ARTIFACT).at_version(release.version).artifact(packaging="zip")
    try:
        with _system_certificates():
            return Path(artifact.resolve())
    except requests.exceptions.RequestException as error:
        raise MachineError(
            f"Elasticsearch {release.version} could not be downloaded from {where} ({_brief(error)}): the first race "
            f"needs a network; check it (and HTTPS_PROXY) and call again, or name an archive with --engine PATH."
        ) from None
    except RuntimeError:
        raise MachineError(
            f"{where[0].upper()}{where[1:]} has no Elasticsearch {release.version}: "
            f"check PADDOCK_MAVEN_REPOSITORY, or name an archive at hand with --engine PATH."
        ) from None


def _check(zipped: Path, release: Release) -> None:
    found = checksum(zipped, "sha512")
    if found != release.sha512:
        raise MachineError(
            f"The download of Elasticsearch {release.version} is damaged (SHA-512 {found[:12]}..., expected "
            f"{release.sha512[:12]}...), so it was thrown away: call again; if it comes back, "
            f"something between here and the server changes files."
        )


@contextmanager
def _system_certificates() -> Iterator[None]:
    """Let requests trust what the system trusts: it brings a list of its own, which lacks a company's proxy."""
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    name = "REQUESTS_CA_BUNDLE"
    if os.environ.get(name) or os.environ.get("CURL_CA_BUNDLE") or not bundle.exists():
        yield
        return
    os.environ[name] = os.environ.get("SSL_CERT_FILE") or str(bundle)
    try:
        yield
    finally:
        del os.environ[name]


def _without_login(url: str) -> str:
    """The URL as it may be shown: without user name and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _brief(error: Exception) -> str:
    """The innermost reason of requests' nested messages."""
    cause: BaseException = error
    while cause.__cause__ or cause.__context__:
        cause = cause.__cause__ or cause.__context__  # type: ignore[assignment]
    return str(cause) or type(error).__name__
