"""Fetches the integ-test distribution from Maven Central, checked, once, in the form that Rally can unpack here.

From 8.9 on it lacks one thing that Rally asks for, an answer to GET /: a module of ours gives it, whose source lies in
root_module/. The Eclipse compiler, one jar, compiles it on the JRE that is there anyway.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from paddock import paths
from paddock.engine.versions import Release, embedded_java
from paddock.errors import MachineError, UsageError
from paddock.files import checksum, locked, read_record, replacing, require_room, write_json

# Rally unpacks tar files with an extraction filter (esrally/utils/io.py), which Python has from 3.10.12 and 3.11.4 on.
# On an older one, Debian 12's own 3.11.2 for example, it can unpack nothing but zip files.
TAR_WORKS = hasattr(tarfile, "data_filter")
MODULE = "paddock-root"
SOURCES = Path(__file__).with_name("root_module")


@dataclass(frozen=True)
class Artifact:
    """A file on Maven Central; ``name`` is for sentences."""

    group: str
    artifact: str
    version: str
    packaging: str
    sha512: str
    name: str


# Compiles the module that answers GET / on a JRE.
COMPILER = Artifact(
    *("org.eclipse.jdt", "ecj", "3.43.0", "jar"),
    "06d8974af46d81f7a03c257b54fb5854a9b9ba8ab2733db4946745142e07e7dc3e69ea864d4b011230ffb8f92243503d7ffb6ac2ddf9b747c1bbc155c55fb583",
    "The Eclipse compiler 3.43.0",
)
# The zip, its jars to compile against, the repacked archive beside them, and some air.
ROOM = 500 * 2**20

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def archive_path(version: str) -> Path:
    """Where the archive lies; as .tar.gz it has the name that the base configuration of our cars ends in."""
    return paths.distributions_folder() / f"paddock-elasticsearch-{version}.{'tar.gz' if TAR_WORKS else 'zip'}"


def is_present(release: Release) -> bool:
    """Whether the archive is there and is the one that its record, written after it, describes."""
    archive = archive_path(release.version)
    return archive.is_file() and read_record(_record_path(archive)) == _record(release, archive)


def fetch(release: Release, progress: Progress) -> Path:
    """The archive of that release in Rally's distribution cache; downloaded and repacked if it is not there.

    Two processes at once: the second waits for the first. A process that is killed leaves a temporary
    folder, which the next call removes, and nothing that looks like an archive.

    :param progress: called with a description and the total in bytes; gives a function that takes
        the bytes that have come since its last call.
    :raises MachineError: no network, no room, a folder that cannot be written to, or not the expected content.
    """
    archive = archive_path(release.version)
    if is_present(release):
        return archive
    downloads = paths.state_folder() / "downloads"
    with locked(downloads / "lock", f"the download of Elasticsearch {release.version} by another process"):
        if is_present(release):
            return archive
        for folder in (downloads, archive.parent):
            require_writable(folder)
        for leftover in downloads.glob("fetch-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        require_room(archive.parent, ROOM, f"The download of Elasticsearch {release.version}")
        temporary = Path(tempfile.mkdtemp(dir=downloads, prefix="fetch-"))
        try:
            distribution = Artifact(
                *("org.elasticsearch.distribution.integ-test-zip", "elasticsearch", release.version, "zip"),
                *(release.sha512, f"Elasticsearch {release.version}"),
            )
            zipped = _download(distribution, temporary, progress)
            if release.root_plugin:
                _add_root_module(zipped, release, temporary, progress)
            with replacing(archive) as growing:
                _pack(zipped, growing)
            write_json(_record_path(archive), _record(release, archive))
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return archive


def require_writable(folder: Path) -> None:
    """See, before a download, that files can be made in the folder (made if missing); raises MachineError if not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise MachineError(
            f"{folder}, where an Elasticsearch is put, cannot be written to ({error.strerror}): make it writable, "
            f"check who owns it, or set RALLY_HOME to another folder."
        ) from None


def _record_path(archive: Path) -> Path:
    return archive.with_name(f"{archive.name}.record.json")


def _record(release: Release, archive: Path) -> dict[str, str | int | None]:
    """What tells the archive from one of another content, or with another source of the module."""
    return {
        "version": release.version,
        "source-sha512": release.sha512,
        "root-module": fingerprint() if release.root_plugin else None,
        "bytes": archive.stat().st_size,
    }


def _add_root_module(zipped: Path, release: Release, folder: Path, progress: Progress) -> None:
    """Add the module that answers GET / to the zip, compiled against the jars in it."""
    compiler = _download(COMPILER, folder, progress)
    libraries = folder / "libraries"
    libraries.mkdir()
    with zipfile.ZipFile(zipped, "a", zipfile.ZIP_DEFLATED) as archive:
        home = archive.namelist()[0].split("/")[0]
        for name in archive.namelist():
            if Path(name).match("*/lib/*.jar"):
                (libraries / Path(name).name).write_bytes(archive.read(name))
        files = compile_module(release, libraries, embedded_java().home / "bin" / "java", compiler)
        for name, content in files.items():
            archive.writestr(f"{home}/modules/{MODULE}/{name}", content)


def compile_module(release: Release, libraries: Path, java: Path, compiler: Path) -> dict[str, bytes]:
    """The module's files for one version of Elasticsearch, by their names in its folder.

    :param libraries: the folder of Elasticsearch's jars; the classes are compiled beside it.
    :param java: the program java; ``compiler`` is the jar of the Eclipse compiler.
    :raises MachineError: if the compiler refuses the source, with what it said.
    """
    classes = libraries.with_name("classes")
    plugin = "services/RootPlugin.java" if release.root_plugin == "services" else "RootPlugin.java"
    jars = os.pathsep.join(map(str, sorted(libraries.glob("*.jar"))))
    options = [f"-{release.oldest_java}", "-proc:none", "-nowarn", "-cp", jars, "-d", str(classes)]
    command = [str(java), "-jar", str(compiler), *options, str(SOURCES / "RootHandler.java"), str(SOURCES / plugin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-500:]
        raise MachineError(
            f"The module that answers GET / could not be compiled for Elasticsearch {release.version}; name another "
            f"--version. The compiler said: {said}"
        )
    # What Elasticsearch asks of a module, and no key more: 9.2.0 refuses those that it does not know.
    descriptor = {
        "description": "Answers GET /, which Rally asks first",
        "version": release.version,
        "name": MODULE,
        "java.version": release.oldest_java,
        "elasticsearch.version": release.version,
        "classname": "paddock.root.RootPlugin",
    }
    lines = "".join(f"{key}={value}\n" for key, value in descriptor.items())
    return {f"{MODULE}.jar": _jar(classes), "plugin-descriptor.properties": lines.encode()}


def fingerprint() -> str:
    """A checksum of the module's source: an archive that was made with another one is made anew."""
    return hashlib.sha256(b"".join(source.read_bytes() for source in sorted(SOURCES.rglob("*.java")))).hexdigest()


def _jar(classes: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as jar:
        for path in sorted(classes.rglob("*.class")):
            # A fixed time, so that the same source makes the same jar.
            entry = zipfile.ZipInfo(path.relative_to(classes).as_posix(), (2026, 1, 1, 0, 0, 0))
            jar.writestr(entry, path.read_bytes())
    return content.getvalue()


def _download(wanted: Artifact, folder: Path, progress: Progress) -> Path:
    """The file; raises MachineError without network or such a file, or if its checksum is not the right one."""
    import requests
    from jgo.maven import MavenContext, PythonResolver

    mirror = _mirror()
    context = MavenContext(
        repo_cache=folder,
        local_repos=[],
        remote_repos={"mirror": mirror.rstrip("/")} if mirror else None,
        resolver=PythonResolver(progress_callback=lambda name, total: progress(f"Downloading {name}", total)),
        timeout=30,
    )
    where = f"the mirror {_without_login(mirror)}" if mirror else "Maven Central"
    artifact = context.project(wanted.group, wanted.artifact).at_version(wanted.version)
    try:
        with _system_certificates():
            path = Path(artifact.artifact(packaging=wanted.packaging).resolve())
    except requests.exceptions.RequestException as error:
        raise MachineError(
            f"{wanted.name} could not be downloaded from {where} ({_brief(error)}): the first race "
            f"needs a network; check it (and HTTPS_PROXY) and call again, or name an archive with --engine PATH."
        ) from None
    except (RuntimeError, ValueError, IndexError):  # the last two: answers that make no sense
        raise MachineError(
            f"{where[0].upper()}{where[1:]} has no {wanted.name}: "
            f"check PADDOCK_MAVEN_REPOSITORY, or name an archive at hand with --engine PATH."
        ) from None
    found = checksum(path, "sha512")
    if found != wanted.sha512:
        raise MachineError(
            f"The download of {wanted.name} is damaged (SHA-512 {found[:12]}..., expected "
            f"{wanted.sha512[:12]}...), so it was thrown away: call again; if it comes back, "
            f"something between here and the server changes files."
        )
    return path


def _pack(zipped: Path, archive: Path) -> None:
    """Write the contents of Elastic's zip to ``archive``, in the form that Rally can unpack here.

    In a tar file the launch scripts are executable; of a zip Rally's unpacking loses the permissions, and the cars'
    install hook makes them so again.

    :raises MachineError: if the zip is damaged or reaches out of its folder.
    """
    if not TAR_WORKS:
        shutil.copyfile(zipped, archive)
        return
    try:
        # Level 1, because the jars are compressed already.
        with zipfile.ZipFile(zipped) as source, tarfile.open(archive, "w:gz", compresslevel=1) as target:
            for entry in source.infolist():
                if entry.filename.startswith("/") or ".." in Path(entry.filename).parts:
                    raise MachineError(f"The archive {zipped} names a file outside itself ({entry.filename}).")
                member = tarfile.TarInfo(entry.filename.rstrip("/"))
                member.type = tarfile.DIRTYPE if entry.is_dir() else tarfile.REGTYPE
                runs = entry.is_dir() or "bin" in Path(entry.filename).parts[:-1]
                member.mode, member.size = 0o755 if runs else 0o644, entry.file_size
                with source.open(entry) as content:
                    target.addfile(member, content)
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise MachineError(f"The archive {zipped} cannot be repacked: {error}.") from None


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


def _mirror() -> str | None:
    """The user's own mirror of Maven Central, if there is one.

    :raises UsageError: if it is no URL; it is not repeated, because it may hold a password.
    """
    mirror = os.environ.get("PADDOCK_MAVEN_REPOSITORY")
    if not mirror:
        return None
    try:
        parts = urlsplit(mirror)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole or "@" in f"{parts.path}{parts.query}{parts.fragment}":
        raise UsageError(
            "PADDOCK_MAVEN_REPOSITORY is no URL such as https://mirror.example.org/maven2: correct it, or unset it. "
            "What has a meaning in a URL is written in a password with %: / as %2F, # as %23, @ as %40."
        )
    return mirror


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
